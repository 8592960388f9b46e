"""Every key is described and checked; a mistyped one is told with file, key and nearest name."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fathom.errors import Findings
from fathom.project.load import load
from tests.house.tree import ROOT, files, told

SCHEMAS = ROOT / "workflow" / "schemas"
# One file of each kind, with a key that stands in it under that name in every file of the kind.
BREAKABLE = {
    "config/config.yaml": "scale",
    "config/scales/*.yaml": "width",
    "config/methods/*.yaml": "summary",
    "config/papers/*/paper.yaml": "authors",
    "config/papers/*/runs.yaml": "defaults",
    "config/papers/*/deviations.yaml": "title",
    "config/papers/*/parameters.yaml": "defaults",
}
# They speak of keys that are described elsewhere in the schema.
CONDITIONS = {"if", "then", "else", "not"}


def parts(value: object, path: str = "") -> Iterator[tuple[str, dict]]:
    """Yield every mapping inside a schema, with its path."""
    if isinstance(value, dict):
        yield path or "the top", value
        for key, each in value.items():
            if key not in CONDITIONS:
                yield from parts(each, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for each in value:
            yield from parts(each, path)


def undescribed(schema: dict) -> Iterator[str]:
    """Yield what a schema lacks: a key's description, or the refusal of unknown keys."""
    for path, part in parts(schema):
        keys = {**part.get("properties", {}), **part.get("patternProperties", {})}
        if keys and part.get("additionalProperties") is not False:
            yield f"{path} takes unknown keys; set additionalProperties: false"
        for key, each in keys.items():
            if not each.get("description"):
                yield f"{path}: {key} has no description; write one"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a root with a copy of config/ and the schemas."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copytree(SCHEMAS, tmp_path / "workflow" / "schemas")
    return tmp_path


def test_every_schema_key_is_described_and_unknown_keys_are_refused():
    found = [
        f"{path.relative_to(ROOT)}: {each}"
        for path in files(ROOT, "workflow/schemas", suffixes=(".yaml",))
        for each in undescribed(yaml.safe_load(path.read_text(encoding="utf-8")))
    ]
    assert not found, told(found)


def test_a_key_without_description_is_found():
    schema = {"type": "object", "properties": {"rate": {"type": "number"}}}
    assert len(list(undescribed(schema))) == 2


def test_every_config_file_is_right():
    assert load(ROOT).papers


def test_every_kind_of_config_file_is_broken_below():
    kinds = {path.name.split(".")[0] for path in SCHEMAS.glob("*.schema.yaml")}
    assert len(kinds - {"manifest"}) == len(BREAKABLE), "add the new kind to BREAKABLE"


@pytest.mark.parametrize(("pattern", "key"), BREAKABLE.items())
def test_a_mistyped_key_is_told_with_file_key_and_nearest_name(copied, pattern, key):
    path = sorted(copied.glob(pattern))[0]
    text = path.read_text(encoding="utf-8")
    wrong = key + key[-1]
    broken, times = re.subn(rf"^(\s*){key}:", rf"\1{wrong}:", text, count=1, flags=re.MULTILINE)
    assert times, f"{pattern}: no key '{key}' any more; name another in BREAKABLE"
    line = 1 + text[: re.search(rf"^\s*{key}:", text, re.MULTILINE).end()].count("\n")
    path.write_text(broken, encoding="utf-8")
    with pytest.raises(Findings) as caught:
        load(copied)
    [told_so] = [each for each in str(caught.value).split("\n") if f"'{wrong}'" in each]
    assert told_so.startswith(f"{path.relative_to(copied)}:{line}: ")
    assert told_so.endswith(f"nearest valid name: '{key}'")
