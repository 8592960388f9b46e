"""How large the house is: lines, code and docstrings by room, arrows between rooms, class names.

    python -m benchmarks.sizes

Code is what is not blank, comment or docstring. An arrow is a room that imports another one.
"""

import ast
import io
import sys
import tokenize
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIBRARY, TESTS = ROOT / "lib" / "fathom", ROOT / "tests"
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_NO_CODE = (
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

    def plus(self, other: "Size") -> "Size":
        """Return the counts of both."""
        return Size(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def python_files(folder: Path) -> list[Path]:
    """Return the Python files under a folder."""
    return sorted(folder.rglob("*.py"))


def size(path: Path) -> Size:
    """Count a file."""
    text = path.read_text(encoding="utf-8")
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstrings.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return Size(1, text.count("\n"), len(code - docstrings), len(docstrings))


def total(paths: list[Path]) -> Size:
    """Count several files together."""
    counts = Size(0, 0, 0, 0)
    for path in paths:
        counts = counts.plus(size(path))
    return counts


def rooms(library: Path = LIBRARY) -> dict[str, list[Path]]:
    """Return the files of each room; the package's own file is in none."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in python_files(library):
        parts = path.relative_to(library).parts
        if len(parts) > 1:
            found[parts[0]].append(path)
    return dict(found)


def modules(library: Path = LIBRARY) -> list[Path]:
    """Return the modules, without the files that only say what a package is."""
    return [path for path in python_files(library) if path.name != "__init__.py"]


def arrows(library: Path = LIBRARY) -> Counter[tuple[str, str]]:
    """Return how many modules of a room import another room, by both names."""
    of_rooms = rooms(library)
    found: Counter[tuple[str, str]] = Counter()
    for room, paths in of_rooms.items():
        for path in paths:
            found.update((room, there) for there in _imported(path) & {*of_rooms} - {room})
    return found


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("fathom.")}


def ambiguous_classes(library: Path = LIBRARY) -> dict[str, list[str]]:
    """Return the files of each class name that several modules define; not of private ones."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in python_files(library):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path.relative_to(library).as_posix())
    return {name: paths for name, paths in sorted(found.items()) if len(paths) > 1}


def report() -> str:
    """Return all of it as text."""
    parts = {**rooms(), "lib": python_files(LIBRARY), "tests": python_files(TESTS)}
    lines = [f"{'':12} files  lines   code  docstrings"]
    for name, paths in parts.items():
        files, text, code, docstrings = total(paths)
        lines.append(f"{name:12} {files:5} {text:6} {code:6} {docstrings:11}")
    ambiguous = ambiguous_classes()
    lines += [
        f"modules: {len(modules())}",
        f"arrows between rooms: {len(arrows())}",
        f"class names with several meanings: {len(ambiguous)}",
        *(f"  {name}: {', '.join(paths)}" for name, paths in ambiguous.items()),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{report()}\n")
