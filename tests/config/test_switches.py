"""Switches of config.yaml, of a folder, of the environment and of --config; folders and seeds."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from fathom.config.load import load
from fathom.config.switches import (
    VARIABLE,
    layers,
    one_seed,
    open_results,
    require_even_shares,
    seed_list,
    seeds_text,
)
from fathom.io.errors import FathomError, Findings
from tests.config.conftest import PROJECT
from tests.support.refused import refused


def switches(folder=PROJECT, **changes):
    """Return the switches of the project with those of `--config`."""
    return load(PROJECT, check=False, layers=layers(PROJECT, folder, changes)).switches


def mistake(folder=PROJECT, **changes):
    """Return the one finding on these switches."""
    with pytest.raises(Findings) as caught:
        switches(folder, **changes)
    (finding,) = caught.value.findings
    return finding


@pytest.mark.parametrize(
    ("written", "seeds"),
    [
        (3, (1, 2, 3)),
        ("3", (1, 2, 3)),
        ("2-4", (2, 3, 4)),
        ("2,5", (2, 5)),
        ("1-2, 7", (1, 2, 7)),
        (" 2 - 4 ,8", (2, 3, 4, 8)),
        ([4, 1], (4, 1)),
        ("2,2", (2,)),
        (None, None),
    ],
)
def test_seeds_are_a_number_a_range_or_a_list(written, seeds):
    assert switches(seeds=written).seeds == seeds


# A blank neither divides numbers nor vanishes between them.
BLANKS = ["1 2", "1 000", "1,2 3"]


@pytest.mark.parametrize(
    "written", ["x", "", -1, "1-", "3-1", 0, True, 2**40, "1-200", 1.5, *BLANKS]
)
def test_what_names_no_seeds_is_refused_in_one_line(written):
    finding = mistake(seeds=written)
    assert finding.where == "--config: seeds"
    assert "\n" not in str(finding)
    assert written != "3-1" or ("wrong way round" in finding.what and "1-3" in finding.remedy)


@pytest.mark.parametrize(("written", "first"), [(0, "1 or more"), ("Auto", "a whole number")])
def test_a_number_or_a_word_is_refused_with_both(written, first):
    with pytest.raises(Findings, match=f"write {first} or '?auto'?$"):
        switches(tokens_per_device=written)


@pytest.mark.parametrize("text", ["1-5", "5-5", "2,5", "0-99"])
def test_seeds_are_written_as_a_user_writes_them(text):
    assert seeds_text(seed_list(text)) == text


def test_a_verbs_seeds_are_refused_alike():
    with refused("'x'", where="--seeds"):
        seed_list("x")


@pytest.mark.parametrize("written", ["1,2", "1-2", "one", "-1", "", "1.0", "²", 2**31, 2**64])
def test_what_is_not_one_seed_is_refused(written):
    with refused(where="--seed"):
        one_seed(written)


def test_the_largest_seed_is_a_number_or_its_digits():
    assert one_seed(2**31 - 1) == one_seed("2147483647")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("file", "results file"),
        ("file/inside", "results file"),
        ("dangling", "results dangling"),
        ("dangling/inside", "results dangling"),
        ("circle", "results circle"),
        ("x" * 300, ""),
        ("", ""),
        ("re{x}sults", "re{x}sults"),
        ("a\nb", ""),
    ],
)
def test_what_cannot_be_the_folder_of_results_is_refused(tmp_path, monkeypatch, name, place):
    """It ended in a traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(FathomError) as caught:
        open_results(name)
    assert place in str(caught.value)


@pytest.mark.parametrize(
    ("written", "path"),
    [("~/x", "/home/anna/x"), ("$HOME/x", "/home/anna/x"), ("${PLACE}/a~b", "/disk/a~b")],
)
def test_home_and_variables_of_the_shell_are_expanded_in_the_folder_of_results(
    monkeypatch, written, path
):
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("PLACE", "/disk")
    assert switches(results=written).results == path


@pytest.mark.parametrize("written", ["~nobody_has_this_name/x", "$NOT_SET/x"])
def test_a_user_or_variable_that_is_not_there_names_no_folder(monkeypatch, written):
    monkeypatch.delenv("NOT_SET", raising=False)
    assert mistake(results=written).remedy == "write the path in full"


def test_a_folder_of_results_may_be_a_link_and_need_not_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk")
    for name in ("link", "link/inside", "new/inside", str(tmp_path / "new")):
        assert open_results(name) == Path(name)


def test_a_number_is_a_row_or_a_folder_as_written():
    read = switches(row=12, results=2026)
    assert (read.row, read.results) == ("12", "2026")


@pytest.mark.parametrize(
    ("changes", "key", "word"),
    [
        ({"scal": "paper"}, "scal", "'scale'"),
        ({"device": "gpu"}, "device", "cuda"),
        ({"device": "cpu\n"}, "device", "cuda"),
        ({"device": "cpu; touch x"}, "device", "cuda"),
        ({"device": "cuda:\u0663"}, "device", "cuda"),
        ({"log_every": "1"}, "log_every", "whole number"),
        ({"retrain": "all"}, "retrain", "'stale'"),
        ({"results": ""}, "results", ""),
    ],
)
def test_a_mistake_is_one_line_that_names_its_place(changes, key, word):
    finding = mistake(**changes)
    assert finding.where == f"--config: {key}"
    assert word in str(finding)


@pytest.fixture
def here(tmp_path):
    """A folder with switches of its own."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("scale: long\nresults: out\nlog_every: 5\n")
    return tmp_path


def test_later_layers_win_the_working_folder_the_environment_then_the_command_line(
    here, monkeypatch
):
    monkeypatch.setenv(VARIABLE, json.dumps({"results": "elsewhere", "log_every": 6}))
    read = switches(here, log_every=7)
    assert (read.device, read.scale, read.results, read.log_every) == (
        "cpu",
        "long",
        "elsewhere",
        7,
    )


def test_a_mistake_has_the_place_in_the_layer_that_gives_it(here, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    (here / "config" / "config.yaml").write_text("results: out\nscale: lnog\n")
    finding = mistake(here)
    assert finding.where == "config/config.yaml:2: scale"
    assert "'long'" in finding.remedy


def test_a_file_of_comments_changes_nothing_and_a_folder_in_its_place_is_refused(here):
    file = here / "config" / "config.yaml"
    file.write_text("# scale: long\n", encoding="utf-8")
    assert switches(here) == switches()
    file.unlink()
    file.mkdir()
    with pytest.raises(FathomError, match=r"config.yaml: .*folder"):
        switches(here)


@pytest.mark.parametrize("text", ["x", "[]", "3"])
def test_a_variable_that_holds_no_mapping_is_one_line(tmp_path, monkeypatch, text):
    monkeypatch.setenv(VARIABLE, text)
    with refused(where=VARIABLE):
        layers(tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("micro_batches", "processes", "even"),
    [(0, 3, True), (8, 1, True), (8, 8, True), (8, 3, False), (8, 16, False)],
)
def test_devices_share_the_micro_batches_of_an_update_evenly(micro_batches, processes, even):
    with nullcontext() if even else pytest.raises(FathomError, match="micro_batches"):
        require_even_shares(micro_batches, processes)
