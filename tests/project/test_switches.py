import json
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from fathom.config.check import check
from fathom.config.switches import (
    VARIABLE,
    Switches,
    layers,
    merge,
    one_seed,
    open_results,
    require_even_shares,
    seed_list,
    seeds_text,
)
from fathom.config.yaml_values import YamlFile
from fathom.io.errors import FathomError
from tests.support.refused import prose, refused, says

FILE = YamlFile("config/config.yaml", {"scale": "tiny", "log_every": 25}, {("scale",): 3})


def switches(**changes):
    """Return the switches that `--config` changes, and what is wrong with them."""
    return check(Switches, *merge([FILE, YamlFile("--config", changes, {})]))


@pytest.mark.parametrize(
    ("written", "seeds"),
    [
        (3, (1, 2, 3)),
        ("3", (1, 2, 3)),
        ("2-4", (2, 3, 4)),
        ("2,5", (2, 5)),
        ("1-2, 7", (1, 2, 7)),
        ([4, 1], (4, 1)),
        ("2,2", (2,)),
        (None, None),
    ],
)
def test_seeds_are_a_number_a_range_or_a_list(written, seeds):
    assert switches(seeds=written)[0].seeds == seeds


@pytest.mark.parametrize("written", ["x", "", -1, "1-", "3-1", 0, True, 2**40, "1-200", 1.5])
def test_what_names_no_seeds_is_refused_in_one_line(written):
    _, [error] = switches(seeds=written)
    assert str(error).startswith("--config: seeds: ")
    assert "\n" not in str(error)


def test_a_verbs_seeds_are_read_alike():
    assert seed_list("2-3") == (2, 3)
    with refused("no seeds", "x", where="seeds"):
        seed_list("x")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("file", says("file as folder", where="results file")),
        ("file/inside", says("file as folder", where="results file")),
        ("dangling", says("broken link", where="results dangling")),
        ("dangling/inside", says("broken link", where="results dangling")),
        ("circle", says("broken link", where="results circle")),
        ("x" * 300, says(remedy=prose("another folder"))),
        ("", says("impossible folder", "")),
        ("re{x}sults", says("impossible folder", "re{x}sults")),
        ("a\nb", says("impossible folder")),
    ],
)
def test_what_cannot_be_the_folder_of_results_is_refused(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(FathomError) as caught:
        open_results(name)
    message.check(str(caught.value))


def test_a_folder_of_results_may_be_a_link_and_need_not_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk")
    for name in ("link", "link/inside", "new/inside", str(tmp_path / "new")):
        assert open_results(name) == Path(name)


@pytest.mark.parametrize("written", ["1,2", "1-2", "one", "-1", "", "1.0", "²", 2**31, 2**64])
def test_what_is_no_seed_of_one_training_is_refused(written):
    with refused("no seed", where="--seed"):
        one_seed(written)
    assert one_seed(2**31 - 1) == one_seed("2147483647")


def test_a_number_is_a_row_or_a_folder_as_written():
    read, _ = switches(row=12, results=2026)
    assert (read.row, read.results) == ("12", "2026")


@pytest.mark.parametrize(
    ("changes", "where", "remedy"),
    [
        ({"scal": "paper"}, "--config: scal", "'scale'"),
        ({"device": "gpu"}, "--config: device", prose("devices")),
        ({"device": "cpu\n"}, "--config: device", prose("devices")),
        ({"device": "cpu; touch x"}, "--config: device", prose("devices")),
        ({"device": "cuda:\u0663"}, "--config: device", prose("devices")),
        ({"log_every": "1"}, "--config: log_every", "a whole number"),
        ({"retrain": "all"}, "--config: retrain", "'stale'"),
        ({"results": ""}, "--config: results", ""),
    ],
)
def test_a_mistake_is_one_line_that_names_its_place(changes, where, remedy):
    _, [error] = switches(**changes)
    assert error.where == where
    assert re.search(remedy, str(error))


def test_a_mistake_in_a_file_is_found_by_its_line():
    file = YamlFile("config/config.yaml", {"scale": 3}, {("scale",): 7})
    _, [error] = check(Switches, *merge([file]))
    assert error.where == "config/config.yaml:7: scale"


def test_later_layers_win_the_working_folder_the_environment_then_the_command_line(
    tmp_path, monkeypatch
):
    project, folder = tmp_path / "project", tmp_path / "here"
    (folder / "config").mkdir(parents=True)
    (folder / "config" / "config.yaml").write_text("scale: mine\nresults: out\nlog_every: 5\n")
    monkeypatch.setenv(VARIABLE, json.dumps({"results": "elsewhere", "log_every": 6}))
    values, where = merge([FILE, *layers(project, folder, {"log_every": 7})])
    assert values == {"scale": "mine", "results": "elsewhere", "log_every": 7}
    assert where(("scale",)) == "config/config.yaml:1: scale"
    assert where(("log_every",)) == "--config: log_every"


def test_the_projects_own_file_is_no_second_layer(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("scale: tiny\n")
    assert [layer.value for layer in layers(tmp_path, tmp_path)] == [{}, {}]


@pytest.mark.parametrize("text", ["x", "[]", "3"])
def test_a_variable_that_holds_no_mapping_is_one_line(tmp_path, monkeypatch, text):
    monkeypatch.setenv(VARIABLE, text)
    with refused("no JSON mapping", where=VARIABLE):
        layers(tmp_path, tmp_path)


@pytest.mark.parametrize("text", ["1-5", "5-5", "2,5", "0-99"])
def test_seeds_are_written_as_a_user_writes_them(text):
    assert seeds_text(seed_list(text)) == text


@pytest.mark.parametrize(
    ("micro_batches", "processes", "even"),
    [(0, 3, True), (8, 1, True), (8, 8, True), (8, 3, False), (8, 16, False)],
)
def test_devices_share_the_micro_batches_of_an_update_evenly(micro_batches, processes, even):
    """Field fault 19."""
    refusal = refused("no even shares", micro_batches, processes, where="micro_batches")
    with nullcontext() if even else refusal:
        require_even_shares(micro_batches, processes)
