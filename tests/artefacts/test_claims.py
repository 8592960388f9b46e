"""The claims of the papers: parts, answers by hand, `supports`, and how they read."""

import subprocess
import sys
from dataclasses import replace
from functools import partial
from statistics import NormalDist
from types import SimpleNamespace

import pytest

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.check import beyond_config
from fathom.artefacts.claims.judged import is_comparable, judged, judged_part
from fathom.artefacts.claims.truths import TOO_FEW, Interval
from fathom.artefacts.claims.view import NONE, NOT_EVIDENCE, PARTLY, lines, printed, summary
from fathom.artefacts.claims.worlds import Printed
from fathom.config.claims import Claim, ClaimPart
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.io.errors import Findings
from fathom.scoring.students_t import half_interval
from tests.artefacts.claim_numbers import CLAIM, FACT, Numbers
from tests.support.own_project import PAPERS
from tests.support.small_project import write_config

TRANSPARENT = "transparent_attention"


@pytest.fixture(scope="module")
def without_results(own_project, tmp_path_factory):
    """Every part of every claim by paper, name and part, without any results."""
    artefacts = Artefacts(own_project, Paths(tmp_path_factory.mktemp("results"), "tiny"))
    return {
        (one.paper, one.name, one.part): one
        for paper in PAPERS
        for one in judged(artefacts, own_project.papers[paper])
    }


def test_supports_is_what_the_papers_own_cells_answer(own_project, without_results):
    said = {
        (paper, name, part.name): part.supports
        for paper in PAPERS
        for name, claim in own_project.claims[paper].items()
        for part in claim.parts
    }
    answers = {key: one.reported_answer for key, one in without_results.items()}
    assert answers == said  # docs/claims.md has their counts
    assert {one.answer for one in without_results.values()} == {"not run"}
    assert not any(one.against or one.comparable for one in without_results.values())


Z = NormalDist().inv_cdf(0.975)
# From the tables of the papers: (claim, part, the difference that decides, half of its interval).
BY_HAND = [
    ("latent_decoder_beats_static", "table3", 20.83 - 20.48, None, "holds"),
    ("latent_decoder_beats_static", "table5", 27.63 - 27.73, None, "fails"),
    ("capacity_is_used", "table4", 24.46 - 23.34, None, "holds"),
    ("universal_improvement_elsewhere", "table3/LL-D, 24/24", 24.8 - 25.1, None, "fails"),
    ("latent_beats_dlcl", "36/36", 28.1 - 27.7, Z * 0.07, "holds"),
    ("masked_lm_48_trains", "", 2.82 - 2.91, None, "holds"),
    ("gains_reach_07", "table1", 28.04 - 27.26, None, "holds"),
    ("less_than_half_the_capacity", "table2", 154 - 0.5 * 375, None, "holds"),
    ("adapters_cost_25_million_a_domain", "", 151, None, "holds"),
    ("twelve_groups_share_three_quarters", "", 0.78, None, "holds"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "part", "difference", "half", "answer"), BY_HAND)
def test_an_answer_on_printed_cells_is_the_one_by_hand(
    without_results, name, part, difference, half, answer
):
    (one,) = (own for key, own in without_results.items() if key[1:] == (name, part))
    assert one.reported_answer == answer
    facts = [fact for fact in one.reported_evidence if fact.difference is not None]
    fact = min(facts, key=lambda own: abs(own.difference - difference))
    assert fact.difference == pytest.approx(difference)
    if half is None:
        assert fact.low is None
        assert one.reported_basis == "digits as printed"
    else:
        assert fact.high - fact.low == pytest.approx(2 * half)


def test_with_students_t_no_answer_on_printed_cells_changes(own_project, monkeypatch, tmp_path):
    """The ± that latent_depth prints are of five seeds; the cells themselves do not say so."""

    def of_five_seeds(_, weights):
        errors = [(abs(factor) * term.stderr, 5) for term, factor in weights.items() if term.stderr]
        return Interval(partial(half_interval, errors) if errors else None, "")

    artefacts = Artefacts(own_project, Paths(tmp_path, "tiny"))
    paper = own_project.papers["latent_depth"]
    before = judged(artefacts, paper)
    monkeypatch.setattr(Printed, "interval", of_five_seeds)
    after = judged(artefacts, paper)
    changed = [
        (one.name, was.reported_answer, one.reported_answer)
        for was, one in zip(before, after, strict=True)
        if one.reported_answer != was.reported_answer
    ]
    assert changed == []


