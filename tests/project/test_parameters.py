"""Printed counts: what a file of them says, what is wrong with one, and how a count is judged."""

import dataclasses

import pytest

from fathom.config.yaml_files import read
from fathom.project.load import load
from fathom.project.parameters import Printed, findings, printed, undiminished

FILE = "config/papers/latent_depth/parameters.yaml"
SMALL = """\
vocabularies:
  words: {source: 30, target: 40, origin: chosen}
  pieces: {source: 50, target: 60, origin: chosen}
defaults:
  model:
    architecture: transformer
    encoder_layers: 2
    decoder_layers: 2
    width: 16
    ffn: 32
    heads: 4
    norm: pre
    residuals: [encoder, decoder]
    activation: relu
    dropout: 0.1
    attention_dropout: 0.1
    activation_dropout: 0.0
    share_embeddings: target
    output_bias: false
    learned_positions: null
  method: {name: static, sides: []}
  tasks: 2
  vocabulary: words
networks:
  plain: {}
  deep:
    model: {encoder_layers: 9, heads: 2}
    vocabulary: pieces
  gated:
    like: deep
    model: {heads: 8}
    method: {name: latent_layers, sides: [encoder], settings: {tau: 0.5}}
    tasks: 5
  trained:
    run: ll_d_12_24
    vocabulary: pieces
tables:
  table1:
    6/6: {printed: "63.6", network: plain}
    deep, 9:
      printed: "224"
      network: deep
      misprint:
        right: "287"
        reason: a copy of the cell above
    gated: {printed: "13", network: gated, added_to: deep}
  table2:
    all: {printed: "120", network: trained, unexplained: nothing has as many}
"""


@pytest.fixture
def small(project):
    """A function that writes the small file, with one text replaced, as the only one there is."""
    for path in project.glob("config/papers/*/parameters.yaml"):
        path.unlink()

    def write(old="", new=""):
        assert old in SMALL
        (project / FILE).write_text(SMALL.replace(old, new, 1), encoding="utf-8")
        return load(project, check=False), read(project / FILE, project)

    return write


def told(catalog, file):
    """Return what is wrong with a file, a line each: first by its schema, then beyond it."""
    wrong = list(catalog.schemas.findings("parameters", file)) or findings(catalog, file)
    return [str(each) for each in wrong]


def test_the_files_of_the_project_are_right(project):
    catalog = load(project, check=False)
    files = [read(path, project) for path in project.glob("config/papers/*/parameters.yaml")]
    assert files
    assert [each for file in files for each in told(catalog, file)] == []


def test_the_counts_stand_in_the_order_of_the_file(small):
    catalog, file = small()
    assert told(catalog, file) == []
    found = printed(catalog, "paper")
    assert [(each.paper, each.table, each.row, each.millions) for each in found] == [
        ("latent_depth", "table1", "6/6", "63.6"),
        ("latent_depth", "table1", "deep, 9", "224"),
        ("latent_depth", "table1", "gated", "13"),
        ("latent_depth", "table2", "all", "120"),
    ]
    assert [each.right for each in found] == ["", "287", "", ""]
    reasons = ["", "a copy of the cell above", "", "nothing has as many"]
    assert [each.reason for each in found] == reasons
    assert [each.added_to for each in found] == [None, None, found[1].network, None]


def test_a_network_takes_its_own_before_its_models_before_the_defaults(small):
    catalog, _ = small()
    plain, deep, gated, _ = (each.network for each in printed(catalog, "paper"))
    shapes = [(each.model.encoder_layers, each.model.heads) for each in (plain, deep, gated)]
    assert shapes == [(2, 4), (9, 2), (9, 8)]
    assert [each.tasks for each in (plain, deep, gated)] == [2, 2, 5]
    assert (plain.source_entries, plain.target_entries) == (30, 40)
    assert (gated.source_entries, gated.target_entries) == (50, 60)
    assert gated.model.residuals == ("encoder", "decoder")


def test_a_network_has_every_setting_of_its_methods_card(small):
    catalog, _ = small()
    method = printed(catalog, "paper")[2].network.method
    assert (method.name, method.sides) == ("latent_layers", ("encoder",))
    assert method.settings == catalog.methods["latent_layers"].filled({"tau": 0.5})


