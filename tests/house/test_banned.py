"""What must not exist: names that say nothing, open namespaces, second places for a default."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from fathom.config.schema import run as settings
from fathom.config.schema.section import Section
from tests.house.tree import (
    ROOT,
    Function,
    Source,
    files,
    imported,
    library,
    listed,
    parameters,
    sources,
)

EMPTY_NAMES = {"util", "utils", "helper", "helpers", "misc", "common", "base", "core"}
EMPTY_NAMES |= {"manager", "managers", "handler", "handlers"}
NAMESPACES = {"args", "cfg", "kwargs", "opts", "namespace"}
# No code asks which scale it is: what differs is a setting.
SCALES = {path.stem for path in (ROOT / "config" / "scales").glob("*.yaml")} | {"mini"}
SETTINGS = {
    name
    for kind in vars(settings).values()
    if isinstance(kind, type) and issubclass(kind, Section)
    for name in kind.model_fields
} | {"settings"}
VAGUE_ERRORS = {"ValueError", "KeyError", "Exception", "AssertionError"}
EMPTY_CONTAINERS = {"dict", "list", "set", "defaultdict", "OrderedDict", "Counter"}
OPEN_END = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def _checks_config(source: Source) -> set[str]:
    """Return the errors that pydantic turns into findings, in a file that uses pydantic."""
    names = {name.partition(".")[0] for _, name in imported(source)}
    return {"ValueError"} if "pydantic" in names else set()


def _last(node: ast.AST) -> str:
    """Return the last part of a dotted name, for example `scale` of `self.spec.scale`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _calls(source: Source) -> Iterator[tuple[ast.Call, str, set[str]]]:
    """Yield each call with its function's last name and its keywords."""
    for node in source.nodes:
        if isinstance(node, ast.Call):
            yield node, _last(node.func), {each.arg for each in node.keywords if each.arg}


def empty_names(source: Source) -> Iterator[tuple[ast.AST | int, str]]:
    """Modules, folders and classes whose name says nothing."""
    inside = source.path.relative_to(source.root / "lib").with_suffix("").parts
    for part in {word for name in inside for word in name.split("_")} & EMPTY_NAMES:
        yield 1, f"'{part}' says nothing; name the file after what it does"
    for node in source.nodes:
        if isinstance(node, ast.ClassDef):
            words = {word.lower() for word in re.findall(r"[A-Z][a-z]+", node.name)}
            for word in words & EMPTY_NAMES:
                yield node, f"'{word}' says nothing; name the class after what it is"


def namespaces(source: Source) -> Iterator[tuple[ast.AST | int, str]]:
    """Parameters that hide what a function takes."""
    for node in source.nodes:
        if isinstance(node, Function):
            if node.args.kwarg:
                yield node, f"{node.name} takes **{node.args.kwarg.arg}; name its keywords"
            for each in parameters(node):
                if each.arg in NAMESPACES and each is not node.args.kwarg:
                    yield node, f"{node.name} takes '{each.arg}'; name what it takes"


def second_defaults(source: Source) -> Iterator[tuple[ast.AST | int, str]]:
    """Defaults for settings outside config/."""
    for node, name, _ in _calls(source):
        second = node.args[1] if len(node.args) == 3 else None
        if name == "getattr" and isinstance(second, ast.Constant) and second.value in SETTINGS:
            yield node, f"a second default for '{second.value}'; read the attribute itself"


@cache
def constants(root: Path) -> dict[str, set[str]]:
    """Return the texts of each constant of the library, by the constant's name."""
    texts: dict[str, set[str]] = {}
    for source in library(root):
        for node in source.tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    texts.setdefault(_last(target), set()).update(_texts(node.value, {}))
    return texts


def _texts(node: ast.AST, known: dict[str, set[str]]) -> set[str]:
    """Return the texts of a literal, of what it holds, or of the constant that it names."""
    if isinstance(node, ast.Constant):
        return {node.value} if isinstance(node.value, str) else set()
    if isinstance(node, ast.Name | ast.Attribute):
        return known.get(_last(node), set())
    if isinstance(node, ast.Tuple | ast.Set | ast.List):
        return set().union(*(_texts(each, known) for each in node.elts))
    if isinstance(node, ast.Dict):
        return set().union(*(_texts(each, known) for each in node.keys if each))
    if isinstance(node, ast.Call):
        return set().union(*(_texts(each, known) for each in node.args))
    return set()


