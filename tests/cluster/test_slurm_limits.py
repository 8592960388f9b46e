import math

import pytest

from fathom.cluster.slurm_limits import minutes, options, partitions, refusals, remarks
from tests.support.refused import refused

LIST = "main*|1-00:00:00|8000|gpu:h200:4(S:0-1)|2|idle\nmain*|1-00:00:00|4000+|(null)|1|mixed"
LIST += "\nlong|infinite|8000|gpu:h200:4|2|idle~"
NO_NODES = (
    "sbatch: error: Batch job submission failed: Requested node configuration is not available"
)


@pytest.fixture(autouse=True)
def slurm(answers):
    """Three partitions, and a Slurm that accepts everything."""
    answers("sinfo", LIST)
    answers("sbatch", message="sbatch: Job 9 to start at 2026-01-01")


@pytest.mark.parametrize(
    ("limit", "number"),
    [
        ("1-00:00:00", 1440),
        ("2:30:00", 150),
        ("30:00", 30),
        ("1-12:00:30", 2160.5),
        ("infinite", math.inf),
        ("n/a", math.inf),
    ],
)
def test_a_time_limit_is_minutes(limit, number):
    assert minutes(limit) == number


def test_partitions_have_their_limit_and_their_nodes():
    known, default = partitions()
    assert default == "main"
    assert known["main"].minutes == 1440
    assert known["main"].nodes == [(8000, 4, True), (8000, 4, True), (4000, 0, True)]
    assert known["long"].minutes == math.inf


def test_what_fits_is_accepted_and_what_slurm_is_asked_is_what_is_submitted(calls):
    asked = {"runtime": 1440, "mem_mb": 8000, "gres": "gpu:h200:4", "nodes": 3, "tmpdir": "/tmp"}
    assert refusals(asked) == []
    [line] = calls("sbatch")
    assert line.startswith("sbatch --test-only ")
    assert " ".join(options(asked)) in line


@pytest.mark.parametrize(
    ("asked", "key", "numbers"),
    [
        ({"runtime": 1441}, "runtime", ("1441", "1440")),
        ({"mem_mb": 8001}, "mem_mb", ("8001", "8000")),
        ({"gres": "gpu:8"}, "gres", ("8", "4")),
        ({"gpu": 8}, "gres", ("8", "4")),
        ({"nodes": 4}, "nodes", ("4", "3")),
    ],
)
def test_what_a_partition_does_not_have_is_refused_with_both_numbers(asked, key, numbers):
    [(what, remedy)] = refusals(asked)
    assert f"`{key}`" in remedy
    assert all(number in what.replace(")", " ").replace("(", " ").split() for number in numbers)


def test_an_unknown_partition_is_refused_with_the_nearest_name():
    [(what, remedy)] = refusals({"partition": "maim"})
    assert "'maim'" in what
    assert "'main'" in remedy


def test_a_refused_account_is_in_slurms_words(answers):
    answers(
        "sbatch", code=1, message="sbatch: error: Invalid account or account/partition combination"
    )
    [(what, _)] = refusals({"account": "nosuch"})
    assert "--account=nosuch" in what
    assert "Invalid account" in what


def test_a_configuration_is_refused_only_where_all_nodes_are_up(answers):
    """With drained nodes --test-only refuses what sbatch accepts: the job waits."""
    answers("sbatch", code=1, message=NO_NODES)
    assert len(refusals({"gres": "gpu:4"})) == 1
    answers("sinfo", LIST.replace("mixed", "drained*"))
    assert refusals({"gres": "gpu:4"}) == []
    assert remarks({"gres": "gpu:4"}) != []


def test_an_account_is_refused_with_nodes_down_too(answers):
    answers("sinfo", LIST.replace("mixed", "down*"))
    answers("sbatch", code=1, message="sbatch: error: Invalid account")
    assert len(refusals({"account": "nosuch"})) == 1


@pytest.mark.parametrize("text", ["", "<html>502</html>", "main|x"])
def test_no_list_of_partitions_is_a_slurm_that_does_not_answer(answers, text):
    answers("sinfo", text)
    with refused("scheduler silent", "Slurm"):
        partitions()
