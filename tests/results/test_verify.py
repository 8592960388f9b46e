"""Files of results that are not those that were recorded, each found once."""

import os
import shutil
from pathlib import Path

import pytest
import torch
import yaml

from fathom.config.paths import Paths
from fathom.decode.translate import translate
from fathom.io.commands import AFTER_TRAINING
from fathom.io.files import write_lines, write_text
from fathom.io.records import hashes, read_record, write_record
from fathom.nn.weights import write_checkpoint
from fathom.results.run_state import State, write_state
from fathom.results.training_record import LOST, restore_measured
from fathom.results.verify import _below, verify
from fathom.scoring.score import score
from tests.support.damage import flip
from tests.support.refused import says
from tests.support.small_corpus import silent
from tests.support.trained import record_weights, trained_spec, write_trained
from tests.support.trained import write_text as write_data

SPEC = trained_spec()


@pytest.fixture(scope="session")
def original(tmp_path_factory):
    """Results from a source to scores."""
    paths = Paths(tmp_path_factory.mktemp("verified"), "tiny")
    write_data(paths)
    source = paths.source("talks")
    write_lines(source / "talks.txt", ["text"])
    write_record(source / "source.json", {"files": hashes(source, "talks.txt")})
    run = write_trained(SPEC, paths, updates=(3,))
    write_text(run.folder / "metrics.tsv", "update\tnll\n1\t5.0\n")
    write_text(run.folder / "spec.yaml", yaml.safe_dump(SPEC.described))
    write_checkpoint(run.checkpoints / "before_last.pt", state_of(SPEC.identity, 1))
    record = run.folder / "training.json"
    files = {"files": hashes(run.folder, "spec.yaml", "metrics.tsv", "checkpoints/[!b]*.pt")}
    write_record(record, read_record(record) | files)
    translate(run, [("test", "plain")], silent)
    score(SPEC, 1, "test", "plain", paths, silent)
    restore_measured(record, SPEC, 1)
    write_state(run.folder, State(state="finished", attempt=1, host="host", pid=1, job=None))
    return paths


@pytest.fixture
def paths(original, tmp_path):
    shutil.copytree(original.results, tmp_path / "results")
    return Paths(tmp_path / "results", "tiny")


def state_of(identity, seed):
    """Return a state as a training saves it."""
    return {"of": [identity, seed], "model": {"weight": torch.ones(2)}, "update": 4}


def save_of(identity, seed):
    """Put a whole state of a run and seed in the place of a state."""
    return lambda path: write_checkpoint(path, state_of(identity, seed))


def edit(path):
    text = path.read_text(encoding="utf-8")
    edited = text.replace("1", "2", 1) if "1" in text else f"Edited {text}"
    path.write_text(edited, encoding="utf-8")


def cut(path):
    path.write_bytes(path.read_bytes()[:-9])


def put(name):
    """Put another whole file in the place of a file."""
    return lambda path: shutil.copy(path.with_name(name), path)


# Ten changes, each with a part of the command that makes the file again.
CHANGES = [
    ("runs/*/*/1/decodings/*/scores.tsv", edit, "fathom score"),
    ("runs/*/*/1/checkpoints/last.pt", flip, "fathom train"),
    ("tensors/*/bos/train.target.bin", os.unlink, "fathom encode"),
    ("corpora/*/kor/test.eng", edit, "fathom prepare"),
    ("runs/*/*/1/decodings/*/bel.txt", edit, "fathom translate"),
    ("runs/*/*/1/measurements/training.json", cut, "fathom train"),
    ("runs/*/*/1/metrics.tsv", cut, AFTER_TRAINING),
    ("subwords/*/foreign.model", put("english.model"), "fathom subwords"),
    ("tensors/*/dictionary.source.txt", cut, "fathom encode"),
    ("sources/talks/talks.txt", edit, "fathom fetch talks"),
    # And others, alone.
    ("runs/*/*/1/training.json", edit, "fathom train"),
    ("runs/*/*/1/measurements/scores.*.json", edit, "fathom score"),
    ("runs/*/*/1/measurements/training.json", os.unlink, "fathom train"),
    ("runs/*/*/1/measurements/scores.*.json", os.unlink, "fathom score"),
    ("runs/*/*/1/state.json", cut, "fathom train"),
    ("runs/*/*/1/decodings/*/sentences.bos.tsv.gz", flip, "fathom score"),
    ("runs/*/*/1/checkpoints/update_3.pt", os.unlink, "fathom train"),
    ("runs/*/*/1/checkpoints/before_last.pt", flip, "fathom train"),
    ("runs/*/*/1/checkpoints/before_last.pt", save_of(SPEC.identity, 2), "fathom train"),
    ("runs/*/*/1/checkpoints/before_last.pt", save_of("0" * 64, 1), "fathom train"),
    ("runs/*/*/1/spec.yaml", edit, "fathom train"),
    ("tensors/*/kor/test.source.idx", cut, "fathom encode"),
    ("sources/talks/source.json", edit, "fathom fetch talks"),
    ("runs/*/*/1/checkpoints/last.pt", put("update_3.pt"), "fathom train"),
    ("runs/*/*/1/decodings/*/bel.txt", put("bos.txt"), "fathom translate"),
    # Records whose stage a later one names: each read as not finished.
    ("runs/*/*/1/training.json", os.unlink, "fathom train"),
    ("runs/*/*/1/decodings/*/decoding.json", os.unlink, "fathom translate"),
    ("runs/*/*/1/decodings/*/scoring.json", os.unlink, "fathom score"),
    ("corpora/*/corpus.json", os.unlink, "fathom prepare"),
    ("subwords/*/subwords.json", os.unlink, "fathom subwords"),
    ("tensors/*/tensors.json", os.unlink, "fathom encode"),
]


