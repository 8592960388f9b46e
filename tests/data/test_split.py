import random

from fathom.config.schema.dataset import KeyHash
from fathom.data.split import by_key, deal, distinct, split_of
from fathom.data.texts import Pair, TaskText


def shares(salt, test, valid):
    return KeyHash(by="key_hash", salt=salt, test_per_mille=test, valid_per_mille=valid)


SPLIT = shares("salt", 150, 50)


def test_the_most_frequent_pair_of_a_key_is_kept_and_of_equals_the_least():
    pairs = [
        Pair("b", "Save"),
        Pair("a", "save"),
        Pair("b", "Save"),
        Pair("z", "Open"),
        Pair("y", "open:"),
        Pair("x", "open:"),
    ]
    # "Open" sorts before "open:", so its pair is the least of three that occur once.
    assert distinct(pairs) == {"open": Pair("z", "Open"), "save": Pair("b", "Save")}


def test_the_order_in_which_pairs_are_met_does_not_count():
    pairs = [Pair(f"t{n % 7}", f"Sentence {n % 5}") for n in range(100)]
    shuffled = random.Random(1).sample(pairs, len(pairs))
    assert list(distinct(pairs).items()) == list(distinct(shuffled).items())


def test_the_split_of_a_sentence_is_frozen():
    """Another hash, byte order or modulus would move sentences between splits."""
    keys = ("save", "open", "delete", "password", "11", "entry", "yesterday", "settings")
    splits = [split_of(key, shares("fathom-split-1", 150, 50)) for key in keys]
    frozen = ["train", "test", "train", "train", "valid", "train", "test", "test"]
    assert splits == frozen


def test_shares_are_about_what_was_asked():
    splits = [split_of(f"sentence {n}", SPLIT) for n in range(20_000)]
    # Four standard deviations of a share of 20,000 draws are at most 0.0101.
    assert abs(splits.count("test") / len(splits) - 0.15) < 0.0101
    assert abs(splits.count("valid") / len(splits) - 0.05) < 0.0101


def test_another_salt_is_another_split():
    other = shares("pepper", 150, 50)
    keys = [f"sentence {n}" for n in range(200)]
    assert [split_of(key, SPLIT) for key in keys] != [split_of(key, other) for key in keys]


def test_no_sentence_is_in_two_splits_of_any_language():
    one = distinct(Pair(f"un {n}", f"Sentence {n}") for n in range(500))
    other = distinct(Pair(f"ein {n}", f"sentence {n}!") for n in range(0, 900, 3))
    places: dict[str, set[str]] = {}
    for text in (one, other):
        for split, pairs in by_key(text, SPLIT).items():
            keys = {key for key, pair in text.items() if pair in pairs}
            for key in keys:
                places.setdefault(key, set()).add(split)
    assert len(places) == 633
    assert all(len(splits) == 1 for splits in places.values())


def test_shares_of_nothing_and_everything_are_possible():
    assert split_of("x", shares("s", 0, 0)) == "train"
    assert split_of("x", shares("s", 1000, 0)) == "test"
    assert split_of("x", shares("s", 0, 1000)) == "valid"


def test_a_text_is_dealt_by_sentence_whatever_else_it_holds():
    pairs = {f"sentence {n}": Pair(f"phrase {n}", f"Sentence {n}") for n in range(3000)}
    text = TaskText(by_key(pairs, SPLIT), 3000)
    dealt = deal(text, ["one", "two", "three"], SPLIT)
    counts = [len(part.splits["train"]) for part in dealt.values()]
    assert sum(counts) == len(text.splits["train"])
    # Five standard deviations of a third of 2,400 draws are 115.
    assert all(abs(count - sum(counts) / 3) < 115 for count in counts)
    fewer = TaskText({**text.splits, "train": text.splits["train"][::2]}, 3000)
    part = deal(fewer, ["one", "two", "three"], SPLIT)["two"].splits["train"]
    assert part == [pair for pair in dealt["two"].splits["train"] if pair in fewer.splits["train"]]
