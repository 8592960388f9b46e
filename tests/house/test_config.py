"""Every key is described and checked; a mistyped one is found with file, line and nearest name."""

import json
import re
from collections.abc import Iterator

import pytest

from fathom.config.load import load
from fathom.io.errors import Findings
from tests.house.tree import ROOT, listed

# Each kind of config file, with a key that one of its files has.
BREAKABLE = {
    "config/config.yaml": "scale",
    "config/columns.yaml": "measurements",
    "config/scales/*.yaml": "title",
    "config/methods/*.yaml": "summary",
    "config/datasets/*.yaml": "licence",
    "config/sources/*.yaml": "licence",
    "config/papers/*/paper.yaml": "authors",
    "config/papers/*/runs.yaml": "families",
    "config/papers/*/tables.yaml": "columns",
    "config/papers/*/figures.yaml": "section",
    "config/papers/*/claims.yaml": "sentence",
    "config/papers/*/deviations.yaml": "title",
    "config/papers/*/parameters.yaml": "vocabularies",
    "config/papers/*/scales.yaml": "updates",
}
# A property with one of these keys is described by what it names or holds.
ELSEWHERE = {"$ref", "const", "anyOf", "allOf", "oneOf", "items", "additionalProperties"}


def properties(schema: object, path: str = "") -> Iterator[tuple[str, dict]]:
    """Yield every property inside a JSON Schema, with its path."""
    if isinstance(schema, list):
        for item in schema:
            yield from properties(item, path)
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if key == "properties" and isinstance(value, dict):
                for name, part in value.items():
                    yield f"{path}.{name}".lstrip("."), part
                    yield from properties(part, f"{path}.{name}")
            else:
                yield from properties(value, path)


def undescribed(schema: dict) -> list[str]:
    """Return the properties that no text describes."""
    return [
        path
        for path, part in properties(schema)
        if "description" not in part and not ELSEWHERE & set(part)
    ]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "config/schemas").glob("*.json")), ids=lambda path: path.stem
)
def test_every_key_is_described(path):
    missing = undescribed(json.loads(path.read_text(encoding="utf-8")))
    assert not missing, listed([f"{path.name}: {key} has no description" for key in missing])


def test_a_key_without_description_is_found():
    schema = {"properties": {"rate": {"type": "number"}, "model": {"$ref": "#/$defs/Model"}}}
    assert undescribed({"$defs": {"Training": schema}}) == ["rate"]


def test_every_config_file_is_right():
    assert load(ROOT).papers


def test_every_kind_of_config_file_is_broken_below():
    config = ROOT / "config"
    kinds = {path for pattern in BREAKABLE for path in ROOT.glob(pattern)}
    assert sorted(set(config.rglob("*.yaml")) - kinds) == [], "add the new kind to BREAKABLE"


@pytest.mark.parametrize(("pattern", "key"), BREAKABLE.items())
def test_a_mistyped_key_is_found_with_its_line_and_nearest_name(project, pattern, key):
    wrong = key + key[-1]
    for path in sorted(project.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        if match := re.search(rf"^\s*{key}(?=:)", text, re.MULTILINE):
            break
    else:
        pytest.fail(f"{pattern}: no key '{key}' any more; name another in BREAKABLE")
    line = 1 + text[: match.end()].count("\n")
    path.write_text(f"{text[: match.end()]}{key[-1]}{text[match.end() :]}", encoding="utf-8")
    with pytest.raises(Findings) as caught:
        load(project)
    findings = [str(finding) for finding in caught.value.findings if f"'{wrong}'" in str(finding)]
    assert len(findings) == 1, listed(str(caught.value).split("\n"))
    assert findings[0].startswith(f"{path.relative_to(project)}:{line}: ")
    assert findings[0].endswith(f"'{key}'")
