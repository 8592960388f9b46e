"""From runs.yaml and a scale to what is trained: merged entries, scaled settings, their places."""

import shutil
from operator import attrgetter

import pytest

from fathom.config.check import models_in
from fathom.config.load import load
from fathom.config.rules import early_average
from fathom.config.schema import dataset, source
from fathom.config.schema.run import RunSettings
from fathom.config.schema.scale import Scale
from fathom.config.show import describe
from fathom.config.switches import Switches
from fathom.io.errors import FathomError
from tests.config.conftest import PROJECT

RUNS, OF_SCALES = "papers/deep/runs.yaml", "papers/deep/scales.yaml"
SMALL, LONG = "scales/small.yaml", "scales/long.yaml"


def shown(project, name, scale):
    """Return what `fathom show` prints of each setting, by its path."""
    return {setting.path: setting for setting in describe(project, name, scale)}


# Settings


def without_description(kind):
    """Yield the keys of a class that say nothing, also of the classes inside it."""
    for name, field in kind.model_fields.items():
        inside = [*models_in(field.annotation)]
        # The class of a section, or of what a name chooses, says what it is.
        if not (field.description or inside or name in ("name", "kind", "by")):
            yield f"{kind.__name__}.{name}"
        for each in inside:
            yield from without_description(each)


@pytest.mark.parametrize(
    "kind",
    [RunSettings, Scale, Switches, *dataset.FORMATS.values(), *source.KINDS.values()],
)
def test_every_setting_of_a_run_a_scale_a_data_set_and_a_source_has_a_description(kind):
    assert not [*without_description(kind)]


# Merging and scales

