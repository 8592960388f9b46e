"""What a training costs follows from its settings, and from what was measured."""

from dataclasses import replace

import pytest

from fathom.methods.build import count
from fathom.workflow.costs import PEAKS, Rates, cost, measured_seconds, peak_of, stated_share
from tests.support.refused import refused
from tests.support.targets import own_project

STATIC, DEEP, BIG, RECURRENT = (
    "latent_depth/m2o_diverse_12_12",
    "latent_depth/m2o_diverse_24_24",
    "latent_depth/en_de_big",
    "transparent_attention/en_de_rnmt_plain_6",
)


def test_operations_are_six_for_each_parameter_that_a_token_meets():
    spec = own_project().spec(STATIC)
    known = cost(spec, None)
    entries = spec.data.subwords.english
    counts = count(spec.model, spec.method, len(spec.data.tasks), entries, entries)
    met = counts["encoder"] + counts["decoder"] + entries * spec.model.width
    assert known.tokens == 14_000 * 8 * 4096
    assert known.operations == pytest.approx(6 * met * known.tokens, rel=0.01)


def test_a_run_with_inner_updates_costs_what_its_static_network_costs():
    """An update of φ uses gradients that an update of Θ has computed: nothing is added."""
    deep, *latent = (
        cost(own_project().spec(f"latent_depth/{name}"), None)
        for name in ("m2o_diverse_24_24", "m2o_diverse_ll_d_24_24", "inner_2", "inner_10")
    )
    assert latent == [deep] * 3


def test_epochs_are_counted_in_sentences_of_thirty_pieces():
    spec = own_project().spec(BIG)
    assert spec.training.updates == "75 epochs"
    once, twice = cost(spec, 1_000_000), cost(spec, 2_000_000)
    assert once.tokens == pytest.approx(75 * 30 * 1_000_000, rel=0.01)
    assert twice.operations == pytest.approx(2 * once.operations, rel=0.01)
    with refused("size of the text", where="wmt16_en_de"):
        cost(spec, None)


def test_disk_holds_two_states_and_the_weights_that_are_kept():
    tiny = own_project().spec(RECURRENT, "tiny")
    kept = tiny.training.updates // tiny.training.save_every
    assert kept < tiny.training.keep_weights
    one_less = tiny.training.model_copy(update={"keep_weights": kept - 1})
    fewer = replace(tiny, training=one_less)
    stored = (cost(tiny, None).disk - cost(fewer, None).disk) / 4
    assert cost(tiny, None).disk == stored * (24 + 4 * kept)


def test_wide_networks_use_more_of_a_device_than_deep_or_recurrent_ones():
    big, static, deep, recurrent = (
        stated_share(own_project().spec(name).model) for name in (BIG, STATIC, DEEP, RECURRENT)
    )
    assert big > static > deep > recurrent > 0


def test_a_device_is_a_name_or_a_number():
    assert peak_of("H200") == PEAKS["h200"] * 1e12
    assert peak_of("312") == peak_of("a100")


@pytest.mark.parametrize("device", ["h20", "", "-3", "0", "nan", "inf"])
def test_another_device_is_refused_with_the_names(device):
    with refused("no device", device, where="--gpu"):
        peak_of(device)


def test_what_was_measured_replaces_what_is_stated():
    spec, deep = own_project().spec(STATIC), own_project().spec(DEEP)
    known = cost(spec, None)
    stated = Rates(1e15)
    seconds = stated.seconds(spec, known)
    measured = Rates(1e15, [(spec, known, 3 * seconds / known.updates)])
    assert stated.count == 0
    assert measured.count == 1
    assert measured.seconds(spec, known) == pytest.approx(3 * seconds)
    # Of another kind of network nothing is known but this.
    assert measured.factor(deep.model) == pytest.approx(3)


def test_a_training_that_runs_is_measured_after_two_hundred_updates(tmp_path):
    series = tmp_path / "times.tsv"
    assert measured_seconds(tmp_path) is None
    series.write_text("update\tseconds\n100\t50\n")
    assert measured_seconds(tmp_path) is None
    series.write_text("update\tseconds\n100\t50\n200\t80\n300\t500\n")
    assert measured_seconds(tmp_path) == pytest.approx(0.4)
    assert measured_seconds(tmp_path, "h200") is None
