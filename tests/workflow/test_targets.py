import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from fathom.config.merge import is_taken
from fathom.config.switches import Switches
from fathom.io.errors import FathomError
from fathom.io.files import write_text
from fathom.io.records import write_record
from fathom.results.recipe import RECIPE
from fathom.workflow.plan import Plan
from fathom.workflow.targets import ALL, CLAIMS, COMPARE, PAGE, RUN, STATISTICS
from tests.support.own_project import (
    DATASET,
    NOT_BUILT,
    PAPERS,
    ROOT,
    TABLE,
    own_project,
    planned,
    targets,
)

STATIC, GATED = "latent_depth/m2o_diverse_6_6", "latent_depth/m2o_diverse_ll_d_24_24"


def test_tables_papers_and_rows_are_targets_and_a_mistyped_one_gets_the_nearest_name(tmp_path):
    names = targets(tmp_path).names
    assert {"all", "compare", "claims", "latent_depth", TABLE, f"{TABLE}_row"} <= set(names)
    # Only tables of runs are made row by row.
    assert not {"latent_depth_figure4_row", "latent_depth_table12_row"} & set(names)
    with pytest.raises(FathomError, match=f"no target 'latent_depth_table55'; .*'{TABLE}'"):
        targets(tmp_path).artefact("latent_depth_table55")


def test_a_table_needs_the_measurements_that_it_shows_and_no_others(made):
    files = made.measured(made.artefact(TABLE))
    names = {re.sub(r"-[0-9a-f]{8}", "", path.stem) for path in files}
    assert {"scores.test.plain", "scores.test.soft", "training"} <= names
    assert not [name for name in names if name.startswith("window")]
    likelihoods = {name for name in names if name.startswith("likelihood")}
    assert likelihoods == {"likelihood.valid.plain", "likelihood.valid.soft"}
    assert len(files) == len(set(files))
    # measurements/training.json is written by the same command, but no rule has it as output.
    trained = [path for path in files if path.name == "training.json"]
    assert trained
    assert not [path for path in trained if path.parent.name == "measurements"]
    of_run = {path.name.split("-")[0] for path in made.results(GATED)}
    assert {"scores.test.soft", "gates.json"} <= of_run


def test_a_start_leaves_out_what_waits_for_a_file_that_only_the_user_can_get(tmp_path):
    """The fetch rule of each such file failed, and with it the start."""
    table = "latent_depth_table1"
    plan = targets(tmp_path, "paper")
    name = plan.artefacts[table].runs[0]
    assert plan.waiting == {}
    made = replace(plan, ready_only=True)
    assert made.waiting[name].startswith(
        f"put wmt16_en_de.tar.gz into {tmp_path}/sources/by_hand: "
    )
    assert name in plan.built
    assert name not in made.built
    # A table of counts of such a text waits, too.
    assert {table, "lamgd_table1"} <= made.artefacts_not_built.keys()
    waiting = {str(made.paths.run(made.spec(each), 1)) for each in made.waiting}
    assert not [path for path in made.files("all") if str(path).startswith(tuple(waiting))]
    row = next(iter(made.artefacts[table].rows))
    for refused, given in ((table, None), (f"{table}_row", row)):
        project = made.project.with_switches(Switches(scale="paper", row=given))
        with pytest.raises(FathomError, match=r"put wmt16_en_de\.tar\.gz into .*: take your own"):
            replace(made, project=project).names_of(refused)


@pytest.mark.parametrize("place", ["by_hand/wmt16_en_de.tar.gz", "wmt16_en_de/source.json"])
def test_nothing_waits_for_a_file_that_is_there_or_was_fetched(tmp_path, place):
    path = tmp_path / "sources" / place
    path.parent.mkdir(parents=True)
    path.touch()
    made = replace(targets(tmp_path, "paper"), ready_only=True)
    assert "latent_depth_table1" not in made.artefacts_not_built
    assert not [step for step in made.waiting.values() if "wmt16" in step]


def test_who_asks_for_a_table_asks_for_the_results_of_its_runs_too(made):
    """A lost file was not made again, since the table that was drawn from it was there."""
    artefact = made.artefact(TABLE)
    results = {path for run in artefact.runs for path in made.results(run)}
    needed = {*made.artefact_files(artefact), *made.measured(artefact), *results}
    assert (
        needed <= set(made.files(TABLE)) <= set(made.files("latent_depth")) < set(made.files("all"))
    )
    judged = {made.paths.compare, made.paths.claims}
    assert {*made.all_results, *judged} < set(made.files("all"))


