"""Pictures of the first table of a paper's page, light and dark, by Chromium.

    python -m docs.picture results/tiny_long/latent_depth.html docs/images/page

writes docs/images/page_light.png and page_dark.png. Debian's package is chromium.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
COLOURS = 48  # of a picture, which is small then
WIDTH, HEIGHT, EDGE = 1400, 900, 16  # pixels of a window, and around a picture
LOWEST = 2400  # pixels of a page in which its first table begins
LIMIT = 120  # seconds
# What each page is asked, before the script of `look`.
_ASKED = """addEventListener('load', () => {
const found = {width: innerWidth, dark: matchMedia('(prefers-color-scheme: dark)').matches}
found.points = []
found.overflow = document.body.scrollWidth - innerWidth
found.missing = [...document.querySelectorAll('a[href^="#"]')]
  .map(link => link.getAttribute('href').slice(1))
  .filter(name => name !== 'closed' && !document.getElementById(name))
%s
console.log('FOUND ' + JSON.stringify(found))
})"""
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_BOX = """const {left, top, right} = document.querySelector('.tools').getBoundingClientRect()
const {bottom} = document.querySelector('.grid').getBoundingClientRect()
found.box = [left, top, right, bottom].map(Math.round)"""
_FOUND = re.compile(r'"FOUND (.*)", source:')


def photograph(address: str, picture: Path, width: int, height: int, dark: bool) -> str:
    """Write a picture of a window with a page; return what the page says on its console.

    Args:
        address: of the page.
        picture: a PNG.
        width: of the window in pixels.
        height: of the window in pixels.
        dark: whether the system has dark colours.
    """
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--window-size={width},{height}", "--enable-logging=stderr"]
    command += [f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
    command += [f"--screenshot={picture}", address]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    return "\n".join(line for line in ended.stderr.splitlines() if "CONSOLE" in line)


def look(page: Path, folder: Path, script: str, width: int, dark: bool) -> dict[str, Any]:
    """Return what a script finds out about a page, and what the page says on its console.

    Page and copy are in frames, since a window is 500 pixels wide at least.
    """
    copy, frames = asked(page, folder, script), folder / "frames.html"
    size = f'style="width:{width}px;height:{HEIGHT}px;border:0"'
    shown = "".join(f'<iframe src="{each.as_uri()}" {size}></iframe>' for each in (page, copy))
    frames.write_text(f'<!doctype html><html style="color-scheme:light dark">{shown}', "utf-8")
    said = photograph(frames.as_uri(), folder / "page.png", 2 * WIDTH, HEIGHT, dark)
    (found,) = _FOUND.findall(said)
    rest = [line for line in said.splitlines() if not _FOUND.search(line)]
    return {**json.loads(found), "console": "\n".join(rest)}


def asked(page: Path, folder: Path, script: str) -> Path:
    """Write a copy of a page to a folder, with a script that sets properties of `found`.

    The copy lacks the policy that keeps other scripts out.
    """
    copy, text = folder / page.name, _POLICY.sub("", page.read_text(encoding="utf-8"))
    asked = f"<script>{_ASKED % script}</script></body>"
    copy.write_text(text.replace("</body>", asked), encoding="utf-8")
    return copy


def take(page: Path, stem: Path) -> None:
    """Write the pictures of a page's first table, below the line that explains it."""
    for name, dark in (("light", False), ("dark", True)):
        file = stem.with_name(f"{stem.name}_{name}.png")
        with TemporaryDirectory() as folder:
            copy = asked(page.resolve(), Path(folder), _BOX)
            (found,) = _FOUND.findall(photograph(copy.as_uri(), file, WIDTH, LOWEST, dark))
        left, top, right, bottom = json.loads(found)["box"]
        box = (left - EDGE, top - EDGE, right + EDGE, bottom + EDGE // 2)
        Image.open(file).convert("RGB").crop(box).quantize(COLOURS).save(file, optimize=True)


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
