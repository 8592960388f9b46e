from pathlib import Path

import pytest

from fathom.config.yaml_files import read
from fathom.runs.sources import KINDS, Archive, Package, read_source

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "config" / "sources").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_source_of_config_is_right(path):
    source, findings = read_source(path.stem, read(path, ROOT))
    assert findings == []
    assert source.name == path.stem


def test_a_wheel_is_a_package_and_the_talks_are_an_archive():
    def source_of(name):
        return read_source(name, read(ROOT / "config" / "sources" / f"{name}.yaml", ROOT))[0]

    assert isinstance(source_of("django"), Package)
    assert isinstance(source_of("ted_talks"), Archive)


def test_every_key_is_described():
    for kind, model in KINDS.items():
        missing = [name for name, field in model.model_fields.items() if not field.description]
        assert missing == [], kind


@pytest.mark.parametrize(
    ("name", "old", "new", "key", "words"),
    [
        ("django", "bytes: 8276471", "bytes: 8e6", "bytes", "YAML reads 8e6 as text"),
        ("django", 'version: "5.1.4"', "version: 5.1", "version", "put it in quotes"),
        ("django", "kind: package", "kind: pakage", "kind", "nearest valid name: 'package'"),
        ("django", "package: Django\n", "", "package", "no value is given"),
        ("django", "sha256: 2", "sha256: x", "sha256", "does not match"),
        ("ted_talks", "  - http://ph", "  - ftp://ph", "mirrors.0", "does not match"),
        ("ted_talks", "mirrors:", "mirors:", "mirors", "nearest valid name: 'mirrors'"),
    ],
)
def test_a_broken_source_is_named_with_file_and_key(project, edit, name, old, new, key, words):
    edit(f"config/sources/{name}.yaml", old, new)
    path = project / "config" / "sources" / f"{name}.yaml"
    source, findings = read_source(name, read(path, project))
    assert source is None
    (finding,) = [finding for finding in findings if finding.where.endswith(f": {key}")]
    assert finding.where.startswith(f"config/sources/{name}.yaml")
    assert words in str(finding)
