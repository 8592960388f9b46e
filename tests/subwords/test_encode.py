import unicodedata

import pytest

from fathom.errors import FathomError
from fathom.subwords.encode import Encoder, join, listed_pieces
from fathom.subwords.sides import sides
from tests.subwords.small_corpus import INVISIBLE, ODD, TASKS, small_data


@pytest.fixture(params=["joint", "per_task"])
def encoder(request):
    folder = request.getfixturevalue(request.param)
    source, _ = sides(small_data(source_parts=request.param))
    return Encoder(folder, source)


@pytest.mark.parametrize("task", TASKS)
def test_pieces_join_to_the_text_they_were_cut_from(encoder, corpus, task):
    for split in ("train", "test"):
        lines = [
            line for line in encoder.side.lines(corpus, task, split) if line not in (ODD, INVISIBLE)
        ]
        pieces = encoder.pieces(task, lines)
        assert [join(each) for each in pieces] == [unicodedata.normalize("NFKC", x) for x in lines]
        assert max(map(len, pieces)) > 20


def test_odd_line_separators_stay_inside_one_sentence(encoder):
    (pieces,) = encoder.pieces("bos", [ODD])
    # The line separator is a blank to SentencePiece, the control character an unknown piece.
    assert join(pieces) == "one two\u0085three"


def test_joining_agrees_with_sentencepiece(encoder, corpus):
    model = encoder.model(encoder.side.part("bel"))
    for line in encoder.side.lines(corpus, "bel", "valid"):
        assert join(model.encode(line, out_type=str)) == model.decode(model.encode(line))


def test_full_width_and_composed_characters_are_normalised(encoder):
    (pieces,) = encoder.pieces("bos", ["\uff4c\uff4f\u3000c\u030ca"])
    assert join(pieces) == "lo ča"


def test_blank_sentences_have_no_pieces(encoder):
    assert encoder.pieces("bos", ["", "  ", INVISIBLE]) == [[], [], []]
    assert join([]) == ""


def test_a_models_own_symbols_are_not_listed(encoder):
    for part in encoder.side.parts:
        assert not {"<unk>", "<s>", "</s>"} & set(listed_pieces(encoder.model(part)))


def test_unknown_characters_are_kept_as_they_are(encoder):
    (pieces,) = encoder.pieces("bos", ["</s> lo"])
    assert join(pieces) == "</s> lo"


def test_a_missing_model_is_named(tmp_path):
    source, _ = sides(small_data())
    with pytest.raises(FathomError, match=r"source\.model"):
        Encoder(tmp_path, source).pieces("bos", ["lo"])