def questions(source: Source) -> Iterator[tuple[ast.AST | int, str]]:
    """Branches and look-ups that ask which scale it is, by a name or by a constant."""
    known = constants(source.root)
    for node in source.nodes:
        if isinstance(node, ast.Compare):
            sides: list[ast.AST] = [node.left, *node.comparators]
        elif isinstance(node, ast.Match):
            patterns = [each for case in node.cases for each in ast.walk(case.pattern)]
            sides = [node.subject, *(p.value for p in patterns if isinstance(p, ast.MatchValue))]
        elif isinstance(node, ast.Subscript):
            sides = [node.value, node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            sides = [node.func.value, *node.args]
        else:
            continue
        about = any("scale" in _last(part).lower() for side in sides for part in ast.walk(side))
        # A constant alone may be anything: the folder of papers is named as a scale is.
        if about and SCALES & set().union(*(_texts(side, known) for side in sides)):
            yield node, "asks which scale it is; make what differs a key of config/scales/"


def vague_errors(source: Source) -> Iterator[tuple[ast.AST | int, str]]:
    """Errors that tell a user nothing, and nets that catch everything."""
    door = source.name == "lib/fathom/cli/main.py"
    for node in source.nodes:
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if _last(raised) in VAGUE_ERRORS - _checks_config(source):
                yield node, f"raises {_last(raised)}; raise FathomError(what, where, remedy)"
        if isinstance(node, ast.Assert):
            yield node, "assert goes away with -O; raise FathomError(what, where, remedy)"
        if isinstance(node, ast.ExceptHandler) and not door:
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(kind is None or _last(kind) in ("Exception", "BaseException") for kind in kinds):
                yield node, "catches everything; name the exceptions"


def registries(source: Source) -> Iterator[tuple[ast.AST | int, str]]:
    """Empty containers at module level, which can only be filled from elsewhere; `global`."""
    for node in source.tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            value = node.value
            empty = isinstance(value, ast.Dict | ast.List) and ast.unparse(value) in ("{}", "[]")
            called = isinstance(value, ast.Call) and not value.args
            if empty or (called and _last(value.func) in EMPTY_CONTAINERS):
                yield node, "a global container that imports fill; pass it, or write its items here"
    for node in source.nodes:
        if isinstance(node, ast.Global):
            yield node, "changes a global; pass and return it"


def reexports(source: Source) -> Iterator[tuple[ast.AST | int, str]]:
    """Packages that do more than say what they are; star imports."""
    if source.path.name == "__init__.py":
        for node in source.tree.body:
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                yield node, "a package's own file holds its docstring only; import the module"
        if not ast.get_docstring(source.tree):
            yield 1, "the package says nothing; give it a docstring"
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names):
            yield node, "imports everything; name what you take"


def traps(source: Source) -> Iterator[tuple[ast.AST | int, str]]:
    """Calls whose defaults lose or invent data."""
    for node, name, keywords in _calls(source):
        whole = ast.unparse(node.func)
        if name == "splitlines":
            yield node, 'splitlines also splits at U+2028; use records.files or split("\\n")'
        if whole == "torch.load" and "weights_only" not in keywords:
            yield node, "loads what runs code; give weights_only=True"
        if whole in ("json.dump", "json.dumps") and "allow_nan" not in keywords:
            yield node, "NaN is not JSON; give allow_nan=False"
        if name in ("read_csv", "read_table") and "keep_default_na" not in keywords:
            yield node, "'nan' is a language code; give keep_default_na=False, dtype=str"
        if whole in ("eval", "exec"):
            yield node, "runs text as code; parse it"
        if whole.startswith("pickle."):
            yield node, "pickle is no interface; write text, JSON or a checkpoint"


