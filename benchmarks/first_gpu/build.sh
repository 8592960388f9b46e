#!/bin/sh
# Make the folder that a machine with a GPU and without a network needs beside its own torch: wheels,
# and the text of the tiny scale. It is for machines with this one's kind of processor.
#
#     bash benchmarks/first_gpu/build.sh FOLDER [3.12 | 3.13: the Python of that machine]
#
# It needs `make environment` and a package index.
set -eu
folder=$(realpath -m "${1:?name a folder, such as .carried}")
version=${2:-3.12}
cd "$(dirname "$0")/../.."
export READTHEDOCS=1 # fairseq without what it compiles
python=$PWD/.venv/bin/python
kind=$(uname -m)
rm -rf "$folder/wheels" "$folder/text"
mkdir -p "$folder/wheels"
chosen=$(mktemp -d)
trap 'rm -rf "$chosen"' EXIT

# The listed packages in the versions of the locks.
awk -v folder="$chosen" 'FILENAME ~ /packages.txt$/ { listed[$1]; next }
	split($1, name, "==") == 2 && name[1] in listed {
		print $1 > (folder (name[1] ~ /^(antlr4|fairseq)/ ? "/sources" : "/wheels"))
	}' benchmarks/first_gpu/packages.txt envs/torch.lock envs/requirements.lock envs/fairseq.lock
"$python" -m pip wheel --quiet --no-deps --no-build-isolation --no-binary :all: \
	-w "$folder/wheels" -r "$chosen/sources"
"$python" -m pip download --quiet --no-deps --only-binary :all: --python-version "$version" \
	--platform "manylinux_2_28_$kind" --platform "manylinux_2_17_$kind" \
	--platform "manylinux2014_$kind" -d "$folder/wheels" -r "$chosen/wheels"

"$python" - "$folder/text" <<'END'
import sys
from pathlib import Path

import torch

from benchmarks.peer.workload import Workload

Workload(Path(sys.argv[1]), torch.device("cpu")).prepare()
END
rm -rf "$folder/text/sources" "$folder/text/logs"
echo "$version" >"$folder/python"
size=$(du -sm "$folder" | cut -f 1)
echo "$folder: $size MB for Python $version"
[ "$size" -le 50 ] || { echo "build.sh: more than 50 MB" >&2; exit 1; }
