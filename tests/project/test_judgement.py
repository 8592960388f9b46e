"""The claims of the project's papers, on the papers' own cells and on results."""

import math
from collections import Counter
from types import SimpleNamespace

import pytest

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.evidence import Interval
from fathom.artefacts.claims.printed import Printed
from fathom.artefacts.claims.results import ALONE
from fathom.artefacts.figures.points import with_seed
from fathom.artefacts.judgement import _comparable, judged
from fathom.config.paths import Paths
from fathom.scoring.students_t import half_interval
from tests.support.own_project import own_project
from tests.support.papers import PAPERS
from tests.support.small_figures import end, write_series

FIGURE = "transparent_attention/en_de_transformer_plain_"


@pytest.fixture(scope="module")
def project():
    return own_project()


@pytest.fixture(scope="module")
def without_results(project, tmp_path_factory):
    """Every part of every claim by paper, name and part, without any results."""
    artefacts = Artefacts(project, Paths(tmp_path_factory.mktemp("results"), "tiny"))
    return {
        (one.paper, one.name, one.part): one
        for paper in PAPERS
        for one in judged(artefacts, project.papers[paper])
    }


def test_supports_is_what_the_papers_own_cells_answer(project, without_results):
    said = {
        (paper, name, part.name): part.supports
        for paper in PAPERS
        for name, claim in project.claims[paper].items()
        for part in claim.parts
    }
    answers = {key: one.reported_answer for key, one in without_results.items()}
    assert answers == said
    assert len({key[:2] for key in answers}) == 62
    assert Counter(answers.values()) == {"holds": 56, "fails": 10, "not printed": 29}


# From the tables of the papers: (claim, part, the difference that decides, half of its interval).
BY_HAND = [
    ("latent_decoder_beats_static", "table3", 20.83 - 20.48, None, "holds"),
    ("latent_decoder_beats_static", "table5", 27.63 - 27.73, None, "fails"),
    ("hundred_layers_are_best", "", 24.16 - 24.46, None, "fails"),
    ("latent_beats_dlcl", "36/36", 28.1 - 27.7, 1.96 * 0.07, "holds"),
    ("latent_beats_dlcl", "48/48", 28.7 - 28.1, 1.96 * 0.09, "holds"),
    ("latent_beats_big", "", 28.7 - 28.1, 1.96 * 0.09, "holds"),
    (
        "sixty_four_layers_are_best",
        "",
        28.4 - 28.7,
        1.96 * math.sqrt(0.08**2 + 0.09**2),
        "fails",
    ),
    ("masked_lm_24_gains", "", 2.82 - 2.91, None, "holds"),
    ("masked_lm_48_gains", "", 2.71 - 2.60, None, "fails"),
    ("likelihood_grows_with_depth", "", 2.069 - 2.078, None, "holds"),
    ("depth_gains_are_consistent", "LL-D, 12/36", 22.3 - 22.5, None, "fails"),
    ("loss_terms_help", "", 24.46 - 24.28, None, "holds"),
    ("inner_updates_hardly_matter", "", 28.28 - 28.49, None, "holds"),
    ("gains_reach_07", "table1", 28.04 - 27.26, None, "holds"),
    ("gains_reach_11", "", 26.69 - 25.77, None, "fails"),
    ("deep_matches_big", "table1", 27.79 - 27.94, None, "holds"),
    ("learnt_masks_beat_fixed", "", 55.3 - 54.8, None, "holds"),
    ("sharing_grows_with_k", "", 0.63 - 0.73, None, "holds"),
]


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


def test_with_students_t_no_answer_on_printed_cells_changes(project, monkeypatch, tmp_path):
    """The ± that latent_depth prints are of five seeds; the cells themselves do not say so."""

    def of_five_seeds(_, weights):
        errors = [(abs(factor) * term.stderr, 5) for term, factor in weights.items() if term.stderr]
        return Interval(half_interval(errors) if errors else None, "")

    artefacts = Artefacts(project, Paths(tmp_path, "tiny"))
    paper = project.papers["latent_depth"]
    before = judged(artefacts, paper)
    monkeypatch.setattr(Printed, "interval", of_five_seeds)
    after = judged(artefacts, paper)
    assert [one.reported_answer for one in after] == [one.reported_answer for one in before]
    assert after != before  # their intervals are other ones


def test_without_results_no_claim_is_answered(without_results):
    assert {one.answer for one in without_results.values()} == {"not run"}
    assert not any(one.against or one.comparable for one in without_results.values())


def test_with_the_papers_own_settings_answers_are_evidence(project, tmp_path):
    paper = project.papers["transparent_attention"]
    artefacts = Artefacts(project, Paths(tmp_path, "paper"))
    assert all(one.comparable for one in judged(artefacts, paper))


def test_what_a_scale_does_not_have_is_not_comparable(project, tmp_path):
    """A claim without a single run was evidence about the paper."""
    paper = project.papers["latent_depth"]
    artefacts = Artefacts(project, Paths(tmp_path, "paper"))
    (part,) = project.claims["latent_depth"]["loss_terms_help"].parts
    assert _comparable(artefacts, paper, part)
    assert not _comparable(SimpleNamespace(cells=lambda table: ()), paper, part)


@pytest.fixture
def ratios(project, tmp_path):
    """A function that writes curves of Figure 1 and returns a claim about them."""

    def judge(name, *seeds):
        artefacts = Artefacts(project, Paths(tmp_path, "tiny"), tuple(range(1, len(seeds) + 1)))
        for layers in ("6", "20"):
            run = artefacts.run(FIGURE + layers)
            identity = project.spec(FIGURE + layers, "tiny").identity
            for seed, values in enumerate(seeds, start=1):
                one = with_seed(run, seed)
                rows = [(at, (), value) for at, value in enumerate(values[layers], start=1)]
                write_series(one, "encoder_gradient_ratio", (), rows)
                end(one, identity=identity)
        claims = judged(artefacts, project.papers["transparent_attention"])
        return next(one for one in claims if one.name == name)

    return judge


def test_a_curve_of_one_seed_decides_alone(ratios):
    one = ratios("ratio_is_small_when_deep", {"6": [0.8, 0.9, 1.0], "20": [0.1, 0.2, 0.3]})
    assert (one.answer, one.basis, one.scale) == ("holds", ALONE, "tiny")
    assert one.evidence[0].difference == pytest.approx(0.2 - 0.45)


def test_curves_of_several_seeds_have_an_interval(ratios):
    seeds = [
        {"6": [level] * 3, "20": [deep] * 3} for level, deep in ((0.8, 0.1), (1.0, 0.8), (0.9, 0.2))
    ]
    one = ratios("ratio_is_small_when_deep", *seeds)
    assert one.answer == "inconclusive"
    assert "3 seeds" in one.basis
    assert one.evidence[0].low < 0 < one.evidence[0].high
