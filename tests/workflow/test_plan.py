"""What a training costs and asks for: by its settings, and by what was measured."""

from dataclasses import replace

import pytest

from fathom.config import demand
from fathom.config.demand import DEVICES, SENTENCE, SLOWEST
from fathom.config.schema.source import ByHand
from fathom.io.errors import FathomError
from fathom.io.files import write_json
from fathom.methods.build import count
from fathom.workflow.plan import Plan, cost, device_of, measured_seconds
from tests.support.own_project import PAPERS, TABLE, own_project, targets
from tests.support.run_files import write_training

RUN, DEEP = "latent_depth/m2o_diverse_12_12", "latent_depth/m2o_diverse_24_24"
SMALL, LARGE = "latent_depth/m2o_diverse_6_6", "latent_depth/masked_lm_96"
BIG, RECURRENT = "latent_depth/en_de_big", "transparent_attention/en_de_rnmt_plain_6"


def test_operations_are_six_for_each_parameter_that_a_token_meets():
    spec = own_project().spec(RUN)
    known = cost(spec, None)
    entries = spec.data.subwords.english
    counts = count(spec.model, spec.method, len(spec.data.tasks), entries, entries)
    met = counts["encoder"] + counts["decoder"] + entries * spec.model.width
    attention = 12 * 36 * SENTENCE * spec.model.width
    assert known.tokens == 14_000 * 8 * 4096
    assert known.operations == pytest.approx((6 * met + attention) * known.tokens, rel=0.01)


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
    in_epochs = tiny.training.model_copy(update={"save_every": "1 epoch", "keep_weights": 3})
    assert cost(replace(tiny, training=in_epochs), None).disk == stored * (24 + 4 * 3)


def test_arithmetic_binds_in_fp32_memory_in_bf16_and_launches_where_an_update_is_small():
    spec, device = own_project().spec(RUN), DEVICES["h200"]
    half = replace(spec, training=spec.training.model_copy(update={"precision": "bf16"}))

    def seconds(spec, tokens, **changes):
        changed = replace(device, **changes)
        return demand.seconds_per_update(spec, 32_000, tokens, changed)

    exact, fast = seconds(spec, 16_384), seconds(half, 16_384)
    assert seconds(spec, 16_384, fp32=33.5) > 1.8 * exact
    assert seconds(half, 16_384, bandwidth=2.4) > 1.6 * fast
    assert seconds(spec, 64) == seconds(spec, 128) == pytest.approx(5e-6 * (12 * 94 + 120))
    assert 4 * demand.seconds_per_update(spec, 32_000, 16_384, device, tf32=True) < 1.4 * exact
    always = replace(spec, training=spec.training.model_copy(update={"matmul": "exact"}))
    assert demand.seconds_per_update(always, 32_000, 16_384, device, tf32=True) == exact


def test_a_device_without_bf16_computes_it_in_fp32_and_may_have_fp16_of_its_own():
    """NVIDIA's data sheet: 125 TFLOPS of the V100's tensor cores, for SXM2."""
    old, new = DEVICES["v100"], DEVICES["h200"]
    assert old.peak("bf16") == old.peak("fp32") == 15.7e12
    assert old.peak("fp16") == 125e12
    assert new.peak("fp16") == new.peak("bf16") == 989e12


@pytest.mark.parametrize("device", DEVICES)
def test_no_estimate_is_above_the_peak_of_its_arithmetic(tmp_path, device):
    """Hours of float32 were once estimated at the peak of bfloat16."""
    made = targets(tmp_path, "paper")
    plan = Plan(made, device)
    for (name, _), each in plan.trainings(made.built).items():
        arithmetic = demand.arithmetic_of(made.spec(name), made.project.switches.matmul == "tf32")
        peak = DEVICES[device].peak(arithmetic)
        assert each.cost.operations / each.job.seconds < peak, name
        assert each.job.slowest == SLOWEST * each.job.seconds