def test_answers_are_evidence_with_the_papers_own_settings_and_not_without_a_run(
    own_project, tmp_path
):
    """A claim without a single run was evidence about the paper."""
    artefacts = Artefacts(own_project, Paths(tmp_path, "paper"))
    assert all(one.comparable for one in judged(artefacts, own_project.papers[TRANSPARENT]))
    paper = own_project.papers["latent_depth"]
    (part,) = own_project.claims["latent_depth"]["loss_terms_help"].parts
    assert is_comparable(artefacts, paper, part)
    assert not is_comparable(SimpleNamespace(cells=lambda table: ()), paper, part)


def part_of(ours, theirs, guard=""):
    """Return the answers of `A > 2` on numbers of ours and of a paper."""
    part = ClaimPart("table3", 'A["x"] > 2', guard, "holds", "here", "there", "")
    claim = Claim("p", "one", "a sentence\n of two lines", "§4", (part,), "a\n note")
    return judged_part(claim, part, (Numbers(**ours), Numbers(**theirs)), "tiny", False)


@pytest.mark.parametrize(
    ("value", "answer"),
    [(3.0, "holds"), (1.0, "fails"), ((2.5, 1.0), "inconclusive"), ("not run", "not run")],
)
def test_a_claim_has_an_answer_on_each_side(value, answer):
    one = part_of({"A": value}, {"A": 3.0})
    assert (one.answer, one.reported_answer) == (answer, "holds")
    assert one.against == (answer == "fails")
    assert one.note == "a note"
    other = part_of({"A": 3.0}, {"A": value})
    assert other.reported_answer == ("not printed" if answer == "not run" else answer)
    assert (other.full_name, other.sentence) == ("p/one [table3]", "a sentence of two lines")
    assert (other.expression, other.artefacts) == ('A["x"] > 2', ("A",))


@pytest.mark.parametrize(
    ("ours", "printed_cell", "answer", "reported"),
    [
        (0.5, 0.5, "holds", "holds"),
        (0.05, 0.5, "undecided", "holds"),
        ((0.5, 0.6), 0.5, "undecided", "holds"),
        ("not run", 0.5, "not run", "holds"),
        (0.5, 0.05, "holds", "undecided"),
        (0.5, "not run", "holds", "holds"),  # cells that are not printed are not asked
    ],
)
def test_a_guard_must_hold_with_its_whole_interval(ours, printed_cell, answer, reported):
    one = part_of({"A": 3.0, "G": ours}, {"A": 3.0, "G": printed_cell}, 'G["x"] > 0.1')
    assert (one.answer, one.reported_answer) == (answer, reported)
    assert (one.evidence[0].text.startswith("G")) == (answer != "holds")


PAPER = "config/papers/sample"
SUPPORTS, CLAIMED = "{Static: holds, Gated: undecided}", ["6: better.claim"]
# The gated run diverged.
BETTER = """\
better:
  sentence: Gated is better than a number.
  section: §6
  for: {row: [Static, Gated]}
  guard: trained(table1["<row>"])
  claim: table1["<row>", "avg"] > 20
  supports: {Static: holds, Gated: undecided}
"""


@pytest.fixture
def small(tmp_path):
    """A small project."""
    write_config(tmp_path)
    return tmp_path


def read(folder, old="", new=""):
    """Read a small project with a claim in which one text may be another one."""
    (folder / PAPER / "claims.yaml").write_text(BETTER.replace(old, new), encoding="utf-8")
    return load(folder, beyond_config)


@pytest.mark.parametrize(
    ("old", "new", "places", "what"),
    [
        (SUPPORTS, "{Static: fails, Gated: holds}",
         ["7: better.supports.Static", "7: better.supports.Gated"],
         "the paper's own cells answer 'holds', not 'fails' (table1 “Static, avg” "),
        (SUPPORTS, "holds", ["7: better.supports"],
         "the paper's own cells answer 'undecided', not 'holds'"),
        (' "avg"] > 20', ' "agv"] > 20', CLAIMED, "table1, row 'Static', has no column"),
        ('"<row>", "avg"] > 20', '"<row>" > 20', CLAIMED, "not an expression ("),
        ('"<row>", "avg"] > 20', "x] > 20", CLAIMED, "`x` is not an index"),
        ('trained(table1["<row>"])', "1 > 2", ["5: better.guard"], "no cell is compared"),
        ('table1["<row>", "avg"] > 20', 'rising(table1[["<row>"], "avg"])', CLAIMED, TOO_FEW),
    ],
)  # fmt: skip
def test_a_wrong_claim_is_a_finding_with_its_file_and_line(small, old, new, places, what):
    assert read(small).claims["sample"]["better"].parts[0].supports == "holds"
    with pytest.raises(Findings) as caught:
        read(small, old, new)
    wheres = dict.fromkeys(finding.where for finding in caught.value.findings)
    assert [*wheres] == [f"{PAPER}/claims.yaml:{place}" for place in places]
    assert caught.value.findings[0].what.startswith(what)


