import json
from collections import Counter, defaultdict

from fathom.data.checks import same_text
from fathom.data.package_texts import raw_pairs
from fathom.data.readers.packages import read as read_packages
from tests.data.small_archives import (
    catalogue,
    compiled,
    message,
    packages_dataset,
    plural,
    wheel,
    zip_of,
)
from tests.support.refused import says


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


def test_marks_of_keys_are_no_text_and_markup_is_dropped(tmp_path):
    text = compiled(
        message("~Open", "열기(~O)"),
        message("_Save as 100~ %", "Enregistrer 100~ %"),
        message("Sheet $(ARG1)", "Feuille $(ARG1)"),
    )
    contents = {"usr/lib/office/program/resource/fr/LC_MESSAGES/a.mo": text}
    files = {"office": zip_of(tmp_path / "office.whl", contents)}
    how = {"kind": "mo", "accelerators": "~_", "without": ["$("]}
    dataset = packages_dataset({"office": {"it": ["fr"]}}, ["it"], {"office": how})
    dropped = defaultdict(Counter)
    assert {pair for _, pair in raw_pairs(files, dataset, dropped)} == {
        ("열기", "Open"),
        ("Enregistrer 100~ %", "Save as 100~ %"),
    }
    assert dropped["it"]["markup"] == 1


def test_slovak_that_is_czech_is_refused_and_both_are_named(tmp_path):
    """Debian's Slovak help of LibreOffice is the Czech help under another name."""
    places = "usr/lib/office/program/resource/cs/LC_MESSAGES/a.mo"
    czech = compiled(message("Save", "Uložit"), message("Open", "Otevřít"))
    files = {
        "office_ces": zip_of(tmp_path / "ces.whl", {places: czech}),
        "office_slk": zip_of(tmp_path / "slk.whl", {places.replace("cs", "sk"): czech}),
    }
    codes = {"office_ces": {"ces": ["cs"]}, "office_slk": {"slk": ["sk"]}}
    reads = dict.fromkeys(codes, "mo")
    dataset = packages_dataset(codes, ["slk", "ces"], reads, languages={})
    (finding,) = same_text(dataset, read_packages(files, dataset))
    says("shared text", "slk", "ces", "100.0%", where="max_shared").check(finding)
