"""Count the lines of the library, its two plugins, the tests and the benchmarks.

    python -m benchmarks.sizes

Prints a row for each room of the library and of the tests. Code is what is neither blank nor a
comment nor a docstring.
"""

import ast
import io
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# What is counted, by its name in the table.
PARTS = {
    "lib": "lib/fathom",
    "executor": "lib/snakemake_executor_plugin_slurm_attach",
    "logger": "lib/snakemake_logger_plugin_fathom",
    "tests": "tests",
    "benchmarks": "benchmarks",
}
# Those with a row for each room, which is a folder or a module directly below.
DIVIDED = ("lib", "tests")
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_NOT_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
)


class Size(NamedTuple):
    """Counts of one file, or of several."""

    files: int
    lines: int
    code: int
    docstrings: int


def size(path: Path) -> Size:
    """Count a file."""
    text = path.read_text(encoding="utf-8")
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstrings.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return Size(1, text.count("\n"), len(code - docstrings), len(docstrings))


def total(sizes: Iterable[Size]) -> Size:
    """Add up the counts of several files."""
    return Size(*map(sum, zip(Size(0, 0, 0, 0), *sizes, strict=True)))


def by_room(folder: Path) -> dict[str, Size]:
    """Return the counts of each folder and module that lies directly in a folder."""
    rooms: dict[str, list[Size]] = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        rooms[path.relative_to(folder).parts[0].removesuffix(".py")].append(size(path))
    return {room: total(sizes) for room, sizes in rooms.items()}


def report(root: Path = ROOT) -> str:
    """Return the counts of all rooms as a table."""
    lines = [f"{'':20} files  lines   code  docstrings"]
    for part, folder in PARTS.items():
        rooms = by_room(root / folder)
        rows = {f"{part}/{room}": counts for room, counts in rooms.items()}
        rows = (rows if part in DIVIDED else {}) | {part: total(rooms.values())}
        for name, (files, text, code, docstrings) in rows.items():
            lines.append(f"{name:20} {files:5} {text:6} {code:6} {docstrings:11}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{report()}\n")
