"""Files of a machine whose clock is ahead."""

import os
import time

from fathom.workflow.clock import set_back
from tests.support.refused import says


def dated(path, ahead):
    """Make a file that is dated some seconds ahead, and return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time.time() + ahead,) * 2)
    return path


def test_files_of_the_future_are_dated_now_in_their_order(tmp_path):
    """Snakemake made translations of such a training again at every start."""
    run = tmp_path / "runs" / "latent_depth" / "static-12345678" / "1"
    scores = dated(run / "measurements" / "scores.json", 7300)
    training = dated(run / "training.json", 3600)
    asked = dated(run / "decodings" / "asked-12345678.json", 7200)
    old = dated(tmp_path / "corpora" / "small-12345678" / "corpus.json", -3600)
    before = old.stat().st_mtime
    lines = list(set_back(tmp_path))
    for path in (training, asked, scores):
        says("from the future", where=path).check(lines)
    times = [path.stat().st_mtime for path in (training, asked, scores)]
    assert times == sorted(times)
    assert times[-1] <= time.time() + 1
    assert old.stat().st_mtime == before
    assert len(lines) == 3
    assert list(set_back(tmp_path)) == []


def test_a_link_to_nothing_has_no_date(tmp_path):
    future = dated(tmp_path / "sources" / "talks" / "source.json", 3600)
    future.with_name("other.json").symlink_to("gone.json")
    future.with_name("circle.json").symlink_to("circle.json")
    (line,) = set_back(tmp_path)
    says("from the future", where=future).check(line)


def test_no_results_have_no_dates(tmp_path):
    assert list(set_back(tmp_path / "results")) == []