def test_claims_are_checked_without_pandas_or_torch(small):
    """`fathom validate` and each start of Snakemake would load them."""
    code = "import sys; from pathlib import Path; from fathom.config.load import load\n"
    code += "from fathom.artefacts.check import beyond_config\n"
    code += "load(Path(sys.argv[1]), beyond_config)\n"
    code += "assert not {'pandas', 'torch'} & {*sys.modules}"
    (small / PAPER / "claims.yaml").write_text(BETTER, encoding="utf-8")
    subprocess.run([sys.executable, "-c", code, small], check=True)


def test_a_sentence_about_figures_has_no_answer_and_stands_below_them(own_project, tmp_path):
    artefacts = Artefacts(own_project, Paths(tmp_path, "tiny"))
    paper = own_project.papers["latent_depth"]
    claim = own_project.claims["latent_depth"]["families_share_layers"]
    assert (claim.parts, [*claim.figures]) == ((), ["figure9"])
    below = {
        name: [text for text in artefacts.inputs(paper, figure).sentences if "same" in text]
        for name, figure in paper.figures.items()
    }
    assert {name for name, sentences in below.items() if sentences} == {"figure9"}
    (sentence,) = below["figure9"]
    assert sentence.startswith("“we could observe qualitatively common layer selection patterns")
    assert sentence.endswith("family” (App. D): the uniform prior does not ask languages to agree")


FAILS = replace(CLAIM, answer="fails")
OURS = replace(FAILS, reading="ours", reported_answer="fails")


def test_the_csv_has_a_line_for_each_part():
    first, second = lines([CLAIM, replace(OURS, part="cs")])
    assert (first["reading"], second["reading"]) == ("", "ours")
    assert (first["part"], second["part"]) == ("de", "cs")
    assert (first["answer"], first["numbers"], first["basis"]) == ("holds", FACT.text, "paired")
    assert (first["reported_answer"], first["comparable"]) == ("not printed", False)


def test_intervals_of_one_kind_are_named_once_with_their_levels():
    bases = ("97.5 % drawn; Holm", "95 % drawn; Holm", "95 % drawn", "", "alone")
    facts = tuple(replace(FACT, basis=basis) for basis in bases)
    assert replace(CLAIM, evidence=facts).basis == "97.5 and 95 % drawn; Holm; 95 % drawn; alone"


def test_a_claim_prints_its_sentence_its_answer_and_its_first_numbers():
    many = replace(FAILS, evidence=(FACT,) * 5, note="twice the data")
    text = "\n".join(printed([many]))
    for words in (
        "  note: twice the data",
        "p/deeper_is_better [de]: fails, against",
        "“Deeper is <better>” (§4)",
        "paired",
        "2 more",
    ):
        assert words in text
    text_of_ours = "\n".join(printed([replace(OURS, context="All of it.")]))
    assert "fails, against our reading (paper's cells: our reading: fails)" in text_of_ours
    assert "  in full: “All of it.”" in text_of_ours
    assert text.count(FACT.text) == 3
    assert "A not printed" not in text
    assert "against" not in "\n".join(printed([CLAIM]))


def test_the_summary_counts_answers_and_says_what_is_no_evidence():
    text = "\n".join(summary([CLAIM, FAILS, replace(FAILS, comparable=True)]))
    for words in ("2 fails, 1 holds", "3 not printed", PARTLY.format(count=2, all=3)):
        assert words in text
    text = "\n".join(summary([FAILS, OURS, OURS]))
    assert "The papers' own cells: 1 not printed. Our readings of them: 2 fails." in text
    assert "their sentence (fails): 1; against our reading of it: 2." in text
    assert NOT_EVIDENCE in summary([CLAIM])
    assert len(summary([replace(CLAIM, comparable=True)])) == 3
    assert summary([]) == [NONE]
