"""A scale: ratios by unit, updates by group, and rules by kind of run."""

import pytest
from fathom.config.families import read_runs
from fathom.config.resolve import resolve

from fathom.config.scales import applies, path_findings, read_scale, scaled, units
from fathom.config.yaml_values import read
from tests.support.refused import says
from tests.support.specs import card

CARDS = {name: card(name) for name in ("static", "adapters", "latent_layers")}
RUNS = """\
families:
  base:
    group: main
    data: {dataset: big, direction: many_to_one, subwords: {algorithm: bpe, joint: 8000}}
    model: {architecture: transformer, width: 512, ffn: 1024, heads: 4, norm: pre, dropout: 0.3}
    method: static
    training:
      updates: 14000
      batch: {tokens: 4096, per: task}
      schedule: {name: inverse_sqrt, learning_rate: 1.5e-3, warmup: 8000}
      adam: {betas: [0.9, 0.98], eps: 1.0e-6}
    decoding: {beam: 5}
  gates: {method: {name: latent_layers, stacks: [decoder], tau_end: 0.1, target_depth: 12}}
runs:
  static: {like: base, layers: 12/36}
  gated: {like: [base, gates], layers: 6/15}
  fixed: {like: gated, method: {phi_learning_rate_multiplier: 0.0, target_depth: null}}
  adapted: {like: base, layers: 6/6, method: {name: adapters, bottleneck: 2048}}
  epochs: {like: gated, training: {updates: 75 epochs}}
"""
SCALE = """\
title: small
times: {width: 1/8, layers: 1/4}
datasets: {big: little}
updates: {paper: {main: 300}}
rules:
  - set: {model.dropout: 0.1}
  - when: {data.dataset: big, training.batch.per: [task, other]}
    set: {training.batch.tokens: 128, data.subwords: {algorithm: bpe, foreign: 30, english: 20}}
  - when: {method.name: latent_layers}
    set: {method.phi_learning_rate_multiplier: 10.0, method.target_depth: 2}
  - when: {like: gates}
    set: {model.attention_dropout: 0.2}
  - when: {run: paper/static}
    set: {model.dropout: 0.0}
"""


@pytest.fixture
def at_scale(tmp_path):
    (tmp_path / "runs.yaml").write_text(RUNS)
    (tmp_path / "tiny.yaml").write_text(SCALE)
    runs = read_runs(read(tmp_path / "runs.yaml", tmp_path))
    file = read(tmp_path / "tiny.yaml", tmp_path)
    scale, findings = read_scale(file)
    assert findings == []

    def one(name):
        resolved = resolve(runs[name], CARDS)
        entry = scaled(resolved.entry, resolved.run, ("paper", name), scale, file)
        again = resolve(entry, CARDS)
        assert again.findings == ()
        return again

    return one


def test_widths_and_layers_shrink_by_their_ratios(at_scale):
    model = at_scale("static").run.model
    assert (model.width, model.ffn, model.heads) == (64, 128, 4)
    assert (model.encoder_layers, model.decoder_layers) == (3, 9)


def test_a_half_is_rounded_up(at_scale):
    model = at_scale("gated").run.model
    assert (model.encoder_layers, model.decoder_layers) == (2, 4)


def test_a_methods_layers_and_widths_shrink_too(at_scale):
    assert at_scale("gated").run.method.target_depth == 3.0
    assert at_scale("adapted").run.method.bottleneck == 256


def test_updates_are_those_of_the_group_and_counts_of_updates_follow(at_scale):
    run = at_scale("gated").run
    assert run.training.updates == 300
    assert run.method.tau_updates == 300
    assert run.training.schedule.warmup == 172, "8000 × 300 / 14000, rounded up"


def test_where_the_length_is_in_epochs_a_methods_counts_stay(at_scale):
    run = at_scale("epochs").run
    assert run.training.updates == 300
    assert run.method.tau_updates == 14_000


