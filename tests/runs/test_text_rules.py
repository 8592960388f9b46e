import pytest
from pydantic import ValidationError

from fathom.config.schema import text_rules
from fathom.config.schema.dataset import (
    Counts,
    KeyHash,
    MessageCleaning,
    Published,
    TalkCleaning,
)
from tests.support.refused import prose


@pytest.mark.parametrize("model", [Counts, KeyHash, MessageCleaning, Published, TalkCleaning])
def test_every_rule_is_described(model):
    assert [name for name, field in model.model_fields.items() if not field.description] == []


def test_counts_are_whole_numbers_or_printed_thousands():
    counts = Counts(train="10.0k", valid=0, test="185k")
    assert (counts.train, counts.valid, counts.test) == ("10.0k", 0, "185k")
    for wrong in (-1, 1.5, "1.7k5", "1000"):
        with pytest.raises(ValidationError):
            Counts(train=wrong, valid=0, test=0)


def test_a_split_leaves_something_for_training():
    KeyHash(by="key_hash", salt="s", test_per_mille=600, valid_per_mille=400)
    with pytest.raises(ValidationError, match=prose("shares", 1000)):
        KeyHash(by="key_hash", salt="s", test_per_mille=601, valid_per_mille=400)


def test_a_name_that_is_there_twice_is_refused():
    with pytest.raises(ValidationError, match=prose("twice", "x", 2)):
        TalkCleaning(missing_marks=["x", "y", "x"])


def test_the_identity_of_a_rule_is_its_values():
    split = KeyHash(by="key_hash", salt="s", test_per_mille=150, valid_per_mille=50)
    assert split.identity() == {
        "by": "key_hash", "salt": "s", "test_per_mille": 150, "valid_per_mille": 50,
    }  # fmt: skip
    assert text_rules.Published(by="published").identity() == {"by": "published"}
