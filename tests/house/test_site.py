"""The site of docs/, built and opened in a browser from the disk."""

import os
import subprocess

import pytest

from tests.house.tree import ROOT
from tests.support.browser import measured, needs_chromium

pytestmark = pytest.mark.slow

BUILDER = ROOT / ".venv-docs" / "bin" / "python"
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


@needs_chromium
def test_no_page_is_wider_than_a_phone_or_a_window_and_each_picture_is_there(built, tmp_path):
    pages = sorted(built.rglob("*.html"))
    found = iter(measured(tmp_path, pages, WIDTHS, WRONG)[0])
    wrong = {(path.name, width): next(found) for path in pages for width in WIDTHS}
    assert {key: value for key, value in wrong.items() if value} == {}
