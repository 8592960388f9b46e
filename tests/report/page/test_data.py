"""The text of a paper: counts, licences, and what test and training share."""

import pytest

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.page.data import data_of
from fathom.config.paths import Paths
from fathom.io.integrity import hashes, write_record
from tests.support.own_project import own_project

PAPER = "transparent_attention"
RUNS = (f"{PAPER}/en_de_transformer_plain_6",)


def data(results):
    """Return the data of one run at tiny scale."""
    artefacts = Artefacts(own_project(), Paths(results, "tiny"))
    return data_of(artefacts, own_project().papers[PAPER], dict.fromkeys(RUNS))


@pytest.fixture
def prepared(tmp_path):
    """A corpus of four lines in the place of the run's."""
    (folder,) = [item.folder for item in data(tmp_path)]
    text = {
        "train": (["eins", "zwei", "drei"], ["one", "two", "three"]),
        "valid": (["vier"], ["four"]),
        "test": (["eins", "zwei"], ["one", "another"]),
    }
    for split, sides in text.items():
        for language, lines in zip(("deu", "eng"), sides, strict=True):
            path = folder / "deu" / f"{split}.{language}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    splits = {split: {"pairs": len(sides[0]), "words": {}} for split, sides in text.items()}
    task = {"languages": ["deu", "eng"], "dropped": {"no_letter": 1200}, "splits": splits}
    content = {"files": hashes(folder, "*/*.*"), "sources": [], "tasks": {"deu": task}}
    write_record(folder / "corpus.json", content)
    return folder


def test_data_that_is_not_prepared_has_its_licence_and_what_it_replaces(tmp_path):
    (item,) = data(tmp_path)
    assert item.name != item.replaces
    assert item.licence
    assert item.tasks == ()
    assert item.overlap == []


def test_test_lines_that_training_has_are_counted_by_side_and_as_pairs(tmp_path, prepared):
    (item,) = data(tmp_path)
    assert item.tasks[0].counts == {"train": 3, "valid": 1, "test": 2}
    assert item.tasks[0].reasons == "no letter 1,200"
    counts = {row.side: row.counts for row in item.overlap}
    assert counts == {"deu": ("2 (100.0%)",), "eng": ("1 (50.0%)",), "both sides": ("1 (50.0%)",)}


def test_without_the_text_nothing_is_counted(tmp_path, prepared):
    (prepared / "deu/train.eng").unlink()
    (item,) = data(tmp_path)
    assert item.tasks[0].counts["test"] == 2
    assert item.overlap == []
