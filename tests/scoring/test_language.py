"""The language of a text by its characters, and hypotheses in another one than was asked for."""

import math
import random

import pytest

from fathom.io.files import read_lines
from fathom.results.measurements import Number
from fathom.scoring import right_language
from fathom.scoring.right_language import (
    UNIFORM,
    CharacterModel,
    Checked,
    check,
    language_of,
    records_of,
)
from tests.support.small_corpus import (
    LANGUAGES,
    TASKS,
    small_data,
    words,
    write_corpus,
)

TEXTS = {
    "eng": ["Enter a valid address.", "This page could not be found.", "The field is required."],
    "fra": ["Saisissez une adresse valide.", "Cette page est introuvable.", "Ce champ est requis."],
    "kor": ["올바른 주소를 입력하세요.", "이 페이지를 찾을 수 없습니다.", "이 항목은 필수입니다."],
}
MODELS = {language: CharacterModel(lines) for language, lines in TEXTS.items()}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The address is not valid", "eng"),
        ("Cette adresse est requise", "fra"),
        ("페이지를 입력하세요", "kor"),
        ("THE FIELD IS REQUIRED", "eng"),
        ("the", "eng"),
        # Few letters.
        ("12:30, 4 %", None),
        ("a-b", None),
        ("", None),
    ],
)
def test_a_text_of_three_letters_has_the_likeliest_language(text, language):
    assert language_of(text, MODELS) == language


def test_the_probability_of_a_character_backs_off_to_shorter_contexts():
    model = CharacterModel(["ab", "ab", "ac"])
    shortest = (2 + 2 * UNIFORM) / (6 + 2)
    after_a = (2 + 2 * shortest) / (3 + 2)
    known = (2 + 2 * after_a) / (3 + 2)
    longest = (2 + 2 * known) / (3 + 2)
    first = (3 + 2 * UNIFORM) / (6 + 2)
    for _ in range(3):
        first = (3 + 2 * first) / (3 + 2)
    assert model.log_likelihood("ab") == pytest.approx(math.log(first) + math.log(longest))


def test_a_character_that_was_never_seen_has_what_the_shortest_context_leaves():
    model = CharacterModel(["a"])
    seen_nothing = 2 * UNIFORM / (1 + 2)
    expected = seen_nothing * (2 / 3) ** 3
    assert model.log_likelihood("z") == pytest.approx(math.log(expected))


# The right language

DATA = small_data(direction="one_to_many", target_token="decoder")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def references(corpus, task, split="test"):
    return read_lines(corpus / task / f"{split}.{LANGUAGES[task]}")


def written(corpus, **languages):
    """Return hypotheses of each task: its references, or words of another language."""
    dice = random.Random(3)
    hypotheses = {}
    for task in TASKS:
        own = references(corpus, task)
        other = languages.get(task)
        hypotheses[task] = own if other is None else [words(other, 5, dice) for _ in own]
    return hypotheses


def test_references_are_in_their_language_and_pass(corpus):
    found = check(DATA, corpus, "test", written(corpus))
    assert found.doubt == ""
    assert found.hypotheses == found.references
    assert all(share.value > 0.8 for share in found.references.values())


def test_one_task_may_be_in_another_language_and_two_may_not(corpus):
    one = check(DATA, corpus, "test", written(corpus, bos="kor"))
    assert (one.hypotheses["bos"].value, one.doubt) == (0.0, "")
    two = check(DATA, corpus, "test", written(corpus, bos="kor", bel="kor"))
    assert "bos" in two.doubt
    assert "bel" in two.doubt
    assert "kor" not in two.doubt
    assert [*one.doubts] == ["bos"]
    assert [*two.doubts] == ["bos", "bel"]


def test_the_sentences_that_are_judged_are_drawn_over_the_test_set(corpus, monkeypatch):
    """The first 100 alone were judged: a test set may have its talks one after the other."""
    monkeypatch.setattr(right_language, "JUDGED", 4)
    hypotheses = written(corpus)
    wrong = written(corpus, bos="kor")["bos"]
    half = len(wrong) // 2
    hypotheses["bos"] = [*hypotheses["bos"][:half], *wrong[half:]]
    share = check(DATA, corpus, "test", hypotheses).hypotheses["bos"]
    assert (share.value, share.n) == (0.5, 4)


def test_copies_of_the_source_are_in_the_sources_language(corpus):
    found = check(DATA, corpus, "test", written(corpus, bos="eng", bel="eng", kor="eng"))
    assert all(share.value < 0.2 for share in found.hypotheses.values())
    assert found.doubt


def test_two_tasks_in_the_language_of_each_other_have_a_doubt(corpus):
    found = check(DATA, corpus, "test", written(corpus, bos="bel", bel="bos"))
    assert [*found.doubts] == ["bos", "bel"]
    assert found.doubt


def test_a_task_needs_half_of_its_references_share(corpus):
    mixed = written(corpus)
    wrong = written(corpus, bel="kor", kor="bel", bos="kor")
    for task, lines in mixed.items():
        half = len(lines) // 2
        mixed[task] = [*lines[: half + 2], *wrong[task][half + 2 :]]
    assert check(DATA, corpus, "test", mixed).doubt == ""


@pytest.mark.parametrize(("right", "passes"), [(35, True), (25, False)])
def test_where_few_references_are_in_their_language_fewer_hypotheses_need_be(right, passes):
    references = dict.fromkeys(TASKS, Number(value=0.6))
    found = Checked(dict.fromkeys(TASKS, Number(value=right / 100)), references)
    assert (found.doubt == "") == passes


def test_texts_without_letters_have_no_language_and_a_task_of_them_fails(corpus):
    empty = {task: ["12"] * len(references(corpus, task)) for task in TASKS}
    found = check(DATA, corpus, "test", empty)
    assert [(share.value, share.n) for share in found.hypotheses.values()] == [(0.0, 0)] * 3
    assert found.doubt


def test_one_target_language_is_not_checked(corpus):
    hypotheses = {task: ["a"] * len(references(corpus, task)) for task in TASKS}
    assert check(small_data(), corpus, "test", hypotheses) is None
    assert check(DATA, corpus, "test", {}) is None


def test_the_records_have_shares_and_the_doubt(corpus):
    found = check(DATA, corpus, "test", written(corpus, bos="kor", bel="kor"))
    records = records_of(found, "test", "soft")
    assert list(records) == [
        "right_language.test.soft",
        "reference_language.test.soft",
    ]
    shares = records["right_language.test.soft"]
    assert shares.doubt == found.doubt
    assert shares.tasks["bos"].value == 0.0
    assert shares.tasks["bos"].n == len(references(corpus, "bos"))
    assert records["reference_language.test.soft"].tasks["bos"].value > 0.8
