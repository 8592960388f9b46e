"""Jobs on a cluster: submitted once, taken over by later starts, continued after a time limit."""