def plant(paths, pattern, change):
    """Change the file that fits a pattern; return it."""
    (path,) = paths.results.glob(pattern)
    before = path.read_bytes()
    change(path)
    assert not path.exists() or path.read_bytes() != before
    return path


def test_results_as_they_were_written_fit_and_all_files_are_compared(paths):
    every = {path for path in paths.results.rglob("*") if path.is_file()}
    verified = verify([paths.results])
    assert verified.findings == {}
    assert verified.files == every


def test_ten_changes_are_ten_findings_in_the_order_in_which_files_are_made(paths, tmp_path):
    # Names of folders above the results are no stages.
    results = tmp_path / "sources" / "runs" / "results"
    shutil.copytree(paths.results, results)
    paths = Paths(results, "tiny")
    planted = {plant(paths, *change[:2]): change[2] for change in CHANGES[:10]}
    verified = verify([results])
    assert set(verified.findings) == set(planted)
    for path, command in planted.items():
        says(where=path, remedy=command).check(verified.findings[path])
    *others, last = (verified.findings[path].remedy for path in verified.in_order())
    before = ["fetch", "prepare", "subwords", "encode", "encode"]
    stages = [*before, "train", "train", "translate", "score"]
    assert [remedy.split()[2] for remedy in others] == stages
    assert last == AFTER_TRAINING


@pytest.mark.parametrize(("pattern", "change", "command"), CHANGES)
def test_one_change_is_one_finding_with_its_command(paths, pattern, change, command):
    path = plant(paths, pattern, change)
    findings = verify([paths.results]).findings
    assert set(findings) == {path}
    says(where=path, remedy=command).check(findings[path])


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("runs/*/*/1/measurements/scores.*.json", "fathom score"),
        ("runs/*/*/1/decodings/*/decoding.json", "fathom translate"),
        ("subwords/*/subwords.json", "fathom subwords"),
    ],
)
def test_what_is_not_a_file_in_the_place_of_a_record_is_named(paths, pattern, command):
    (path,) = paths.results.glob(pattern)
    path.unlink()
    for make, remove, what, remedy in (
        (
            path.mkdir,
            path.rmdir,
            "a folder, not a file",
            f"move the folder away, and run `{command}",
        ),
        (lambda: os.mkfifo(path), path.unlink, "not a file", f"run `{command}"),
        (lambda: path.symlink_to("gone"), path.unlink, "a link to nothing", f"run `{command}"),
    ):
        make()
        findings = verify([paths.results]).findings
        assert set(findings) == {path}
        says(what, where=path).check(findings[path])
        assert findings[path].remedy.startswith(remedy)
        remove()


def test_a_run_of_other_encoded_text_is_named(paths):
    """Every file was as its record says, so nothing was found."""
    record = paths.training(SPEC, 1)
    write_record(record, read_record(record) | {"tensors_sha256": "0" * 64})
    (finding,) = verify([paths.results]).findings.values()
    folder = paths.tensors(SPEC.data)
    says(
        f"the run was trained on other encoded text than that in {folder}",
        where=record,
        remedy="bring that text back, or train the run in another folder",
    ).check(finding)
    # Without the text, or where the settings are damaged, nothing is known of it.
    assert verify([paths.results / "runs"]).findings == {}
    edit(record.with_name("spec.yaml"))
    assert set(verify([paths.results]).findings) == {record.with_name("spec.yaml")}


