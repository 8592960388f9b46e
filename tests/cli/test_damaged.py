"""What is printed of damaged results is run; no file with whole weights is lost or changed."""

import os
import re
import shlex
from collections import Counter
from fnmatch import fnmatch
from itertools import cycle
from pathlib import Path

import pytest

from fathom.io.commands import AFTER_TRAINING
from fathom.io.errors import FathomError
from fathom.io.files import sha256
from fathom.io.records import read_record, write_record
from fathom.io.seals import checked_seal
from tests.cli.conftest import invoke
from tests.support.damage import empty, flip, replace_by_folder
from tests.support.small_project import GATED, OWN, RUN, STUDY, adopting, use_study

DAMAGES = (flip, empty, Path.unlink, replace_by_folder)
# Each kind of file that `verify` compares, below the results.
KINDS = (
    "sources/*/source.json", "sources/*/[be]*", "corpora/mine-*/corpus.json",
    "corpora/mine-*/statistics.json", "corpora/mine-*/bos/*",
    "subwords/*/subwords.json", "subwords/*/*.model", "subwords/*/*.vocab",
    "subwords/*/dictionary.*.txt",
    "tensors/*/tensors.json", "tensors/*/dictionary.*.txt", "tensors/*/*/*.bin",
    "tensors/*/*/*.idx",
    "runs/*/gated*/1/training.json", "runs/*/gated*/1/spec.yaml", "runs/*/gated*/1/metrics.tsv",
    "runs/*/gated*/1/diagnostics/*", "runs/*/gated*/1/state.json",
    "runs/*/gated*/1/checkpoints/last.pt",
    "runs/*/gated*/1/decodings/*/decoding.json", "runs/*/gated*/1/decodings/*/[bk]o[sr].txt",
    "runs/*/gated*/1/decodings/*/scoring.json", "runs/*/gated*/1/decodings/*/scores.tsv",
    "runs/*/gated*/1/decodings/*/sentences.*.gz",
    "runs/*/gated*/1/measurements/training.json", "runs/*/gated*/1/measurements/scores.*.json",
    "runs/*/gated*/1/measurements/gates.json",
    "runs/mine/*/1/checkpoints/update_6.pt", "runs/mine/*/1/checkpoints/before_last.pt",
    "runs/mine/*/1/window/*/test.6/decoding.json", "runs/mine/*/1/window/*/test.6/bos.txt",
    "runs/mine/*/1/measurements/window.*.json", "runs/mine/*/1/measurements/likelihood.*.json",
)  # fmt: skip
OF_TEXT = (("prepare",), ("prepare", "--count"), ("subwords",), ("encode",))
OF_RUN = ("train", "translate", "score", "best-window", "likelihood")
# What nobody needs, or only the training itself; text, which the small project cannot prepare; what
# is there twice, of another run; and what is drawn, which is compared by its age.
DRAWN = (
    "small/sample/table1.*", "small/sample/table1_seeds.csv", "small/sample/figure1.*",
    "small/compare.csv", "small/deviations.md", "small/claims.csv", "small/mine.html",
    "small/curves/*",
)  # fmt: skip
HARMLESS = (
    "*/lock", "*/train.log", "*/attempts.json", "*/times.tsv", "*/asked-*.json",
    "*/window/*/scores.tsv", "corpora/small-*", "runs/mine/*",
)  # fmt: skip


@pytest.fixture(scope="session")
def drawn(summarised, after):
    """A project with two runs and one of adopted text, from sources to everything drawn."""
    folder = after(summarised)
    invoke(folder, adopting(folder))
    use_study(folder)
    table, figure = ("table", "sample_table1"), ("figure", "sample_figure1")
    of_text = (("fetch", "mine_bos"), *((*words, STUDY) for words in OF_TEXT))
    of_run = ((verb, OWN) for verb in OF_RUN)
    of_all = (("compare",), ("claims",), ("page", STUDY))
    invoke(folder, *of_text, *of_run, table, figure, *of_all)
    return folder


def whole_weights(results):
    """Return inode and hash of each file of weights that is whole."""
    found = Counter()
    for path in results.rglob("*.*"):
        if path.suffix in (".pt", ".damaged", ".replaced") and path.is_file():
            try:
                checked_seal(path)
            except FathomError:
                continue
            found[path.stat().st_ino, sha256(path)] += 1
    return found


def named_by_verify(call):
    """Return each path that `verify` names, and what it says to do."""
    *lines, _ = call("verify").lines
    # This remedy has a semicolon of its own.
    parts = (line.replace(AFTER_TRAINING, "AFTER").partition(": ") for line in lines)
    found = ((Path(path), rest.rpartition("; ")[2]) for path, _, rest in parts)
    return [(path, AFTER_TRAINING if remedy == "AFTER" else remedy) for path, remedy in found]


def run_remedies(call):
    """Do what `verify` prints until nothing is left but series; return its last answer.

    What is made again may leave what is made from it too old.
    """
    for _ in range(8):
        found = named_by_verify(call)
        remedies = {remedy: path for path, remedy in found if remedy != AFTER_TRAINING}
        for remedy, path in remedies.items():
            words = re.fullmatch("(move the folder away, and )?run `fathom (.*)`", remedy)
            if words[1]:
                path.rename(path.with_suffix(".moved"))
            answer = call(*shlex.split(words[2]))
            assert answer.code in (0, 1), answer
            assert "rm " not in answer.out + answer.err
        if not remedies:
            return found
    return found