def test_a_search_takes_longer_with_more_hypotheses_layers_and_sentences():
    spec, device = own_project().spec(RUN), DEVICES["h200"]

    def seconds(sentences=5000, beam=5, **layers):
        model = spec.model.model_copy(update=layers)
        decoding = spec.decoding.model_copy(update={"beam": beam})
        changed = replace(spec, model=model, decoding=decoding)
        return demand.seconds_of_translation(changed, 32_000, sentences, device)

    assert seconds(10_000) == pytest.approx(2 * seconds())
    assert seconds(beam=10) > 1.8 * seconds()
    decoder, encoder = seconds(decoder_layers=24), seconds(encoder_layers=24)
    assert decoder > 1.5 * seconds()
    assert 1.3 * seconds() > encoder > seconds()
    # Few sentences wait for the start of kernels, at each of their pieces.
    assert seconds(10) == seconds(20) > 30 * 12 * device.launch
    masked = own_project().spec(LARGE)
    assert demand.seconds_of_translation(masked, 32_000, 5000, device) == 0
    read = demand.seconds_of_likelihood(masked, 32_000, 5000, device)
    assert read == pytest.approx(
        demand.seconds_per_update(masked, 32_000, 5000 * SENTENCE, device) / 3
    )


def test_a_recurrent_network_is_taken_to_reach_less_of_a_device():
    spec, device = own_project().spec(RECURRENT), DEVICES["h200"]
    seconds = demand.seconds_per_update(spec, 32_000, 4096, device)
    operations = 4096 * demand.operations_per_token(spec, 32_000)
    assert operations / seconds == pytest.approx(0.1 * device.peak("fp32"))


@pytest.mark.parametrize("device", ["h20", "", "-3", "0", "nan", "inf"])
def test_a_device_is_a_name_or_a_number_and_another_is_refused(device):
    assert device_of("H200") == DEVICES["h200"]
    assert device_of("312").peak("bf16") == DEVICES["a100"].peak("bf16")
    with pytest.raises(FathomError, match=f"--gpu: no device '{device}'; choose one of h200"):
        device_of(device)


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
    papers = [name for name in plan.groups("all", by_table=False) if name in PAPERS]
    assert papers == sorted(PAPERS)
    assert [*plan.groups(TABLE, by_table=True)] == [TABLE]
    assert set(plan.groups("all", by_table=True)[TABLE]) == set(plan.groups(TABLE, True)[TABLE])


def test_what_has_ended_is_not_left_and_says_how_long_others_take(tmp_path):
    made = targets(tmp_path, seeds=2)
    spec = made.spec(RUN)
    assert [seed for _, seed in Plan(made, None).trainings([RUN])] == [1, 2]
    write_training(spec, made.paths, totals={"updates": 10, "target_tokens": 1, "seconds": 7.0})
    first, second = Plan(made, None).trainings([RUN]).values()
    first, second = first.job, second.job
    assert first.left == 0
    assert second.left == 1
    assert first.seconds == first.slowest == pytest.approx(0.7 * spec.training.updates)
    assert second.seconds == second.slowest == pytest.approx(first.seconds)
    # Of other kinds of networks nothing is known but this.
    empty = Plan(targets(tmp_path / "empty"), None)
    stated, of_run = (empty.trainings([run])[run, 1].job.seconds for run in (DEEP, RUN))
    deep = Plan(made, None).trainings([DEEP])[DEEP, 1].job
    assert deep.seconds == pytest.approx(stated * first.seconds / of_run)
    assert deep.slowest == SLOWEST * deep.seconds
    # Of another device nothing is known from here.
    named = Plan(made, "h200").trainings([RUN])[RUN, 1].job
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
        seconds = 2 * 0.7 * spec.training.updates
        assert (second.job.seconds == pytest.approx(seconds)) == bool(measured)


def test_jobs_after_a_training_are_left_until_their_files_are_there(made):
    left = {(job.rule, job.run): job.left for job in Plan(made, None).others(TABLE)}
    assert set(left.values()) == {1}
    assert {rule for rule, _ in left} == {"translate_run", "measure_likelihood"}
    write_json(made.decodings_done(made.spec(RUN), 1), {})
    now = {(job.rule, job.run): job.left for job in Plan(made, None).others(TABLE)}
    assert now == left | {("translate_run", RUN): 0}


