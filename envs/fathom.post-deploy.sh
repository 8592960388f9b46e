#!/bin/sh
# Made by `make lock` from versions.txt (pins e1770215da0d5339). Not edited by hand.
set -eu
READTHEDOCS=1 python -m pip install --no-cache-dir --no-deps --no-build-isolation --require-hashes --no-binary fairseq-fixed -r envs/fairseq.lock
python -m pip install --no-deps --no-build-isolation --editable .