def test_each_kind_of_file_is_damaged_below(drawn):
    """A new file fails here until it has a remedy that was tried."""
    results = drawn / "results"
    files = (path.relative_to(results).as_posix() for path in results.rglob("*") if path.is_file())
    static = f"runs/sample/{RUN}-*"
    known = (*KINDS, *HARMLESS, *DRAWN, static)
    assert [name for name in files if not any(fnmatch(name, each) for each in known)] == []


# Each damage with a quarter of the kinds; the record of a stage has all of them.
RECORD = "runs/*/gated*/1/decodings/*/decoding.json"
CASES = [*zip(KINDS, cycle(DAMAGES), strict=False), *((RECORD, damage) for damage in DAMAGES)]


@pytest.mark.parametrize(("kind", "damage"), CASES)
@pytest.mark.slow
def test_what_is_printed_mends_the_results_and_keeps_whole_weights(own, drawn, call, kind, damage):
    results = own(drawn) / "results"
    (path, *_) = sorted(results.glob(kind))
    damage(path)
    before = whole_weights(results)
    found = run_remedies(call)
    of_series = "metrics.tsv" in kind or "diagnostics" in kind
    left = [str(path.relative_to(results.parent))] if of_series else []
    assert [str(path) for path, _ in found] == left
    assert before - whole_weights(results) == Counter()


@pytest.mark.slow
def test_what_is_older_than_results_is_named_and_drawn_again(own, drawn, call):
    folder = own(drawn)
    assert call("verify").code == 0
    (scores,) = folder.glob(f"results/runs/sample/{RUN}-*/1/measurements/scores.*.json")
    os.utime(scores)
    *lines, last = call("verify").lines
    shown = scores.relative_to(folder)
    table = f"results/small/sample/table1.csv: older than {shown}; run `fathom table sample_table1"
    assert any(line.startswith(table) for line in lines)
    for name in ("compare.csv", "claims.csv"):
        assert any(line.startswith(f"results/small/{name}: older than {shown}") for line in lines)
    assert last.endswith(f"{len(lines)} do not fit")
    assert "  drawn\n" not in call("list", "tables").out
    assert run_remedies(call) == []
    assert "  drawn\n" in call("list", "tables").out


@pytest.mark.slow
def test_records_of_what_was_drawn_of_earlier_versions_are_ignored_and_listed(own, drawn, call):
    results = own(drawn) / "results"
    record = results / "small/sample/table1.drawn.json"
    record.write_text("{", encoding="utf-8")
    assert call("verify").code == 0
    assert "table1.drawn.json" in call("clean", "unused").out


@pytest.mark.slow
def test_damages_at_once_are_each_named_and_those_of_records_too_are_mended(own, drawn, call):
    results = own(drawn) / "results"
    paths = [sorted(results.glob(kind))[0] for kind in KINDS]
    records = [path for path in paths if path.suffix == ".json"]
    before = whole_weights(results)
    named = [path for path in paths if path not in records]
    for path in named:
        flip(path)
    found = {path for path, _ in named_by_verify(call)}
    assert found == {path.relative_to(results.parent) for path in named}
    # What a damaged record names cannot be compared before the record is made again.
    for path in records:
        flip(path)
    assert "nothing that it names can be compared" in call("verify").out
    assert run_remedies(call) == []
    (last,) = results.glob("runs/*/gated*/1/checkpoints/last.pt")
    assert last.exists()
    flipped = sum(path.suffix == ".pt" for path in named)
    assert sum((before - whole_weights(results)).values()) == flipped


def test_curves_and_figures_leave_a_run_with_a_damaged_series_out_and_say_so(own, drawn, call):
    """A damaged file refused the curves of all runs."""
    results = own(drawn) / "results"
    (series,) = results.glob(f"runs/sample/{GATED}-*/1/metrics.tsv")
    flip(series)
    answer = call("figure", "sample_table1", "--curves")
    assert answer.code == 0
    assert "left out: Gated, seed 1: metrics.tsv is damaged or lost" in answer.err
    assert "Gated:" not in answer.out
    assert f"metrics.tsv: not the file that was recorded; {AFTER_TRAINING}" in call("verify").out


@pytest.mark.slow
def test_a_run_that_lost_weights_and_a_series_is_trained_where_the_user_moves_it(own, drawn, call):
    results = own(drawn) / "results"
    (run,) = results.glob(f"runs/sample/{GATED}-*/1")
    flip(run / "metrics.tsv")
    (run / "checkpoints" / "last.pt").unlink()
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*.*")}
    assert (
        f"to train it from nothing, move {run.relative_to(Path.cwd())} away"
        in call("train", GATED).one_line
    )
    run.rename("moved")
    assert before == {
        run / path.relative_to("moved"): path.stat().st_mtime_ns
        for path in Path("moved").rglob("*.*")
    }
    assert call("train", GATED).code == 0
    assert call("figure", "sample_table1", "--curves").code == 0


@pytest.mark.slow
def test_spec_yaml_is_written_again_only_where_config_still_has_its_settings(own, drawn, call):
    folder = own(drawn)
    (settings,) = folder.glob(f"results/runs/sample/{GATED}-*/1/spec.yaml")
    content = settings.read_bytes()
    flip(settings)
    damaged = settings.read_bytes()
    answer = call("train", GATED)
    assert "spec.yaml: not the file that was recorded; renamed to spec.damaged" in answer.err
    assert "already finished" in answer.err
    assert settings.read_bytes() == content
    aside = settings.with_name("spec.damaged")
    assert aside.read_bytes() == damaged
    assert str(aside.relative_to(folder)) in call("clean", "unused").out
    record = settings.with_name("training.json")
    with_others = read_record(record)
    with_others["files"]["spec.yaml"] = "0" * 64
    write_record(record, with_others)
    assert "config no longer has what was recorded" in call("train", GATED).err
    assert settings.read_bytes() == content