def test_what_is_not_built_is_no_part_of_all_and_refused_by_name(tmp_path):
    project = planned(own_project())
    made = targets(tmp_path, "paper", project)
    table1 = ("latent_depth", "table1.csv")
    assert not [path for path in made.files("all") if path.parts[-2:] == table1]
    with pytest.raises(FathomError, match=f"{NOT_BUILT}: cannot be made yet: .*another target"):
        made.files(NOT_BUILT)
    row = next(iter(made.artefacts[NOT_BUILT].rows))
    for target, given in ((f"{NOT_BUILT}_row", {"row": row}), ("run", {"run": "*"})):
        with pytest.raises(FathomError, match="cannot be trained yet: data set"):
            targets(tmp_path, "paper", project, **given).files(target)
    name = next(iter(made.runs_not_built))
    with pytest.raises(FathomError, match=f"run {name}: cannot be trained yet"):
        made.run(folder(made, name))
    with pytest.raises(FathomError, match=f"'{DATASET}' is not built"):
        made.sources(project.datasets[DATASET].corpus_folder(project.sources))


def test_a_paper_of_which_nothing_is_built_is_refused(tmp_path):
    made = targets(tmp_path, "paper")
    vars(made)["artefacts_not_built"] = dict.fromkeys(made.artefacts, "no reader")
    with pytest.raises(FathomError, match="none of its tables and figures is built yet"):
        made.files("transparent_attention")


def test_data_statistics_are_the_tables_that_count_text_and_train_nothing(made, tmp_path):
    assert made.names_of("data_statistics") == []
    names = {path.stem for path in made.files("data_statistics") if path.suffix == ".tex"}
    assert {"table11", "table12"} <= names
    assert TABLE.rpartition("_")[2] not in names
    assert not [path for path in made.files("data_statistics") if "runs" in path.parts]
    path, *_ = made.measured(made.artefact("latent_depth_table12"))
    assert path.name == "statistics.json"
    assert path.is_relative_to(tmp_path / "corpora")


def test_what_judges_or_shows_what_exists_waits_for_nothing(made):
    assert [made.files(target) for target in ("compare", "claims", "page")] == [[], [], []]


def test_all_makes_the_page_of_every_paper_after_its_runs(made):
    assert {made.paths.page(name) for name in made.project.papers} <= set(made.files("all"))
    files = set(made.page_results("lamgd"))
    assert {path for path in files if path.name == "training.json"}
    assert set(made.measured(made.artefact("lamgd_table1"))) <= files
    assert not [path for path in files if "transparent_attention" in path.parts]
    names = {path.name for path in made.judged_by(["lamgd"], "claims", "figures")}
    assert {"paper.yaml", "claims.yaml", "deviations.yaml", "table3.csv", "columns.yaml"} <= names


def test_a_figure_is_drawn_again_when_a_sentence_below_it_changes(made, monkeypatch):
    figure, table = made.artefact("latent_depth_figure9"), made.artefact(TABLE)
    before = made.definition(figure), made.definition(table)
    project = type(made.project)
    monkeypatch.setattr(
        project, "sentences", lambda _, paper, name: ("“other”",) if name == "figure9" else ()
    )
    assert made.definition(figure) != before[0]
    assert made.definition(table) == before[1]


def test_a_row_needs_its_own_runs(tmp_path):
    made = targets(tmp_path, row="12/12")
    assert made.names_of(f"{TABLE}_row") == ["latent_depth/m2o_diverse_12_12"]
    assert len(made.all_results) > len(made.results("latent_depth/m2o_diverse_12_12"))
    assert all("m2o_diverse_12_12-" in str(path) for path in made.files(f"{TABLE}_row"))


@pytest.mark.parametrize(
    ("switches", "target", "message"),
    [
        ({}, f"{TABLE}_row", "no row is named; add --config row="),
        ({"row": "12/13"}, f"{TABLE}_row", "no row '12/13'; .*'12/12'"),
        ({"row": "12/12"}, TABLE, f"{TABLE}: row=12/12 has no effect; write {TABLE}_row"),
        ({"row": "12/12"}, "all", "all: row=12/12 has no effect; delete it"),
        ({"row": "12/12"}, "run", "run: row=12/12 has no effect; delete it"),
        ({}, "run", "no run is named; add --config run="),
        ({"run": "m2o_diverse_6_7"}, "run", "no run 'm2o_diverse_6_7'; .*'m2o_diverse_6_6'"),
        ({"run": "latent_dept/*"}, "run", re.escape("no run 'latent_dept/*'; ")),
        ({"run": f"{STATIC},"}, "run", "no run ''"),
        ({"run": STATIC}, TABLE, f"{TABLE}: run={STATIC} has no effect; delete it"),
        ({"run": STATIC}, f"{TABLE}_row", "has no effect"),
    ],
)
def test_a_row_or_run_that_is_missing_mistyped_or_without_effect_is_refused(
    tmp_path, switches, target, message
):
    with pytest.raises(FathomError, match=message):
        targets(tmp_path, **switches).files(target)


