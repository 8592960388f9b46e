import shutil
import unicodedata

import pytest

from fathom.data.subwords.encode import Encoder, join, listed_pieces
from fathom.data.subwords.sides import sides
from tests.support.refused import refused
from tests.support.small_corpus import INVISIBLE, ODD, TASKS, small_data

KEYS = {"foreign": {}, "joint": {"joint": 150}, "per_task": {"per_task": 60}}


@pytest.fixture(params=KEYS)
def encoder(request):
    folder = request.getfixturevalue(request.param)
    source, _ = sides(small_data(**KEYS[request.param]))
    return Encoder(folder, source)


@pytest.mark.parametrize("task", TASKS)
def test_pieces_join_to_the_text_they_were_cut_from(encoder, corpus, task):
    for split in ("train", "test"):
        lines = [
            line for line in encoder.side.lines(corpus, task, split) if line not in (ODD, INVISIBLE)
        ]
        pieces = list(encoder.pieces(task, lines))
        assert [join(sentence) for sentence in pieces] == [
            unicodedata.normalize("NFKC", line) for line in lines
        ]
        assert max(map(len, pieces)) > 20


def test_odd_line_separators_stay_inside_one_sentence(encoder):
    (pieces,) = encoder.pieces("bos", [ODD])
    # The line separator is a blank to SentencePiece, the control character an unknown piece.
    assert join(pieces) == "one two\u0085three"


def test_joining_agrees_with_sentencepiece(encoder, corpus):
    processor = encoder.models.processor(encoder.side.models["bel"])
    for line in encoder.side.lines(corpus, "bel", "valid"):
        assert join(processor.encode(line, out_type=str)) == processor.decode(
            processor.encode(line)
        )


def test_full_width_and_composed_characters_are_normalised(encoder):
    (pieces,) = encoder.pieces("bos", ["\uff4c\uff4f\u3000c\u030ca"])
    assert join(pieces) == "lo ča"


def test_blank_sentences_have_no_pieces(encoder):
    assert list(encoder.pieces("bos", ["", "  ", INVISIBLE])) == [[], [], []]
    assert join([]) == ""


def test_a_models_own_symbols_are_not_listed(encoder):
    for name in encoder.side.models.values():
        pieces = listed_pieces(encoder.models.processor(name))
        assert not {"<unk>", "<s>", "</s>"} & set(pieces)


def test_unknown_characters_are_kept_as_they_are(encoder):
    (pieces,) = encoder.pieces("bos", ["</s> lo"])
    assert join(pieces) == "</s> lo"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_bytes(b""), "changed file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "changed file"),
        (lambda path: shutil.copy(path.with_name("english.model"), path), "changed file"),
    ],
)
def test_a_model_that_is_not_the_learned_one_is_refused(foreign, tmp_path, damage, message):
    folder = shutil.copytree(foreign, tmp_path / "subwords" / "small-12345678")
    damage(folder / "foreign.model")
    encoder = Encoder(folder, sides(small_data())[0])
    again = f"rm {folder}/subwords.json && fathom subwords small-12345678"
    with refused(message, where="foreign.model", remedy=again):
        encoder.pieces("bos", ["lo"])
