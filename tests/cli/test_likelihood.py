"""`fathom likelihood`: the perplexity of held-out text, written and printed."""

import math
import shutil

import pytest
import torch
import yaml

from fathom.io.files import read_json, write_json
from fathom.project.load import load
from tests.cli.conftest import invoke
from tests.cli.small_project import RUN, write_project

GATED = "ll_d_12_24"


@pytest.fixture(scope="session")
def gated(encoded, tmp_path_factory):
    """A project with a trained run, of which hard gates leave kor without any layer."""
    folder = tmp_path_factory.mktemp("unlikely") / "project"
    shutil.copytree(encoded, folder)
    invoke(folder, ("train", GATED))
    (path,) = folder.glob("results/small/runs/*/1/checkpoints/last.pt")
    checkpoint = torch.load(path, weights_only=True)
    bos, kor = checkpoint["model"]["decoder.method.alpha"].fill_(1.0)
    bos[0], kor[:] = -1.0, -1.0
    torch.save(checkpoint, path)
    return folder


def written(folder, name):
    (path,) = folder.glob(f"results/small/runs/*/1/likelihood/{name}.json")
    return read_json(path)


def printed(answer):
    """Return the rows of the table by task."""
    heading, *rows = (line.split("\t") for line in answer.out.splitlines())
    assert heading == ["task", "tokens", "nats", "bits", "perplexity"]
    return {task: [float(each) for each in numbers] for task, *numbers in rows}


def test_validation_is_measured_as_training_measured_it(own, concluded, call):
    folder = own(concluded)
    answer = call("likelihood", RUN, "--split", "valid")
    assert answer.code == 0
    found = written(folder, "plain.valid")
    (path,) = folder.glob("results/small/runs/*/1/training.json")
    said = read_json(path)["validation"]
    assert found["all"]["nats"] == pytest.approx(said["nll"], abs=1e-6)
    assert {task: each["nats"] for task, each in found["tasks"].items()} == pytest.approx(
        said["by_task"], abs=1e-6
    )
    assert (found["gates"], found["split"], found["outcome"]) == ("plain", "valid", "finished")
    assert (found["average_of"], found["updates"], found["no_layer"]) == (1, [4], [])
    assert f"{found['all']['perplexity']:.4f}" in answer.out


def test_perplexity_is_e_to_the_nats_and_two_to_the_bits(own, concluded, call):
    folder = own(concluded)
    table = printed(call("likelihood", RUN))
    found = written(folder, "plain.test")
    assert list(table) == ["bos", "kor", "all"]
    every = found["tasks"] | {"all": found["all"]}
    for name, each in every.items():
        assert each["perplexity"] == pytest.approx(math.exp(each["nats"]), rel=1e-12)
        assert each["perplexity"] == pytest.approx(2 ** each["bits"], rel=1e-12)
        shown = [each[key] for key in ("tokens", "nats", "bits", "perplexity")]
        assert table[name] == pytest.approx(shown, abs=1e-4)
    of_tasks = found["tasks"].values()
    assert found["all"]["tokens"] == sum(each["tokens"] for each in of_tasks)
    nats = sum(each["nats"] * each["tokens"] for each in of_tasks)
    assert found["all"]["nats"] == pytest.approx(nats / found["all"]["tokens"])


def test_the_code_names_the_runs_own_modules_and_no_training(own, concluded, call):
    folder = own(concluded)
    call("likelihood", RUN)
    modules = written(folder, "plain.test")["code"]["modules"]
    wanted = {"fathom.inference.likelihood", "fathom.evaluation.perplexity"}
    wanted |= {"fathom.methods.static", "fathom.models.transformer"}
    assert wanted <= set(modules)
    assert not [each for each in modules if each.startswith("fathom.training")]


def test_measuring_twice_writes_the_same_bytes(own, concluded, call):
    folder = own(concluded)
    texts = []
    for _ in range(2):
        call("likelihood", RUN)
        (path,) = folder.glob("results/small/runs/*/1/likelihood/*")
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]


def test_without_gates_those_are_taken_that_are_compared(own, gated, call):
    folder = own(gated)
    table = printed(call("likelihood", GATED))
    found = written(folder, "soft.test")
    assert list(table) == ["bos", "kor", "all"]
    assert (found["gates"], found["no_layer"]) == ("soft", [])


