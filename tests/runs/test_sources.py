from pathlib import Path

import pytest

from fathom.config.schema.source import KINDS, Archive, ByHand, Package, read_sources
from fathom.config.yaml_values import YamlFile, read
from tests.support.refused import prose, says

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "config" / "sources").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_source_of_config_is_right(path):
    sources, findings = read_sources(path.stem, read(path, ROOT))
    assert findings == []
    assert all(name == source.name for name, source in sources.items())
    assert path.stem in sources or all(name.startswith(f"{path.stem}_") for name in sources)


def test_a_wheel_is_a_package_and_the_talks_are_an_archive():
    def source_of(name):
        return read_sources(name, read(ROOT / "config" / "sources" / f"{name}.yaml", ROOT))[0][name]

    assert isinstance(source_of("django"), Package)
    assert isinstance(source_of("ted_talks"), Archive)
    assert isinstance(source_of("ufal_med"), ByHand)


def test_only_archives_and_files_by_hand_may_lack_a_checksum(project, edit):
    edit("config/sources/django.yaml", "bytes: 8276471\n", "")
    _, findings = read_sources(
        "django", read(project / "config" / "sources" / "django.yaml", project)
    )
    says("no value", where=": bytes").check(findings)
    edit("config/sources/ted_talks.yaml", "bytes: 352222045\n", "")
    file = read(project / "config" / "sources" / "ted_talks.yaml", project)
    says("both or none").check(read_sources("ted_talks", file)[1])


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
    sources, findings = read_sources(name, read(path, project))
    assert sources is None
    (finding,) = message.check(findings)
    assert finding.where.startswith(f"config/sources/{name}.yaml")


DUMPS = {
    "for": {"language": ["de", "fr"], "date": ["20261101"]},
    "title": "Articles in <language>",
    "kind": "archive",
    "mirrors": ["https://example.org/<language>/<date>"],
    "file": "<language>-<date>.xml.bz2",
    "licence": "CC0-1.0",
    "notice": "Invented.",
}


def read_dumps(**changes):
    value = {key: item for key, item in (DUMPS | changes).items() if item is not None}
    return read_sources("dumps", YamlFile("config/sources/dumps.yaml", value, {(): 1}))


def test_a_card_with_for_is_a_source_for_each_combination():
    sources, findings = read_dumps()
    assert findings == []
    assert {name: source.file for name, source in sources.items()} == {
        "dumps_de": "de-20261101.xml.bz2",
        "dumps_fr": "fr-20261101.xml.bz2",
    }
    assert sources["dumps_fr"].mirrors == ("https://example.org/fr/20261101",)
    assert sources["dumps_fr"].title == "Articles in fr"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"for": {"language": []}}, says("no list of values", where="for.language")),
        ({"for": {}}, says("chooses nothing", where=": for")),
        ({"for": {"language": ["De"], "date": ["1"]}}, says(where=": for", remedy="other values")),
        (
            {"file": "<langage>.bz2"},
            says("placeholder", "for", "langage", where=": file", nearest="language"),
        ),
        ({"licence": None}, says("no value", where=": licence")),
        ({"kind": "archiv"}, says(where=": kind", nearest="archive")),
    ],
)
def test_what_is_wrong_with_such_a_card_is_found(changes, message):
    sources, findings = read_dumps(**changes)
    assert sources is None
    message.check(findings)


def test_wikipedias_dumps_are_of_one_date():
    path = ROOT / "config" / "sources" / "wikipedia.yaml"
    sources, _ = read_sources("wikipedia", read(path, ROOT))
    assert len(sources) == 25
    (date,) = {source.file.split("-")[1] for source in sources.values()}
    english = sources["wikipedia_en"]
    assert english.mirrors == (
        f"https://dumps.wikimedia.org/enwiki/{date}/enwiki-{date}-pages-articles.xml.bz2",
    )
    assert english.sha256 is None
