"""Figure kinds are modules, imported by name."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fathom.errors import FathomError
from fathom.figures.kinds import draw, names
from fathom.papers.paper import Artefact

ROOT = Path(__file__).parents[2]
FIGURE = Artefact("f", "grouped_bars", "T", "C", "§1", {}, (), {}, None, None, None)


def test_the_schema_knows_every_kind():
    path = ROOT / "workflow" / "schemas" / "paper.schema.yaml"
    schema = yaml.safe_load(path.read_text(encoding="utf-8"))
    kinds = schema["$defs"]["artefact"]["properties"]["kind"]["enum"]
    assert set(kinds) == {"table", *names()}


@pytest.mark.parametrize("kind", ["grouped_bar", "style", "kinds"])
def test_an_unknown_kind_is_told_the_nearest(kind, tmp_path):
    with pytest.raises(FathomError, match=f"no figure kind '{kind}'"):
        draw(dataclasses.replace(FIGURE, kind=kind), tmp_path / "f")


def test_asking_for_names_imports_no_kind_and_no_matplotlib():
    code = (
        "import sys; from fathom.figures.kinds import names; names();"
        "sys.exit(any(m in sys.modules for m in ('matplotlib', 'fathom.figures.grouped_bars')))"
    )
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "lib")})
    assert done.returncode == 0
