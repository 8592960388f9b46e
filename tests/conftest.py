"""One thread a process: threads of several small processes wait for each other."""

import os

os.environ["OMP_NUM_THREADS"] = "1"