def test_sources_that_are_not_there_are_downloads(made):
    plan = Plan(made, None)
    names = [source.name for source in plan.downloads([RUN])]
    assert names
    folder = made.paths.source(names[0])
    folder.mkdir(parents=True)
    (folder / "source.json").write_text("{}")
    assert [source.name for source in plan.downloads([RUN])] == names[1:]


def test_every_download_of_the_papers_has_a_size_or_an_estimate_of_it(tmp_path):
    made = targets(tmp_path, "paper")
    sources = Plan(made, None).downloads(made.built)
    unknown = [source.name for source in sources if source.about is None]
    assert {source.name for source in sources if isinstance(source, ByHand)} == {*unknown}
    assert all(source.about == source.size for source in sources if source.size)
    # A file that a user has put is no step that is left.
    made.paths.by_hand.mkdir(parents=True)
    (made.paths.by_hand / made.project.sources[unknown[0]].file).touch()
    assert unknown[0] not in [each.name for each in Plan(made, None).downloads(made.built)]


def test_files_of_one_source_that_a_user_has_put_are_no_downloads(tmp_path):
    """They lie in a folder of the source's name."""
    made = targets(tmp_path, "paper_rebuilt")
    source = made.project.sources["ted_multi"]
    assert source in Plan(made, None).downloads(made.built)
    for file in source.contents:
        put = made.paths.by_hand / "ted_multi" / file
        put.parent.mkdir(parents=True, exist_ok=True)
        put.touch()
    assert source not in Plan(made, None).downloads(made.built)


def test_a_training_that_starts_from_another_one_has_that_one_too(tmp_path):
    plan = Plan(targets(tmp_path), "h200")
    adapters, base = "lamgd/domains_adapters", "lamgd/domains_transformer"
    assert [name for name, _ in plan.trainings([adapters])] == [base, adapters]
    assert [name for name, _ in plan.trainings([adapters, base])] == [base, adapters]


def test_a_small_run_fits_where_a_large_one_does_not():
    tiny, paper = (own_project().spec(SMALL, scale) for scale in ("tiny", "paper"))
    large = demand.memory_of_run(own_project().spec(LARGE))
    assert demand.memory_of_run(tiny) < 4_000 < demand.memory_of_run(paper) < 32_000 < large


@pytest.mark.parametrize(
    "name",
    [
        *(SMALL, LARGE, BIG),
        "lamgd/domains_adapters",
        "transparent_attention/en_de_rnmt_plain_big6",
    ],
)
def test_it_is_enough_for_weights_gradients_moments_and_the_copy_that_is_saved(name):
    spec = own_project().spec(name)
    entries = demand.vocabulary(spec.data.subwords, len(spec.data.tasks))
    parameters = count(spec.model, spec.method, len(spec.data.tasks), entries, entries)["total"]
    assert 28 * parameters / 1e6 < demand.memory_of_run(spec) - 3_000 < 6 * 28 * parameters / 1e6


def test_a_job_on_text_asks_for_more_where_the_text_is_longer(tmp_path):
    record = tmp_path / "corpus" / "corpus.json"
    assert demand.memory_of_text([str(record)]) == demand.memory_of_text([]) < 4_000
    (record.parent / "task").mkdir(parents=True)
    with open(record.parent / "task" / "train.en", "wb") as stream:
        stream.truncate(1_000_000_000)
    assert 10_000 < demand.memory_of_text([str(record)]) < 20_000
    assert (
        demand.memory_of_text([str(record)])
        > demand.memory_of_text([str(record)], 1_000_000)
        > 5_000
    )
    assert demand.memory_of_stream([str(record)]) < 4_000
    assert 2 * demand.minutes_of_stream([]) > demand.minutes_of_stream([str(record)]) > 30
