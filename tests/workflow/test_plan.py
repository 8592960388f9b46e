"""What a training costs and asks for: by its settings, and by what was measured."""

from dataclasses import replace

import pytest

from fathom.io.errors import FathomError
from fathom.methods.build import count
from fathom.workflow import memory
from fathom.workflow.plan import PEAKS, Plan, cost, measured_seconds, peak_of, stated_share
from tests.support.own_project import TABLE, own_project, targets
from tests.support.run_files import write_training

RUN = "latent_depth/m2o_diverse_12_12"
SMALL, LARGE = "latent_depth/m2o_diverse_6_6", "latent_depth/masked_lm_96"
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
    with pytest.raises(FathomError, match="wmt16_en_de: the size of the text is not known"):
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


@pytest.mark.parametrize("device", ["h20", "", "-3", "0", "nan", "inf"])
def test_a_device_is_a_name_or_a_number_and_another_is_refused(device):
    assert peak_of("H200") == PEAKS["h200"] * 1e12
    assert peak_of("312") == peak_of("a100")
    with pytest.raises(FathomError, match=f"--gpu: no device '{device}'; choose one of h200"):
        peak_of(device)


def test_a_training_that_runs_is_measured_after_two_hundred_updates(tmp_path):
    series = tmp_path / "times.tsv"
    assert measured_seconds(tmp_path) is None
    series.write_text("update\tseconds\n100\t50\n")
    assert measured_seconds(tmp_path) is None
    series.write_text("update\tseconds\n100\t50\n200\t80\n300\t500\n")
    assert measured_seconds(tmp_path) == pytest.approx(0.4)
    assert measured_seconds(tmp_path, "h200") is None


def test_a_target_has_its_trainings_by_paper_or_by_table(tmp_path):
    plan = Plan(targets(tmp_path), "h200")
    assert [*plan.groups("all", by_table=False)] == [
        "lamgd",
        "latent_depth",
        "transparent_attention",
    ]
    assert [*plan.groups(TABLE, by_table=True)] == [TABLE]
    assert set(plan.groups("all", by_table=True)[TABLE]) == set(plan.groups(TABLE, True)[TABLE])


def test_what_has_ended_is_not_left_and_says_how_long_others_take(tmp_path):
    made = targets(tmp_path, seeds=2)
    spec = made.spec(RUN)
    assert [seed for _, seed in Plan(made, None).trainings([RUN])] == [1, 2]
    write_training(spec, made.paths, totals={"updates": 10, "target_tokens": 1, "seconds": 7.0})
    first, second = Plan(made, None).trainings([RUN]).values()
    assert first.left == 0
    assert second.left == 1
    assert first.seconds == pytest.approx(0.7 * spec.training.updates)
    assert second.seconds == pytest.approx(first.seconds)
    # Of other kinds of networks nothing is known but this.
    stated = Plan(targets(tmp_path / "empty"), "cpu").trainings([DEEP])[DEEP, 1].seconds
    of_run = Plan(targets(tmp_path / "empty"), "cpu").trainings([RUN])[RUN, 1].seconds
    [deep, _] = Plan(made, None).trainings([DEEP]).values()
    assert deep.seconds == pytest.approx(stated * first.seconds / of_run)
    # Of another device nothing is known from here.
    [named, _] = Plan(made, "h200").trainings([RUN]).values()
    assert named.seconds < first.seconds


def test_what_was_measured_on_the_named_device_replaces_its_stated_rate(tmp_path):
    made = targets(tmp_path, seeds=2)
    spec = made.spec(RUN)
    totals = {"updates": 10, "target_tokens": 1, "seconds": 7.0}
    device = {"type": "cuda", "name": "NVIDIA H200", "threads": None, "count": 2}
    write_training(spec, made.paths, totals=totals, device=device)
    for gpu, measured in (("h200", 1), ("a100", 0)):
        plan = Plan(made, gpu)
        assert len(plan.measured) == measured
        [_, second] = plan.trainings([RUN]).values()
        assert (second.seconds == pytest.approx(2 * 0.7 * spec.training.updates)) == bool(measured)


def test_sources_that_are_not_there_are_downloads(tmp_path):
    made = targets(tmp_path)
    plan = Plan(made, None)
    names = [source.name for source in plan.downloads([RUN])]
    assert names
    folder = made.paths.source(names[0])
    folder.mkdir(parents=True)
    (folder / "source.json").write_text("{}")
    assert [source.name for source in plan.downloads([RUN])] == names[1:]


def test_the_row_that_is_trained_first_is_named_until_it_has_ended(tmp_path):
    made = targets(tmp_path)
    assert Plan(made, None).first([RUN]) == {f"{TABLE}, row 12/12": [RUN]}
    write_training(made.spec(RUN), made.paths)
    assert Plan(made, None).first([RUN]) == {}


def test_a_training_that_starts_from_another_one_has_that_one_too(tmp_path):
    plan = Plan(targets(tmp_path), "h200")
    adapters, base = "lamgd/domains_adapters", "lamgd/domains_transformer"
    assert [name for name, _ in plan.trainings([adapters])] == [base, adapters]
    assert [name for name, _ in plan.trainings([adapters, base])] == [base, adapters]


def test_a_small_run_fits_where_a_large_one_does_not():
    tiny, paper = (own_project().spec(SMALL, scale) for scale in ("tiny", "paper"))
    large = memory.of_run(own_project().spec(LARGE))
    assert memory.of_run(tiny) < 4_000 < memory.of_run(paper) < 32_000 < large


@pytest.mark.parametrize(
    "name",
    [
        SMALL,
        LARGE,
        "latent_depth/en_de_big",
        "lamgd/domains_adapters",
        "transparent_attention/en_de_rnmt_plain_big6",
    ],
)
def test_it_is_enough_for_weights_gradients_moments_and_the_copy_that_is_saved(name):
    spec = own_project().spec(name)
    entries = memory.vocabulary(spec.data.subwords, len(spec.data.tasks))
    parameters = count(spec.model, spec.method, len(spec.data.tasks), entries, entries)["total"]
    assert 28 * parameters / 1e6 < memory.of_run(spec) - 3_000 < 6 * 28 * parameters / 1e6


def test_a_job_on_text_asks_for_more_where_the_text_is_longer(tmp_path):
    record = tmp_path / "corpus" / "corpus.json"
    assert memory.of_text([str(record)]) == memory.of_text([]) < 4_000
    (record.parent / "task").mkdir(parents=True)
    with open(record.parent / "task" / "train.en", "wb") as stream:
        stream.truncate(1_000_000_000)
    assert 10_000 < memory.of_text([str(record)]) < 20_000
    assert memory.of_text([str(record)]) > memory.of_text([str(record)], 1_000_000) > 5_000
    assert memory.of_stream([str(record)]) < 4_000
