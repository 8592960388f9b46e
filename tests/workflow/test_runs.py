import pytest

from fathom.io.files import write_text
from fathom.io.integrity import write_record
from fathom.results.recipe import RECIPE
from tests.support.papers import PAPERS
from tests.support.planned import planned
from tests.support.refused import refused
from tests.support.targets import own_project, targets

STATIC, GATED = "latent_depth/m2o_diverse_6_6", "latent_depth/m2o_diverse_ll_d_24_24"


def folder(made, name):
    """Return a run's folder as a wildcard has it."""
    spec = made.runs.spec(name)
    return f"{spec.paper}/{spec.folder}"


def test_a_run_is_found_by_its_folder_and_a_changed_hash_is_refused(tmp_path):
    made = targets(tmp_path)
    assert made.runs.name(folder(made, STATIC)) == STATIC
    with refused("other folder", "run", "tiny", nearest=folder(made, STATIC)):
        made.runs.name(f"{STATIC}-00000000")


def test_a_run_that_is_not_built_is_refused_by_its_folder(tmp_path):
    made = targets(tmp_path, "paper", planned(own_project()))
    name = next(iter(made.runs.not_built))
    with refused("not trained yet", where=f"run {name}"):
        made.runs.name(folder(made, name))


def test_trainings_that_are_built_and_those_that_are_not_are_160_together(tmp_path):
    runs = targets(tmp_path, "paper").runs
    names = [name for name in (*runs.built, *runs.not_built) if name.split("/")[0] in PAPERS]
    assert sum(len(runs.seeds(name)) for name in names) == 160


def test_a_run_is_tested_on_the_text_that_its_tensors_are_made_of(tmp_path):
    made = targets(tmp_path)
    run = folder(made, STATIC)
    data = made.runs.tensors(run).parent.name
    assert made.corpora.text(data) == made.runs.corpus(run)


def test_a_run_waits_for_the_one_that_it_starts_from(tmp_path):
    made = targets(tmp_path)
    made.runs.__dict__["not_built"] = {}
    name = next(name for name in made.project.entries if made.runs.spec(name).start)
    start = made.project.start_name(name)
    expected = made.paths.training(made.runs.spec(start), 3)
    assert made.runs.start(folder(made, name), "3") == [expected]
    assert made.runs.start(folder(made, start), "3") == []


def test_the_file_of_all_decodings_has_another_name_where_config_asks_for_others(tmp_path):
    made = targets(tmp_path)
    spec = made.runs.spec(GATED)
    asked = made.runs.asked(folder(made, GATED), "1")
    both = (("test", "soft"), ("test", "hard"))
    assert asked == made.paths.asked(spec, 1, made.demands.decodings(GATED))
    assert made.paths.asked(spec, 1, both[:1]) != made.paths.asked(spec, 1, both)


def test_the_results_of_a_run_are_all_measurements_that_tables_ask_of_it(tmp_path):
    made = targets(tmp_path)
    names = {path.name.split("-")[0] for path in made.runs.results(GATED, 1)}
    assert {"scores.test.soft", "gates.json"} <= names


def test_a_masked_language_model_is_not_translated(tmp_path):
    made = targets(tmp_path)
    name = next(name for name in made.runs.built if made.runs.spec(name).decoding is None)
    stems = [path.stem for path in made.runs.results(name, 1)]
    assert stems
    assert not [stem for stem in stems if stem.startswith(("scores", "window"))]


def test_a_finished_training_keeps_its_recipe_until_stale_runs_are_wanted(tmp_path):
    made = targets(tmp_path)
    run = folder(made, STATIC)
    assert made.runs.recipe(run, "1") == RECIPE["training"]
    assert not made.runs.stale(STATIC, 1)
    write_record(made.paths.training(made.runs.spec(STATIC), 1), {"recipe": 0})
    assert made.runs.recipe(run, "1") == 0
    assert made.runs.stale(STATIC, 1)
    assert made.runs.retrain(run, "1") == []
    again = targets(tmp_path, retrain="stale")
    assert again.runs.recipe(run, "1") == RECIPE["training"]
    assert again.runs.retrain(run, "1") == [again.paths.retrain]
    assert again.runs.retrain(folder(again, GATED), "1") == []


@pytest.mark.parametrize("content", ["", "{}", '{"recipe": 1}'])
def test_a_damaged_training_is_refused_with_the_command_that_resumes_it(tmp_path, content):
    made = targets(tmp_path)
    path = made.paths.training(made.runs.spec(STATIC), 1)
    write_text(path, content)
    for act in (
        lambda: made.runs.recipe(folder(made, STATIC), "1"),
        lambda: made.runs.stale(STATIC, 1),
    ):
        with refused(where=path, remedy=f"fathom train {folder(made, STATIC)} --seed 1"):
            act()


def test_other_settings_of_scoring_score_again(tmp_path):
    made = targets(tmp_path)
    assert made.runs.scoring(folder(made, STATIC)) == made.runs.scoring(folder(made, GATED))


def test_the_size_of_a_window_is_the_run_s(tmp_path):
    made = targets(tmp_path)
    name = next(name for name in made.runs.built if name.startswith("transparent_attention"))
    assert made.runs.window(folder(made, name)) == made.runs.spec(name).decoding.window