def test_a_record_that_was_made_again_leaves_those_that_name_it_too_old(paths):
    (record,) = paths.results.glob("runs/*/*/1/decodings/*/decoding.json")
    write_record(record, read_record(record) | {"versions": {"torch": "2.14.0"}})
    findings = verify([paths.results]).findings
    assert set(findings) == {record.with_name("scoring.json")}
    says("older than decoding.json", remedy="fathom score").check([*findings.values()])
    score(SPEC, 1, "test", "plain", paths, silent)
    assert verify([paths.results]).findings == {}


def test_the_text_of_a_run_alone_is_compared_where_it_alone_is_given(paths):
    plant(paths, "tensors/*/dictionary.source.txt", cut)
    assert verify([paths.results / "runs", paths.results / "corpora"]).findings == {}
    assert len(verify([paths.results / "tensors"]).findings) == 1


def test_whole_records_of_another_seed_weights_or_decoding_are_named(paths):
    """Each was as its own hash says, so nothing was found."""
    run, other = paths.run(SPEC, 1), paths.run(SPEC, 2)
    shutil.copytree(run, other)
    findings = verify([paths.results]).findings
    state = other / "checkpoints" / "before_last.pt"
    assert set(findings) == {state, *other.glob("measurements/*.json")}
    says("of seed 1").check(findings.values())
    shutil.rmtree(other)
    shutil.copy(run / "checkpoints/update_3.pt", run / "checkpoints/last.pt")
    record_weights(run)
    (finding,) = verify([run / "decodings", run]).findings.values()
    what = "made with another last.pt than that of training.json"
    says(what, where="decoding.json", remedy="fathom translate").check(finding)
    record = Path(finding.where)
    write_record(record, read_record(record) | {"identity": "0" * 64})
    says("of another run or decoding").check(verify([run]).findings[record])


@pytest.mark.parametrize(
    "content", [{"files": 5}, {"files": {"../" * 99 + "a": "0"}}, {"identity": 5}, {"sources": 5}]
)
def test_a_record_of_another_form_is_a_finding(paths, content):
    """It ended in a traceback."""
    (record,) = paths.results.glob("corpora/*/corpus.json")
    write_record(record, content)
    assert len(verify([paths.results]).findings) == 1


def test_a_stage_that_has_not_finished_has_nothing_to_compare(paths):
    paths.training(SPEC, 1).unlink()
    for name in ("decodings", "measurements"):
        shutil.rmtree(paths.run(SPEC, 1) / name)
    plant(paths, "runs/*/*/1/metrics.tsv", cut)
    (paths.tensors(SPEC.data) / "tensors.json").unlink()
    assert verify([paths.results]).findings == {}
    for change in (flip, save_of(SPEC.identity, 2**31 - 1)):
        last = plant(paths, "runs/*/*/1/checkpoints/last.pt", change)
        assert set(verify([paths.results]).findings) == {last}


def test_a_file_that_is_gone_after_it_was_listed_is_no_finding(paths, monkeypatch):
    """A training that runs renames its states, which were said to be lost."""
    run = paths.run(SPEC, 1)
    (run / "checkpoints" / "before_last.pt").rename(run / "checkpoints" / "fresh.pt")
    write_record(run / "measurements" / "gone.json", {})
    listed = [*_below([paths.results], "*")]
    monkeypatch.setattr(
        f"{verify.__module__}._below",
        lambda _, pattern: (path for path in listed if path.match(pattern)),
    )
    for name in ("checkpoints/fresh.pt", "measurements/gone.json", "state.json"):
        (run / name).unlink()
    assert verify([paths.results]).findings == {}


def test_a_damaged_record_says_that_what_it_names_cannot_be_compared(paths):
    """Files below it were silently left out."""
    record = plant(paths, "corpora/*/corpus.json", edit)
    plant(paths, "corpora/*/kor/test.eng", edit)
    findings = verify([paths.results]).findings
    assert set(findings) == {record}
    says("nothing that it names can be compared", where=record).check(findings[record])


def test_what_an_earlier_version_recorded_as_lost_is_no_finding_until_it_is_there_and_damaged(
    paths,
):
    series = next(paths.results.glob("runs/*/*/1/metrics.tsv"))
    content = series.read_bytes()
    series.unlink()
    lost = {"files": {}, "lost": {series.name: "the disk failed"}}
    write_record(series.with_name(LOST), lost)
    verified = verify([paths.results])
    assert (verified.findings, verified.lost) == ({}, {series: "the disk failed"})
    series.write_bytes(content[:-1])
    assert set(verify([paths.results]).findings) == {series}
    series.write_bytes(content)
    verified = verify([paths.results])
    assert (verified.findings, verified.lost) == ({}, {})
