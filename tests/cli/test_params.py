"""`fathom params`: the counts that papers print beside ours, and every run's."""

import json

import pytest
import yaml

from fathom.io.files import read_json
from fathom.project.load import load
from tests.cli.small_project import RUN, paths

GATED = "en_de_ll_d_12_24"


@pytest.fixture
def few(project):
    """A project in which four printed counts stand, one of each kind but `differs`."""
    files = sorted(project.glob("config/papers/*/parameters.yaml"))
    path = project / "config" / "papers" / "latent_depth" / "parameters.yaml"
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    for file in files:
        file.unlink()
    own = {key: each for key, each in value["networks"][GATED].items() if key != "method"}
    value["networks"]["plain"] = own
    table = value["tables"]["table1"]
    value["tables"] = {
        "table1": {row: table[row] for row in ("LL-D, 12/24", "DLCL, 48/48")},
        "table2": {
            "gates": {"printed": "0", "network": GATED, "added_to": "plain"},
            "deep": {"printed": "371.0", "network": "plain", "unexplained": "nobody knows"},
        },
    }
    path.write_text(yaml.safe_dump(value, sort_keys=False), encoding="utf-8")
    return project


def test_a_run_has_the_parameters_that_its_training_recorded(concluded, call, monkeypatch):
    monkeypatch.chdir(concluded)
    answer = call("params", "--json")
    assert (answer.code, answer.err) == (0, "")
    found = json.loads(answer.out)
    catalog = load(concluded)
    assert set(found["runs"]) == set(catalog.paper_of)
    recorded = read_json(paths(concluded).training(catalog.spec(RUN, "small"), 1))["parameters"]
    assert found["runs"][RUN] == recorded


def test_a_scale_that_cuts_networks_down_has_runs_alone(concluded, call, monkeypatch):
    monkeypatch.chdir(concluded)
    assert json.loads(call("params", "--json").out)["printed"] == []
    rows = [line.split("\t") for line in call("params").out.removesuffix("\n").split("\n")]
    assert [row[0] for row in rows] == [*load(concluded).paper_of]
    assert all(row[2] == f"{int(row[1]) / 1e6:.3f} M" for row in rows)


def test_a_printed_count_stands_beside_ours_with_its_verdict(few, call):
    answer = call("params", "--scale", "paper")
    assert answer.code == 0
    heading, *rows = (line.split("\t") for line in answer.out.removesuffix("\n").split("\n"))
    assert all(len(row) == len(heading) for row in rows)
    cells = [dict(zip(heading, row, strict=True)) for row in rows]
    names = ("table", "row", "printed", "ours", "difference", "verdict", "why")
    reason = "a copy of the cell above; LL-Both of the same depth is printed with 287"
    assert [tuple(each[name] for name in names) for each in cells] == [
        ("table1", "LL-D, 12/24", "135 M", "135.799 M", "+0.59 %", "agrees", ""),
        (
            "table1",
            "DLCL, 48/48",
            "224 M",
            "287.308 M",
            "+28.26 %",
            "misprint",
            f"287 M: {reason}",
        ),
        ("table2", "gates", "+0 M", "+0.000 M", "", "agrees", ""),
        ("table2", "deep", "371 M", "135.799 M", "-63.40 %", "unexplained", "nobody knows"),
    ]
    assert {(each["paper"], each["entries"]) for each in cells} == {
        ("latent_depth", "34040 + 34040")
    }
    summary = "4 printed counts: 2 agree, 1 misprint, 1 unexplained"
    assert summary in answer.err.split("\n")


def test_json_has_the_numbers_themselves(few, call):
    found = json.loads(call("params", "--scale", "paper", "--json").out)
    assert found["runs"] == {}
    agreeing, misprint, gates, _ = found["printed"]
    assert agreeing["printed_millions"] == 135.0
    assert agreeing["ours"] == 135_798_808
    assert agreeing["difference"] == pytest.approx(0.00592, abs=1e-5)
    assert (agreeing["right_millions"], agreeing["reason"]) == (None, None)
    assert (agreeing["source_entries"], agreeing["target_entries"]) == (34_040, 34_040)
    assert misprint["right_millions"] == 287.0
    # One logit for each of the 24 gated layers.
    assert (gates["counts_what_is_added"], gates["ours"], gates["difference"]) == (True, 24, None)


def test_without_dictionaries_the_command_that_makes_them_is_told_once(few, call):
    answer = call("params", "--scale", "paper", "--json")
    assert answer.code == 0
    catalog = load(few)
    lines = answer.err.removesuffix("\n").split("\n")
    data = {run: catalog.spec(run, "paper").data.folder for run in catalog.paper_of}
    assert len(lines) == len(set(data.values()))
    folder = data["static_12_12"]
    amount = [*data.values()].count(folder)
    wanted = f"results/paper/tensors/{folder}/tensors.json --config scale=paper"
    expected = f"no dictionaries yet for {amount} runs; make them with `snakemake {wanted}`"
    assert expected in lines
