"""From runs.yaml and a scale to what is trained: merged entries, scaled settings, their places."""

import shutil

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


# Merging


def test_what_an_entry_gives_wins_over_what_it_is_like_and_of_these_the_last(sample):
    run = sample.run("deep/gated")
    assert (run.model.width, run.method.name, run.method.target_depth) == (512, "latent_layers", 6)
    tuned = sample.run("deep/tuned").training
    assert (tuned.updates, tuned.validate_every, tuned.batch.tokens) == (500, 100, 60)


def test_a_mapping_of_another_name_replaces_the_former_entirely(edited):
    schedule = "{schedule: {name: noam, scale: 2.0, warmup: 3}}"
    folder = edited((RUNS, "training: {updates: 75 epochs}", f"training: {schedule}"))
    settings = load(folder).run("deep/epochs").training.schedule.settings
    assert settings == {"scale": 2.0, "warmup": 3, "step_duration": 1}


def test_a_mapping_of_the_same_name_is_refined(sample):
    method = sample.run("deep/fixed").method
    assert (method.kl_weight, method.stacks) == (3.0, ("decoder",))


def test_a_list_replaces_a_list(edited):
    adam = "{adam: {betas: [0.8, 0.9]}}"
    folder = edited((RUNS, "training: {updates: 75 epochs}", f"training: {adam}"))
    assert load(folder).run("deep/epochs").training.adam.betas == (0.8, 0.9)


def test_for_makes_an_entry_of_each_combination_in_names_and_values(edited):
    """A value that is a placeholder alone keeps its type; a list may have a name for each value."""
    folder = edited(
        (RUNS, "  beta_<b>:\n    for: {b: [0, 2]}", "  beta_<b>:\n    for: [{b: 0}, {b: 2}]"),
        (RUNS, "  pair_8: {", "  pair_<n>_<m>: {for: {n: [3, 4], m: [5]}, layers: <n>/<m>,"),
        (RUNS, "  pair_12: {", "  pair_8: {"),
        ("papers/deep/tables.yaml", "12: pair_<layers>", "3: pair_3_5, 4: pair_4_5"),
    )
    project = load(folder, check=False)
    assert [project.run(f"deep/beta_{b}").method.kl_weight for b in (0, 2)] == [0.0, 2.0]
    models = [project.run(f"deep/pair_{n}_5").model for n in (3, 4)]
    assert [(model.encoder_layers, model.decoder_layers) for model in models] == [(3, 5), (4, 5)]


def test_an_entry_may_be_like_one_that_for_makes(edited):
    folder = edited((RUNS, "fixed: {like: gated", "fixed: {like: beta_2"))
    assert load(folder).run("deep/fixed").method.kl_weight == 3.0


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


def test_a_method_acts_on_all_stacks_that_its_card_allows_unless_a_run_names_them(sample):
    stacks = [sample.run(f"deep/{name}").method.stacks for name in ("static", "tuned", "gated")]
    assert stacks == [(), ("encoder", "decoder"), ("decoder",)]


def test_a_preset_gives_what_the_run_does_not(edited):
    folder = edited((RUNS, "target_depth: 6}}", "preset: released, tau: 2.0, target_depth: 6}}"))
    method = load(folder).run("deep/gated").method
    assert (method.tau, method.kl_weight, method.target_depth) == (2.0, 0.1, 6.0)


# Scales


@pytest.mark.parametrize(
    ("run", "scale", "layers"),
    [
        ("static", "full", (8, 12)),
        ("static", "small", (2, 3)),
        ("uneven", "small", (2, 4)),
        ("masked", "small", (2, 0)),
    ],
)
def test_depths_shrink_by_their_ratio_and_a_half_rounds_up(sample, run, scale, layers):
    model = sample.run(f"deep/{run}", scale).model
    assert (model.encoder_layers, model.decoder_layers) == layers


def test_updates_are_those_of_the_group_and_settings_in_updates_follow_rounded_up(sample):
    run = sample.run("deep/gated", "small")
    assert (run.training.updates, run.training.schedule.warmup) == (300, 53)
    assert (run.training.validate_every, run.method.tau_updates) == (30, 60)


def test_lengths_in_epochs_shrink_with_a_run_in_epochs(edited):
    training = "training: {updates: 75 epochs, validate_every: 15 epochs, save_every: 1 epoch}"
    run = load(edited((RUNS, "training: {updates: 75 epochs}", training))).run(
        "deep/epochs", "small"
    )
    assert (run.training.validate_every, run.training.save_every) == (60, 4)


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


def test_a_later_rule_wins_and_may_ask_for_runs_families_and_papers(sample):
    models = {name: sample.run(f"deep/{name}", "small").model for name in ("static", "gated")}
    assert (models["static"].dropout, models["gated"].dropout) == (0.0, 0.1)
    assert (models["static"].attention_dropout, models["gated"].attention_dropout) == (0.0, 0.2)


def test_of_rules_for_a_part_and_its_value_the_later_one_wins(edited):
    """A path that an earlier rule had set kept its old place in the order."""
    rules = """rules:
  - set: {training.schedule.warmup: 5}
  - set: {training.schedule: {name: inverse_sqrt, learning_rate: 1.0e-3, warmup: 6}}
  - set: {training.schedule.warmup: 7}
"""
    project = load(edited((SMALL, "rules:\n", rules)), check=False)
    assert project.run("deep/static", "small").training.schedule.warmup == 7


def test_a_rule_may_ask_for_a_mapping_and_for_null(edited):
    rules = (
        "rules:\n  - when: {data.direction: null}\n    set: {training.clip: 3.0}\n"
        "  - when: {training.schedule: {name: noam}}\n    set: {training.clip: 9.0}\n"
    )
    project = load(edited((SMALL, "rules:\n", rules)), check=False)
    clips = [project.run(f"deep/{name}", "small").training.clip for name in ("domains", "static")]
    assert clips == [3.0, 1.0]


def test_a_rule_sets_of_a_method_only_what_neither_run_nor_family_gives(sample):
    """A run's `null` is given too."""
    fixed = sample.run("deep/fixed", "small").method
    assert (fixed.kl_weight, fixed.target_depth) == (3.0, None)
    gated = sample.run("deep/gated", "small").method
    assert (gated.kl_weight, gated.target_depth) == (10.0, 2.0)


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
    here = shutil.copytree(folder / "config" / "beside", tmp_path / "config" / "beside")
    assert load(folder, check=False, here=tmp_path).papers["beside"].folder == here
