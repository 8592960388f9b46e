import json
from collections import Counter, defaultdict

from fathom.data.package_texts import raw_pairs
from tests.data.small_archives import (
    catalogue,
    compiled,
    message,
    packages_dataset,
    plural,
    wheel,
    zip_of,
)


def test_each_source_is_read_in_its_own_way_one_after_the_other(tmp_path):
    lamp = {"en": {"on": "On"}, "fr": {"on": "Allumée"}}
    files = {
        "home": zip_of(
            tmp_path / "home.whl",
            {f"i18n/{code}.json": json.dumps(of).encode() for code, of in lamp.items()},
        ),
        "app": wheel(tmp_path / "app.whl", {"fr": catalogue(message("Save", "Enregistrer"))}),
        "names": zip_of(
            tmp_path / "names.whl",
            {"names/locale/fr/LC_MESSAGES/a.mo": compiled(message("Spain", "Espagne"))},
        ),
    }
    codes = {
        "home": {"talk": ["fr"], "eng": ["en"]},
        "app": {"talk": ["fr"]},
        "names": {"law": ["fr"]},
    }
    reads = {"home": "json", "app": "po", "names": "mo"}
    dataset = packages_dataset(codes, ["talk", "law"], reads)
    assert [*raw_pairs(files, dataset, defaultdict(Counter))] == [
        ("talk", ("Allumée", "On")),
        ("talk", ("Enregistrer", "Save")),
        ("law", ("Espagne", "Spain")),
    ]


def test_equal_plurals_follow_the_rule_of_the_data_set(tmp_path):
    text = catalogue(plural("a page", "pages", "page", "page"))
    files = {"app": wheel(tmp_path / "app.whl", {"fr": text})}
    dataset = packages_dataset({"app": {"talk": ["fr"]}}, ["talk"], {"app": "po"})
    assert len([*raw_pairs(files, dataset, defaultdict(Counter))]) == 2
    rules = dataset.cleaning.model_copy(update={"equal_plurals": "plural"})
    dataset = dataset.model_copy(update={"cleaning": rules})
    assert len([*raw_pairs(files, dataset, defaultdict(Counter))]) == 1
