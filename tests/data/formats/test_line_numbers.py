import pytest

from fathom.data.fetch import fetch, fetched
from fathom.data.prepare import prepare
from fathom.data.readers.line_numbers import read
from fathom.io.files import read_json, read_lines
from tests.data.small_archives import moses, numbered_dataset, numbers, source, tar_of
from tests.support.refused import refused, says


def lines(word, count):
    """Return numbered lines of one word."""
    return [f"{word} {n}" for n in range(count)]


@pytest.fixture
def law(tmp_path):
    """A function that reads the text of one task, of 20 lines, by some numbers."""

    def run(train, valid=(18,), test=(19,), clean=False, french=None):
        path = moses(
            tmp_path / "law.zip", "JRC.en-fr", lines("law", 20), french or lines("loi", 20)
        )
        of_split = {"train": [*train], "valid": [*valid], "test": [*test]}
        index = numbers(tmp_path / "numbers.tar.gz", {f"{k}.index": v for k, v in of_split.items()})
        files = {"law": ["train.index", "valid.index", "test.index"]}
        dataset = numbered_dataset({"jrc": {"law": ["JRC.en-fr"]}}, files, clean)
        return read({"jrc": path, "numbers": index}, dataset)["law"]

    return run


def test_numbers_count_from_0_in_their_own_order_and_may_repeat(law):
    text = law([3, 0, 3])
    assert text.splits["train"] == [("loi 3", "law 3"), ("loi 0", "law 0"), ("loi 3", "law 3")]
    assert text.splits["test"] == [("loi 19", "law 19")]
    assert text.read == 5


def test_what_training_shares_with_the_other_splits_is_counted(law):
    text = law([1, 2, 19, 19], valid=[1, 5, 6], test=[19, 7])
    assert text.shared == {"valid": 1, "test": 1}
    assert len(text.splits["train"]) == 4


def test_a_clean_split_leaves_it_out_of_training(law):
    text = law([1, 2, 19, 19], valid=[1, 5, 6], test=[19, 7], clean=True)
    assert text.splits["train"] == [("loi 2", "law 2")]
    assert text.dropped == {"in_validation_or_test": 3}
    assert text.shared == {"valid": 0, "test": 0}
    assert len(text.splits["test"]) == 2


def test_pairs_without_text_are_dropped_from_training_alone(law):
    french = lines("loi", 20)
    french[4] = french[19] = "  "
    text = law([3, 4], french=french)
    assert text.splits["train"] == [("loi 3", "law 3")]
    assert text.dropped == {"empty": 1}
    assert text.splits["test"] == [("", "law 19")]


def test_characters_that_some_reader_takes_for_a_lines_end_do_not_move_the_numbers(law):
    french = lines("loi", 20)
    french[1] = "loi\u2028une\x85deux\rtrois"
    assert law([1, 2], french=french).splits["train"] == [
        ("loi une deux trois", "law 1"),
        ("loi 2", "law 2"),
    ]


def test_a_number_beyond_the_last_line_is_refused(law):
    with refused("beyond the last line", 20, "law", where="numbered.yaml: sources"):
        law([3, 20])


def test_sides_of_different_length_are_refused(law):
    with refused("numbers of lines", 21, 20, "JRC.en-fr.fr", "JRC.en-fr.en", where="law.zip"):
        law([3], french=lines("loi", 21))


def test_a_missing_file_and_a_line_that_is_no_number_are_refused(tmp_path):
    path = moses(tmp_path / "law.zip", "JRC.en-fr", lines("law", 3), lines("loi", 3))
    files = {"law": ["train.index", "valid.index", "test.index"]}
    index = numbers(tmp_path / "numbers.tar.gz", {"train.index": [1], "valid.index": [2]})
    dataset = numbered_dataset({"jrc": {"law": ["JRC.en-fr"]}}, files)
    with refused("no file in it", "test.index", where="numbers.tar.gz"):
        read({"jrc": path, "numbers": index}, dataset)
    index = numbers(tmp_path / "more.tar.gz", {name: ["1.5"] for name in files["law"]})
    with refused("no line number", "1.5", where="more.tar.gz: experiments-0123/tacl20/train.index"):
        read({"jrc": path, "numbers": index}, dataset)
    index = numbers(tmp_path / "right.tar.gz", {name: [1] for name in files["law"]})
    dataset = numbered_dataset({"jrc": {"law": ["ECB.en-fr"]}}, files)
    with refused("no file in it", "ECB.en-fr.en", where="law.zip"):
        read({"jrc": path, "numbers": index}, dataset)


