"""README and docs: what can be run is up to date, and links lead to files."""

import re

import pytest

from docs.readme_table import status
from fathom.config.load import load
from tests.house.tree import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")
IMAGE_BYTES = 100_000


def test_the_readme_says_what_can_be_run_today():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert status(load(ROOT)) in text, "README.md is stale; run make readme"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_images_are_small():
    sizes = {path.name: path.stat().st_size for path in (ROOT / "docs/images").glob("*")}
    assert {name: size for name, size in sizes.items() if size > IMAGE_BYTES} == {}