def test_a_data_set_is_substituted_and_a_rule_sees_the_papers_own(at_scale):
    run = at_scale("static").run
    assert run.data.dataset == "little"
    assert run.training.batch.tokens == 128
    assert (run.data.subwords.foreign, run.data.subwords.joint) == (30, None)


def test_a_later_rule_wins(at_scale):
    assert at_scale("static").run.model.dropout == 0.0
    assert at_scale("adapted").run.model.dropout == 0.1


def test_a_rule_may_ask_for_a_family(at_scale):
    assert at_scale("gated").run.model.attention_dropout == 0.2
    assert at_scale("static").run.model.attention_dropout == 0.0


def test_of_a_method_a_rule_sets_only_what_neither_run_nor_family_gives(at_scale):
    assert at_scale("gated").run.method.phi_learning_rate_multiplier == 10.0
    fixed = at_scale("fixed").run.method
    assert (fixed.phi_learning_rate_multiplier, fixed.target_depth) == (0.0, None)


def test_a_changed_value_says_which_line_of_the_scale_changed_it(at_scale):
    entry = at_scale("static").entry
    assert entry.where(("model", "width")) == "tiny.yaml:2: times.width"
    assert entry.where(("training", "updates")) == "tiny.yaml:4: updates.paper.main"
    assert entry.where(("model", "dropout")).startswith("tiny.yaml:14: ")


def test_every_setting_with_a_unit_is_listed(at_scale):
    listed = {".".join(path): unit for path, unit, _ in units(at_scale("gated").run)}
    assert listed["model.width"] == "width"
    assert listed["method.target_depth"] == "layers"
    assert listed["training.schedule.warmup"] == "updates"
    assert "model.heads" not in listed


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("title: t\ntimes: {width: 0.125}\n", says("YAML number", "0.125", where="times.width")),
        ("title: t\ntimes: {width: 1/0}\n", says("no ratio", "1/0", where="times", remedy="1/4")),
        ("title: t\ntimes: {depth: 1/4}\n", says("unknown", "unit", "depth", where="times")),
        ("title: t\nrules: [{when: {a: 1}}]\n", says("no value", where="rules.0.set")),
        ("title: t\nseeds: []\n", says(where="seeds")),
        ("titel: t\n", says("unknown key", "titel", where="titel", nearest="title")),
    ],
)
def test_a_wrong_scale_is_refused_at_its_key(tmp_path, text, what):
    (tmp_path / "s.yaml").write_text(text)
    _, findings = read_scale(read(tmp_path / "s.yaml", tmp_path))
    what.check(findings)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("model.widht", says("unknown", "setting", "model.widht", nearest="width")),
        ("modle.width", says("unknown", "setting", "modle.width", nearest="model")),
        ("method.botleneck", says("unknown", "setting", "method.botleneck", nearest="bottleneck")),
        (
            "training.batch.token",
            says("unknown", "setting", "training.batch.token", nearest="tokens"),
        ),
    ],
)
def test_a_rule_for_a_setting_that_no_run_has_is_found(tmp_path, path, line):
    (tmp_path / "s.yaml").write_text(f"title: t\nrules:\n  - set: {{{path}: 1}}\n")
    file = read(tmp_path / "s.yaml", tmp_path)
    scale, _ = read_scale(file)
    methods = {name: one.method for name, one in CARDS.items()}
    (finding,) = path_findings(scale, file, methods)
    assert finding.where.startswith("s.yaml:3: ")
    line.check(finding)


def test_a_rule_without_when_fits_every_run(at_scale):
    from fathom.config.schema.scale import Rule

    resolved = at_scale("static")
    rule = Rule(set={"model.dropout": 0.0})
    assert applies(rule, resolved.entry, resolved.run, ("paper", "static"))


def test_a_rule_may_ask_for_a_value_that_is_a_mapping(at_scale):
    from fathom.config.schema.scale import Rule

    resolved = at_scale("static")
    rule = Rule(when={"training.schedule": {"name": "noam"}}, set={"model.dropout": 0.0})
    assert not applies(rule, resolved.entry, resolved.run, ("paper", "static"))
