import re
import shutil
import unicodedata

import pytest
import torch
from fairseq.data import Dictionary

from fathom.data import vocabulary
from fathom.data.sides import sides
from fathom.data.subwords import Encoder, join, learn, train
from fathom.data.vocabulary import (
    BOS,
    EOS,
    PAD,
    SPECIAL,
    Ids,
    add_tokens,
    count,
    frequent,
    unite,
    unknown_rate,
)
from fathom.io.errors import FathomError
from fathom.io.files import sha256, write_lines
from fathom.io.records import read_record
from tests.support.refused import refused
from tests.support.small_corpus import (
    INVISIBLE,
    LANGUAGES,
    ODD,
    TASKS,
    record_corpus,
    silent,
    small_data,
    write_corpus,
)


@pytest.fixture(scope="session")
def joint(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("joint")
    train(small_data(joint=150), corpus, folder, silent)
    return folder


@pytest.fixture(scope="session")
def per_task(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("per_task")
    train(small_data(per_task=60, algorithm="unigram"), corpus, folder, silent)
    return folder


# Learning


def entries(folder, side):
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
    assert summary["dictionaries"] == {"source": 117, "target": 77}
    assert entries(foreign, "source") == listed(foreign, "foreign")
    assert entries(foreign, "target") == listed(foreign, "english")
    # Training text has no unknown pieces.
    known = dict.fromkeys(TASKS, 0.0)
    assert summary["unknown_rates"] == {"source": known, "target": known}
    files = {path.name: sha256(path) for path in foreign.iterdir() if path.suffix != ".json"}
    assert len(files) == 6
    assert summary["files"] == files


def test_a_joint_model_has_equal_dictionaries_and_models_per_task_are_united(joint, per_task):
    assert list(read_record(joint / "subwords.json")["models"]) == ["joint"]
    assert entries(joint, "source") == listed(joint, "joint")
    source, target = (joint / f"dictionary.{side}.txt" for side in ("source", "target"))
    assert source.read_bytes() == target.read_bytes()
    names = [f"per_task.{task}" for task in TASKS]
    models = read_record(per_task / "subwords.json")["models"]
    assert sorted(models) == sorted([*names, "english"])
    assert entries(per_task, "source") == listed(per_task, *names)


def test_the_direction_exchanges_the_dictionaries_and_nothing_else(foreign, corpus, tmp_path):
    train(small_data(direction="one_to_many"), corpus, tmp_path, silent)
    for one, other in (("source", "target"), ("target", "source")):
        exchanged = tmp_path / f"dictionary.{other}.txt"
        assert exchanged.read_bytes() == (foreign / f"dictionary.{one}.txt").read_bytes()
    for model in ("foreign.model", "english.model"):
        assert sha256(tmp_path / model) == sha256(foreign / model)


def test_pieces_of_another_data_set_are_learned_from_its_text(corpus, tmp_path):
    own = {"tasks": [["kor", "hangul"]], "pivot": "eng"}
    train(small_data(own), corpus, tmp_path / "own", silent)
    train(small_data(pieces=own), corpus, tmp_path / "other", silent)
    for path in (tmp_path / "own").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()


def test_equal_training_text_gives_equal_bytes_whatever_the_test(foreign, tmp_path):
    corpus = write_corpus(tmp_path / "corpus")
    for task in TASKS:
        (corpus / task / f"test.{LANGUAGES[task]}").write_text("другое\n", encoding="utf-8")
    record_corpus(corpus)
    train(small_data(), corpus, tmp_path / "out", silent)
    made = {path.name: sha256(path) for path in (tmp_path / "out").iterdir()}
    assert made == {path.name: sha256(path) for path in foreign.iterdir()}


@pytest.mark.parametrize("key", ["foreign", "english"])
def test_a_vocabulary_too_large_names_the_key_and_the_maximum_that_works(corpus, tmp_path, key):
    with pytest.raises(FathomError, match="30000 pieces are more than the text allows") as caught:
        train(small_data(**{key: 30_000}), corpus, tmp_path, silent)
    assert caught.value.where == f"data.subwords.{key} ({key})"
    most = int(re.search(r"\d+", caught.value.remedy)[0])
    train(small_data(**{key: most}), corpus, tmp_path, silent)
    with pytest.raises(FathomError):
        train(small_data(**{key: most + 1}), corpus, tmp_path, silent)
    # A failed training leaves nothing that looks finished.
    assert not (tmp_path / "subwords.json").exists()
    assert not list(tmp_path.glob(".*"))


def test_a_vocabulary_smaller_than_the_alphabet_names_the_minimum_that_works(corpus, tmp_path):
    with pytest.raises(FathomError, match="10 pieces are fewer") as caught:
        train(small_data(foreign=10), corpus, tmp_path, silent)
    least = int(re.search(r"\d+", caught.value.remedy)[0])
    train(small_data(foreign=least), corpus, tmp_path, silent)
    # A unigram model has fewer pieces where the text has no more.
    train(small_data(algorithm="unigram", foreign=30_000), corpus, tmp_path, silent)
    assert 100 < read_record(tmp_path / "subwords.json")["models"]["foreign"] < 30_000


def test_text_that_is_not_there_is_refused_and_long_lines_are_learned_from(tmp_path):
    with pytest.raises(FathomError, match="no such file"):
        train(small_data(), tmp_path, tmp_path / "out", silent)
    with pytest.raises(FathomError, match="there is no training text"):
        learn([INVISIBLE, ""], 50, "bpe", "data.subwords.foreign")
    assert b"c" in learn([*["ab ba"] * 20, "c" * 5000], 8, "bpe", "")


# Cutting and joining


KEYS = {"foreign": {}, "joint": {"joint": 150}, "per_task": {"per_task": 60}}


@pytest.fixture(params=KEYS)
def encoder(request):
    folder = request.getfixturevalue(request.param)
    source, _ = sides(small_data(**KEYS[request.param]))
    return Encoder.of(folder, source)


@pytest.mark.parametrize("task", TASKS)
def test_pieces_join_to_the_text_they_were_cut_from(encoder, corpus, task):
    processor = encoder.processor(encoder.side.models[task])
    for split in ("train", "test"):
        lines = [
            line for line in encoder.side.lines(corpus, task, split) if line not in (ODD, INVISIBLE)
        ]
        pieces = list(encoder.pieces(task, lines))
        joined = [join(sentence) for sentence in pieces]
        assert joined == [unicodedata.normalize("NFKC", line) for line in lines]
        assert joined == [processor.decode(processor.encode(line)) for line in lines]
        assert max(map(len, pieces)) > 20


@pytest.mark.parametrize(
    ("line", "joined"),
    [
        # The line separator is a blank to SentencePiece, the control character an unknown piece.
        (ODD, "one two\u0085three"),
        ("\uff4c\uff4f\u3000c\u030ca", "lo ča"),
        ("</s> lo", "</s> lo"),
    ],
)
def test_a_sentence_is_normalised_and_unknown_characters_stay(encoder, line, joined):
    (pieces,) = encoder.pieces("bos", [line])
    assert join(pieces) == joined
    assert list(encoder.pieces("bos", ["", "  ", INVISIBLE])) == [[], [], []]


@pytest.mark.parametrize("line", ["lo ča", "\uff4c\uff4f\u3000c\u030ca", "lo ☃☃ ča", "</s> lo", ""])
def test_references_are_printed_as_fairseq_prints_those_that_it_has_as_ids(foreign, line):
    encoder, path = Encoder.of(foreign, sides(small_data())[0]), foreign / "dictionary.source.txt"
    (pieces,) = encoder.pieces("bos", [line])
    theirs = Dictionary.load(str(path))
    ids = torch.tensor(Ids(path).of(pieces))
    expected = theirs.string(ids, "sentencepiece", escape_unk=True)
    assert [*encoder.printed("bos", [line], vocabulary.read(path))] == [expected]
    assert ("<<unk>>" in expected) is (line not in ("lo ča", "\uff4c\uff4f\u3000c\u030ca", ""))


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: shutil.copy(path.with_name("english.model"), path),
    ],
)
def test_a_model_that_is_not_the_learned_one_is_refused(foreign, tmp_path, damage):
    folder = shutil.copytree(foreign, tmp_path / "subwords" / "small-12345678")
    damage(folder / "foreign.model")
    encoder = Encoder.of(folder, sides(small_data())[0])
    with refused(where="foreign.model", remedy="run `fathom subwords small-12345678"):
        encoder.pieces("bos", ["lo"])


