"""What the jobs of a run ask a cluster for, and what a start may ask for in all."""

from dataclasses import replace

import pytest

from fathom.config.switches import Site
from fathom.config.yaml_values import from_plain
from fathom.io.errors import FathomError
from fathom.io.records import write_record
from fathom.results.run_state import State, write_state
from fathom.workflow import job_sizes
from fathom.workflow.job_sizes import Sizes, between, hours_of, request
from fathom.workflow.plan import LIKELIHOOD, TRAIN, TRANSLATE, WINDOW
from tests.support.own_project import TABLE, put_talks, targets
from tests.support.run_files import write_training

RUN = "latent_depth/m2o_diverse_12_12"
EIGHT = Site(gpus_per_node=4, max_gpus=8)


@pytest.fixture
def spec(tmp_path):
    return targets(tmp_path, "paper").spec(RUN)


def sizes(folder, scale="paper", on_cluster=True, gpus=1, **switches):
    """Return the requests of a start on H200s, whose site is in a file of this name."""
    put_talks(folder)
    made = replace(targets(folder, scale, **switches), gpus=gpus, ready_only=True)
    made.project.given = from_plain({"site": {}}, "slurm/site.yaml")
    return Sizes(made, on_cluster, "h200" if gpus else "cpu")


def save(made, name, **state):
    """Leave what a training of a run saves before it has ended."""
    folder = made.targets.paths.run(made.targets.spec(name), 1)
    folder.mkdir(parents=True)
    place = {"attempt": 1, "host": "n1", "pid": 1, "job": "7"}
    write_state(folder, State(state="saved", **place, **state))


@pytest.mark.parametrize(
    ("hours", "site", "asked"),
    [
        # GPUs, nodes, cores of a node, minutes.
        (1, EIGHT, (1, 1, 4, 120)),
        (24, EIGHT, (1, 1, 4, 1440)),  # at most longest_minutes
        (25, EIGHT, (2, 1, 8, 1155)),
        (90, EIGHT, (4, 1, 16, 1440)),
        (97, EIGHT, (8, 2, 16, 1122)),  # more GPUs than a node has
        (690, EIGHT, (8, 2, 16, 1440)),
        (690, Site(), (1, 1, 4, 1440)),
        (690, Site(gpus_per_node=3, max_gpus=8), (8, 4, 8, 1440)),  # evenly on nodes
        (90, Site(max_gpus=8, gpus_per_node=8, training_hours=12), (8, 1, 32, 1043)),
        (1, Site(cores_per_gpu=2), (1, 1, 2, 120)),
        (30, Site(longest_minutes=240), (1, 1, 4, 240)),
    ],
)
def test_a_training_has_the_fewest_gpus_with_which_it_ends_in_time(spec, hours, site, asked):
    made = request(spec, TRAIN, site, hours)
    assert (made.gpus, made.nodes, made.cores, made.minutes) == asked


@pytest.mark.parametrize("rule", [TRANSLATE, WINDOW, LIKELIHOOD])
def test_all_other_rules_have_one_gpu(spec, rule):
    made = request(spec, rule, EIGHT, hours=50)
    assert (made.gpus, made.nodes) == (1, 1)


@pytest.mark.parametrize(("shared", "gpus"), [(0, 8), (8, 8), (4, 4), (6, 2), (5, 1)])
def test_a_training_has_gpus_that_share_its_updates_evenly(spec, shared, gpus):
    assert request(spec, TRAIN, EIGHT, 690, shared).gpus == gpus


def test_a_run_that_is_continued_has_gpus_that_share_what_its_first_attempt_shared(tmp_path):
    made = sizes(tmp_path, site=Site(max_gpus=8, gpus_per_node=8, training_hours=1))
    name = max(made.targets.built, key=lambda each: made.plan.seconds(TRAIN, each, 1))
    spec = made.targets.spec(name)
    assert made.of(spec, TRAIN, 1).gpus == 8
    save(made, name, micro_batches=2)
    assert made.of(spec, TRAIN, 1).gpus == 2
    assert made.of(spec, TRAIN, 2).gpus == 8


