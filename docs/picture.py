"""Pictures for docs/images, taken by Chromium (Debian's package is chromium).

    python -m docs.picture page results/deep/transparent_attention.html
    python -m docs.picture terminal reproduce.log

The first takes the pictures of a paper's page, which whoever trained the scale `deep` has. The
second writes the log of `make reproduce` as a page, and takes its picture; that has the SHA-256 of
the page, by which a test finds that it is stale.
"""

import json
import re
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from fathom.io.files import sha256

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
TERMINAL = IMAGES / "terminal.html"
# Of each picture: the address in its page, whether it is dark, and which elements it has.
PICTURES = {
    "terminal": ("", True, ("pre",)),
    "page_light": ("", False, (".grid",)),
    "page_dark": ("", True, (".grid",)),
    "page_head": ("", False, ("header",)),
    "page_cell": (
        "#table1-0-3-3",
        False,
        ("#table1 .grid", "aside:has(:target) h2", "aside:has(:target) dl"),
    ),
}
TAKEN_OF = "page"  # the key of the page's hash in a picture
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
COLOURS = 128  # of a picture, which is small then
WIDTH, EDGE = 1400, 16  # pixels of a window, and around a picture
LOWEST = 2400  # pixels of a page in which its first table begins
LIMIT = 300  # seconds
# What a page is asked: where elements are, once the page has followed its address.
_ASKED = """<script>addEventListener('load', () => setTimeout(() => {
const boxes = %s.map(each => document.querySelector(each).getBoundingClientRect())
const edge = (name, of) => Math.round(of(...boxes.map(box => box[name])))
console.log('FOUND ' + JSON.stringify(
[edge('left', Math.min), edge('top', Math.min), edge('right', Math.max), edge('bottom', Math.max)]))
}, 500))</script></body>"""
# From which line on the picture has the log of `make reproduce`, and how it looks.
_SHOWN = "== 12 trainings"
_LOOK = "width:fit-content;white-space:pre-wrap;overflow-wrap:anywhere;font:14px/1.5 monospace"
_FOUND = re.compile(r'"FOUND (.*)", source:')


def take(name: str, page: Path) -> None:
    """Write one of the pictures, of a page."""
    address, dark, elements = PICTURES[name]
    file = IMAGES / f"{name}.png"
    with TemporaryDirectory() as folder:
        copy = Path(folder) / page.name
        text, asked = page.read_text(encoding="utf-8"), _ASKED % json.dumps(elements)
        copy.write_text(text.replace("</body>", asked), encoding="utf-8")
        command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu"]
        command += ["--hide-scrollbars", f"--window-size={WIDTH},{LOWEST}"]
        command += [f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
        command += ["--virtual-time-budget=5000", "--enable-logging=stderr"]
        command += [f"--screenshot={file}", copy.as_uri() + address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    left, top, right, bottom = json.loads(_FOUND.findall(done.stderr)[-1])
    box = (max(left - EDGE, 0), max(top - EDGE // 4, 0), right + EDGE, bottom + EDGE // 2)
    about = PngInfo()
    about.add_text(TAKEN_OF, sha256(page))
    picture = Image.open(file).convert("RGB").crop(box).quantize(COLOURS)
    picture.save(file, optimize=True, pnginfo=about)


def show(log: Path) -> None:
    """Write the page of a terminal with the log of `make reproduce`, without its installation."""
    text = "$ make reproduce\n…\n" + "".join(log.read_text(encoding="utf-8").partition(_SHOWN)[1:])
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>make reproduce</title>'
    style = "<style>html{color-scheme:light dark}</style>"
    body = f'<body><pre style="{_LOOK}">{escape(text.strip())}</pre></body></html>'
    TERMINAL.write_text(f"{head}{style}{body}\n", encoding="utf-8")


def main() -> None:
    """Take the pictures that the command line names, of the file that it names."""
    kind, file = sys.argv[1:]
    if kind == "terminal":
        show(Path(file))
    page = TERMINAL if kind == "terminal" else Path(file)
    for name in PICTURES:
        if name.startswith(kind):
            take(name, page)


if __name__ == "__main__":
    main()
