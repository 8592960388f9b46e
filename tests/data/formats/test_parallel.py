import pytest

from fathom.data.fetch import fetch, fetched
from fathom.data.readers.parallel import read
from tests.data.small_archives import parallel_dataset, sgm, source, tar_of
from tests.support.refused import refused

SOURCES = {
    "europarl": {"deu": ["europarl.de-en.de"], "eng": ["europarl.de-en.en"]},
    "crawl": {"deu": ["crawl.de-en.de"], "eng": ["crawl.de-en.en"]},
    "tests": {
        "deu": ["news2012-src.de.sgm", "news2014-ref.de.sgm"],
        "eng": ["news2012-src.en.sgm", "news2014-src.en.sgm"],
    },
}
VALID, TEST = ["news2012-src.de.sgm"], ["news2014-ref.de.sgm"]


def archives(folder, german="Haus\nMaus\n\nLaus\n", english="house\nmouse\nempty\nlouse\n"):
    """Write training text in a folder and without one, and test sets."""
    contents = {
        "europarl": {
            "training/europarl.de-en.de": german.encode(),
            "training/europarl.de-en.en": english.encode(),
            "training/europarl.cs-en.en": b"not read\n",
        },
        "crawl": {"crawl.de-en.de": b"Ei\n", "crawl.de-en.en": b"egg\n"},
        "tests": {
            "test/news2012-src.de.sgm": sgm("Tee &amp; Kaffee", "Maus"),
            "test/news2012-src.en.sgm": sgm("tea &amp; coffee", "mouse"),
            "test/news2014-ref.de.sgm": sgm("Ein Satz\nauf zwei Zeilen", "Ei"),
            "test/news2014-src.en.sgm": sgm("a sentence\non two lines", "egg"),
        },
    }
    return {name: tar_of(folder / f"{name}.tgz", files) for name, files in contents.items()}


def test_plain_files_are_training_and_named_ones_validation_and_test(tmp_path):
    text = read(archives(tmp_path), parallel_dataset(SOURCES, VALID, TEST))["deu"]
    assert text.splits["train"] == [
        ("Haus", "house"),
        ("Maus", "mouse"),
        ("Laus", "louse"),
        ("Ei", "egg"),
    ]
    assert text.dropped == {"empty": 1}
    assert text.splits["valid"] == [("Tee & Kaffee", "tea & coffee"), ("Maus", "mouse")]
    assert text.splits["test"][0] == ("Ein Satz auf zwei Zeilen", "a sentence on two lines")
    assert text.shared == {"valid": 1, "test": 1}


def test_a_clean_split_leaves_out_of_training_what_is_in_the_others(tmp_path):
    text = read(archives(tmp_path), parallel_dataset(SOURCES, VALID, TEST, clean=True))["deu"]
    assert text.splits["train"] == [("Haus", "house"), ("Laus", "louse")]
    assert text.dropped == {"empty": 1, "in_validation_or_test": 2}


def test_sides_of_different_length_are_refused(tmp_path):
    files = archives(tmp_path, german="Haus\n")
    with refused("numbers of lines", 1, 4, "europarl.de-en.de", "europarl.de-en.en"):
        read(files, parallel_dataset(SOURCES, VALID, TEST))


def test_a_missing_file_is_named(tmp_path):
    sources = SOURCES | {"crawl": {"deu": ["crawl.cs-en.de"], "eng": ["crawl.de-en.en"]}}
    with refused("no file in it", "crawl.cs-en.de", where="crawl.tgz"):
        read(archives(tmp_path), parallel_dataset(sources, VALID, TEST))


def test_text_in_another_encoding_is_refused(tmp_path):
    files = archives(tmp_path)
    contents = {"crawl.de-en.de": "Öl\n".encode("latin-1"), "crawl.de-en.en": b"oil\n"}
    files["crawl"] = tar_of(tmp_path / "other.tgz", contents)
    with refused("not UTF-8", where="other.tgz: crawl.de-en.de, line 1"):
        read(files, parallel_dataset(SOURCES, VALID, TEST))


@pytest.mark.parametrize("published", [True, False])
def test_archives_come_from_a_server(tmp_path, site, lines, published):
    sums = {} if published else {"bytes": None, "sha256": None}
    files = {}
    for name, path in archives(tmp_path).items():
        address = site.put(f"/{name}", content=path.read_bytes())
        one = source(path, name, mirrors=[address], **sums)
        fetch(one, tmp_path / name, tmp_path / "by_hand", lines.append)
        files[name] = fetched(one, tmp_path / name)
    text = read(files, parallel_dataset(SOURCES, VALID, TEST))["deu"]
    assert [len(rows) for rows in text.splits.values()] == [4, 2, 2]
