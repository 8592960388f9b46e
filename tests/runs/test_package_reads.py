import pytest

from fathom.config.schema.dataset import (
    Compiled,
    JsonFiles,
    Verses,
    kind_of,
)


@pytest.mark.parametrize("model", [JsonFiles, Compiled, Verses])
def test_every_way_to_read_is_described(model):
    assert [name for name, field in model.model_fields.items() if not field.description] == []


def test_a_word_and_settings_have_a_kind():
    assert kind_of("po") == "po"
    assert kind_of(JsonFiles(kind="json", folder="translations")) == "json"
