from fathom.data.pairs import Pairs
from fathom.data.texts import Pair
from tests.data.small_archives import messages_dataset


def test_pairs_are_cleaned_made_distinct_and_counted():
    dataset = messages_dataset({"one": {"fra": ["fr"]}}, ["fra", "deu"])
    pairs = Pairs(dataset.tasks, dataset.cleaning)
    pairs.dropped["fra"]["fuzzy"] += 1
    for text, pivot in (("<b>Un</b>", "One"), ("un", "one!"), ("URL", "URL"), ("Un", "One")):
        pairs.add("fra", Pair(text, pivot))
    texts = pairs.split(dataset.split)
    assert [pair for rows in texts["fra"].splits.values() for pair in rows] == [Pair("Un", "One")]
    assert texts["fra"].dropped == {"fuzzy": 1, "untranslated": 1, "duplicate": 2}
    assert texts["fra"].read == 5
    assert texts["deu"].read == 0