# By what is merged or scaled: edits of the project, a scale (empty: the papers' own settings), and
# settings of runs of the paper `deep` as `<run> <path>`.
TRAINING = "training: {updates: 75 epochs}"
SETTINGS = {
    "what an entry gives wins over what it is like, and of these the last": (
        (), "",
        {"gated model.width": 512, "gated method.name": "latent_layers",
         "gated method.target_depth": 6, "tuned training.updates": 500,
         "tuned training.validate_every": 100, "tuned training.batch.tokens": 60},
    ),
    "a mapping of another name replaces the former entirely": (
        ((RUNS, TRAINING, "training: {schedule: {name: noam, scale: 2.0, warmup: 3}}"),), "",
        {"epochs training.schedule.settings": {"scale": 2.0, "warmup": 3, "step_duration": 1}},
    ),
    "a mapping of the same name is refined": (
        (), "", {"fixed method.kl_weight": 3.0, "fixed method.stacks": ("decoder",)},
    ),
    "a list replaces a list": (
        ((RUNS, TRAINING, "training: {adam: {betas: [0.8, 0.9]}}"),), "",
        {"epochs training.adam.betas": (0.8, 0.9)},
    ),
    "`for` may be a list with a name for each value": (
        ((RUNS, "  beta_<b>:\n    for: {b: [0, 2]}", "  beta_<b>:\n    for: [{b: 0}, {b: 2}]"),),
        "", {"beta_0 method.kl_weight": 0.0, "beta_2 method.kl_weight": 2.0},
    ),
    "`for` makes an entry of each combination, and a placeholder alone keeps its type": (
        ((RUNS, "  pair_8: {", "  pair_<n>_<m>: {for: {n: [3, 4], m: [5]}, layers: <n>/<m>,"),
         (RUNS, "  pair_12: {", "  pair_8: {"),
         ("papers/deep/tables.yaml", "12: pair_<layers>", "3: pair_3_5, 4: pair_4_5")), "",
        {"pair_3_5 model.depth": "3/5", "pair_4_5 model.depth": "4/5"},
    ),
    "an entry may be like one that `for` makes": (
        ((RUNS, "fixed: {like: gated", "fixed: {like: beta_2"),), "",
        {"fixed method.kl_weight": 3.0},
    ),
    "a method acts on all stacks that its card allows unless a run names them": (
        (), "",
        {"static method.stacks": (), "tuned method.stacks": ("encoder", "decoder"),
         "gated method.stacks": ("decoder",)},
    ),
    "a preset gives what the run does not": (
        ((RUNS, "target_depth: 6}}", "preset: released, tau: 2.0, target_depth: 6}}"),), "",
        {"gated method.tau": 2.0, "gated method.kl_weight": 0.1, "gated method.target_depth": 6.0},
    ),
    "without a scale depths are the papers'": ((), "full", {"static model.depth": "8/12"}),
    "depths shrink by their ratio, and a half rounds up": (
        (), "small",
        {"static model.depth": "2/3", "uneven model.depth": "2/4", "masked model.depth": "2"},
    ),
    "updates are those of the group, and settings in updates follow, rounded up": (
        (), "small",
        {"gated training.updates": 300, "gated training.schedule.warmup": 53,
         "gated training.validate_every": 30, "gated method.tau_updates": 60},
    ),
    "lengths in epochs shrink with a run in epochs": (
        ((RUNS, TRAINING,
          "training: {updates: 75 epochs, validate_every: 15 epochs, save_every: 1 epoch}"),),
        "small", {"epochs training.validate_every": 60, "epochs training.save_every": 4},
    ),
    "a later rule wins, and may ask for runs, families and papers": (
        (), "small",
        {"static model.dropout": 0.0, "gated model.dropout": 0.1,
         "static model.attention_dropout": 0.0, "gated model.attention_dropout": 0.2},
    ),
    # A path that an earlier rule had set kept its old place in the order.
    "of rules for a part and its value the later one wins": (
        ((SMALL, "rules:\n",
          "rules:\n  - set: {training.schedule.warmup: 5}\n"
          "  - set: {training.schedule: {name: inverse_sqrt, learning_rate: 1.0e-3, warmup: 6}}\n"
          "  - set: {training.schedule.warmup: 7}\n"),),
        "small", {"static training.schedule.warmup": 7},
    ),
    "a rule may ask for a mapping and for null": (
        ((SMALL, "rules:\n",
          "rules:\n  - when: {data.direction: null}\n    set: {training.clip: 3.0}\n"
          "  - when: {training.schedule: {name: noam}}\n    set: {training.clip: 9.0}\n"),),
        "small", {"domains training.clip": 3.0, "static training.clip": 1.0},
    ),
    "a rule sets of a method only what neither run nor family gives, which may be null": (
        (), "small",
        {"fixed method.kl_weight": 3.0, "fixed method.target_depth": None,
         "gated method.kl_weight": 10.0, "gated method.target_depth": 2.0},
    ),
}  # fmt: skip

# Edits that leave a run without a printed cell, or a rule that fits no run.
NOT_VALID = (
    "`for` makes an entry of each combination, and a placeholder alone keeps its type",
    "a rule may ask for a mapping and for null",
)


@pytest.mark.parametrize("rule", SETTINGS)
def test_a_run_has_the_settings_that_its_entry_and_the_scale_give(sample, edited, rule):
    edits, scale, expected = SETTINGS[rule]
    project = load(edited(*edits), check=rule not in NOT_VALID) if edits else sample
    for place, value in expected.items():
        run, path = place.split(" ")
        assert attrgetter(path)(project.run(f"deep/{run}", scale or None)) == value, place


LENT = "papers/wide/runs.yaml"
BORROWED = "runs:\n  wider: {like: deep/gated, model: {width: 1024}}  # §9\n"


def test_an_entry_may_be_like_another_papers_and_keeps_file_line_and_source(edited):
    project = load(edited((LENT, None, BORROWED)), check=False)
    settings = {each.path: each for each in describe(project, "wide/wider", "full")}
    lender = {each.path: each for each in describe(project, "deep/gated", "full")}
    assert settings["model.width"].value == 1024
    assert settings["model.width"].where == f"config/{LENT}:2"
    assert settings["model.heads"].where == lender["model.heads"].where
    assert settings["model.heads"].source == f"{lender['model.heads'].source}, as deep"