RULES = (
    empty_names,
    namespaces,
    second_defaults,
    questions,
    vague_errors,
    registries,
    reexports,
    traps,
)


def broken(root: Path) -> list[str]:
    """Return everything under lib/ that breaks one of the rules."""
    return [
        f"{source.at(place)}: {what}"
        for source in library(root)
        for rule in RULES
        for place, what in rule(source)
    ]


def open_ends(root: Path) -> list[str]:
    """Return notes of work that was left."""
    places = files(root, "lib", "workflow", "config", "envs", suffixes=(".py", ".smk", ".yaml"))
    places += [source.path for source in sources(root, "tests") if "house" not in source.path.parts]
    return [
        f"{path.relative_to(root)}:{number}: work left in a comment; do it or open an issue"
        for path in places
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if OPEN_END.search(line)
    ]


def test_nothing_banned_is_in_the_library():
    found = broken(ROOT)
    assert not found, listed(found)


def test_no_work_is_left_in_comments():
    found = open_ends(ROOT)
    assert not found, listed(found)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("class FileManager: pass", "'manager' says nothing"),
        ("def f(**settings): pass", "takes **settings"),
        ("def f(args): pass", "takes 'args'"),
        ("x = getattr(model, 'dropout', 0.1)", "a second default for 'dropout'"),
        ("y = 1 if spec.scale == 'tiny' else 2", "asks which scale"),
        ("y = scale_name in ('tiny', 'mini')", "asks which scale"),
        ("JUDGED = 'paper'\ny = scale == JUDGED", "asks which scale"),
        ("JUDGED_SCALE = 'paper'\ny = name == JUDGED_SCALE", "asks which scale"),
        ("JUDGED = frozenset({'paper'})\ny = self.scale.name in JUDGED", "asks which scale"),
        ("y = {'tiny': 1, 'paper': 2}[scale]", "asks which scale"),
        ("y = {'tiny': 1}.get(project.scale)", "asks which scale"),
        ("match scale:\n    case 'tiny':\n        y = 1", "asks which scale"),
        ("raise ValueError('no')", "raises ValueError"),
        ("assert x", "assert goes away"),
        ("try:\n    f()\nexcept Exception:\n    pass", "catches everything"),
        ("KINDS = {}", "a global container"),
        ("from os import *", "imports everything"),
        ("x = text.splitlines()", "splitlines also splits"),
        ("x = torch.load(path)", "give weights_only=True"),
        ("x = json.dumps(value)", "NaN is not JSON"),
        ("x = pandas.read_csv(path)", "language code"),
        ("x = pickle.loads(text)", "pickle is no interface"),
    ],
)
def test_each_banned_thing_is_found(small, line, what):
    root = small({"lib/fathom/data/sample.py": f'"""A sample."""\n\n{line}\n'})
    [found] = broken(root)
    assert re.match(r"lib/fathom/data/sample.py:\d: ", found)
    assert what in found


def test_a_constant_of_another_file_that_is_a_scales_name_is_found(small):
    root = small(
        {
            "lib/fathom/data/names.py": '"""Names."""\n\nJUDGED = "paper"\n',
            "lib/fathom/data/judge.py": """
                \"\"\"Judge.\"\"\"

                from fathom.data import names

                RIGHT = "right"

                def judged(scale: str, side: str) -> bool:
                    return scale == names.JUDGED or side == RIGHT
                """,
        }
    )
    assert [each.split(":")[:2] for each in broken(root)] == [["lib/fathom/data/judge.py", "8"]]


def test_an_empty_file_name_and_a_reexport_are_found(small):
    root = small(
        {
            "lib/fathom/data/text_utils.py": "",
            "lib/fathom/data/__init__.py": '"""Text."""\nfrom fathom.data.clean import clean\n',
        }
    )
    assert [each.split(":")[0] for each in broken(root)] == [
        "lib/fathom/data/__init__.py",
        "lib/fathom/data/text_utils.py",
    ]


def test_work_left_in_a_comment_is_found(small):
    root = small({"workflow/rules/runs.smk": "# TODO: gpu\n"})
    assert len(open_ends(root)) == 1
