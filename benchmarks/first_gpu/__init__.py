"""The first half hour on a CUDA device, without a network and with a torch of its own."""
