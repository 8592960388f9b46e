import re

import pytest

from fathom.data.subwords import train as module
from fathom.data.subwords import vocabulary
from fathom.data.subwords.train import learn, train
from fathom.io.errors import FathomError
from fathom.io.files import sha256
from fathom.io.integrity import read_record
from tests.support.refused import refused
from tests.support.small_corpus import (
    DEFINITION,
    INVISIBLE,
    LANGUAGES,
    TASKS,
    record_corpus,
    silent,
    small_data,
    write_corpus,
)


def entries(folder, side):
    """Return the pieces of a side's dictionary."""
    return set(vocabulary.read(folder / f"dictionary.{side}.txt"))


def listed(folder, *models):
    """Return the pieces of models, without SentencePiece's own symbols."""
    lines = [
        line
        for name in models
        for line in (folder / f"{name}.vocab").read_text("utf-8").split("\n")
    ]
    return {line.split("\t")[0] for line in lines if line} - {"<unk>", "<s>", "</s>"}


def test_foreign_and_english_have_a_model_and_a_dictionary_each(foreign):
    summary = read_record(foreign / "subwords.json")
    assert summary["models"] == {"english": 80, "foreign": 120}
    # SentencePiece's own <unk>, <s> and </s> are in fairseq's dictionary, not in the file.
    assert summary["dictionaries"]["source"] == 117
    assert summary["dictionaries"]["target"] == 77
    assert entries(foreign, "source") == listed(foreign, "foreign")
    assert entries(foreign, "target") == listed(foreign, "english")


def test_the_direction_exchanges_the_dictionaries_and_nothing_else(foreign, corpus, tmp_path):
    train(small_data(direction="one_to_many"), corpus, tmp_path, silent)
    for one, other in (("source", "target"), ("target", "source")):
        exchanged = tmp_path / f"dictionary.{other}.txt"
        assert exchanged.read_bytes() == (foreign / f"dictionary.{one}.txt").read_bytes()
    for model in ("foreign.model", "english.model"):
        assert sha256(tmp_path / model) == sha256(foreign / model)


def test_joint_is_one_model_and_one_dictionary_for_both_sides(joint):
    assert list(read_record(joint / "subwords.json")["models"]) == ["joint"]
    assert entries(joint, "source") == listed(joint, "joint")
    source, target = (joint / f"dictionary.{side}.txt" for side in ("source", "target"))
    assert source.read_bytes() == target.read_bytes()


def test_models_per_task_are_united_in_one_dictionary(per_task):
    names = [f"per_task.{task}" for task in TASKS]
    summary = read_record(per_task / "subwords.json")
    assert sorted(summary["models"]) == sorted([*names, "english"])
    assert entries(per_task, "source") == listed(per_task, *names)


def test_text_without_pairs_has_one_dictionary(corpus, tmp_path):
    alone = {"tasks": DEFINITION["tasks"]}
    train(small_data(alone, direction=None, joint=120), corpus, tmp_path, silent)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["dictionary.source.txt", "joint.model", "joint.vocab", "subwords.json"]
    assert list(read_record(tmp_path / "subwords.json")["unknown_rates"]) == ["source"]


def test_pieces_of_another_data_set_are_learned_from_its_text(corpus, tmp_path):
    own = {"tasks": [["kor", "hangul"]], "pivot": "eng"}
    train(small_data(own), corpus, tmp_path / "own", silent)
    train(small_data(pieces=own), corpus, tmp_path / "other", silent)
    for path in (tmp_path / "own").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()


def test_training_text_has_no_unknown_pieces(corpus, foreign):
    summary = read_record(foreign / "subwords.json")
    assert summary["unknown_rates"] == {
        "source": dict.fromkeys(TASKS, 0.0),
        "target": dict.fromkeys(TASKS, 0.0),
    }


def test_training_twice_gives_the_same_bytes(corpus, foreign, tmp_path):
    train(small_data(), corpus, tmp_path, silent)
    names = sorted(path.name for path in foreign.iterdir())
    assert names == sorted(path.name for path in tmp_path.iterdir())
    assert [sha256(foreign / name) for name in names] == [sha256(tmp_path / name) for name in names]


def test_the_summary_has_the_checksum_of_every_file(foreign):
    files = {path.name: sha256(path) for path in foreign.iterdir() if path.suffix != ".json"}
    assert len(files) == 6
    assert read_record(foreign / "subwords.json")["files"] == files


def test_only_the_training_split_is_learned_from(foreign, tmp_path):
    corpus = write_corpus(tmp_path / "corpus")
    for task in TASKS:
        (corpus / task / f"test.{LANGUAGES[task]}").write_text("другое\n", encoding="utf-8")
    record_corpus(corpus)
    train(small_data(), corpus, tmp_path / "out", silent)
    assert sha256(tmp_path / "out" / "foreign.model") == sha256(foreign / "foreign.model")


@pytest.mark.parametrize("key", ["foreign", "english"])
def test_a_vocabulary_too_large_names_the_key_and_the_maximum_that_works(corpus, tmp_path, key):
    with refused("too many pieces", 30_000, where=f"data.subwords.{key} ({key})") as caught:
        train(small_data(**{key: 30_000}), corpus, tmp_path, silent)
    most = int(re.search(r"\d+", caught.value.remedy)[0])
    train(small_data(**{key: most}), corpus, tmp_path, silent)
    with pytest.raises(FathomError):
        train(small_data(**{key: most + 1}), corpus, tmp_path, silent)


def test_a_vocabulary_smaller_than_the_alphabet_names_the_minimum_that_works(corpus, tmp_path):
    with refused("too few pieces", 10) as caught:
        train(small_data(foreign=10), corpus, tmp_path, silent)
    least = int(re.search(r"\d+", caught.value.remedy)[0])
    train(small_data(foreign=least), corpus, tmp_path, silent)


def test_a_unigram_model_has_fewer_pieces_where_the_text_has_no_more(corpus, tmp_path):
    train(small_data(algorithm="unigram", foreign=30_000), corpus, tmp_path, silent)
    pieces = read_record(tmp_path / "subwords.json")["models"]["foreign"]
    assert 100 < pieces < 30_000


def test_a_failed_training_leaves_nothing_that_looks_finished(corpus, tmp_path):
    train(small_data(), corpus, tmp_path, silent)
    with pytest.raises(FathomError):
        train(small_data(english=30_000), corpus, tmp_path, silent)
    assert not (tmp_path / "subwords.json").exists()
    assert not list(tmp_path.glob(".*"))


def test_an_unfinished_corpus_is_refused(tmp_path):
    with refused("no such file"):
        train(small_data(), tmp_path, tmp_path / "out", silent)


def test_text_of_nothing_but_invisible_characters_is_refused():
    with refused("no training text"):
        learn([INVISIBLE, ""], 50, "bpe", "data.subwords.foreign")


def test_long_lines_are_learned_from_too():
    short = ["ab ba"] * 20
    model = learn([*short, "c" * 5000], 8, "bpe", "")
    assert b"c" in model
    assert module.LONGEST_LINE > 5000


def test_progress_names_each_model(corpus, tmp_path):
    lines = []
    train(small_data(), corpus, tmp_path, lines.append)
    assert lines == ["subwords: english, bpe, 80 pieces", "subwords: foreign, bpe, 120 pieces"]
