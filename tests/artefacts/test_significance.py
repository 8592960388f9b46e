"""`fathom test`: a run less another one, over seeds and sentences, corrected for their number."""

import re

import numpy as np
import pytest
from scipy import stats

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.significance import Trainings, compare_runs, lines, with_gates
from fathom.config.load import load
from fathom.config.measurement_keys import ShownValue
from fathom.config.paths import Paths
from fathom.scoring import bootstrap
from fathom.scoring.bootstrap import SEED
from fathom.scoring.metrics import named, of_key
from fathom.scoring.sentences import read
from fathom.scoring.students_t import holm
from tests.support.refused import refused
from tests.support.small_project import GATED, RUN, write_config
from tests.support.small_tables import Results, texts

FIRST, BASE = f"sample/{GATED}", f"sample/{RUN}"
AT = f"{BASE}, scale small"
BLEU = ShownValue("bleu", split="test")
SAMPLES = 300


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(bootstrap, "SAMPLES", SAMPLES)


class RunResults(Results):
    """Results of the small project's runs."""

    def __init__(self, folder):
        self.project, self.paths = load(write_config(folder)), Paths(folder / "results", "small")

    def spec(self, run):
        return self.project.spec(run, "small")

    def path(self, run, seed=1):
        return self.paths.run(self.spec(run), seed) / "measurements"

    def decoding(self, run, seed, split, gates):
        return self.paths.decoding(self.spec(run), seed, split, gates)

    def train(self, run, left_out, seed=1, lines=30):
        """Write scores of a training that leaves out a share of the words."""
        made = texts(left_out, seed + round(1000 * left_out), lines)
        made = {"bos": made["bos"], "kor": made["fra"]}
        self.score(run, made, seed, self.spec(run).gates[0])

    def compared(self, *runs, value=BLEU, seeds="all", gates=None, **options):
        artefacts = Artefacts(self.project, self.paths, seeds)
        chosen = with_gates([self.spec(run) for run in runs], gates)
        return compare_runs(artefacts, chosen, value, **options)

    def counts(self, run, seed, task):
        folder = self.decoding(run, seed, "test", self.spec(run).gates[0])
        return read(folder, task).statistics(of_key("bleu.test.plain.13a"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two runs of three and two seeds; the base is worse."""
    results = RunResults(tmp_path_factory.mktemp("significance"))
    for seed, left_out in ((1, 0.2), (2, 0.25), (3, 0.22)):
        results.train(FIRST, left_out, seed)
    for seed, left_out in ((1, 0.3), (2, 0.38)):
        results.train(BASE, left_out, seed)
    return results


@pytest.fixture
def results(tmp_path):
    return RunResults(tmp_path)


def by_seed(results, run, seeds):
    """Return the mean score over tasks of each training."""
    return [
        np.mean([results.counts(run, seed, task).value for task in ("bos", "kor")])
        for seed in range(1, seeds + 1)
    ]


def test_p_and_interval_over_seeds_are_those_of_scipys_welch_test(trained):
    (compared,) = trained.compared(FIRST, BASE)
    scores = by_seed(trained, FIRST, 3), by_seed(trained, BASE, 2)
    welch = stats.ttest_ind(*scores, equal_var=False)
    interval, chance = welch.confidence_interval(0.95), compared.over_seeds
    # Stored scores have six decimals.
    assert compared.difference == pytest.approx(np.mean(scores[0]) - np.mean(scores[1]), abs=1e-6)
    assert (chance.low, chance.high) == pytest.approx((interval.low, interval.high), abs=1e-4)
    assert chance.p == pytest.approx(welch.pvalue, rel=1e-5)
    assert f"3 and 2 seeds, {welch.df:.1f} degrees of freedom" in chance.method


def test_p_over_sentences_is_that_of_a_bootstrap_in_a_few_lines(trained):
    task = "bos"
    (compared,) = trained.compared(FIRST, BASE, tasks=[task])
    systems = [
        [trained.counts(run, seed, task) for seed in range(1, seeds + 1)]
        for run, seeds in ((FIRST, 3), (BASE, 2))
    ]
    dice, size = np.random.default_rng(SEED), len(systems[0][0].counts)
    drawn = []
    for picks in dice.choice(size, size=(SAMPLES, size)):
        first, second = (
            np.mean([each.metric.score(each.counts[picks].sum(axis=0)) for each in system])
            for system in systems
        )
        drawn.append(first - second)
    scatter = np.abs(np.array(drawn) - np.mean(drawn))
    expected = (int((scatter >= abs(compared.difference)).sum()) + 1) / (SAMPLES + 1)
    assert compared.over_sentences.p == pytest.approx(expected, abs=1e-12)
    half = np.sort(scatter)[-SAMPLES // 20]
    assert compared.over_sentences.high - compared.difference == pytest.approx(half)
    assert "means of 3 and 2 trainings" in compared.over_sentences.method


def test_a_run_less_itself_is_0_without_width_and_has_p_1(trained):
    (compared,) = trained.compared(BASE, BASE)
    assert compared.difference == 0
    for chance in (compared.over_seeds, compared.over_sentences):
        assert (chance.low, chance.high, chance.p, chance.holm) == (0, 0, 1, 1)


def test_seeds_may_be_named_for_each_run(trained):
    artefacts = Artefacts(trained.project, trained.paths)
    named = [Trainings(FIRST, seeds=(1, 2, 3)), Trainings(BASE, seeds=(1, 2))]
    (compared,) = compare_runs(artefacts, named, BLEU)
    assert [compared] == trained.compared(FIRST, BASE)
    assert (compared.seeds, compared.p) == ((3, 2), compared.over_seeds.p)
    assert (compared.low, compared.high) == (compared.over_seeds.low, compared.over_seeds.high)


def test_one_seed_says_how_to_train_more_and_leaves_the_sentences(results):
    results.train(FIRST, 0.2)
    results.train(BASE, 0.4)
    (compared,) = results.compared(FIRST, BASE)
    assert compared.over_seeds is None
    assert compared.over_sentences.p < 0.05
    assert f"one seed of {FIRST}: make another: `fathom run {FIRST}" in compared.train_more
    assert "--seeds 2-2" in compared.train_more
    results.train(FIRST, 0.22, seed=2)
    (compared,) = results.compared(FIRST, BASE)
    assert f"one seed of {BASE}" in compared.train_more
    (compared,) = results.compared(FIRST, BASE, seeds=(1,))
    assert compared.train_more == f"one seed of {FIRST}: add --seeds all"


def test_holm_of_three_is_the_hand_made_one():
    # 0.01 · 3, then 0.03 · 2, then 0.04 · 1, which may not be below the one before.
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_holm_counts_all_tasks_and_runs_of_a_call(trained):
    tasks = ("bos", "kor")
    four = trained.compared(FIRST, BASE, BASE, tasks=tasks)
    assert [(each.run, each.tasks) for each in four] == [
        (run, (task,)) for task in tasks for run in (FIRST, BASE)
    ]
    for kind in ("over_seeds", "over_sentences"):
        chances = [getattr(each, kind) for each in four]
        assert [each.holm for each in chances] == holm([each.p for each in chances])
    assert list(lines(four))[-1].endswith("all tests of one question: 4 and 4")


def test_each_comparison_has_a_title_two_lines_and_the_questions_once(trained):
    title, headings, seeds, sentences, gap, questions = lines(trained.compared(FIRST, BASE))
    assert title == (
        f"{FIRST} (soft gates) less {BASE}: BLEU 13a, test, mean of 2 tasks, scale small"
    )
    columns = [headings.index(word) for word in ("difference", "p  ", "Holm", "method")]
    assert columns == sorted(columns)
    assert seeds.startswith("over seeds          +")
    assert sentences.startswith("over sentences      +")
    assert "paired bootstrap, 300 draws, 60 sentences" in sentences
    assert gap == ""
    assert questions.startswith("over seeds: would another training agree?")


@pytest.mark.parametrize("metric", ["chrf", "ter"])
def test_metrics_of_files_are_compared_too_if_they_are_counted(trained, metric):
    value = ShownValue(metric, split="test")
    if metric == "ter":
        with refused(
            "not measured",
            where=f"{FIRST}, scale small",
            remedy="--split test --gates soft --metric ter`",
        ):
            trained.compared(FIRST, BASE, value=value)
        return
    (compared,) = trained.compared(FIRST, BASE, value=value)
    assert compared.metric == named(metric).label
    assert compared.over_sentences.low > 0


def nothing(results):
    pass


def other_sentences(results):
    results.train(BASE, 0.4, lines=31)


def no_scores(results):
    results.write(BASE, {})


def translated_by_one_seed(results):
    results.write(BASE, {})
    results.train(BASE, 0.3, seed=2)
    results.write(BASE, {}, seed=3)
    for seed in (1, 3):
        folder = results.decoding(BASE, seed, "test", "plain")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "decoding.json").touch()


def diverged(results):
    results.write(BASE, {}, outcome="diverged")


@pytest.mark.parametrize(
    ("change", "options", "what", "where", "remedy"),
    [
        (nothing, {}, "not run", AT, f"make it with `fathom run {BASE}"),
        (no_scores, {}, "not measured", AT, "--split test --gates plain` and `fathom score"),
        (
            translated_by_one_seed, {}, "not measured (2 of 3 seeds)", AT,
            re.compile(r"\A`fathom score \S+ --scale small --seed 1 [^`]*` and `fathom score \S+ "),
        ),
        (diverged, {}, "diverged at update 122", AT, "name a run that has a result"),
        (other_sentences, {}, "other test sentences", BASE, "name runs that the same metric"),
        (nothing, {"tasks": ["fra"]}, "no task 'fra'", FIRST, "valid names: bos, kor"),
        (nothing, {"gates": "sotf"}, "no gates 'sotf'", "--gates", "nearest valid name: 'soft'"),
        (nothing, {"gates": "plain"}, "no gates 'plain'", FIRST, "valid names: soft, hard"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(results, change, options, what, where, remedy):
    results.train(FIRST, 0.2)
    change(results)
    with refused(what, where=where, remedy=remedy):
        results.compared(FIRST, BASE, **options)
