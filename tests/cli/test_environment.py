"""What a shell, a notebook or a scheduler leaves in the environment changes no byte."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Each was found in a user's shell, or is what a program does not expect.
LEFT = {
    "MPLBACKEND": "module://nowhere",
    "MATPLOTLIBRC": "style",
    "LC_ALL": "tr_TR.UTF-8",
    "LANG": "C",
    "TZ": "Pacific/Kiritimati",
    "SOURCE_DATE_EPOCH": "1",
    "PYTHONHASHSEED": "7",
    "PYTHONWARNINGS": "error",
    "PYTHONIOENCODING": "ascii",
    "PYTHONUTF8": "0",
    "COLUMNS": "20",
    "LINES": "1",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "FORCE_COLOR": "1",
    "HOME": "/proc/nobody",
    "XDG_CACHE_HOME": "/proc/nobody",
    "XDG_CONFIG_HOME": "/proc/nobody",
    "OMP_NUM_THREADS": "x",
    "CUDA_VISIBLE_DEVICES": "x",
    "HTTPS_PROXY": "http://nowhere:1",
    "POSIXLY_CORRECT": "1",
    "RANK": "x",
    "LOCAL_RANK": "x",
    "WORLD_SIZE": "",
}
DRAWING = ("figure latent_depth_figure4", "table latent_depth_table5")


@pytest.fixture
def drawn(tmp_path):
    """A function that draws in a folder of its own, and returns what is written and said."""

    def draw(name, left):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "style").write_text("font.size: 30\nno.such.key: 1\n", encoding="utf-8")
        (folder / "matplotlibrc").write_text("lines.linewidth: 9\n", encoding="utf-8")
        said = b""
        for verb in DRAWING:
            program = Path(sys.executable).with_name("fathom")
            done = subprocess.run(
                [program, *verb.split(), "--scale", "tiny", "--partial"],
                cwd=folder,
                env={**os.environ, **left},
                capture_output=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            said += done.stderr
        made = (path for path in (folder / "results").rglob("*") if path.is_file())
        return {path.relative_to(folder): path.read_bytes() for path in made}, said

    return draw


def test_what_is_left_in_the_environment_changes_no_byte(drawn):
    """A backend of a notebook ended in a traceback."""
    plain, hostile = drawn("plain", {}), drawn("hostile", LEFT)
    assert len(plain[0]) > 7
    assert hostile == plain