def test_on_a_workstation_nothing_follows_from_the_site(tmp_path):
    made = sizes(tmp_path, on_cluster=False, site=EIGHT)
    spec = made.targets.spec(RUN)
    assert made.of(spec, TRAIN, 1).resources == made.of(spec, WINDOW, 1).resources
    assert (made.of(spec, TRAIN, 1).gpus, made.of(spec, TRAIN, 1).cores) == (1, 1)
    assert made.table("all") == []
    made.refuse_hours("all")


def test_gpus_and_limits_follow_from_the_longest_time_that_is_expected(tmp_path):
    """A limit of half the time ends a search of windows, whose job then fails."""
    made = sizes(tmp_path, site=Site(longest_minutes=200_000))
    for rule in (TRAIN, WINDOW):
        name = max(made.targets.built, key=lambda each: made.plan.seconds(rule, each, 1))
        best, most = made.plan.seconds(rule, name, 1)
        assert most == 2 * best
        minutes = made.of(made.targets.spec(name), rule, 1).minutes
        assert minutes == pytest.approx(1.5 * most / 60 + 30, abs=1)


def test_without_gpus_a_job_has_one_core(tmp_path):
    made = sizes(tmp_path, "tiny", gpus=0, device="cpu", site=EIGHT)
    asked = made.of(made.targets.spec(RUN), TRAIN, 1)
    assert (asked.gpus, asked.nodes, asked.cores) == (0, 1, 1)
    made.refuse_hours("all")


def test_what_is_missing_is_asked_for_once_and_ended_jobs_are_not(tmp_path):
    made = sizes(tmp_path)
    runs = made.targets.artefact(TABLE).runs
    rules = [each.rule for each in made.missing(TABLE).values()]
    assert hours_of(made.missing(TABLE).values()) > (1, 1)
    assert rules.count(TRAIN) == rules.count(TRANSLATE) == len(runs)
    spec = made.targets.spec(RUN)
    write_training(spec, made.targets.paths)
    write_record(made.targets.decodings_done(spec, 1), {})
    left = [each.rule for each in made.missing(TABLE).values()]
    assert left.count(TRAIN) == left.count(TRANSLATE) == len(runs) - 1
    # Runs of two tables are trained once.
    whole = made.missing("all")
    assert {*made.missing(TABLE)} < {*whole}


def test_a_half_trained_run_counts_with_the_updates_after_its_last_save(tmp_path):
    made = sizes(tmp_path)
    path = made.targets.paths.training(made.targets.spec(RUN), 1)
    whole = hours_of([made.missing(TABLE)[path]])
    save(made, RUN, update=4_200, updates=14_000)
    assert hours_of([made.missing(TABLE)[path]]) == pytest.approx([0.7 * each for each in whole])
    [table] = [each for each in made.table(TABLE) if each["hours_each"][0] < 0.8 * whole[0]][:1]
    assert table["rule"] == TRAIN


def test_a_training_that_has_not_ended_after_its_last_update_is_missing(tmp_path):
    made = sizes(tmp_path)
    save(made, RUN, update=14_000, updates=14_000)
    assert made.targets.paths.training(made.targets.spec(RUN), 1) in made.missing(TABLE)


def test_what_is_trained_again_is_missing(tmp_path):
    """A start with `retrain=stale` counted no GPU-hours."""
    for again, count in ((None, 0), ("stale", 1)):
        made = sizes(tmp_path, row="12/12", retrain=again)
        write_training(made.targets.spec(RUN), made.targets.paths, recipe=0)
        rules = [each.rule for each in made.missing(f"{TABLE}_row").values()]
        assert rules.count(TRAIN) == count


def test_the_table_of_requests_has_a_line_for_each_rule_length_and_number_of_gpus(tmp_path):
    made = sizes(tmp_path, site=Site(max_gpus=8, gpus_per_node=8))
    first, *lines = made.lines("all")
    assert first == "jobs on GPUs, expected on h200, fp32, tf32; not measured:"
    [last] = [line for line in lines if line.startswith("  in all")]
    rows = [line.split() for line in lines[: lines.index(last)]]
    assert {row[2] for row in rows if row[1] == TRAIN} == {"1", "2", "4", "8"}
    assert sum(int(row[0]) for row in rows) == len(made.missing("all"))
    assert "a start needs gpu_hours: " in last
    assert [line.partition(":")[0] for line in lines[lines.index(last) + 1 :]] == [
        "disk",
        "downloads",
    ]
    assert not any("gpu_hours" in line for line in made.lines(TABLE))


