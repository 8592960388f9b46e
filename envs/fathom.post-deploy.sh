#!/bin/sh
# Snakemake runs this in a new conda environment, and makes a new one where this file or the yaml changed.
# Locks: 34894260 280517
set -eu
locked="python -m pip install --no-deps --require-hashes --no-build-isolation"
torch=$(python envs/doctor.py torch)
$locked -r "$torch"
$locked -r envs/requirements.lock
READTHEDOCS=1 $locked --no-cache-dir --no-binary fairseq-fixed -r envs/fairseq.lock
python -m pip install --no-deps --no-build-isolation --editable .