def test_a_task_without_any_layer_is_told_and_there_is_no_number_of_all(own, gated, call):
    folder = own(gated)
    answer = call("likelihood", GATED, "--gates", "hard")
    assert list(printed(answer)) == ["bos"]
    assert "likelihood: kor has no layer left with hard gates" in answer.err
    found = written(folder, "hard.test")
    assert (found["no_layer"], list(found["tasks"]), found["all"]) == (["kor"], ["bos"], None)


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_training_that_did_not_finish_says_so_and_prints_no_number(own, concluded, call, kind):
    folder = own(concluded)
    (path,) = folder.glob("results/small/runs/*/1/training.json")
    outcome = {"kind": kind, "update": 3, "reason": "so it is"}
    write_json(path, read_json(path) | {"outcome": outcome})
    answer = call("likelihood", RUN)
    assert (answer.code, answer.out) == (0, "")
    assert f"likelihood: {kind.replace('_', ' ')} (so it is)" in answer.err
    found = written(folder, "plain.test")
    assert (found["outcome"], found["reason"], found["tasks"]) == (kind, "so it is", {})
    assert (found["all"], found["updates"]) == (None, [])


def test_a_perplexity_that_is_no_finite_number_is_null_in_the_file(own, concluded, call):
    folder = own(concluded)
    (path,) = folder.glob("results/small/runs/*/1/checkpoints/last.pt")
    checkpoint = torch.load(path, weights_only=True)
    for tensor in checkpoint["model"].values():
        tensor.fill_(math.nan)
    torch.save(checkpoint, path)
    assert "nan" in call("likelihood", RUN).out
    assert written(folder, "plain.test")["all"]["perplexity"] is None


def test_a_call_that_fails_leaves_nothing_to_believe(own, concluded, call):
    folder = own(concluded)
    call("likelihood", RUN)
    (path,) = folder.glob("results/small/runs/*/1/checkpoints/last.pt")
    path.unlink()
    assert "no such checkpoint" in call("likelihood", RUN).one_line
    assert list(folder.glob("results/small/runs/*/1/likelihood/*")) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ll_d_12_42",), "no run 'll_d_12_42'; nearest valid name: 'll_d_12_24'"),
        ((RUN, "--split", "vaild"), "no held-out split 'vaild'; nearest valid name: 'valid'"),
        ((RUN, "--split", "train"), "--split: no held-out split 'train'; valid names: valid, test"),
        ((RUN, "--gates", "soft"), "not decoded with 'soft' gates; valid names: plain"),
        ((RUN, "--scale", "smal"), "no scale 'smal'; nearest valid name: 'small'"),
        ((RUN, "--seed", "2"), "/2/training.json: no such file"),
        ((GATED, "--gates", "hrad"), "nearest valid name: 'hard'"),
        ((GATED,), "training.json: no such file"),
    ],
)
def test_what_there_is_not_is_told_in_one_line(concluded, call, monkeypatch, words, said):
    monkeypatch.chdir(concluded)
    assert said in call("likelihood", *words).one_line


MASKED = """
  masked:
    data: {max_pieces: 200}
    model:
      architecture: masked_lm
      decoder_layers: 0
      activation: gelu
      output_bias: true
      learned_positions: 202
    method: {name: latent_layers, sides: [encoder], settings: {posterior: shared}}
    training:
      updates: 10
      batches: {tokens_are: update}
      label_smoothing: 0.0
      masking: {chosen: 0.15, masked: 0.8, random: 0.1, language_exponent: 0.3}
"""


def test_a_masked_language_model_goes_from_text_to_perplexity(tmp_path, monkeypatch, call):
    folder = tmp_path / "project"
    write_project(folder)
    runs = folder / "config" / "papers" / "latent_depth" / "runs.yaml"
    text = runs.read_text(encoding="utf-8")
    runs.write_text(text.replace("\nsources:", f"{MASKED}\nsources:", 1), encoding="utf-8")
    scale = folder / "config" / "scales" / "small.yaml"
    cut = yaml.safe_load(scale.read_text(encoding="utf-8"))
    cut["replace"]["training"]["batches"]["tokens"] = 1000
    scale.write_text(yaml.safe_dump(cut), encoding="utf-8")
    catalog = load(folder)
    data = catalog.spec("masked", "small").data.folder
    invoke(folder, ("subwords", data), ("encode", data), ("train", "masked"))
    for gates in ("soft", "hard"):
        invoke(folder, ("likelihood", "masked", "--gates", gates))
        (path,) = folder.glob(f"results/small/runs/masked-*/1/likelihood/{gates}.test.json")
        found = read_json(path)
        assert list(found["tasks"]) == ["bos", "kor"]
        assert 1 < found["all"]["perplexity"] < 1000
    monkeypatch.chdir(folder)
    assert "without a decoder translates nothing" in call("translate", "masked").one_line