def test_an_edit_of_the_lenders_value_moves_the_borrower_and_what_is_like_it_alone(edited):
    mine = "runs:\n  mine: {like: deep/pair_8, layers: 3/3}\n  alone: {like: deep/fixed}\n"
    before = load(edited((LENT, None, mine)), check=False)
    identities = {name: before.spec(name).identity for name in before.entries}
    edit = (RUNS, "pair_8: {like: pair,", "pair_8: {like: pair, model: {dropout: 0.25},")
    after = load(edited(edit), check=False)
    moved = {name for name in after.entries if after.spec(name).identity != identities[name]}
    assert moved == {"deep/pair_8", "wide/mine"}


def test_a_circle_over_papers_is_one_finding(findings):
    borrowed = "runs:\n  there: {like: deep/static, layers: 3/3}  # §1\n"
    edit = (RUNS, "static: {like: base", "static: {like: [base, wide/there]")
    (found,) = findings((LENT, None, borrowed), edit)
    assert found.what == "`like` goes in a circle: deep/static > wide/there > deep/static"


@pytest.mark.parametrize(
    ("run", "save_every", "begins"),
    [
        ("epochs", 100, 100),
        ("epochs", 50, 200),
        ("epochs", 40, None),
        ("epochs", "1 epoch", None),
        ("static", 100, 100),
        ("static", 20, None),
    ],
)
def test_a_scale_that_averages_weights_from_before_the_end_is_named(
    edited, run, save_every, begins
):
    """The mean of five saves reached from update 30 to 150 of 150, and lost half a nat."""
    rule = f"rules:\n  - set: {{training.save_every: {save_every}}}\n"
    project = load(edited((SMALL, "rules:\n", rule)), check=False)
    warning = early_average(project.spec(f"deep/{run}", "small"), project.spec(f"deep/{run}"))
    assert (warning is None) == (begins is None)
    if begins is not None:
        assert f"the mean of 3 saved weights begins at update {begins} of 300" in warning
        assert warning.endswith("; write training.save_every: 20 or less")


# Places and sources


@pytest.mark.parametrize(
    ("run", "setting", "where", "source"),
    [
        ("static", "model.width", f"config/{SMALL}:3", "§3"),
        ("static", "training.updates", f"config/{OF_SCALES}:2", "§4"),
        ("static", "model.activation", "default", "Vaswani et al. 2017"),
        ("gated", "method.tau", "config/methods/latent_layers.yaml:10", "§2"),
        ("beta_2", "method.kl_weight", f"config/{RUNS}:35", "Table 2"),
        ("gated at long", "model.activation_dropout", f"config/{LONG}:5", ""),
    ],
)
def test_a_value_has_the_line_that_gives_it_and_the_papers_source(
    sample, run, setting, where, source
):
    """At a scale that is like another the line is that of the file that gives the value."""
    name, _, scale = run.partition(" at ")
    found = shown(sample, f"deep/{name}", scale or "small")[setting]
    assert (found.where, found.source) == (where, source)


COMMENTED = """\
    # A comment alone belongs to no value.
    model:  # all of the model
      architecture: transformer
      width: 512  # §3
      ffn: 1024
      heads: 4 # one blank is enough
      norm: "pre"  # not "# post"
      dropout: 0.3
      tie_embeddings: decoder
"""


def test_the_source_of_a_value_is_the_comment_of_its_line_or_of_a_key_above(edited):
    text = (PROJECT / "config" / RUNS).read_text(encoding="utf-8")
    model = text[text.index("    model:\n") : text.index("    method: static\n")]
    settings = shown(load(edited((RUNS, model, COMMENTED))), "deep/static", "full")
    assert {key: settings[f"model.{key}"].source for key in ("width", "ffn", "heads", "norm")} == {
        "width": "§3",
        "ffn": "all of the model",
        "heads": "one blank is enough",
        "norm": 'not "# post"',
    }


