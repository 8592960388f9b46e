"""The hash of a stage's code: what moves it and what does not."""

import textwrap
from pathlib import Path

import pytest

from fathom.errors import FathomError
from fathom.provenance import code_hash as closure
from fathom.provenance.code_hash import STARTS, Code

FILES = {
    "__init__.py": '"""A package."""\n',
    "work/__init__.py": '"""A room."""\n',
    "work/start.py": '''
        """Start here."""
        from __future__ import annotations

        from typing import TYPE_CHECKING

        from fathom.work import middle

        if TYPE_CHECKING:
            from fathom.work.only_typed import Shape


        def begin(shape: Shape) -> int:
            """Begin."""
            return middle.half(4)
        ''',
    "work/middle.py": '''
        """In the middle."""


        def half(number: int) -> int:
            """Return a half."""
            # Whole numbers only.
            from fathom.work.deep import two

            return number // two()
        ''',
    "work/deep.py": "def two():\n    return 2\n",
    "work/only_typed.py": "class Shape:\n    sides = 3\n",
    "work/stranger.py": "answer = 42\n",
    "methods/__init__.py": '"""Loaded by name."""\n',
    "methods/one.py": "rate = 0.5\n",
    "methods/other.py": "rate = 0.7\n",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    root = tmp_path / "fathom"
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return root


def code(package: Path) -> Code:
    return closure.closure(["fathom.work.start", "fathom.methods.one"], package)


def edit(package: Path, name: str, old: str, new: str) -> None:
    text = (package / name).read_text(encoding="utf-8")
    assert old in text
    (package / name).write_text(text.replace(old, new), encoding="utf-8")


def test_the_closure_follows_imports_also_inside_functions(package):
    assert code(package).modules == (
        "fathom",
        "fathom.methods",
        "fathom.methods.one",
        "fathom.work",
        "fathom.work.deep",
        "fathom.work.middle",
        "fathom.work.start",
    )


def test_a_module_that_is_loaded_by_name_belongs_to_the_closure(package):
    without = closure.closure(["fathom.work.start"], package)
    assert "fathom.methods.one" not in without.modules
    assert without.hash != code(package).hash


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("work/middle.py", "# Whole numbers only.", "# Another comment."),
        ("work/middle.py", "Return a half.", "Return one of two equal parts.\n\n    In full.\n"),
        ("work/middle.py", '"""In the middle."""\n', ""),
        ("work/middle.py", "number // two()", "(  number  //\n        two() )"),
        ("work/start.py", "import Shape", "import Shape, Other"),
        ("work/only_typed.py", "sides = 3", "sides = 4"),
        ("work/stranger.py", "42", "43"),
        ("methods/other.py", "0.7", "0.9"),
    ],
    ids=[
        "comment",
        "docstring",
        "no docstring",
        "layout",
        "type checking",
        "typed only",
        "stranger",
        "another method",
    ],
)
def test_an_edit_that_runs_nowhere_leaves_the_hash(package, name, old, new):
    before = code(package)
    edit(package, name, old, new)
    assert code(package) == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("methods/one.py", "0.5", "0.6"), ("work/deep.py", "return 2", "return 3")],
    ids=["own method", "module two imports away"],
)
def test_an_edit_of_what_runs_moves_the_hash(package, name, old, new):
    before = code(package)
    edit(package, name, old, new)
    assert code(package).hash != before.hash
    assert code(package).modules == before.modules


def test_the_other_branch_of_a_type_checking_block_counts(package):
    edit(
        package,
        "work/start.py",
        "    from fathom.work.only_typed import Shape\n",
        "    from fathom.work.only_typed import Shape\nelse:\n    import fathom.work.stranger\n",
    )
    assert "fathom.work.stranger" in code(package).modules
    assert "fathom.work.only_typed" not in code(package).modules


def test_relative_imports_are_followed(package):
    edit(package, "work/middle.py", "from fathom.work.deep import two", "from .deep import two")
    assert "fathom.work.deep" in code(package).modules
    (package / "work/__init__.py").write_text("from . import stranger\n", encoding="utf-8")
    assert "fathom.work.stranger" in code(package).modules


def test_the_hash_does_not_depend_on_the_order_of_starts(package):
    starts = ["fathom.methods.one", "fathom.work.start"]
    assert closure.closure(starts, package) == closure.closure(starts[::-1], package)


def test_a_start_that_does_not_exist_is_an_error(package):
    with pytest.raises(FathomError, match=r"no module 'fathom\.methods\.missing'"):
        closure.closure(["fathom.methods.missing"], package)
    with pytest.raises(FathomError, match="no module 'torch'"):
        closure.closure(["torch"], package)


def test_scoring_reaches_no_training_and_decoding_no_training_or_scoring():
    scoring = closure.stage_code("scoring").modules
    decoding = closure.stage_code("decoding").modules
    assert set(STARTS["scoring"]) <= set(scoring)
    assert not [name for name in scoring if name.startswith(("fathom.training", "fathom.models"))]
    assert not [name for name in decoding if name.startswith(("fathom.training", "fathom.scoring"))]
    assert not [name for name in (*scoring, *decoding) if name.startswith("fathom.cli")]
