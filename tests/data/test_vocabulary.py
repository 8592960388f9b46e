import pytest
from fairseq.data import Dictionary

from fathom.data.vocabulary import (
    BOS,
    EOS,
    PAD,
    SPECIAL,
    Ids,
    add_tokens,
    count,
    frequent,
    read,
    unite,
    unknown_rate,
    write,
)
from fathom.io.errors import FathomError


def test_pieces_are_ordered_by_falling_count_then_by_piece_and_read_as_written(tmp_path):
    counts = count([["ж", "a"], ["\u0085", "ж", "a"], ["x"]])
    ordered = [("a", 2), ("ж", 2), ("\u0085", 1), ("한", 0)]
    # The order of the models does not count.
    for pieces in (["a", "ж", "\u0085", "한", "ж"], ["한", "\u0085", "ж", "a"]):
        dictionary = unite(pieces, counts)
        assert list(dictionary.items()) == ordered
    assert unknown_rate(dictionary, [[]]) == 0.0
    write(tmp_path / "dictionary.txt", dictionary)
    assert read(tmp_path / "dictionary.txt") == dictionary


@pytest.mark.parametrize("piece", ["<s>", "<pad>", "</s>", "<unk>"])
def test_a_piece_that_looks_like_a_symbol_or_a_token_is_refused(tmp_path, piece):
    with pytest.raises(FathomError, match=f"the piece {piece}, which is a symbol"):
        write(tmp_path / "dictionary.txt", {"a": 2, piece: 1})
    assert not list(tmp_path.iterdir())
    write(tmp_path / "d.txt", {"a": 2, "__bos__": 1})
    with pytest.raises(FathomError, match="__bos__, which is a token of a target language"):
        add_tokens(tmp_path / "d.txt", ["__bos__"])


def test_ids_are_those_of_fairseqs_dictionary_and_its_own_symbols_are_unknown(tmp_path):
    pieces = {"▁a": 9, "b": 4, "▁": 3, "#": 2, "é": 1, "x": 0}
    write(tmp_path / "d.txt", pieces)
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
    theirs = Dictionary()
    for line in text:
        theirs.encode_line(line, append_eos=False)
    theirs.finalize(threshold=threshold, padding_factor=8)
    theirs.save(str(tmp_path / "theirs.txt"))
    ours = frequent(count(line.split() for line in text), threshold)
    write(tmp_path / "ours.txt", ours)
    assert (tmp_path / "ours.txt").read_bytes() == (tmp_path / "theirs.txt").read_bytes()
    assert (len(SPECIAL) + len(ours)) % 8 == 0


def test_tokens_follow_the_pieces_and_no_text_becomes_one(tmp_path):
    path = tmp_path / "d.txt"
    write(path, {"▁a": 9, "b": 4})
    add_tokens(path, ["__bos__", "__kor__", "__bos__"])
    theirs, ours = Dictionary.load(str(path)), Ids(path, ["__bos__", "__kor__", "__bos__"])
    assert len(ours) == len(theirs) == 4 + 2 + 2
    token = theirs.index("__kor__")
    assert token == 4 + 2 + 1
    assert ours.of(["b"], "__kor__") == [token, theirs.index("b"), EOS]
    assert ours.of(["__kor__"]) == [theirs.unk(), EOS]
