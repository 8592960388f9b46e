"""The site of docs/: every page is in its menu, and no link leads out of it. Nothing is built."""

import re
from pathlib import Path

import pytest
import yaml

from docs.site import API, DOCS, LIBRARY, LINK, PAGES, SOURCE, described, linked, made, place, rooms
from tests.house.tree import ROOT

# Tags that only MkDocs reads are not needed here.
_TEXT = re.sub(r"!!\S+", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
SITE = yaml.safe_load(_TEXT)
MADE = {"settings.md"}  # by `make docs`; git does not keep it


def menu(entries=SITE["nav"]):
    """Yield the pages of the menu."""
    for entry in entries:
        for there in entry.values():
            yield from menu(there) if isinstance(there, list) else [there]


def test_the_menu_has_every_page_of_docs_once():
    pages = [*menu()]
    own = {path.name for path in DOCS.glob("*.md")}
    assert sorted(pages) == sorted({*own, *MADE, *PAGES.values(), f"{API}/"})


@pytest.mark.parametrize("name", [*PAGES, *(f"docs/{path.name}" for path in DOCS.glob("*.md"))])
def test_links_of_a_page_lead_to_places_of_the_site(name):
    pages, page = made(), place(ROOT / name)
    text = linked((ROOT / name).read_text(encoding="utf-8"), (ROOT / name).parent, page)
    for match in LINK.finditer(text):
        there = (Path("/", page).parent / match[2]).resolve().relative_to("/").as_posix()
        assert there in {*pages, *MADE} or (DOCS / there).is_file(), match[0]


def test_a_file_outside_of_docs_has_a_page_with_its_text():
    path = LIBRARY / "errors.py"
    assert place(path) == f"{SOURCE}/lib/fathom/io/errors.py.md"
    assert path.read_text(encoding="utf-8") in described(path)
    assert "- `papers/`" in described(ROOT / "config")
    assert linked("[a](../lib/fathom/io/errors.py#x)", DOCS, "a.md") == f"[a]({place(path)}#x)"
    assert linked("[a](https://example.org)", DOCS, "a.md") == "[a](https://example.org)"


def test_every_room_has_a_page_of_its_modules():
    assert "fathom.io.errors" in rooms()["errors"]
    assert "::: fathom.io.files" in made()[f"{API}/io.md"]


def test_nothing_is_fetched_when_the_site_is_read():
    assert SITE["theme"]["font"] is False
    assert "offline" in [*map(str, SITE["plugins"])]
    assert "http" not in str(SITE["extra_css"]) + str(SITE.get("extra_javascript", ""))
