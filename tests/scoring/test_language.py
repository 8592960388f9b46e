"""The language of a text by its characters."""

import math

import pytest

from fathom.scoring.language import UNIFORM, CharacterModel, collapsed, language_of

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
    ],
)
def test_a_text_belongs_to_the_likeliest_language(text, language):
    assert language_of(text, MODELS) == language


def test_a_text_with_few_letters_belongs_to_none():
    assert language_of("12:30, 4 %", MODELS) is None
    assert language_of("a-b", MODELS) is None
    assert language_of("", MODELS) is None
    assert language_of("the", MODELS) == "eng"


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


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("de la de la de la de la page", "de la page"),
        ("aaaa", "a"),
        ("no no", "no no"),
        ("ababab ababab ababab x", "ab x"),
    ],
)
def test_a_loop_says_once_what_it_says(text, once):
    assert collapsed(text) == once


def test_a_loop_does_not_decide_the_language():
    loop = "cette page est " + "e the e the " * 20
    assert language_of(loop, MODELS) == "fra"
