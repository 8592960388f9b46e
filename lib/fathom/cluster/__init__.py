"""Jobs on Slurm: submitted once, taken over by later starts, continued after a time limit."""
