"""The index of equations: which function computes each, and which test checks it.

Both have a tag such as [<paper> Eq. 5], or [<paper> L_K] where the paper gives no number. A
function has it in its docstring, a test in its docstring or in the comment before it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fathom.config.project import Project
from fathom.io.errors import FathomError, nearest
from fathom.results.recipe import PACKAGE

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class TaggedPlace:
    """A function, class or line that names an equation: its file, line and name."""

    file: str
    line: int
    name: str


@dataclass(frozen=True)
class EquationEntry:
    """One equation of a paper, the functions that compute it and the tests that check it."""

    paper: str
    name: str
    title: str
    reason: str
    functions: tuple[TaggedPlace, ...]
    tests: tuple[TaggedPlace, ...]

    @property
    def uncomputed(self) -> str:
        """Why no function computes it."""
        return self.reason or "no function has its tag"


def entries(project: Project, paper: str, number: str | None = None) -> list[EquationEntry]:
    """Return the equations of a paper, or one by its number or symbol, as the paper prints it."""
    if paper not in project.papers:
        raise FathomError(f"no paper '{paper}'", "where", nearest(paper, project.papers))
    equations = project.papers[paper].about.equations
    name = _name(number) if number else None
    if name is not None and name not in equations:
        # A number is not nearly another number.
        remedy = nearest("" if name != number else name, equations)
        raise FathomError(f"no equation '{number}'", paper, remedy)
    # An installed package has its code elsewhere, and no tests.
    library, names = project.root / "lib", "|".join(map(re.escape, equations))
    tag = re.compile(rf"\[{re.escape(paper)} ({names})\b[^\]]*\]")
    places: dict[tuple[str, bool], dict[TaggedPlace, None]] = {}
    for folder in (library if library.is_dir() else PACKAGE, project.root / "tests"):
        for path in sorted(folder.rglob("*.py")):
            text, file = path.read_text(encoding="utf-8"), str(path.relative_to(folder.parent))
            if f"[{paper} " in text:
                is_test = folder.name == "tests"
                for key, node in (_tests if is_test else _functions)(text, tag):
                    place = TaggedPlace(file, node.lineno, node.name)
                    places.setdefault((key, is_test), {})[place] = None
    return [
        EquationEntry(
            paper=paper,
            name=key,
            title=equation.title,
            reason=equation.reason,
            functions=tuple(places.get((key, False), ())),
            tests=tuple(places.get((key, True), ())),
        )
        for key, equation in equations.items()
        if name in (None, key)
    ]


def _name(number: str) -> str:
    """Return an equation's name as paper.yaml has it: of `5`, `(5)`, `Eq.5` or `alg 2`."""
    match = re.fullmatch(r"\(?(eq|alg|)[a-z]*\.?\s*(\d+)\)?", number.strip(), re.IGNORECASE)
    return f"{match[1].capitalize() or 'Eq'}. {match[2]}" if match else number


def markdown(project: Project) -> str:
    """Return the page of every paper's equations; links to code and tests begin at docs/."""
    parts = ["# Equations", "", "The function that computes each equation, and its tests."]
    for paper in project.papers.values():
        parts += ["", f"## {paper.about.title}", "", "| equation | title | function | test |"]
        parts += ["|---|---|---|---|"]
        for entry in entries(project, paper.name):
            fields = [entry.name, entry.title]
            fields += [_links(entry.functions) or f"*{entry.uncomputed}*", _links(entry.tests)]
            parts.append(f"| {' | '.join(fields)} |")
    return "\n".join(parts) + "\n"


def line(entry: EquationEntry) -> str:
    """Return one line for a terminal: the tag, title, function, test."""
    functions = [f"{place.file}:{place.line} {place.name}" for place in entry.functions]
    tests = [f"tested at {place.file}:{place.line}" for place in entry.tests]
    where = "; ".join(functions) or f"not computed: {entry.uncomputed}"
    return "; ".join([f"[{entry.paper} {entry.name}] {entry.title}: {where}", *tests])


def _links(places: tuple[TaggedPlace, ...]) -> str:
    # Lines move with every edit; the file and the name do not.
    return "<br>".join(f"[{place.name}](../{place.file})" for place in places)


def _functions(text: str, tag: re.Pattern) -> Iterator[tuple[str, Definition]]:
    """Yield each tag of a docstring with its function or class."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Definition):
            for match in tag.finditer(ast.get_docstring(node) or ""):
                yield match[1], node


def _tests(text: str, tag: re.Pattern) -> Iterator[tuple[str, Definition]]:
    """Yield the test that each tag is in, or the first one after it."""
    tests = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    for number, row in enumerate(text.split("\n"), 1):
        after = [node for node in tests if (node.end_lineno or 0) >= number]
        for match in tag.finditer(row) if after else ():
            yield match[1], min(after, key=lambda node: node.lineno)