def test_a_network_can_be_that_of_a_run(small):
    catalog, _ = small()
    found = printed(catalog, "paper")[3].network
    spec = catalog.spec("ll_d_12_24", "paper")
    assert (found.model, found.method, found.tasks) == (spec.model, spec.method, 8)
    assert (found.source_entries, found.target_entries) == (50, 60)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "run: ll_d",
            "run: lld",
            "trained.run: no run 'lld_12_24'; nearest valid name: 'll_d_12_24'",
        ),
        (
            "name: latent_layers",
            "name: latent_layer",
            "gated.method.name: no method 'latent_layer'; nearest valid name: 'latent_layers'",
        ),
        (
            "    vocabulary: pieces\n  gated",
            "    vocabulary: piece\n  gated",
            "deep.vocabulary: no vocabulary 'piece'; nearest valid name: 'pieces'",
        ),
        (
            "network: plain",
            "network: plane",
            "table1.6/6.network: no network 'plane'; nearest valid name: 'plain'",
        ),
        (
            "added_to: deep",
            "added_to: deap",
            "gated.added_to: no network 'deap'; nearest valid name: 'deep'",
        ),
        (
            "like: deep",
            "like: trained",
            "gated.like: 'trained' cannot be taken as a model; nearest valid name: 'plain'",
        ),
        (
            "like: deep",
            "like: gated",
            "'gated' cannot be taken as a model; valid names: plain, deep",
        ),
        ("heads: 2", "head: 2", "deep.model.head: unknown key 'head'; nearest valid name: 'heads'"),
        (
            "name: latent_layers",
            "name: [latent_layers]",
            "gated.method.name: ['latent_layers'] is not",
        ),
        ("heads: 2", "heads: two", "deep.model.heads: 'two' is not a whole number"),
        ("norm: pre", "norm: pree", "'pree' is not possible here; nearest valid name: 'pre'"),
        (
            "[encoder], set",
            "[encode], set",
            "'encode' is not possible here; nearest valid name: 'encoder'",
        ),
        ("tau: 0.5", "tauu: 0.5", "has no setting 'tauu'; nearest valid name: 'tau'"),
        ("tau: 0.5", "tau: 0", "gated.method.settings.tau: 0 is too small; write more than 0"),
        ("settings: {tau", "preset: fast, settings: {tau", "has no preset 'fast'"),
        ("  tasks: 2\n", "", "networks.plain: no tasks is given; give it in the network or in"),
        ("  vocabulary: words\n", "", "networks.plain: no vocabulary is given; give it in the"),
        ("    width: 16\n", "", "networks.plain: no model.width is given; give it in the network"),
        ("run: ll_d_12_24", "run: ll_d_12_24\n    tasks: 8", "tasks: the run says this; delete it"),
        ("\n        reason: a copy of the cell above", "", "misprint: the key 'reason' is missing"),
        ("reason: a copy of the cell above", 'reason: " "', "deep, 9.misprint.reason: ' ' has"),
        ("unexplained: nothing has as many", 'unexplained: ""', "all.unexplained: '' has"),
        ('right: "287"', "right: 287", "YAML reads 287 as a number; put it in quotes"),
        ('printed: "13"', 'printed: "+13"', "gated.printed: '+13' has another form"),
        ("      misprint:", "      unexplained: so\n      misprint:", "a misprint is explained;"),
        ("unexplained", "misprinted", "nearest valid name: 'misprint'"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_the_remedy(small, old, new, expected):
    found = told(*small(old, new))
    assert any(expected in each for each in found), found
    assert all(each.startswith(FILE) for each in found)


def test_a_mistake_in_the_defaults_is_told_once(small):
    (found,) = told(*small("norm: pre", "norm: pree"))
    assert found.startswith(f"{FILE}:12: defaults.model.norm: ")


@pytest.fixture
def count(small):
    """A function that makes a printed count of a number and what is said of it."""
    first = printed(small()[0], "paper")[0]

    def make(millions, right="", reason=""):
        return dataclasses.replace(first, millions=millions, right=right, reason=reason)

    return make


@pytest.mark.parametrize(
    ("millions", "ours", "expected"),
    [
        ("100", 100_000_000, "agrees"),
        ("100", 101_000_000, "agrees"),
        ("100", 99_000_000, "agrees"),
        ("100", 101_000_001, "differs"),
        ("100", 98_999_999, "differs"),
        ("13", 12_739_584, "agrees"),
        ("13", 12_499_999, "differs"),
        ("13", 13_500_001, "differs"),
        ("1.3", 1_340_000, "agrees"),
        ("1.30", 1_340_000, "differs"),
        ("0", 0, "agrees"),
        ("0", 1_152, "agrees"),
        ("0", 500_001, "differs"),
    ],
)
def test_a_count_agrees_within_one_percent_or_in_its_digits(count, millions, ours, expected):
    assert count(millions).verdict(ours) == expected


def test_a_misprint_is_one_only_where_what_must_be_meant_agrees(count):
    each: Printed = count("224", "287", "a copy")
    assert each.verdict(287_308_000) == "misprint"
    assert each.verdict(250_000_000) == "differs"
    assert each.verdict(224_500_000) == "agrees"


def test_the_unexplained_is_so_only_where_it_is_off(count):
    each = count("120", reason="no layer is as large")
    assert each.verdict(112_240_000) == "unexplained"
    assert each.verdict(119_500_000) == "agrees"


def test_the_difference_is_a_share_of_the_printed_number(count):
    assert count("200").difference(202_000_000) == pytest.approx(0.01)
    assert count("200").difference(150_000_000) == pytest.approx(-0.25)
    assert count("0").difference(1_152) is None


def test_only_a_scale_that_cuts_nothing_down_has_the_papers_networks(project):
    scales = load(project, check=False).scales
    whole = scales["paper"]
    assert undiminished(whole)
    assert not undiminished(scales["tiny"])
    changes = [
        {"layers": 0.5},
        {"width": 0.5},
        {"datasets": {"ted8_diverse": "po_wheels_diverse"}},
        {"replace": {"model": {"heads": 2}}},
        {"method_settings": {"tau": 2.0}},
    ]
    assert not any(undiminished(dataclasses.replace(whole, **each)) for each in changes)
