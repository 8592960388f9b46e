"""What the process of MarianMT gets: the same batches, shape and learning rates."""

from pathlib import Path

import torch

from benchmarks.peer import hugging_face
from benchmarks.peer.contenders import Job
from benchmarks.peer.hugging_face import HuggingFace, exchanged
from benchmarks.peer.workload import Workload
from fathom.data.tensors import PAD, load
from fathom.train.loop import Training, TrainPaths
from tests.support.small_runs import SWITCHES, reporter, specification


def a_job(tensors, folder):
    workload = Workload(Path("results"), torch.device("cpu"))
    # Read already, so that it is not read from the folder of results.
    vars(workload)["tensors"] = load(tensors)
    spec = specification()
    paths = TrainPaths(tensors, folder)
    training = Training(spec, 1, load(tensors), paths, SWITCHES, reporter(folder))
    batches = [training.batches.micro_batches(number) for number in (1, 2)]
    return Job(workload, spec, batches), training


def test_halves_hold_every_token_and_rates_are_those_of_the_run(tensors, tmp_path):
    job, training = a_job(tensors, tmp_path)
    given = exchanged(job)
    assert [tokens for _, tokens in given["updates"]] == job.tokens
    for passes, tokens in given["updates"]:
        assert len(passes) == 2
        assert sum(int(target.ne(PAD).sum()) for _, _, target in passes) == tokens
    assert given["rates"] == [training.two_level.schedule(number) for number in (1, 2)]
    assert given["shape"]["source_entries"] == len(training.tensors.source_dictionary)


def test_without_transformers_it_takes_no_part(tensors, tmp_path, monkeypatch):
    monkeypatch.setattr(hugging_face, "find_spec", lambda name: None)
    job, _ = a_job(tensors, tmp_path)
    with HuggingFace.started(job) as other:
        assert not other.present