# What a project knows of its runs


def test_a_user_who_names_seeds_gets_those_at_every_scale(edited):
    project = load(edited(("config.yaml", "device: cpu", "device: cpu\nseeds: 3-4")))
    assert project.seeds("deep/static", "full") == project.seeds("deep/gated", "small") == (3, 4)


@pytest.mark.parametrize(
    ("method", "gates"),
    [
        ("", ("soft", "hard")),
        ("sample: noise_free, ", ("soft",)),
        ("tau: 5.0, ", ("soft",)),
        ("tau: 6.0, ", ("soft",)),
        ("tau: 5.0, tau_end: 0.1, ", ("soft", "hard")),
    ],
)
def test_a_run_is_decoded_with_the_gates_that_its_card_does_not_refuse(edited, method, gates):
    """A number is refused from the card's on, other values where they are equal."""
    folder = edited((RUNS, "stacks: [decoder], target", f"stacks: [decoder], {method}target"))
    project = load(folder, check=False)
    assert project.spec("deep/gated").gates == gates
    assert project.spec("deep/static").gates == ("plain",)


def test_runs_that_a_scale_does_not_change_share_the_results_of_another(edited):
    folder = edited(
        (LONG, "rules:\n  - set:", "rules:\n  - when: {method.name: adapters}\n    set:")
    )
    project = load(folder)
    for name in ("pair_8", "static", "tuned"):
        folders = {project.spec(f"deep/{name}", scale).folder for scale in ("small", "long")}
        assert len(folders) == (1 if name == "pair_8" else 2)


def test_what_is_not_built_says_each_reason_once(edited):
    """Of its data set, of the run that it starts from, and of a scale without its updates."""
    project = load(edited((RUNS, "dataset: words, dir", "dataset: planned, dir")), check=False)
    assert project.not_built("deep/static", "full") == "data set planned: its archive is gone"
    assert project.not_built("deep/tuned", "full") == "data set planned: its archive is gone"
    assert project.not_built("deep/pair_8", "full") == ""


def test_a_scale_without_updates_for_a_group_says_why_its_runs_are_not_built(edited):
    project = load(edited((OF_SCALES, ", masked: 100}", "}")), check=False)
    assert "'masked'" in project.not_built("deep/masked", "small")


def test_a_scale_for_a_cpu_trains_no_run_in_float16(edited):
    half = "static: {like: base, training: {precision: fp16}, seeds: 5}  # §4"
    project = load(
        edited(
            (RUNS, "static: {like: base, seeds: 5}", half),
            ("scales/small.yaml", "seeds:", "for_cpu: true\nseeds:"),
        )
    )
    for scale in ("small", "long"):
        assert "fp16 needs CUDA" in project.not_built("deep/static", scale)
        assert project.not_built("deep/gated", scale) == ""
    assert project.not_built("deep/static", "full") == ""


def test_a_name_that_two_papers_have_needs_its_paper(edited):
    runs = (PROJECT / "config" / RUNS).read_text(encoding="utf-8")
    project = load(edited(("papers/wide/runs.yaml", None, runs)), check=False)
    with pytest.raises(FathomError) as caught:
        project.run_name("static")
    assert "deep/static or wide/static" in caught.value.remedy


def test_a_paper_that_a_clone_names_is_found_from_wherever_a_command_is_typed(edited, tmp_path):
    folder = edited(("config.yaml", "device: cpu", "papers: [config/beside]"))
    runs = (PROJECT / "config" / RUNS).read_text(encoding="utf-8")
    edited(("beside/runs.yaml", None, runs))
    assert "beside" in load(folder, check=False, here=tmp_path).papers
    shutil.copytree(folder / "config" / "beside", tmp_path / "config" / "beside")
    there = load(folder, check=False, here=tmp_path).papers["beside"].folder
    assert there == folder / "config" / "beside"