def test_a_run_is_a_target_from_text_to_scores_by_its_names_and_by_patterns(tmp_path):
    made = targets(tmp_path, run=STATIC)
    assert made.files("run") == made.results(STATIC)
    assert {"training", "scores"} <= {path.name.partition(".")[0] for path in made.files("run")}
    several = targets(tmp_path, run=f"m2o_diverse_6_6, {GATED},latent_depth/*_diverse_ll_d_24_24")
    assert several.names_of("run") == [STATIC, GATED, "latent_depth/o2m_diverse_ll_d_24_24"]


def test_seeds_of_the_user_replace_the_runs_own(tmp_path):
    made = targets(tmp_path, seeds="2,5")
    files = made.results(STATIC)
    assert [path.parent.name for path in files if path.name == "training.json"] == ["2", "5"]
    artefact = made.artefact(TABLE)
    alone = targets(tmp_path, seeds=[2])
    assert made.definition(artefact) != alone.definition(artefact)


def test_a_figure_waits_for_every_seed_that_the_user_asks_for(tmp_path):
    made = targets(tmp_path, seeds="2,5")
    figure = made.artefact("latent_depth_figure6")
    runs = {made.paths.training(made.spec(run), seed) for run in figure.runs for seed in (2, 5)}
    assert runs <= set(made.measured(figure))


def test_a_table_is_drawn_again_where_the_paper_s_title_or_numbers_change(made, monkeypatch):
    artefact = made.artefact(TABLE)
    about = artefact.paper.about.model_copy(update={"title": "Another title"})
    renamed = replace(artefact, paper=SimpleNamespace(name=artefact.paper.name, about=about))
    assert made.definition(renamed) != made.definition(artefact)
    monkeypatch.chdir(ROOT)
    names = {str(path) for path in made.printed(artefact)}
    assert names == {"config/columns.yaml", "config/papers/latent_depth/reported/table5.csv"}


def test_a_figure_of_a_table_is_drawn_from_the_table_s_measurements(made):
    figure = made.artefact("latent_depth_figure4")
    assert {path for path in made.printed(figure) if path.suffix == ".csv"} == {
        path for path in made.printed(made.artefact(TABLE)) if path.suffix == ".csv"
    }
    assert set(made.measured(figure)) <= set(made.measured(made.artefact(TABLE)))
    # Another figure waits for trainings alone; it asked for translations too.
    figure = made.artefact("latent_depth_figure6")
    files = made.measured(figure)
    assert {*made.files(figure.target)} == {*files, *made.artefact_files(figure)}
    assert "training.json" in {path.name for path in files}
    assert len(files) >= len(figure.runs) > 0


def test_cells_are_judged_by_files_of_config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = targets(tmp_path)
    files = made.judged_by(made.project.papers)
    folder = ROOT / "config" / "papers" / "latent_depth"
    wanted = {folder / "reported" / "table5.csv", folder / "paper.yaml", folder / "deviations.yaml"}
    assert wanted <= set(files)
    claimed = set(made.judged_by(made.project.papers, "claims", "figures"))
    assert {*files, folder / "claims.yaml", folder / "figures.yaml"} <= claimed


def test_patterns_match_artefacts_of_their_kind_alone(made):
    assert "table5" in made.table_names.split("|")
    files = ("table5.csv", "table5_seeds.csv", "table55.csv", "figure4.csv")
    others = [name for name in files if re.match(made.other_names, name)]
    assert others == ["table55.csv", "figure4.csv"]


def folder(made, name):
    """Return a run's folder as a wildcard has it."""
    spec = made.spec(name)
    return f"{spec.paper}/{spec.folder}"


def test_trainings_that_are_built_and_those_that_are_not_are_186_together(tmp_path):
    made = targets(tmp_path, "paper")
    names = [name for name in (*made.built, *made.runs_not_built) if name.split("/")[0] in PAPERS]
    assert sum(len(made.seeds(name)) for name in names) == 186


