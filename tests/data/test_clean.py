import random
import unicodedata

import pytest

from fathom.config.schema.dataset import KeyHash, MessageCleaning
from fathom.data.clean import fault, has_invisible, key, one_line, tidy
from fathom.data.split import Pair, TaskText, by_key, deal, distinct, split_of

RULES = MessageCleaning(
    equal_plurals="both", max_characters=60, max_ratio=2.5, min_ratio=0.2, ratio_from=20
)
# Each splits a line for str.splitlines, and none is the line end of our files.
SEPARATORS = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\r\n"


@pytest.mark.parametrize("separator", SEPARATORS)
def test_no_character_that_some_reader_takes_for_a_line_end_survives(separator):
    text = f"one{separator}two"
    assert one_line(text) == "one two"
    assert tidy(text) == "one two"
    assert len(one_line(text).splitlines()) == 1


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("cafe\u0301", "café"),
        ("Fish &amp; chips", "Fish & chips"),
        ("Don&#39;t", "Don't"),
        ("zero\u200bwidth, soft\xadhyphen", "zerowidth, softhyphen"),
        ("  many \t blanks\u00a0\n here ", "many blanks here"),
        ("a <b>bold</b> word", "a bold word"),
        ("a &lt;b&gt;bold&lt;/b&gt; word", "a bold word"),
        ("one<br/>two", "one two"),
        ("3 < 4 and 5 > 4", "3 < 4 and 5 > 4"),
    ],
)
def test_a_message_becomes_a_sentence(message, sentence):
    assert tidy(message) == sentence
    assert unicodedata.is_normalized("NFC", tidy(message))


@pytest.mark.parametrize(
    "mark", ["%(count)s", "%s", "%d", "%.2f", "{name}", "{{ name }}", "{}", "$1", "$refs", "&x;"]
)
def test_a_placeholder_is_dropped_even_where_both_sides_have_it(mark):
    assert fault((f"mot {mark}", f"word {mark}"), RULES) == "placeholders"
    assert fault(("mot", f"word {mark}"), RULES) == "placeholders_differ"
    assert fault((f"mot {mark} {mark}", f"word {mark}"), RULES) == "placeholders_differ"


@pytest.mark.parametrize(
    ("sides", "broken"),
    [
        (("…", "Three points"), "no_letter"),
        (("mot", "1, 2"), "no_letter"),
        (("URL", "URL"), "untranslated"),
        (("url", "URL"), None),
        (("m" * 61, "w" * 60), "too_long"),
        (("m" * 60, "w" * 61), "too_long"),
        (("m" * 60, "w" * 60), None),
        # Ratios count from twenty characters of the pivot on: at most 2.5, at least 0.2.
        (("m" * 51, "w" * 20), "unequal_length"),
        (("m" * 50, "w" * 20), None),
        (("m" * 3, "w" * 20), "unequal_length"),
        (("m" * 4, "w" * 20), None),
        (("m" * 51, "w" * 19), None),
        # A sentence without translation is cleaned alone.
        (("A sentence of some words",), None),
        (("Hello %(name)s",), "placeholders"),
        (("… !",), "no_letter"),
        (("w" * 61,), "too_long"),
        (("w" * 60,), None),
    ],
)
def test_the_first_rule_that_is_broken_is_named(sides, broken):
    assert fault(sides, RULES) == broken


@pytest.mark.parametrize(
    "other",
    ["Save Draft", "save  draft…", "Save-draft:", "save_draft", "\uff33ave draft", "SAVE DRAFT"],
)
def test_sentences_that_differ_in_case_marks_and_width_have_one_key(other):
    assert key(other) == key("Save draft") == "save draft"


def test_a_key_leaves_out_placeholders_and_tags_but_keeps_letters_of_any_script():
    assert key("Delete %(name)s <b>now</b>") == "delete now"
    assert key("Größe 5 – размер") == "grösse 5 размер"


@pytest.mark.parametrize(
    "sign", ["\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u200e"]
)
@pytest.mark.parametrize("at", [0, 2, 4, 10])
def test_what_nobody_sees_is_no_other_sentence_wherever_it_is(sign, at):
    sentence = "Save draft"
    other = sentence[:at] + sign + sentence[at:]
    assert key(other) == key(sentence)
    assert has_invisible(other)
    assert not has_invisible(sentence)


@pytest.mark.parametrize(
    ("one", "other"), [("का", "कि"), ("မှာ", "မှ"), ("résumé", "resume"), ("2", "3")]
)
def test_words_that_differ_in_a_letter_digit_or_mark_have_different_keys(one, other):
    assert key(one) != key(other)


# Duplicates and splits


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
    kept = [("open", Pair("z", "Open")), ("save", Pair("b", "Save"))]
    # The order in which pairs are met does not count.
    for met in (pairs, pairs[::-1], random.Random(1).sample(pairs, len(pairs))):
        assert list(distinct(met).items()) == kept


def test_the_split_of_a_sentence_is_frozen():
    """Another hash, byte order or modulus would move sentences between splits."""
    keys = ("save", "open", "delete", "password", "11", "entry", "yesterday", "settings")
    frozen = ["train", "test", "train", "train", "valid", "train", "test", "test"]
    assert [split_of(key, shares("fathom-split-1", 150, 50)) for key in keys] == frozen
    assert [split_of(key, shares("pepper", 150, 50)) for key in keys] != frozen
    ends = [split_of("x", shares("s", *given)) for given in ((0, 0), (1000, 0), (0, 1000))]
    assert ends == ["train", "test", "valid"]


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
