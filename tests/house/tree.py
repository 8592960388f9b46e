"""The project's files, as the house rules look at them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The rooms of lib/fathom from the ground up; equal levels are strangers to each other.
LEVELS = {
    "io": 0,
    "config": 1,
    "results": 2,
    "data": 2,
    "nn": 2,
    "methods": 3,
    "scoring": 3,
    "train": 4,
    "artefacts": 4,
    "decode": 5,
    "workflow": 5,
    "api": 6,
    "cli": 7,
}


@dataclass(frozen=True)
class Source:
    """A Python file under a root."""

    root: Path
    path: Path

    @property
    def name(self) -> str:
        """The path as messages print it."""
        return str(self.path.relative_to(self.root))

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"), self.name)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree."""
        return tuple(ast.walk(self.tree))

    @property
    def module(self) -> str:
        """The dotted name of a file of the library; a package's own file has the package's name."""
        parts = self.path.relative_to(self.root / "lib").with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def room(self) -> str:
        """The room of a file of the library; empty for the package's own file.

        `api.py` is a room of one file.
        """
        parts = self.path.relative_to(self.root / "lib" / "fathom").with_suffix("").parts
        return "" if parts == ("__init__",) else parts[0]

    def at(self, node: ast.AST | int) -> str:
        """Return `file:line` of a node or line number."""
        return f"{self.name}:{node if isinstance(node, int) else node.lineno}"


def files(root: Path, *folders: str, suffixes: tuple[str, ...] = (".py",)) -> list[Path]:
    """Return the files with one of the suffixes under folders of a root, sorted."""
    found = (path for folder in folders for path in (root / folder).rglob("*"))
    return sorted(path for path in found if path.is_file() and path.suffix in suffixes)


@cache
def sources(root: Path, *folders: str) -> tuple[Source, ...]:
    """Return the Python files under folders of a root, each read and parsed once."""
    return tuple(Source(root, path) for path in files(root, *folders))


def library(root: Path) -> tuple[Source, ...]:
    """Return the Python files of the library."""
    return sources(root, "lib/fathom")


def rule_files(root: Path) -> list[Path]:
    """Return the Snakefiles and the files that they include."""
    main = [root / "Snakefile", root / "workflow" / "Snakefile"]
    return [*filter(Path.exists, main), *files(root, "workflow", suffixes=(".smk",))]


def imported(source: Source) -> Iterator[tuple[ast.stmt, str]]:
    """Yield each import statement with each dotted name that it takes, also inside functions."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            above = source.module.split(".")
            if node.level:
                above = above[: len(above) - node.level + (source.path.name == "__init__.py")]
                start = ".".join([*above, node.module] if node.module else above)
            else:
                start = node.module or ""
            for alias in node.names:
                yield node, f"{start}.{alias.name}"


def listed(findings: list[str]) -> str:
    """Return findings as a test prints them: one a line."""
    return "\n".join(["", *findings])