def test_controls_are_made_where_they_are_named_and_are_no_part_of_all_or_of_their_paper(tmp_path):
    made = targets(tmp_path, "paper")
    controls = ("latent_depth_controls", "latent_depth_float16", "latent_depth_rates")
    assert [name for name, item in made.artefacts.items() if item.is_control] == [*controls]
    assert sum(len(made.seeds(name)) for name in made.of_controls) == 25
    post, shared = "latent_depth/m2o_diverse_24_24_post", "latent_depth/m2o_diverse_24_24"
    for target in ("all", "latent_depth"):
        assert not made.of_controls & {*made.names_of(target)}
        assert shared in made.names_of(target)
        wanted = {*made.files(target)}
        assert not wanted & {*made.artefact_files(made.artefacts[controls[0]])}
        assert not wanted & {made.paths.training(made.spec(post), 1)}
    assert {post, shared} <= {*made.names_of(controls[0])}
    assert {*made.artefact_files(made.artefacts[controls[0]])} <= {*made.files(controls[0])}
    # Rows of ours in a table of the paper are made with it.
    assert "latent_depth/o2m_diverse_24_12" in made.names_of("latent_depth")
    files = {*made.all_results, *made.page_results("latent_depth")}
    assert not any(made.paths.run(made.spec(post), 1) in path.parents for path in files)
    groups = Plan(made, None).groups("all", by_table=True)
    assert not {*controls} & {*groups}
    assert {*Plan(made, None).groups(controls[0], by_table=True)} == {controls[0]}


def test_the_file_of_all_decodings_has_another_name_where_config_asks_for_others(made):
    spec = made.spec(GATED)
    both = (("test", "soft"), ("test", "hard"))
    done = made.decodings_done(spec, 1)
    assert done == made.paths.asked(spec, 1, made.decodings(GATED))
    assert made.paths.asked(spec, 1, both[:1]) != made.paths.asked(spec, 1, both)


def test_a_finished_training_keeps_its_recipe_until_stale_runs_are_wanted(made, tmp_path):
    static, gated = made.spec(STATIC), made.spec(GATED)
    assert made.recipe(static, 1) == RECIPE["training"]
    assert not made.is_stale(static, 1)
    write_record(made.paths.training(static, 1), {"recipe": 0})
    assert made.recipe(static, 1) == 0
    assert made.is_stale(static, 1)
    assert made.retrain(static, 1) == []
    again = targets(tmp_path, retrain="stale")
    assert again.recipe(static, 1) == RECIPE["training"]
    assert again.retrain(static, 1) == [again.paths.retrain]
    assert again.retrain(gated, 1) == []


@pytest.mark.parametrize("content", ["", "{}", '{"recipe": 1}'])
def test_a_damaged_training_is_refused_with_the_command_that_resumes_it(made, content):
    static = made.spec(STATIC)
    path = made.paths.training(static, 1)
    write_text(path, content)
    for look_up in (made.recipe, made.is_stale):
        with pytest.raises(FathomError) as caught:
            look_up(static, 1)
        assert caught.value.where == str(path)
        assert f"fathom train {folder(made, STATIC)} --seed 1" in caught.value.remedy


def test_a_folder_leads_to_its_run_or_its_sources_and_a_changed_hash_is_refused(made):
    assert made.run(folder(made, STATIC)) == made.spec(STATIC)
    with pytest.raises(FathomError, match=f"no run of scale tiny .*'{folder(made, STATIC)}'"):
        made.run(f"{STATIC}-00000000")
    data = made.spec(STATIC).data
    names = [path.parent.name for path in made.sources(data.corpus_folder)]
    assert names == list(made.project.datasets[data.dataset].sources)
    nearest = f"has this folder; nearest valid name: '{data.dataset}-"
    for look_up in (made.data, made.sources):
        with pytest.raises(FathomError, match=nearest):
            look_up(f"{data.dataset}-00000000")


def test_tasks_have_jobs_of_their_own_where_they_share_nothing(tmp_path):
    made = targets(tmp_path, "paper")
    sources, data = made.project.sources, made.project.datasets
    alone = {name for name, item in data.items() if item.independent}
    assert alone == {"wikipedia25"}
    folder = data["wikipedia25"].corpus_folder(sources)
    names = [path.parent.name for path in made.prepared_alone(folder)]
    assert names == [*data["wikipedia25"].tasks]
    assert made.sources(folder, "de") == [made.paths.source("wikipedia_de") / "source.json"]
    assert made.prepared_alone(data["ted8_diverse"].corpus_folder(sources)) == []


def test_no_paper_can_have_the_name_of_a_rule_or_target():
    """A start of every paper ended in Snakemake's CreateRuleException."""
    text = "".join(
        path.read_text("utf-8") for path in (ROOT / "workflow").rglob("*") if path.is_file()
    )
    text += (ROOT / "Snakefile").read_text("utf-8")
    rules = {*re.findall(r"^rule (\w+):", text, re.MULTILINE)}
    targets = {ALL, COMPARE, CLAIMS, PAGE, STATISTICS, RUN}
    assert len(rules) > 20
    assert {name for name in rules | targets if not is_taken(name)} == set()
