"""What ruff does not find: names that say nothing, second defaults, asking for a scale, traps."""

import ast
import re
from collections.abc import Iterator

import pytest

from fathom.config.schema import run as settings
from tests.house.tree import ROOT, Function, Source, imported, library, listed, parameters

EMPTY_NAMES = {"util", "utils", "helper", "helpers", "misc", "common", "base", "core"}
EMPTY_NAMES |= {"manager", "managers", "handler", "handlers"}
NAMESPACES = {"args", "cfg", "kwargs", "opts", "namespace"}
# No code asks which scale it is: what differs is a setting.
SCALES = {path.stem for path in (ROOT / "config" / "scales").glob("*.yaml")}
SETTINGS = {
    name for kind in vars(settings).values() for name in getattr(kind, "model_fields", ())
} | {"settings"}
VAGUE_ERRORS = {"ValueError", "KeyError", "Exception", "AssertionError"}
Findings = Iterator[tuple[ast.AST | int, str]]


def _last(node: ast.AST) -> str:
    """Return the last part of a dotted name, for example `scale` of `self.spec.scale`."""
    return getattr(node, "attr", getattr(node, "id", ""))


def empty_names(source: Source) -> Findings:
    """Modules, folders and classes whose name says nothing; parameters that hide what is taken."""
    inside = source.path.relative_to(source.root / "lib").with_suffix("").parts
    for part in {word for name in inside for word in name.split("_")} & EMPTY_NAMES:
        yield 1, f"'{part}' says nothing; name the file after what it does"
    for node in source.nodes:
        if isinstance(node, ast.ClassDef):
            words = {word.lower() for word in re.findall(r"[A-Z][a-z]+", node.name)}
            for word in words & EMPTY_NAMES:
                yield node, f"'{word}' says nothing; name the class after what it is"
        if isinstance(node, Function):
            for name in {each.arg for each in parameters(node)} & NAMESPACES:
                yield node, f"{node.name} takes '{name}'; name what it takes"


def second_defaults(source: Source) -> Findings:
    """Defaults for settings outside config/."""
    for node in source.nodes:
        if not (isinstance(node, ast.Call) and _last(node.func) == "getattr"):
            continue
        if len(node.args) == 3 and getattr(node.args[1], "value", None) in SETTINGS:
            yield node, f"a second default for {ast.unparse(node.args[1])}; read the attribute"


def questions(source: Source) -> Findings:
    """Comparisons and look-ups that ask which scale it is."""
    for node in source.nodes:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Match):
            sides = [node.subject, *(case.pattern for case in node.cases)]
        elif isinstance(node, ast.Subscript):
            sides = [node.value, node.slice]
        else:
            continue
        parts = [part for side in sides for part in ast.walk(side)]
        texts = {part.value for part in parts if isinstance(part, ast.Constant)}
        if texts & SCALES and any("scale" in _last(part).lower() for part in parts):
            yield node, "asks which scale it is; make what differs a key of config/scales/"


def vague_errors(source: Source) -> Findings:
    """Errors that tell a user nothing; pydantic makes findings of ValueError."""
    pydantic = any(name.startswith("pydantic") for _, name in imported(source))
    for node in source.nodes:
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = _last(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
            if raised in VAGUE_ERRORS and not (pydantic and raised == "ValueError"):
                yield node, f"raises {raised}; raise FathomError(what, where, remedy)"


def reexports(source: Source) -> Findings:
    """Packages that give names of their modules, so that a name has two places."""
    for node in source.tree.body if source.path.name == "__init__.py" else ():
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{source.module}."):
            yield node, "a name of its module; import it from there"


def traps(source: Source) -> Findings:
    """Calls whose defaults lose or invent data."""
    for node in source.nodes:
        if not isinstance(node, ast.Call):
            continue
        whole, keywords = ast.unparse(node.func), {each.arg for each in node.keywords}
        if _last(node.func) == "splitlines":
            yield node, 'splitlines also splits at U+2028; use split("\\n")'
        if whole == "torch.load" and "weights_only" not in keywords:
            yield node, "loads what runs code; give weights_only=True"
        if whole in ("json.dump", "json.dumps") and "allow_nan" not in keywords:
            yield node, "NaN is not JSON; give allow_nan=False"
        if _last(node.func) in ("read_csv", "read_table") and "keep_default_na" not in keywords:
            yield node, "'nan' is a language code; give keep_default_na=False, dtype=str"


RULES = (empty_names, second_defaults, questions, vague_errors, reexports, traps)


@pytest.mark.parametrize("rule", RULES)
def test_nothing_of_the_kind_is_in_the_library(rule):
    found = [f"{source.at(at)}: {what}" for source in library(ROOT) for at, what in rule(source)]
    assert not found, listed(found)


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (empty_names, "class FileManager: pass"),
        (empty_names, "def f(**kwargs): pass"),
        (empty_names, "def f(args): pass"),
        (second_defaults, "x = getattr(model, 'dropout', 0.1)"),
        (questions, "y = 1 if spec.scale == 'tiny' else 2"),
        (questions, "y = scale_name in ('tiny', 'mini')"),
        (questions, "y = {'tiny': 1, 'paper': 2}[scale]"),
        (questions, "match scale:\n    case 'tiny':\n        y = 1"),
        (vague_errors, "raise ValueError('no')"),
        (reexports, "from fathom.data.clean import clean"),
        (traps, "x = text.splitlines()"),
        (traps, "x = torch.load(path)"),
        (traps, "x = json.dumps(value)"),
        (traps, "x = pandas.read_csv(path)"),
    ],
)
def test_each_of_them_is_found(small, rule, line):
    root = small({"lib/fathom/data/__init__.py": f'"""A sample."""\n\n{line}\n'})
    (source,) = library(root)
    assert len([*rule(source)]) == 1
