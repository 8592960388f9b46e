"""`fathom params`: every run's parameters."""

import json

from fathom.catalog.load import load
from fathom.records.files import read_json
from tests.cli.small_project import RUN, paths


def test_a_run_has_the_parameters_that_its_training_recorded(concluded, call, monkeypatch):
    monkeypatch.chdir(concluded)
    answer = call("params", "--json")
    assert (answer.code, answer.err) == (0, "")
    counts = json.loads(answer.out)
    catalog = load(concluded)
    assert set(counts) == set(catalog.paper_of)
    recorded = read_json(paths(concluded).training(catalog.spec(RUN, "small"), 1))["parameters"]
    assert counts[RUN] == recorded


def test_each_run_has_a_line_with_its_number_and_millions(concluded, call, monkeypatch):
    monkeypatch.chdir(concluded)
    rows = [line.split("\t") for line in call("params").out.removesuffix("\n").split("\n")]
    assert [row[0] for row in rows] == [*load(concluded).paper_of]
    assert all(row[2] == f"{int(row[1]) / 1e6:.3f} M" for row in rows)


def test_without_dictionaries_the_command_that_makes_them_is_told_once(project, call):
    answer = call("params", "--scale", "paper")
    assert (answer.code, answer.out) == (0, "")
    (line,) = answer.err.removesuffix("\n").split("\n")
    catalog = load(project)
    folder = catalog.spec("static_12_12", "paper").data.folder
    wanted = f"results/paper/tensors/{folder}/tensors.json --config scale=paper"
    amount = len(catalog.paper_of)
    expected = f"no dictionaries yet for {amount} runs; make them with `snakemake {wanted}`"
    assert line == expected
    assert json.loads(call("params", "--scale", "paper", "--json").out) == {}
