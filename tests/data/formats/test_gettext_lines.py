import pytest

from fathom.data.readers.gettext_lines import read
from fathom.data.texts import Line
from tests.data.small_archives import catalogue, lines_dataset, message, plural, wheel


@pytest.fixture
def read_tasks(tmp_path):
    """A function that reads catalogues of English and Hindi and returns each task's text."""

    def run(english, hindi):
        path = wheel(tmp_path / "app.whl", {"en": english, "hi": hindi})
        dataset = lines_dataset({"app": {"en": ["en"], "hi": ["hi"]}}, ["en", "hi"])
        return read({"app": path}, dataset)

    return run


def sentences(text):
    """Return all sentences of a task, sorted."""
    return sorted(line.text for lines in text.splits.values() for line in lines)


def test_the_messages_are_one_task_and_their_translations_another(read_tasks):
    english = catalogue(message("Save", ""), message("Open it", "Open that"))
    texts = read_tasks(english, catalogue(message("Save", "सहेजें")))
    assert sentences(texts["en"]) == ["Open it", "Save"]
    assert sentences(texts["hi"]) == ["सहेजें"]
    assert all(isinstance(line, Line) for lines in texts["en"].splits.values() for line in lines)


def test_messages_are_cleaned_without_a_translation(read_tasks):
    english = catalogue(
        message("Save", ""),
        message("save!", ""),
        message("Hello %s", ""),
        message("…", ""),
        message("w" * 101, ""),
        message("Fuzzy <b>is</b> text too", "x", before="#, fuzzy"),
        plural("a page", "pages", "", ""),
        '\n#~ msgid "Gone"\n#~ msgstr ""\n',
    )
    text = read_tasks(english, catalogue(message("Save", "सहेजें")))["en"]
    assert sentences(text) == ["Fuzzy is text too", "Save", "a page", "pages"]
    rules = ("placeholders", "no_letter", "too_long", "obsolete", "duplicate")
    assert text.dropped == dict.fromkeys(rules, 1)
    assert text.read == sum(text.dropped.values()) + 4


def test_translations_are_cleaned_by_the_rules_of_pairs(read_tasks):
    hindi = catalogue(
        message("Save", "सहेजें"),
        message("URL", "URL"),
        message("Hello %s", "नमस्ते"),
        message("Open", ""),
        message("Not sure", "शायद", before="#, fuzzy"),
    )
    text = read_tasks(catalogue(message("Save", "")), hindi)["hi"]
    assert sentences(text) == ["सहेजें"]
    rules = ("untranslated", "placeholders_differ", "no_translation", "fuzzy")
    assert text.dropped == dict.fromkeys(rules, 1) | {"duplicate": 0}


def test_equal_translations_are_one_sentence_and_vowel_signs_tell_words_apart(read_tasks):
    pairs = {"Of it": "का", "Its": "का", "That": "कि", "Who": "के"}
    hindi = catalogue(*(message(english, text) for english, text in pairs.items()))
    text = read_tasks(catalogue(message("Of it", "")), hindi)["hi"]
    assert sentences(text) == sorted({"का", "कि", "के"})


def test_the_split_follows_the_sentence_and_not_its_translation(read_tasks):
    english = catalogue(*(message(f"Sentence {n}", "") for n in range(60)))

    def hindi(start):
        return catalogue(*(message(f"{start} {n}", f"{n} का") for n in range(60)))

    texts = read_tasks(english, hindi("Sentence"))
    assert texts["hi"].splits == read_tasks(english, hindi("Other"))["hi"].splits
    assert all(texts["en"].splits.values())