def test_a_start_of_more_than_100_gpu_hours_needs_gpu_hours(tmp_path):
    made = sizes(tmp_path)
    jobs = made.missing("all").values()
    best, hours = hours_of(jobs)
    assert hours == pytest.approx(2 * best)
    with pytest.raises(FathomError) as refused:
        made.refuse_hours("all")
    message = str(refused.value)
    assert message.startswith(f"gpu_hours: all asks for {between((best, hours))} GPU-hours (")
    trainings = sum(job.rule == TRAIN for job in jobs)
    assert trainings >= 90
    assert f"({trainings} trainings, h200, fp32, tf32; not measured), more than 100; " in message
    # The cheapest table.
    assert " into slurm/site.yaml, or begin with latent_depth_table9 (" in message
    asked = int(message.partition("write gpu_hours: ")[2].split()[0])
    assert hours <= asked <= 1.1 * hours
    sizes(tmp_path, gpu_hours=asked).refuse_hours("all")
    with pytest.raises(FathomError, match=f"more than {int(hours) - 1};"):
        sizes(tmp_path, gpu_hours=int(hours) - 1).refuse_hours("all")
    made.begun.clear()
    made.refuse_hours(TABLE)
    # Without GPUs it was not counted: years of cores could be asked for.
    with pytest.raises(FathomError, match=rf"{TABLE} asks for 16,000 to 31,000 core-hours \("):
        sizes(tmp_path, gpus=0).refuse_hours(TABLE)
    assert any(" 1 core  " in line for line in sizes(tmp_path, gpus=0).lines(TABLE))


def test_the_targets_of_a_start_are_added_up_without_what_they_share(tmp_path):
    _, of_table = hours_of(sizes(tmp_path).missing(TABLE).values())
    made = sizes(tmp_path, gpu_hours=int(of_table) + 1)
    for _ in range(3):
        made.refuse_hours(TABLE)
    with pytest.raises(FathomError, match="latent_depth asks for"):
        made.refuse_hours("latent_depth")


def test_a_start_that_writes_more_than_the_disk_has_free_is_refused(tmp_path, monkeypatch):
    """2,398 GB for 79 that were free was a remark."""
    needed = sizes(tmp_path).plan.written(sizes(tmp_path).targets.names_of(TABLE)).total()
    monkeypatch.setattr(job_sizes, "free_space", lambda _: needed - 1)
    message = (
        rf"{tmp_path}: the trainings of {TABLE} write .* GB, and .* GB are free; latent_depth/"
    )
    with pytest.raises(FathomError, match=f"{message}.* alone takes .*check_disk=false"):
        sizes(tmp_path).refuse_disk(TABLE)
    sizes(tmp_path, check_disk=False).refuse_disk(TABLE)
    Sizes(sizes(tmp_path).targets, on_cluster=False).refuse_disk(TABLE)
    monkeypatch.setattr(job_sizes, "free_space", lambda _: needed)
    made = sizes(tmp_path)
    made.refuse_disk(TABLE)
    # The targets of one start are added up.
    with pytest.raises(FathomError, match="are free; "):
        made.refuse_disk("transparent_attention")


def test_what_a_training_has_saved_already_needs_no_further_room(tmp_path):
    """A start was refused again and again that had written half of what it needs."""
    made = sizes(tmp_path)
    before = made.plan.written([RUN])[RUN]
    save(made, RUN, update=100, updates=1000, micro_batches=1)
    state = made.targets.paths.run(made.targets.spec(RUN), 1) / "checkpoints" / "last.pt"
    state.parent.mkdir()
    state.write_bytes(bytes(1000))
    after = sizes(tmp_path).plan.written([RUN])[RUN]
    assert 1000 <= before - after < 2000


@pytest.mark.parametrize(
    ("hours", "text"),
    [
        ((0.01, 0.02), "<0.1"),
        ((0.01, 0.44), "<0.1 to 0.44"),
        ((5.61, 20.5), "5.6 to 20"),
        ((9267, 9267), "9,300"),
    ],
)
def test_hours_have_two_digits_that_count(hours, text):
    assert between(hours) == text
