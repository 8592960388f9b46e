"""Networks: one folder for each kind, and the hooks, the loop and the losses that they share."""
