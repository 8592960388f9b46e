"""Networks: the hooks, the layers, and one loop over layers for each stack."""
