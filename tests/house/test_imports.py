"""Imports go downwards, in no circle, and each room takes only what it may from outside."""

import sys
from pathlib import Path

from tests.house.tree import LEVELS, ROOT, Source, imported, library, listed

NETWORKS = frozenset({"torch", "fairseq", "numpy"})
# urllib3's errors pass through requests unchanged.
FETCHING = frozenset({"pooch", "requests", "urllib3"})
OUTSIDE_PACKAGES = {
    "io": frozenset({"pandas"}),
    "config": frozenset({"yaml", "pydantic", "annotated_types"}),
    "results": frozenset({"pydantic"}),
    "data": frozenset({"requests", "urllib3", "pyarrow", "polib", "sacrebleu"})
    | {"sentencex", "sentencepiece", "numpy", "torch", "fairseq"},
    "nn": NETWORKS,
    "methods": frozenset({"torch"}),
    "cluster": frozenset(),
    "scoring": frozenset({"sacrebleu", "sacremoses", "numpy", "scipy"}),
    "train": NETWORKS | {"yaml", "rich"},
    "artefacts": frozenset({"pydantic", "pandas", "numpy", "jinja2", "matplotlib"})
    | {"tueplots", "tensorboardX"},
    "decode": NETWORKS | {"ctranslate2"},
    "workflow": frozenset(),
    "cli": frozenset({"typer", "rich", "click"}),
}


def upward(root: Path) -> list[str]:
    """Return imports of a room that is not below, and of another method."""
    found = []
    for source in library(root):
        if source.room and source.room not in LEVELS:
            found.append(f"{source.name}:1: room '{source.room}' has no level; add it to LEVELS")
            continue
        for node, name in imported(source):
            first, _, rest = name.partition(".")
            room = rest.split(".")[0]
            if first != "fathom" or room not in LEVELS:
                continue
            other = room != source.room
            if other and LEVELS[room] >= LEVELS.get(source.room, 99):
                found.append(
                    f"{source.at(node)}: {source.room} imports {name}, which is not below it; "
                    "move what is shared down, or meet in a file"
                )
            own = source.module.split(".")[2:3]
            if room == source.room == "methods" and rest.split(".")[1:2] not in (own, ["shared"]):
                found.append(
                    f"{source.at(node)}: a method imports {name}; move what both need to "
                    "methods/shared/"
                )
    return found


def foreign(root: Path) -> list[str]:
    """Return imports of packages that the room may not use."""
    found = []
    for source in library(root):
        allowed = OUTSIDE_PACKAGES.get(source.room, frozenset())
        for node, name in imported(source):
            package = name.split(".")[0]
            if package == "fathom" or package in sys.stdlib_module_names or package in allowed:
                continue
            found.append(
                f"{source.at(node)}: {source.room or 'the package'} imports {package}; "
                f"it may use {', '.join(sorted(allowed)) or 'the standard library'}"
            )
    return found


def circles(root: Path) -> list[str]:
    """Return modules that reach themselves through imports."""
    by_name = {source.module: source for source in library(root)}
    reached = {name: _targets(source, by_name) for name, source in by_name.items()}
    found, done = [], set()
    for start in sorted(reached):
        path = _way_back(start, reached, done)
        if path:
            place = by_name[start].name
            found.append(f"{place}:1: a circle, {' -> '.join(path)}; move what both need down")
            done |= set(path)
    return found


def _targets(source: Source, by_name: dict[str, Source]) -> set[str]:
    names = {name for _, name in imported(source)}
    names |= {name.rpartition(".")[0] for name in names}
    return {name for name in names if name in by_name and name != source.module}


def _way_back(start: str, reached: dict[str, set[str]], done: set[str]) -> list[str]:
    """Return a path from a module to itself, or nothing."""
    waiting, seen = [[start]], set()
    while waiting:
        path = waiting.pop()
        for name in sorted(reached[path[-1]] - done):
            if name == start:
                return [*path, start]
            if name not in seen:
                seen.add(name)
                waiting.append([*path, name])
    return []


def test_imports_go_downwards():
    found = upward(ROOT)
    assert not found, listed(found)


def test_an_upward_import_inside_a_function_is_found(small):
    root = small({"lib/fathom/workflow/plan.py": "def f():\n    from fathom.cli import options\n"})
    assert upward(root) == [
        "lib/fathom/workflow/plan.py:2: workflow imports fathom.cli.options, "
        "which is not below it; move what is shared down, or meet in a file"
    ]


def test_a_method_imports_its_own_folder_and_what_is_shared_and_no_other_method(small):
    root = small(
        {
            "lib/fathom/methods/deep/method.py": """
                from fathom.methods.deep import equations
                from fathom.methods.shared.masks import mask
                from fathom.methods.wide import Wide
                """
        }
    )
    assert [each.split(";")[0] for each in upward(root)] == [
        "lib/fathom/methods/deep/method.py:3: a method imports fathom.methods.wide.Wide"
    ]


def test_rooms_of_one_level_are_strangers(small):
    root = small({"lib/fathom/nn/network.py": "from fathom.data import fused\n"})
    assert len(upward(root)) == 1


def test_each_room_takes_only_its_packages():
    found = foreign(ROOT)
    assert not found, listed(found)


def test_a_foreign_package_is_found(small):
    root = small({"lib/fathom/methods/gates.py": '"""Gates."""\n\nimport fairseq.modules\n'})
    assert foreign(root) == [
        "lib/fathom/methods/gates.py:3: methods imports fairseq; it may use torch"
    ]


def test_no_module_reaches_itself():
    found = circles(ROOT)
    assert not found, listed(found)


def test_a_circle_is_found(small):
    root = small(
        {
            "lib/fathom/data/one.py": "from fathom.data import two\n",
            "lib/fathom/data/two.py": "from fathom.data.three import x\n",
            "lib/fathom/data/three.py": "import fathom.data.one\n",
        }
    )
    assert len(circles(root)) == 1
