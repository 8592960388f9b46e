"""A small tree for tests of the house rules: each rule must find what it forbids."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def small(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Return a function that writes files, given by path and text, and returns their root."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return tmp_path

    return write
