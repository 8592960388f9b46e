"""The site of docs/, built and opened in a browser from the disk."""

import os
import re
import subprocess

import pytest

from docs import site
from tests.house.tree import ROOT
from tests.support.browser import measured, needs_chromium

pytestmark = pytest.mark.slow

BUILDER = ROOT / ".venv-docs" / "bin" / "python"
ITEM = re.compile(r"( *)([-*+]|\d+\.) ")
WIDTHS = (380, 1400)
# What is wider than the window without bars of its own, and pictures that are not there.
WRONG = """
    const root = page.documentElement;
    const lost = [...page.images].filter(image => !image.complete || image.naturalWidth === 0);
    const wide = root.scrollWidth > root.clientWidth ? [root.scrollWidth] : [];
    return wide.concat(lost.map(image => image.src));
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if not BUILDER.exists():
        pytest.skip("make docs installs what builds the site")
    folder = tmp_path_factory.mktemp("site")
    words = [str(BUILDER), "-m", "mkdocs", "--quiet", "build", "--strict", "-d", str(folder)]
    more = {"PYTHONPATH": str(ROOT / "lib"), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=ROOT, env=os.environ | more, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def written() -> dict[str, str]:
    """Return the Markdown of each page but those of the library and of files elsewhere."""
    pages = {path.name: path.read_text(encoding="utf-8") for path in site.DOCS.glob("*.md")}
    return pages | {there: text for there, text in site.made().items() if "/" not in there}


def items(markdown: str) -> int:
    """Return how many list items a page of Markdown has outside of its code."""
    count, is_list, is_code = 0, False, False
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif is_code or not line.strip():
            continue
        elif (item := ITEM.match(line)) and (is_list or len(item[1]) < 4):
            count, is_list = count + 1, True
        elif not line.startswith(" "):
            is_list = False
    return count


def test_items_are_counted_below_others_and_not_in_code():
    assert items("a\n\n- b\n  c\n    - d\n\n    - e\n\nf\n\n    - code\n\n```\n- g\n```\n1. h") == 4


def test_each_item_of_a_list_is_an_item_on_the_site(built):
    found = {}
    for name, text in written().items():
        page = (built / name).with_suffix(".html").read_text(encoding="utf-8")
        article = page.partition("<article")[2].partition("</article>")[0]
        if (shown := len(re.findall(r"<li\b", article))) != items(text):
            found[name] = f"{items(text)} items, {shown} shown"
    assert found == {}


@needs_chromium
def test_no_page_is_wider_than_a_phone_or_a_window_and_each_picture_is_there(built, tmp_path):
    pages = sorted(built.rglob("*.html"))
    found = iter(measured(tmp_path, pages, WIDTHS, WRONG)[0])
    wrong = {(path.name, width): next(found) for path in pages for width in WIDTHS}
    assert {key: value for key, value in wrong.items() if value} == {}