# Text that comes in pieces: dictionaries are those of `fairseq-preprocess`


MARKED = {"tasks": [["kor", "kor"]], "pivot": "eng", "pieces": "marked"}
TRAIN = {"kor": ["a@@ b c", "a@@ b a@@ d", "a@@ ž"], "eng": ["c d", "a@@ d x@@ y", "c"]}


@pytest.fixture
def marked(tmp_path):
    folder = tmp_path / "corpus"
    for language, lines in TRAIN.items():
        write_lines(folder / "kor" / f"train.{language}", lines)
        write_lines(folder / "kor" / f"valid.{language}", ["c a@@ d", "x@@ c c c c c"])
    record_corpus(folder)
    return folder


def by_fairseq(path, lines, threshold):
    """Write what `fairseq-preprocess` makes of some lines."""
    dictionary = Dictionary()
    for line in lines:
        dictionary.encode_line(line, append_eos=False)
    dictionary.finalize(threshold=threshold)
    dictionary.save(str(path))
    return path.read_bytes()


@pytest.mark.parametrize("dictionary", ["joint", None])
@pytest.mark.parametrize("threshold", [None, 2])
def test_dictionaries_of_pieces_are_fairseqs_and_no_model_cuts_the_text(
    marked, tmp_path, dictionary, threshold
):
    keys = {"algorithm": "published", "dictionary": dictionary, "threshold": threshold}
    data = small_data(MARKED, **keys)
    train(data, marked, tmp_path / "out", silent)
    for side, language in (("source", "kor"), ("target", "eng")):
        text = TRAIN["kor"] + TRAIN["eng"] if dictionary else TRAIN[language]
        expected = by_fairseq(tmp_path / "d.txt", text, threshold or 1)
        assert (tmp_path / "out" / f"dictionary.{side}.txt").read_bytes() == expected
    encoder = Encoder.of(tmp_path / "out", sides(data)[0])
    assert list(encoder.pieces("kor", ["a@@ b  c", " "])) == [["a@@", "b", "c"], []]