@pytest.fixture
def domains(tmp_path, site):
    """Four domains on a server: one of five zips, one in halves, one put by hand."""

    def served(name, path):
        return source(
            path,
            name,
            bytes=None,
            sha256=None,
            mirrors=[site.put(f"/{path.name}", content=path.read_bytes())],
        )

    sources = {}
    for at, name in enumerate(("Ubuntu", "KDE4", "PHP", "OpenOffice", "GNOME", "JRC"), start=3):
        made = lines(f"{name} text", at), lines(f"texte de {name}", at)
        path = moses(tmp_path / f"{name}.zip", f"{name}.en-fr", *made)
        sources[name.lower()] = served(name.lower(), path)
    index = {
        "it.train": [0, 24, 7, 3],  # 3 + 4 + 5 + 6 + 7 lines
        "it.dev": [12],
        "it.tst": [17, 18],
        "law.1": [0, 1, 1],
        "law.2": [2, 3, 1],
        "law.dev": [6],
        "law.tst": [7, 0],
        "med.train": [2],
        "med.dev": [0],
        "med.tst": [1],
    }
    sources["numbers"] = served("numbers", numbers(tmp_path / "numbers.tar.gz", index))
    contents = {
        f"UFAL.med.{side}": "".join(f"{side} {n}\n" for n in range(3)).encode()
        for side in ("en", "fr")
    }
    med = tar_of(tmp_path / "UFAL.med.tar.gz", contents)
    changes = {"kind": "by_hand", "steps": "register first", "bytes": None, "sha256": None}
    sources["ufal"] = source(med, "ufal", **changes)
    files = {
        "med": ["med.train", "med.dev", "med.tst"],
        "law1": ["law.1", "law.dev", "law.tst"],
        "law2": ["law.2", "law.dev", "law.tst"],
        "it": ["it.train", "it.dev", "it.tst"],
    }
    it = {name: {"it": [f"{full}.en-fr"]} for name, full in (
        ("ubuntu", "Ubuntu"), ("kde4", "KDE4"), ("php", "PHP"),
        ("openoffice", "OpenOffice"), ("gnome", "GNOME"),
    )}  # fmt: skip
    dataset = numbered_dataset(
        {"ufal": {"med": ["UFAL.med"]}, "jrc": {"law": ["JRC.en-fr"]}} | it,
        files,
        parts={"law": ["law1", "law2"]},
        max_shared=0.5,
        expected={
            "med": {"train": 1, "valid": 1, "test": 1},
            "law1": {"train": 3, "valid": 1, "test": 2},
            "law2": {"train": 3, "valid": 1, "test": 2},
            "it": {"train": 4, "valid": 1, "test": 2},
        },
    )
    return dataset, sources, med


def test_domains_are_fetched_and_read_through_several_files_in_order(tmp_path, domains):
    dataset, sources, med = domains
    said, folder, by_hand = [], tmp_path / "sources", tmp_path / "by_hand"
    with refused("by hand", "UFAL.med.tar.gz", "register first", remedy=by_hand / med.name):
        fetch(sources["ufal"], folder / "ufal", by_hand, said.append)
    by_hand.mkdir()
    med.rename(by_hand / med.name)
    for name, one in sources.items():
        fetch(one, folder / name, by_hand, said.append)
        assert fetched(one, folder / name).is_file()
    out = tmp_path / "corpus"
    prepare(dataset, sources, folder.joinpath, out, said.append)
    assert read_lines(out / "it" / "train.eng") == [
        "Ubuntu text 0",
        "GNOME text 6",
        "PHP text 0",
        "KDE4 text 0",
    ]
    assert read_lines(out / "it" / "test.fra") == ["texte de OpenOffice 5", "texte de GNOME 0"]
    assert read_lines(out / "law1" / "train.eng") == ["JRC text 0", "JRC text 1", "JRC text 1"]
    assert read_lines(out / "law1" / "test.eng") == read_lines(out / "law2" / "test.eng")
    assert read_lines(out / "med" / "train.fra") == ["fr 2"]
    record = read_json(out / "corpus.json")
    assert record["tasks"]["law1"]["in_training"] == {"valid": 0, "test": 1}
    assert record["tasks"]["law2"]["in_training"] == {"valid": 0, "test": 0}
    (ufal,) = [one for one in record["sources"] if one["name"] == "ufal"]
    assert len(ufal["sha256"]) == 64
    says("recorded first", ..., ufal["sha256"]).check(said)
