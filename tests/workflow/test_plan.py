from fathom.io.integrity import write_record
from fathom.results.recipe import RECIPE
from fathom.workflow.plan import _trainings, lines, title
from tests.support.planned import NOT_BUILT, planned
from tests.support.refused import prose, says
from tests.support.targets import TABLE, own_project, targets

RUN = "latent_depth/m2o_diverse_6_6"


def finish(made, name, **content):
    """Leave the training.json of a finished run."""
    path = made.paths.training(made.runs.spec(name), 1)
    write_record(path, {"recipe": RECIPE["training"]} | content)


def test_a_start_says_its_scale(tmp_path):
    assert title(targets(tmp_path)).startswith(prose("scale", "tiny"))


def test_a_target_says_every_training_that_is_missing(tmp_path):
    made = targets(tmp_path)
    count = len(made.artefact(TABLE).runs)
    [line] = lines(made, TABLE)
    says("trainings found", 0, count, count, where=TABLE).check(line)
    assert made.runs.spec(RUN).folder in line


def test_what_is_finished_is_found(tmp_path):
    made = targets(tmp_path)
    count = len(made.artefact(TABLE).runs)
    finish(made, RUN)
    [line] = lines(made, TABLE)
    says("trainings found", 1, count).check(line)
    assert made.runs.spec(RUN).folder not in line


def test_what_judges_says_that_nothing_is_trained(tmp_path):
    for target in ("compare", "claims"):
        says("nothing trained").check(lines(targets(tmp_path), target)[0])


def test_a_long_list_of_runs_is_cut(tmp_path):
    assert "and 3 more" in lines(targets(tmp_path, seeds=15, row="6/6"), f"{TABLE}_row")[0]


def test_a_run_brings_the_training_that_it_starts_from(tmp_path):
    made = targets(tmp_path)
    made.runs.__dict__["not_built"] = {}
    name = next(name for name in made.project.entries if made.runs.spec(name).start)
    start = made.project.start_name(name)
    trainings = list(_trainings(made, [name, start]).values())
    assert trainings == [made.paths.training(made.runs.spec(run), 1) for run in (start, name)]


def test_a_run_of_an_older_recipe_is_named_stale(tmp_path):
    made = targets(tmp_path)
    finish(made, RUN, recipe=0)
    says("older trainings", 1, prose("trainings kept")).check(lines(made, TABLE)[1])
    again = targets(tmp_path, retrain="stale")
    says("older trainings", 1, prose("trained again")).check(lines(again, TABLE)[1])


def test_all_lists_what_is_not_built_with_the_reason(tmp_path):
    made = targets(tmp_path, "paper", planned(own_project()))
    printed = "\n".join(lines(made, "all"))
    count = sum(len(made.runs.seeds(name)) for name in made.runs.not_built)
    says("trainings not built", count).check(printed)
    for name, reason in made.runs.not_built.items():
        assert name.split("/")[1] in printed
        assert reason.split("; ")[0] in printed
    for target in made.not_built:
        assert target in printed


def test_a_paper_lists_what_is_not_built_of_its_own(tmp_path):
    made = targets(tmp_path, "paper", planned(own_project()))
    printed = "\n".join(lines(made, "latent_depth"))
    assert NOT_BUILT in printed
    assert "transparent_attention" not in printed
