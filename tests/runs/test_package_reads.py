import pytest

from fathom.config.schema.package_reads import (
    Compiled,
    Fluent,
    HtmlPages,
    JsonFiles,
    Verses,
    english_of,
    kind_of,
)


@pytest.mark.parametrize("model", [JsonFiles, Compiled, Fluent, HtmlPages, Verses])
def test_every_way_to_read_is_described(model):
    assert [name for name, field in model.model_fields.items() if not field.description] == []


def test_a_word_and_settings_have_a_kind():
    assert kind_of("po") == "po"
    assert kind_of(JsonFiles(kind="json", folder="translations")) == "json"


def test_the_english_side_is_in_the_package_itself_or_in_one_that_the_card_names():
    assert english_of("home", "json") == "home"
    assert english_of("fire_fra", Fluent(kind="fluent", english="fire_eng")) == "fire_eng"
    assert english_of("help_fra", HtmlPages(kind="html", english="help_eng")) == "help_eng"
