import re

import pytest

from fathom.errors import FathomError
from fathom.io.files import read_json, sha256
from fathom.subwords import train as module
from fathom.subwords import vocabulary
from fathom.subwords.train import learn, train, unknown_rate
from tests.subwords.small_corpus import (
    INVISIBLE,
    LANGUAGES,
    TASKS,
    silent,
    small_data,
    write_corpus,
)


def test_joint_parts_have_one_model_a_side_and_a_dictionary_of_it(joint):
    summary = read_json(joint / "subwords.json")
    assert sorted(summary["parts"]) == ["source", "target"]
    assert summary["parts"]["source"]["pieces"] == 120
    # SentencePiece's own <unk>, <s> and </s> stand in fairseq's dictionary, not in the file.
    assert summary["dictionaries"]["source"]["pieces"] == 117
    assert summary["dictionaries"]["target"]["pieces"] == 77
    assert len(vocabulary.read(joint / "dictionary.source.txt")) == 117


def test_parts_per_task_are_united_in_one_dictionary(per_task):
    summary = read_json(per_task / "subwords.json")
    assert sorted(summary["parts"]) == sorted([*TASKS, "target"])
    pieces = set()
    for task in TASKS:
        listed = (per_task / f"{task}.vocab").read_text("utf-8").split("\n")[:-1]
        pieces |= {line.split("\t")[0] for line in listed}
    united = vocabulary.read(per_task / "dictionary.source.txt")
    assert set(united) == pieces - {"<unk>", "<s>", "</s>"}


def test_training_text_has_no_unknown_pieces(corpus, joint):
    summary = read_json(joint / "subwords.json")
    assert summary["unknown_rates"] == {
        "source": dict.fromkeys(TASKS, 0.0),
        "target": dict.fromkeys(TASKS, 0.0),
    }


def test_unknown_rate_counts_pieces_and_knows_empty_text():
    assert unknown_rate({"a": 1}, [["a", "b"], ["a", "a"]]) == 0.25
    assert unknown_rate({"a": 1}, [[]]) == 0.0


def test_training_twice_gives_the_same_bytes(corpus, joint, tmp_path):
    train(small_data(), corpus, tmp_path, silent)
    names = sorted(path.name for path in joint.iterdir())
    assert names == sorted(path.name for path in tmp_path.iterdir())
    assert [sha256(joint / name) for name in names] == [sha256(tmp_path / name) for name in names]


def test_summary_holds_the_models_checksums(joint):
    for part, described in read_json(joint / "subwords.json")["parts"].items():
        assert described["sha256"] == sha256(joint / f"{part}.model")


def test_only_the_training_split_is_learnt_from(joint, tmp_path):
    corpus = write_corpus(tmp_path / "corpus")
    for task in TASKS:
        (corpus / task / f"test.{LANGUAGES[task]}").write_text("другое\n", encoding="utf-8")
    train(small_data(), corpus, tmp_path / "out", silent)
    assert sha256(tmp_path / "out" / "source.model") == sha256(joint / "source.model")


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_vocabulary_too_large_names_the_key_and_the_maximum_that_works(corpus, tmp_path, side):
    key = f"{side}_vocabulary"
    with pytest.raises(FathomError) as caught:
        train(small_data(**{key: 30_000}), corpus, tmp_path, silent)
    assert f"data.subwords.{key}" in str(caught.value)
    most = int(re.search(r"write (\d+) or less", str(caught.value))[1])
    train(small_data(**{key: most}), corpus, tmp_path, silent)
    with pytest.raises(FathomError):
        train(small_data(**{key: most + 1}), corpus, tmp_path, silent)


def test_a_vocabulary_smaller_than_the_alphabet_names_the_minimum_that_works(corpus, tmp_path):
    with pytest.raises(FathomError) as caught:
        train(small_data(source_vocabulary=10), corpus, tmp_path, silent)
    least = int(re.search(r"write (\d+) or more", str(caught.value))[1])
    train(small_data(source_vocabulary=least), corpus, tmp_path, silent)


def test_a_unigram_model_has_fewer_pieces_where_the_text_has_no_more(corpus, tmp_path):
    train(small_data(algorithm="unigram", source_vocabulary=30_000), corpus, tmp_path, silent)
    pieces = read_json(tmp_path / "subwords.json")["parts"]["source"]["pieces"]
    assert 100 < pieces < 30_000


def test_a_failed_training_leaves_nothing_that_looks_finished(corpus, tmp_path):
    train(small_data(), corpus, tmp_path, silent)
    with pytest.raises(FathomError):
        train(small_data(target_vocabulary=30_000), corpus, tmp_path, silent)
    assert not (tmp_path / "subwords.json").exists()
    assert not list(tmp_path.glob(".*"))


def test_an_unfinished_corpus_is_refused(tmp_path):
    with pytest.raises(FathomError, match="no such file"):
        train(small_data(), tmp_path, tmp_path / "out", silent)


def test_text_of_nothing_but_invisible_characters_is_refused():
    with pytest.raises(FathomError, match="no training text"):
        learn([INVISIBLE, ""], 50, "bpe", "data.subwords.source_vocabulary")


def test_long_lines_are_learnt_from_as_well():
    short = ["ab ba"] * 20
    model = learn([*short, "c" * 5000], 8, "bpe", "")
    assert b"c" in model
    assert module.LONGEST_LINE > 5000


def test_progress_names_each_part(corpus, tmp_path):
    lines = []
    train(small_data(), corpus, tmp_path, lines.append)
    assert lines == ["subwords: source, bpe, 120 pieces", "subwords: target, bpe, 80 pieces"]