def test_the_record_says_what_is_counted_and_what_is_unknown(marked, tmp_path):
    data = small_data(MARKED, algorithm="published", dictionary="joint", threshold=2)
    train(data, marked, tmp_path / "out", silent)
    record = read_record(tmp_path / "out" / "subwords.json")
    assert (record["algorithm"], record["threshold"], record["multiple"]) == ("published", 2, 8)
    assert (record["models"], record["dictionaries"]) == ({}, {"source": 4, "target": 4})
    # x@@ of nine pieces.
    assert record["unknown_rates"]["target"] == {"kor": pytest.approx(1 / 9)}
    assert set(record["files"]) == {"dictionary.source.txt", "dictionary.target.txt"}


# Dictionaries


def test_pieces_are_ordered_by_falling_count_then_by_piece_and_read_as_written(tmp_path):
    counts = count([["ж", "a"], ["\u0085", "ж", "a"], ["x"]])
    ordered = [("a", 2), ("ж", 2), ("\u0085", 1), ("한", 0)]
    # The order of the models does not count.
    for pieces in (["a", "ж", "\u0085", "한", "ж"], ["한", "\u0085", "ж", "a"]):
        dictionary = unite(pieces, counts)
        assert list(dictionary.items()) == ordered
    assert unknown_rate(dictionary, [[]]) == 0.0
    vocabulary.write(tmp_path / "dictionary.txt", dictionary)
    assert vocabulary.read(tmp_path / "dictionary.txt") == dictionary


@pytest.mark.parametrize("piece", ["<s>", "<pad>", "</s>", "<unk>"])
def test_a_piece_that_looks_like_a_symbol_or_a_token_is_refused(tmp_path, piece):
    with pytest.raises(FathomError, match=f"the piece {piece}, which is a symbol"):
        vocabulary.write(tmp_path / "dictionary.txt", {"a": 2, piece: 1})
    assert not list(tmp_path.iterdir())
    vocabulary.write(tmp_path / "d.txt", {"a": 2, "__bos__": 1})
    with pytest.raises(FathomError, match="__bos__, which is a token of a target language"):
        add_tokens(tmp_path / "d.txt", ["__bos__"])


def test_ids_are_those_of_fairseqs_dictionary_and_its_own_symbols_are_unknown(tmp_path):
    pieces = {"▁a": 9, "b": 4, "▁": 3, "#": 2, "é": 1, "x": 0}
    vocabulary.write(tmp_path / "d.txt", pieces)
    theirs, ours = Dictionary.load(str(tmp_path / "d.txt")), Ids(tmp_path / "d.txt")
    assert len(ours) == len(theirs)
    assert ours.of(list(pieces)) == [*map(theirs.index, pieces), theirs.eos()]
    assert ours.of([]) == [theirs.eos()]
    assert ours.of(["</s>", "<pad>", "never seen"]) == [theirs.unk()] * 3 + [theirs.eos()]
    assert (theirs.bos(), theirs.pad()) == (BOS, PAD)


@pytest.mark.parametrize("threshold", [1, 2, 5])
@pytest.mark.parametrize("pieces", [3, 4, 9, 12])
def test_frequent_pieces_are_the_dictionary_that_fairseq_makes(tmp_path, threshold, pieces):
    text = [f"p{number % pieces}@@ ж{number % 5} madeupword0000" for number in range(30)]
    theirs = by_fairseq(tmp_path / "theirs.txt", text, threshold)
    ours = frequent(count(line.split() for line in text), threshold)
    vocabulary.write(tmp_path / "ours.txt", ours)
    assert (tmp_path / "ours.txt").read_bytes() == theirs
    assert (len(SPECIAL) + len(ours)) % 8 == 0


def test_tokens_follow_the_pieces_and_no_text_becomes_one(tmp_path):
    path = tmp_path / "d.txt"
    vocabulary.write(path, {"▁a": 9, "b": 4})
    add_tokens(path, ["__bos__", "__kor__", "__bos__"])
    theirs, ours = Dictionary.load(str(path)), Ids(path, ["__bos__", "__kor__", "__bos__"])
    assert len(ours) == len(theirs) == 4 + 2 + 2
    token = theirs.index("__kor__")
    assert token == 4 + 2 + 1
    assert ours.of(["b"], "__kor__") == [token, theirs.index("b"), EOS]
    assert ours.of(["__kor__"]) == [theirs.unk(), EOS]
