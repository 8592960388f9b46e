"""What ruff does not find: second defaults, code that asks for a scale, calls that lose data."""

import ast
from collections.abc import Iterator

import pytest

from fathom.config.schema import run as settings
from tests.house.tree import ROOT, Source, library, listed

# No code asks which scale it is: what differs is a setting.
SCALES = {path.stem for path in (ROOT / "config" / "scales").glob("*.yaml")}
SETTINGS = {
    name for kind in vars(settings).values() for name in getattr(kind, "model_fields", ())
} | {"settings"}
Findings = Iterator[tuple[ast.AST | int, str]]


def _last(node: ast.AST) -> str:
    """Return the last part of a dotted name, for example `scale` of `self.spec.scale`."""
    return getattr(node, "attr", getattr(node, "id", ""))


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


@pytest.mark.parametrize("rule", [second_defaults, questions, traps])
def test_nothing_of_the_kind_is_in_the_library(rule):
    found = [f"{source.at(at)}: {what}" for source in library(ROOT) for at, what in rule(source)]
    assert not found, listed(found)


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (second_defaults, "x = getattr(model, 'dropout', 0.1)"),
        (questions, "y = 1 if spec.scale == 'tiny' else 2"),
        (questions, "y = scale_name in ('tiny', 'mini')"),
        (questions, "y = {'tiny': 1, 'paper': 2}[scale]"),
        (questions, "match scale:\n    case 'tiny':\n        y = 1"),
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
