"""What tables and figures need, and what they are drawn from, with few or no results."""

from pathlib import Path

import pytest

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.needs import Needs
from fathom.artefacts.table.notes import notes_of
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.io.errors import FathomError
from fathom.results.measurements import Measurements, Number, Record, write
from tests.support.own_project import NOT_BUILT, own_project, planned
from tests.support.refused import refused, says
from tests.support.small_project import GATED, write_config
from tests.support.small_project import RUN as STATIC

KEY = "bleu.test.plain.13a_pieces"
RUN = "latent_depth/m2o_diverse_12_12"
TWO = ("table5", "table9")


@pytest.fixture(scope="module")
def project():
    return own_project()


@pytest.fixture
def artefacts(project, tmp_path):
    """The artefacts at the tiny scale, without results."""
    return Artefacts(project, Paths(tmp_path, "tiny"))


def named(artefacts, paper, name):
    """Return a paper and its table or figure."""
    paper = artefacts.project.papers[paper]
    return paper, {**paper.tables, **paper.figures}[name]


def write_scores(artefacts, name, value=20.0, key=KEY):
    """Write the scores of a run's first seed, all equal."""
    spec = artefacts.project.spec(name, artefacts.scale)
    (seed, path), *_ = artefacts.source(name).files(key).items()
    record = Record(tasks={task: Number(value=value) for task in spec.data.tasks}, how="tok:13a")
    for rule, stem, records in (("scores", path.stem, {key: record}), ("training", "training", {})):
        file = Measurements(
            rule=rule,
            recipe={"training": 1, "scoring": 1},
            run=name,
            identity=spec.identity,
            seed=seed,
            outcome="finished",
            measurements=records,
        )
        write(path.with_name(f"{stem}.json"), file)


def test_a_seed_that_was_trained_by_hand_is_known_and_can_be_shown(project, tmp_path):
    usual, every = (Artefacts(project, Paths(tmp_path, "tiny"), seeds) for seeds in (None, "all"))
    write_scores(Artefacts(project, Paths(tmp_path, "tiny"), (4,)), RUN)
    assert list(usual.source(RUN).files(KEY)) == [1]
    assert usual.source(RUN).unused == (4,)
    assert list(every.source(RUN).files(KEY)) == [4]
    assert every.source(RUN).unused == ()
    compared = usual.compared(*named(usual, "latent_depth", "table5"))
    assert compared.sources[RUN].unused == (4,)


def test_a_corpus_is_that_which_the_scale_uses(artefacts):
    source = artefacts.source("ted8_diverse")
    (path,) = source.files("pairs.train").values()
    assert path.name == "statistics.json"
    assert path.parent.name.startswith("po_wheels_diverse-")
    assert not source.comparable


@pytest.mark.parametrize(
    ("scale", "judged", "rebuilt"),
    [("paper", True, False), ("paper_rebuilt", True, True), ("tiny", False, False)],
)
def test_text_that_is_the_papers_but_for_some_lines_is_judged_and_named(
    project, tmp_path, scale, judged, rebuilt
):
    artefacts = Artefacts(project, Paths(tmp_path, scale))
    write_scores(artefacts, RUN)
    compared = artefacts.compared(*named(artefacts, "latent_depth", "table5"))
    verdict = next(item.verdict for item in compared.cells if item.result.value == 20.0)
    assert (verdict.words in ("reproduced", "higher", "lower")) == judged
    assert verdict.cause.endswith("; text rebuilt") == rebuilt
    # So are the counts of the text itself.
    corpus = artefacts.source("ted8_diverse")
    assert (corpus.comparable, corpus.rebuilt) == (judged, rebuilt)


def test_rows_are_trained_for_the_updates_that_they_have_at_the_scale(artefacts, project, tmp_path):
    full = Artefacts(project, Paths(tmp_path, "paper"))
    run = "lamgd/domains_lamgd"
    assert (full.source(run).updates, artefacts.source("ted8_diverse").updates) == (300_000, None)
    assert artefacts.source(run).updates == project.spec(run, "tiny").training.updates


def test_tasks_are_called_after_the_text_that_they_have_at_the_scale(artefacts, project, tmp_path):
    full = Artefacts(project, Paths(tmp_path, "paper"))
    for name in ("domains6", "lamgd/domains_lamgd"):
        assert artefacts.source(name).shown_as["law"] == "LAW~places"
        assert full.source(name).shown_as == {}
    table = artefacts.compared(*named(artefacts, "lamgd", "table4"))
    assert table.shown_as["law2"] == "LAW2~places"
    # In the order of the cells, and not in another one in each process.
    names = "LAW~places, LAW1~places, LAW2~places."
    assert any(note.endswith(names) for note in notes_of(table))


@pytest.mark.parametrize(
    ("paper", "name", "missing", "verb"),
    [
        ("latent_depth", "table5", "latent_depth/m2o_diverse_6_6 seed 1", "table"),
        ("lamgd", "table2", "ted8_related", "table"),
        ("latent_depth", "figure4", "latent_depth/m2o_diverse_6_6 seed 1", "figure"),
        ("latent_depth", "figure6", "latent_depth/beta_0 seed 1", "figure"),
    ],
)
def test_what_is_missing_is_refused_with_both_commands(artefacts, paper, name, missing, verb):
    with pytest.raises(FathomError) as caught:
        artefacts.require(*named(artefacts, paper, name))
    assert missing in caught.value.what
    target = f"{paper}_{name}"
    results = artefacts.paths.results
    assert f"fathom run {target} --scale tiny --results {results}`" in caught.value.remedy
    draw = f"fathom {verb} {target} --scale tiny --results {results} --partial"
    assert draw in caught.value.remedy


