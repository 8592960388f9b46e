"""The project of tests/fixtures/project: as it is, and a copy that a test may break."""

import shutil
from pathlib import Path

import pytest

from fathom.artefacts.check import beyond_config
from fathom.config.load import load
from fathom.io.errors import Findings

PROJECT = Path(__file__).parents[1] / "fixtures" / "project"


@pytest.fixture(scope="session")
def sample():
    return load(PROJECT)


@pytest.fixture(scope="session")
def copied(tmp_path_factory):
    """A copy of the project; who changes it restores it."""
    return shutil.copytree(PROJECT, tmp_path_factory.mktemp("copied") / "project")


@pytest.fixture
def edited(copied):
    """A function that replaces text in files of a copy, and returns its folder.

    A text that is None is a whole file, and a replacement that is None deletes the file.
    """
    before, made = {}, []

    def edit(*edits):
        for file, old, new in edits:
            path = copied / "config" / file
            text = path.read_text(encoding="utf-8") if path.exists() else None
            before.setdefault(path, text)
            if new is None:
                path.unlink()
                continue
            assert old is None or old in text, f"{file} has no {old!r}"
            if not path.parent.exists():
                path.parent.mkdir()
                made.append(path.parent)
            changed = new if old is None else text.replace(old, new, 1)
            path.write_text(changed, encoding="utf-8")
        return copied

    yield edit
    for path, text in before.items():
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")
    for folder in made:
        folder.rmdir()


@pytest.fixture
def findings(edited):
    """A function that makes edits and returns what `fathom validate` then finds."""

    def find(*edits):
        with pytest.raises(Findings) as caught:
            load(edited(*edits), beyond_config)
        return caught.value.findings

    return find
