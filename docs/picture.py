"""Pictures of the first table of a paper's page, light and dark, by Chromium.

    python -m docs.picture docs/results/deep/transparent_attention.html docs/images/page

writes docs/images/page_light.png and page_dark.png. Debian's package is chromium.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
COLOURS = 48  # of a picture, which is small then
WIDTH, EDGE = 1400, 16  # pixels of a window, and around a picture
LOWEST = 2400  # pixels of a page in which its first table begins
LIMIT = 120  # seconds
# What a page is asked: where the tools above its tables begin, and where the first table ends.
_ASKED = """<script>addEventListener('load', () => {
const {left, top, right} = document.querySelector('.tools').getBoundingClientRect()
const {bottom} = document.querySelector('.grid').getBoundingClientRect()
console.log('FOUND ' + JSON.stringify([left, top, right, bottom].map(Math.round)))
})</script></body>"""
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_FOUND = re.compile(r'"FOUND (.*)", source:')


def take(page: Path, stem: Path) -> None:
    """Write the pictures of a page's first table, below the line that explains it."""
    for name, dark in (("light", False), ("dark", True)):
        file = stem.with_name(f"{stem.name}_{name}.png")
        with TemporaryDirectory() as folder:
            copy = Path(folder) / page.name
            # Without the policy that keeps other scripts out.
            text = _POLICY.sub("", page.read_text(encoding="utf-8"))
            copy.write_text(text.replace("</body>", _ASKED), encoding="utf-8")
            command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu"]
            command += ["--hide-scrollbars", f"--window-size={WIDTH},{LOWEST}"]
            command += [f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
            command += ["--enable-logging=stderr", f"--screenshot={file}", copy.as_uri()]
            said = subprocess.run(
                command, capture_output=True, text=True, timeout=LIMIT, check=True
            ).stderr
            (found,) = _FOUND.findall(said)
        left, top, right, bottom = json.loads(found)
        box = (left - EDGE, top - EDGE, right + EDGE, bottom + EDGE // 2)
        Image.open(file).convert("RGB").crop(box).quantize(COLOURS).save(file, optimize=True)


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
