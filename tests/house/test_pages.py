"""The pages of docs/ that are generated are those that config and code would give now."""

import pytest

from tests.house.pages import PAGES
from tests.house.tree import ROOT
from tests.support.own_project import own_project


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_fresh(name):
    path = ROOT / name
    written = path.read_text(encoding="utf-8") if path.exists() else "missing"
    assert written == PAGES[name](own_project()), f"{name} is stale; run make pages"
