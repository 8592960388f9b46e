"""The notes of a table, each where it is needed."""

from dataclasses import replace

import pytest

from fathom.artefacts.table import notes
from fathom.artefacts.table.comparison import compare_table
from tests.support.small_tables import KNOWN, Results, reported, scores, table, typical

BLEU = "bleu.test.plain.13a"
PRINTED = (reported("6/6", "avg", "29.5"), reported("24/24", "params", "224", right="287"))


def notes_of(folder, results, printed=PRINTED, name="table1"):
    """Return the notes of a table."""
    drawn = table(folder, name)
    compared = compare_table(drawn, KNOWN.cells(drawn), printed, results.sources, "paper")
    return list(notes.notes_of(compared))


# What a note must contain, by the case that needs it.
NOTES = {
    "paper rows": ("table1", {}, "“paper”"),
    "other settings": ("table1", {"comparable": False}, "cannot be compared"),
    "metric": ("table1", {}, "Metric: BLEU, tokenizer 13a, nrefs:1|"),
    "few sentences": ("table1", {}, "†"),
    "not run": ("table1", {}, "not run:"),
    "misprint": ("table1", {}, "misprint"),
    "unequal": ("table2", {}, "deep starts from small"),
}


@pytest.mark.parametrize(("name", "options", "text"), NOTES.values(), ids=NOTES)
def test_a_table_has_the_notes_that_it_needs(tmp_path, name, options, text):
    results = typical(tmp_path / "results", **options)
    printed = PRINTED if name == "table1" else ()
    found = notes_of(tmp_path, results, printed, name)
    assert any(text in note for note in found), found


def test_a_table_that_needs_no_note_has_none(tmp_path):
    results = Results(tmp_path / "results")
    results.corpus("text", {})
    results.corpus("other", {})
    found = notes_of(tmp_path, results, (), "table3")
    assert all("seeds" not in note and "Metric" not in note for note in found)


def test_seeds_that_were_trained_and_are_not_shown_are_named(tmp_path):
    sources = typical(tmp_path / "results").sources
    sources |= {"p/deep": replace(sources["p/deep"], unused=(2, 5))}
    drawn = table(tmp_path)
    compared = compare_table(drawn, KNOWN.cells(drawn), PRINTED, sources, "paper")
    found = [note for note in notes.notes_of(compared) if note.startswith("p/deep")]
    assert len(found) == 1
    assert "2, 5" in found[0]
    assert "--seeds all" in found[0]


def test_the_first_row_warns_until_it_is_in_its_band(tmp_path):
    def warnings(results):
        found = notes_of(tmp_path, results)
        return [note for note in found if note.startswith("Train 6/6 first")]

    assert warnings(typical(tmp_path / "in")) == []
    assert warnings(typical(tmp_path / "other", comparable=False)) == []
    outside = Results(tmp_path / "outside")
    outside.write("p/small", {BLEU: scores(20.0, 20.0)})
    (warning,) = warnings(outside)
    assert "between 29.0 and 31.0" in warning
    assert "20.00" in warning
    (warning,) = warnings(Results(tmp_path / "none"))
    assert "not run" in warning


def test_what_was_not_measured_is_named(tmp_path):
    results = Results(tmp_path / "results")
    results.write("p/deep", {})
    found = notes_of(tmp_path, results)
    assert any(note.startswith("not measured: ") and "p/deep" in note for note in found)


def test_a_seed_that_diverged_is_noted_where_the_others_are_not_run(tmp_path):
    results = Results(tmp_path / "results")
    results.write("p/small", {}, outcome="diverged")
    found = notes_of(tmp_path, results)
    assert "6/6: 1 of 2 seeds: diverged at update 122." in found


def test_text_that_is_scored_as_it_is_says_so(tmp_path):
    results = Results(tmp_path / "results")
    key = "bleu.test.plain.none"
    results.write("p/deep", {key: scores(20.0, 38.0)})
    text = "t: {title: T, section: S, columns: [bos], metric: {tokenize: none}, rows: {a: deep}}"
    drawn = table(tmp_path, "t", text)
    compared = compare_table(drawn, KNOWN.cells(drawn), (), results.sources, "paper")
    (metric,) = [note for note in notes.notes_of(compared) if note.startswith("Metric")]
    assert "tokenizer none (the text is scored as it is)" in metric
