"""HTML files opened in headless Chromium, each in a frame of a given width."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
# A frame may be narrower than Chromium's narrowest window.
_FRAMES = """<!doctype html><html style="color-scheme:light dark"><meta charset="utf-8"><body>
<script>
const measure = (page, window) => {{ {script} }};
(async () => {{
  const found = [];
  for (const address of {addresses}) for (const width of {widths}) {{
    const frame = document.createElement("iframe");
    frame.style.cssText = `width:${{width}}px;height:900px;border:0`;
    frame.src = address;
    const loaded = new Promise(done => frame.onload = done);
    document.body.append(frame);
    await loaded;
    found.push(measure(frame.contentDocument, frame.contentWindow));
    frame.remove();
  }}
  document.body.textContent = `found:${{JSON.stringify(found)}}:found`;
}})();
</script>"""


def measured(
    folder: Path, files: Sequence[Path], widths: Sequence[int], script: str, dark: bool = False
) -> tuple[list[Any], list[str]]:
    """Return what a script finds on each page, at each width in turn, and what pages complain of.

    Args:
        folder: where a page with the frames is written.
        files: HTML files.
        widths: of the frames, in CSS pixels.
        script: the body of a JavaScript function of `page`, the document, and `window`. It returns
            a value that JSON can hold.
        dark: whether the system has dark colours.

    Returns:
        The values, and the lines that pages print on their consoles.
    """
    addresses = json.dumps([path.resolve().as_uri() for path in files])
    frames = folder / "frames.html"
    text = _FRAMES.format(script=script, addresses=addresses, widths=json.dumps(list(widths)))
    frames.write_text(text, encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options += ["--allow-file-access-from-files", "--enable-logging=stderr", "--dump-dom"]
    options += [f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
    options += ["--virtual-time-budget=600000", f"--user-data-dir={folder}/profile"]
    words = [str(CHROMIUM), *options, frames.resolve().as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600)
    _, _, rest = done.stdout.partition("<body>found:")
    assert rest, done.stdout[-2000:] + done.stderr[-2000:]
    found = json.loads(unescape(rest.partition(":found")[0]))
    return found, [line for line in done.stderr.splitlines() if "CONSOLE" in line]
