"""Which code made a result: one hash over the modules that a stage reaches inside fathom.

Comments, docstrings and layout do not count, nor does code that only a type checker reads. A method
and a kind of network are loaded by their files' names, which no static walk can see: their modules
are named beside the start.
"""

import ast
import hashlib
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fathom.errors import FathomError

PACKAGE = Path(__file__).resolve().parents[1]
STARTS = {
    "training": ("fathom.training.train",),
    "decoding": ("fathom.inference.translate",),
    "pruning": ("fathom.inference.prune",),
    "likelihood": ("fathom.inference.likelihood", "fathom.evaluation.perplexity"),
    "scoring": ("fathom.evaluation.score",),
    "kept": ("fathom.inference.checkpoint_translations",),
    "window": ("fathom.evaluation.checkpoint_scores", "fathom.evaluation.window"),
}
MODELS, METHODS = "fathom.models", "fathom.methods"


@dataclass(frozen=True)
class Code:
    """The code behind one stage of a run.

    Attributes:
        hash: SHA-256 over the modules' syntax trees, 64 hexadecimal digits.
        python: Python's minor version; hashes of different versions cannot be compared.
        modules: names of the modules, sorted.
    """

    hash: str
    python: str
    modules: tuple[str, ...]


class _Essence(ast.NodeTransformer):
    """Leaves of a syntax tree only what runs."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Drop strings that stand alone: docstrings and notes under attributes."""
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Put the other branch in the place of a TYPE_CHECKING block."""
        node = self.generic_visit(node)
        test = node.test
        name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
        return node.orelse if name == "TYPE_CHECKING" else node


def stage_code(stage: str, architecture: str | None = None, method: str | None = None) -> Code:
    """Return the code behind a stage of a run.

    Args:
        stage: a key of STARTS.
        architecture: the run's kind of network, where the stage builds it.
        method: the run's method, where the stage builds it.

    Raises:
        FathomError: there is no such architecture or method.
    """
    named = ((MODELS, architecture), (METHODS, method))
    return closure((*STARTS[stage], *(f"{room}.{name}" for room, name in named if name)))


def closure(starts: Iterable[str], package: Path = PACKAGE) -> Code:
    """Hash the modules that are reached from `starts` by static imports inside the package.

    Imports inside functions count as well. What a module gets from elsewhere does not: the versions
    of other packages are recorded beside the hash.

    Args:
        starts: full names of the modules to start from.
        package: the folder of the package; its name is the first part of every module's name.

    Raises:
        FathomError: a module to start from does not exist.
    """
    waiting = list(starts)
    for name in waiting:
        if _file(name, package) is None:
            raise FathomError(
                f"no module '{name}'", str(package), "name a module by its full dotted name"
            )
    trees: dict[str, ast.AST] = {}
    while waiting:
        name = waiting.pop()
        file = _file(name, package)
        if name in trees or file is None:
            continue
        tree = _Essence().visit(ast.parse(file.read_text(encoding="utf-8"), str(file)))
        trees[name] = tree
        waiting.extend(_parents(name))
        waiting.extend(_imports(tree, name, is_package=file.name == "__init__.py"))
    digest = hashlib.sha256()
    for name in sorted(trees):
        digest.update(f"{name}\n{ast.dump(trees[name])}\n".encode())
    version = ".".join(platform.python_version_tuple()[:2])
    return Code(digest.hexdigest(), version, tuple(sorted(trees)))


def _file(name: str, package: Path) -> Path | None:
    """Return the file of a module of the package, or None where `name` is no such module."""
    first, *rest = name.split(".")
    if first != package.name:
        return None
    folder = package.joinpath(*rest)
    for file in (folder / "__init__.py", folder.with_suffix(".py")):
        if file.is_file() and (rest or file.name == "__init__.py"):
            return file
    return None


def _parents(name: str) -> list[str]:
    """Return the packages that Python executes before a module."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def _imports(tree: ast.AST, name: str, is_package: bool) -> list[str]:
    """Return every module that a module's import statements may mean; some may not exist.

    Args:
        tree: the module's syntax tree.
        name: the module's name, to which relative imports are relative.
        is_package: whether the module is a package's own file.
    """
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found += [*_parents(alias.name), alias.name]
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                parts = name.split(".")
                above = parts[: len(parts) - node.level + is_package]
                source = ".".join([*above, source] if source else above)
            found.append(source)
            found += [f"{source}.{alias.name}" for alias in node.names]
    return found