def test_both_commands_have_the_folder_of_results_and_the_seeds(project, tmp_path):
    artefacts = Artefacts(project, Paths(tmp_path / "my results", "tiny"), (5,))
    with refused("no measurements of") as caught:
        artefacts.require(*named(artefacts, "latent_depth", "table5"))
    folder = f"{tmp_path}/my results"
    remedy = caught.value.remedy
    options = f"--scale tiny --seeds 5-5 --results '{folder}'"
    assert f"`fathom run latent_depth_table5 {options}`" in remedy
    assert f"--scale tiny --results '{folder}' --seeds 5-5 --partial" in remedy


def test_a_folder_of_results_that_does_not_exist_is_named(project, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    artefacts = Artefacts(project, Paths(Path("resutls"), "tiny"))
    with refused(f"in {tmp_path / 'resutls'}, which does not exist"):
        artefacts.require(*named(artefacts, "latent_depth", "table5"))
    (tmp_path / "resutls").mkdir()
    with refused("no measurements of") as caught:
        artefacts.require(*named(artefacts, "latent_depth", "table5"))
    assert not says("which does not exist").matches(caught.value)


def test_what_cannot_be_trained_yet_says_why_and_not_to_train_it(project, tmp_path):
    artefacts = Artefacts(planned(project), Paths(tmp_path, "paper"))
    with refused("cannot be made yet", where=NOT_BUILT) as caught:
        artefacts.require(*named(artefacts, "latent_depth", "table1"))
    assert "snakemake" not in caught.value.remedy
    assert "fathom table latent_depth_table1 --scale paper " in caught.value.remedy


@pytest.fixture(scope="module")
def needs(tmp_path_factory):
    """What a small project's artefacts need."""
    return Needs(load(write_config(tmp_path_factory.mktemp("small"))), "small")


@pytest.fixture(scope="module")
def of_papers(project):
    """What the papers' artefacts need at the tiny scale."""
    return Needs(project, "tiny")


def test_a_table_needs_the_measurements_that_its_cells_show_and_a_figure_those_of_its_table(needs):
    table, figure = needs.artefacts["sample_table1"], needs.artefacts["sample_figure1"]
    assert (table.verb, figure.verb) == ("table", "figure")
    assert table.keys[f"sample/{STATIC}"] == ("bleu.test.plain.13a", "parameters")
    assert set(table.keys[f"sample/{GATED}"]) == {
        "bleu.test.soft.13a",
        "bleu.test.hard.13a",
        "parameters",
        "depth.decoder",
    }
    assert set(figure.runs) == set(table.runs)
    assert (table.tables, figure.tables, table.series) == (("table1",), ("table1",), ())
    assert table.rows == {"Static": (f"sample/{STATIC}",), "Gated": (f"sample/{GATED}",)}


def test_an_artefact_may_need_a_corpus_what_trainings_recorded_or_no_decoding(of_papers):
    corpus, curves = (
        of_papers.artefacts[name] for name in ("lamgd_table2", "latent_depth_figure6")
    )
    assert (corpus.runs, corpus.corpora) == ((), ("ted8_related", "ted8_diverse"))
    assert of_papers.dataset("ted8_related") == "po_wheels_related"
    assert curves.series == tuple(f"latent_depth/beta_{beta}" for beta in (0, 1, 10))
    assert curves.tables == ()
    masked = "latent_depth/masked_lm_24"
    assert of_papers.decodings(masked) == ()
    keys = of_papers.artefacts["latent_depth_table2"].keys[masked]
    assert keys == ("parameters", "perplexity.valid.plain")


def test_a_run_is_decoded_as_all_tables_together_ask(needs, of_papers):
    assert needs.decodings(f"sample/{STATIC}") == (("test", "plain"),)
    assert set(needs.decodings(f"sample/{GATED}")) == {("test", "soft"), ("test", "hard")}
    assert ("valid", "soft") in of_papers.decodings("latent_depth/inner_2")
    run = "latent_depth/m2o_diverse_ll_d_24_24"
    assert {("test", "soft"), ("test", "hard")} <= set(of_papers.decodings(run))
    keys = {name: of_papers.artefacts[f"latent_depth_{name}"].keys[run] for name in TWO}
    assert "bleu.test.soft.13a_pieces" in keys["table5"]
    assert "bleu.test.hard.13a_pieces" in keys["table9"]


def test_a_metric_is_scored_where_a_table_shows_it(needs, tmp_path):
    folder = write_config(tmp_path)
    tables = folder / "config/papers/sample/tables.yaml"
    text = tables.read_text("utf-8").replace("columns: [params,", "columns: [ter, params,")
    tables.write_text(text, "utf-8")
    shown = Needs(load(folder), "small")
    of_test = f"sample/{STATIC}", "test", "plain"
    assert needs.metrics(*of_test) == shown.metrics(*of_test, "window") == ()
    assert shown.metrics(*of_test) == ("ter",)
    assert shown.decodings(f"sample/{STATIC}") == (("test", "plain"),)
