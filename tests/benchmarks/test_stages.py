"""Where the time went is read from Snakemake's own records."""

import json
from base64 import b64encode
from pathlib import Path

import pytest

from benchmarks.stages import Job, jobs, table

RUN = "results/runs/some_paper/small-00000000"


def _record(folder: Path, output: str, began: float, ended: float | None) -> None:
    name = b64encode(output.encode()).decode()
    path = folder / f"@{name[:8]}" / name[8:]
    path.parent.mkdir(parents=True, exist_ok=True)
    times = {"starttime": began, "endtime": ended, "incomplete": ended is None}
    path.write_text(json.dumps({"rule": "train_run", **times}), encoding="utf-8")


def test_a_job_counts_once_however_many_files_it_has(tmp_path: Path) -> None:
    _record(tmp_path, f"{RUN}/1/training.json", 10.0, 14.0)
    _record(tmp_path, f"{RUN}/1/metrics.tsv", 10.0, 14.0)
    (job,) = jobs(tmp_path)
    assert job.rule == "train_run"
    assert job.seconds == 4.0


def test_a_job_that_has_not_ended_does_not_count(tmp_path: Path) -> None:
    _record(tmp_path, f"{RUN}/1/training.json", 10.0, None)
    assert not list(jobs(tmp_path))


def test_seconds_are_summed_by_rule_and_kind_of_network() -> None:
    done = [
        Job("train_run", 0.0, 6.0, f"{RUN}/1/training.json"),
        Job("train_run", 1.0, 3.0, f"{RUN}/2/training.json"),
        Job("draw_table", 7.0, 9.0, "results/tiny/some_paper/table1.md"),
    ]
    made = table(done, {"some_paper/small-00000000": "some_paper, transformer"})
    assert made.rows == [
        ["train_run", "some_paper, transformer", 2, 4.0, 8.0, 80.0],
        ["draw_table", "–", 1, 2.0, 2.0, 20.0],
        ["all", "–", 3, pytest.approx(10 / 3), 10.0, 100.0],
    ]
