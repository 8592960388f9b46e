import pytest

from fathom.config.schema.dataset import SPLITS
from fathom.io.files import write_lines
from fathom.io.records import hashes, identity, write_record
from fathom.results import measurements
from fathom.scoring.corpus import TOKENS, measure
from tests.data.small_archives import ALONE, dataset, wikipedia_dataset
from tests.support.refused import refused

DOMAINS = {
    "law": [("La loi.", "The law."), ("Le juge", "The judge")],
    "bank": [("La banque", "The bank!")],
}


class Checksums(dict):
    """Sources of any name."""

    def __missing__(self, name):
        return type("Source", (), {"identity": lambda self: {"sha256": name}})()


def write_corpus(folder, dataset, texts):
    """Write a corpus whose validation and test have one row less than its training, or one."""
    for task, rows in texts.items():
        for split in SPLITS:
            of_split = rows if split == "train" else rows[:1]
            for side, language in enumerate(dataset.languages_of(task)):
                write_lines(folder / task / f"{split}.{language}", [row[side] for row in of_split])
    write_record(folder / "corpus.json", {"files": hashes(folder, "*/*.*")})
    return folder


@pytest.fixture
def lines():
    """What is reported."""
    return []


@pytest.fixture
def domains():
    tasks = list(DOMAINS)
    languages = dict.fromkeys(tasks, "fra")
    sources = {"one": {task: ["fr"] for task in tasks}}
    return dataset("packages", tasks, sources, languages=languages)


@pytest.fixture
def measured(tmp_path, domains, lines):
    corpus = write_corpus(tmp_path / "corpus", domains, DOMAINS)
    measure(domains, Checksums(), corpus, lines.append)
    return measurements.read(corpus / "statistics.json")


def values(file, key):
    return {task: number.value for task, number in file.measurements[key].tasks.items()}


def test_every_measurement_is_there_by_split_and_language(measured, domains):
    assert (measured.rule, measured.corpus, measured.run) == ("statistics", "invented", None)
    assert measured.identity == identity(domains.definition(Checksums()))
    sizes = {f"{name}.{split}" for name in ("pairs", "share") for split in SPLITS}
    counts = {
        f"{name}.{split}.{language}"
        for name in ("tokens", "types", "own_types")
        for split in SPLITS
        for language in ("en", "fr")
    }
    assert set(measured.measurements) == sizes | counts


def test_pairs_tokens_types_and_types_of_no_other_task_are_counted(measured):
    assert values(measured, "pairs.train") == {"law": 2, "bank": 1}
    assert measured.measurements["pairs.train"].all.value == 3
    assert values(measured, "share.train") == pytest.approx({"law": 2 / 3, "bank": 1 / 3})
    assert values(measured, "pairs.test") == {"law": 1, "bank": 1}
    # The law . The judge; The bank !
    assert values(measured, "tokens.train.en") == {"law": 5, "bank": 3}
    assert values(measured, "types.train.en") == {"law": 4, "bank": 3}
    assert measured.measurements["types.train.en"].all.value == 6
    assert measured.measurements["tokens.train.en"].how == TOKENS
    assert values(measured, "own_types.train.en") == {"law": 3, "bank": 2}
    # La loi . Le juge; La banque
    assert values(measured, "own_types.train.fr") == {"law": 4, "bank": 1}


def test_text_without_pairs_has_sentences_and_a_language_for_each_task(tmp_path, lines):
    card = dataset("packages", ["en", "hi"], {"one": {"en": ["en"], "hi": ["hi"]}}, **ALONE)
    texts = {"en": [("One",), ("Two two",)], "hi": [("एक",)]}
    corpus = write_corpus(tmp_path, card, texts)
    measure(card, Checksums(), corpus, lines.append)
    file = measurements.read(corpus / "statistics.json")
    assert values(file, "sentences.train") == {"en": 2, "hi": 1}
    assert "pairs.train" not in file.measurements
    assert values(file, "tokens.train.en") == {"en": 3}
    assert values(file, "types.train.hi") == {"hi": 1}


def test_of_text_from_which_articles_are_drawn_sentences_alone_are_counted(tmp_path, lines):
    """Tokens of 25 Wikipedias were counted, which no table shows."""
    card = wikipedia_dataset(["de", "fr"])
    corpus = write_corpus(tmp_path, card, {"de": [("Eins.",), ("Zwei.",)], "fr": [("Un.",)]})
    measure(card, Checksums(), corpus, lines.append)
    file = measurements.read(corpus / "statistics.json")
    assert {*file.measurements} == {
        f"{n}.{split}" for n in ("sentences", "share") for split in SPLITS
    }
    assert values(file, "sentences.train") == {"de": 2, "fr": 1}


def test_a_corpus_that_is_not_prepared_or_was_edited_leaves_no_statistics(tmp_path, domains, lines):
    folder = tmp_path / "corpora" / "invented-12345678"
    again = f"fathom prepare {folder.name}"
    with refused("no such file", where="corpus.json", remedy=again):
        measure(domains, Checksums(), folder, lines.append)
    corpus = write_corpus(folder, domains, DOMAINS)
    write_lines(corpus / "law" / "train.fra", ["Le roi.", "Le juge"])
    with refused("not the file that was recorded", where="train.fra", remedy=again):
        measure(domains, Checksums(), corpus, lines.append)
    assert not (corpus / "statistics.json").exists()
