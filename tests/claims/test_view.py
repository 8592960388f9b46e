"""How judged claims read."""

from dataclasses import replace

import pytest

from fathom.artefacts.claims.truths import Evidence
from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.claims.view import (
    AGAINST,
    NONE,
    NOT_EVIDENCE,
    PARTLY,
    lines,
    page,
    printed,
    summary,
)
from fathom.artefacts.table.notes import WRONG_LANGUAGE

FACT = Evidence("A 3 - B 1 = 2 > 0", "holds", 2.0, 1.0, 3.0, ">", 0.0, "paired")


def claim(answer="holds", comparable=False, facts=(FACT,), part="table3"):
    return Judged(
        paper="p",
        name="one",
        part=part,
        sentence="deep <is> better",
        section="§4",
        expression='A["x"] > B["x"]',
        guard="",
        scale="tiny",
        answer=answer,
        evidence=facts,
        comparable=comparable,
        reported_answer="not printed",
        reported_evidence=(Evidence("A not printed > 0", "absent"),),
        artefacts=("table3",),
    )


def test_the_csv_has_a_line_for_each_part():
    frame = lines([claim(), claim("fails", part="table4")])
    assert list(frame["part"]) == ["table3", "table4"]
    first = frame.iloc[0]
    assert (first["answer"], first["numbers"], first["basis"]) == ("holds", FACT.text, "paired")
    assert (first["reported_answer"], first["comparable"]) == ("not printed", False)


def test_a_claim_prints_its_sentence_its_answer_and_its_numbers():
    text = "\n".join(printed([claim("fails")]))
    for words in ("p/one [table3]: fails", "“deep <is> better” (§4)", FACT.text, "paired"):
        assert words in text
    assert AGAINST in text
    assert "A not printed" not in text
    assert AGAINST not in "\n".join(printed([claim()]))


def test_many_numbers_are_cut():
    text = "\n".join(printed([claim(facts=(FACT,) * 5)]))
    assert text.count(FACT.text) == 3
    assert "2 more" in text


@pytest.mark.parametrize(("comparable", "expected"), [(False, True), (True, False)])
def test_answers_of_other_settings_are_no_evidence(comparable, expected):
    text = "\n".join(summary([claim(comparable=comparable)]))
    assert (NOT_EVIDENCE in text) == expected


def test_the_summary_counts_answers_and_what_goes_against_the_sentence():
    text = "\n".join(summary([claim(), claim("fails"), claim("fails", comparable=True)]))
    for words in ("2 fails, 1 holds", "3 not printed", PARTLY.format(count=2, all=3)):
        assert words in text


def test_without_claims_the_summary_is_one_line():
    assert summary([]) == [NONE]


def test_a_doubtful_number_is_explained_as_in_tables():
    doubtful = replace(FACT, text="A 3‡ - B 1 = 2 > 0")
    assert WRONG_LANGUAGE in page([claim(), claim(facts=(doubtful,))], {"p": "A paper"})
    assert WRONG_LANGUAGE not in page([claim()], {"p": "A paper"})


def test_the_page_has_a_table_for_each_paper_and_shows_text_as_it_is():
    text = page([claim(), claim("fails")], {"p": "A paper"})
    assert text.count("<table>") == 1
    assert "deep &lt;is&gt; better" in text
    assert 'class="fails"' in text
