"""Text files are UTF-8 with LF, and hide no character that some programs take for a line's end."""

import os
import re
from pathlib import Path

from tests.house.tree import OUTSIDE, ROOT, listed

# Built from numbers, so that this file has none of them either.
SEPARATORS = re.compile("[" + "".join(map(chr, (0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029))) + "]")
NAMES = {"Makefile", "Snakefile", "LICENSE", ".gitignore", ".editorconfig", "run"}
SUFFIXES = {".py", ".smk", ".yaml", ".md", ".csv", ".tsv", ".txt", ".lock", ".toml", ".rst"}
SUFFIXES |= {".cff", ".sh", ".json"}


def texts(root: Path) -> list[Path]:
    """Return the project's text files."""
    found = []
    for folder, below, names in os.walk(root):
        below[:] = sorted(set(below) - OUTSIDE)
        paths = (Path(folder, name) for name in sorted(names))
        found += [path for path in paths if path.suffix in SUFFIXES or path.name in NAMES]
    return found


def separators(root: Path) -> list[str]:
    """Return lines with a hidden separator."""
    return [
        f"{path.relative_to(root)}:{number}: holds U+{ord(match[0]):04X}; write it as an escape"
        for path in texts(root)
        for number, line in enumerate(path.read_bytes().decode("utf-8").split("\n"), 1)
        if (match := SEPARATORS.search(line))
    ]


def test_no_text_file_hides_a_line_separator():
    found = separators(ROOT)
    assert not found, listed(found)


def test_a_hidden_separator_is_found(tmp_path):
    (tmp_path / "sample.txt").write_bytes("one\ntwo\u2028three\nfour\r\n".encode())
    assert separators(tmp_path) == [
        "sample.txt:2: holds U+2028; write it as an escape",
        "sample.txt:3: holds U+000D; write it as an escape",
    ]
