from pathlib import Path

import pytest

from fathom.config.yaml_files import read
from fathom.runs.sources import KINDS, Archive, ByHand, Package, read_source
from tests.support.refused import prose, says

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
    assert isinstance(source_of("ufal_med"), ByHand)


def test_only_archives_and_files_by_hand_may_lack_a_checksum(project, edit):
    edit("config/sources/django.yaml", "bytes: 8276471\n", "")
    _, findings = read_source(
        "django", read(project / "config" / "sources" / "django.yaml", project)
    )
    says("no value", where=": bytes").check(findings)
    edit("config/sources/ted_talks.yaml", "bytes: 352222045\n", "")
    file = read(project / "config" / "sources" / "ted_talks.yaml", project)
    says("both or none").check(read_source("ted_talks", file)[1])


def test_every_key_is_described():
    for kind, model in KINDS.items():
        missing = [name for name, field in model.model_fields.items() if not field.description]
        assert missing == [], kind


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("django", "bytes: 8276471", "bytes: 8e6", says("YAML text", "8e6", where=": bytes")),
        (
            "django",
            'version: "5.1.4"',
            "version: 5.1",
            says(where=": version", remedy=prose("put it in quotes")),
        ),
        ("django", "kind: package", "kind: pakage", says(where=": kind", nearest="package")),
        ("django", "package: Django\n", "", says("no value", where=": package")),
        ("django", "sha256: 2", "sha256: x", says("pattern", where=": sha256")),
        ("ted_talks", "  - http://ph", "  - ftp://ph", says("pattern", where=": mirrors.0")),
        ("ted_talks", "  - http://ph", '  - "http://h/a\\n"\n  - http://ph', says("pattern")),
        ("django", "sha256: 2", 'sha256: "2\\n"\nx: 2', says("pattern", where=": sha256")),
        ("django", "package: Django", 'package: "Django\\n-i http://x"', says("pattern")),
        ("django", 'version: "5.1.4"', 'version: "5.1.4\\n"', says("pattern")),
        ("ted_talks", "mirrors:", "mirors:", says(where=": mirors", nearest="mirrors")),
    ],
)
def test_a_broken_source_is_named_with_file_and_key(project, edit, name, old, new, message):
    edit(f"config/sources/{name}.yaml", old, new)
    path = project / "config" / "sources" / f"{name}.yaml"
    source, findings = read_source(name, read(path, project))
    assert source is None
    (finding,) = message.check(findings)
    assert finding.where.startswith(f"config/sources/{name}.yaml")
