import pytest

from fathom.config.rules import dictionaries_are_one
from fathom.config.schema.run import Subwords


@pytest.mark.parametrize(
    ("subwords", "one"),
    [
        ({"algorithm": "bpe", "joint": 100}, True),
        ({"algorithm": "bpe", "english": 50, "foreign": 60}, False),
        ({"algorithm": "unigram", "english": 50, "per_task": 60}, False),
        ({"algorithm": "published", "dictionary": "joint", "threshold": 5}, True),
        ({"algorithm": "published"}, False),
    ],
)
def test_only_one_model_for_all_text_gives_one_dictionary(subwords, one):
    assert dictionaries_are_one(Subwords.model_validate(subwords)) is one
