"""`fathom likelihood`: NLL and perplexity of held-out text, written and printed."""

import math
import sys

import pytest
import torch

from fathom.config.load import load
from fathom.io.integrity import read_record, write_record
from fathom.results import measurements
from tests.support.refused import prose, says
from tests.support.small_project import GATED, RUN
from tests.support.trained import put_checkpoint


def written(folder, name, run=RUN):
    (path,) = folder.glob(f"results/runs/sample/{run}-*/1/measurements/likelihood.{name}-*.json")
    return measurements.read(path)


def printed(answer):
    """Return the rows of the table by task."""
    heading, *rows = (line.split("\t") for line in answer.out.splitlines())
    assert heading == ["task", "tokens", "nats", "bits", "perplexity"]
    return {task: [float(number) for number in numbers] for task, *numbers in rows}


def test_validation_is_measured_as_training_measured_it(own, trained, call):
    folder = own(trained)
    answer = call("likelihood", RUN)
    assert answer.code == 0
    nll = written(folder, "valid.plain").measurements["nll.valid.plain"]
    (path,) = folder.glob("results/runs/*/*/1/training.json")
    validation = read_record(path)["validation"]
    assert nll.all.value == pytest.approx(validation["nll"], abs=1e-6)
    by_task = {task: number.value for task, number in nll.tasks.items()}
    assert by_task == pytest.approx(validation["by_task"], abs=1e-6)


def test_the_table_shows_what_the_file_holds(own, trained, call):
    folder = own(trained)
    table = printed(call("likelihood", RUN, "--split", "test"))
    found = written(folder, "test.plain").measurements
    nll, perplexity = found["nll.test.plain"], found["perplexity.test.plain"]
    assert list(table) == ["bos", "kor", "all"]
    numbers = nll.tasks | {"all": nll.all}
    for name, (tokens, nats, bits, value) in table.items():
        assert (tokens, nats) == (numbers[name].n, pytest.approx(numbers[name].value, abs=1e-4))
        assert value == pytest.approx(2**bits, rel=1e-3)
    assert perplexity.all.value == pytest.approx(math.exp(nll.all.value))
    assert nll.all.n == sum(number.n for number in nll.tasks.values())


def test_measuring_twice_writes_the_same_bytes(own, trained, call):
    folder = own(trained)
    texts = []
    for _ in range(2):
        call("likelihood", RUN)
        (path,) = folder.glob("results/runs/*/*/1/measurements/likelihood.*")
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]


def test_a_task_without_any_layer_is_reported_and_there_is_no_number_of_all(own, encoded, call):
    folder = own(encoded)
    call("train", GATED)
    (path,) = folder.glob("results/runs/*/*/1/checkpoints/last.pt")
    checkpoint = torch.load(path, weights_only=True)
    alpha = checkpoint["model"]["decoder.method.alpha"]
    alpha[0], alpha[1] = 1.0, -1.0
    put_checkpoint(path, checkpoint)
    assert list(printed(call("likelihood", GATED))) == ["bos", "kor", "all"]
    answer = call("likelihood", GATED, "--gates", "hard")
    assert list(printed(answer)) == ["bos"]
    says("no layer with such gates", "hard", where="kor").check(answer.err)
    record = written(folder, "valid.hard", GATED).measurements["nll.valid.hard"]
    assert (list(record.missing), list(record.tasks), record.all) == (["kor"], ["bos"], None)


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_training_without_a_result_says_so_and_prints_no_number(own, trained, call, kind):
    folder = own(trained)
    (path,) = folder.glob("results/runs/*/*/1/training.json")
    outcome = {"kind": kind, "update": 3, "reason": "so it is"}
    write_record(path, read_record(path) | {"outcome": outcome})
    answer = call("likelihood", RUN)
    assert (answer.code, answer.out) == (0, "")
    says("outcome", kind.replace("_", " "), "so it is").check(answer.err)
    found = written(folder, "valid.plain")
    assert (found.outcome, found.update, found.measurements) == (kind, 3, {})


def test_weights_that_are_not_finite_are_refused(own, trained, call):
    folder = own(trained)
    (path,) = folder.glob("results/runs/*/*/1/checkpoints/last.pt")
    checkpoint = torch.load(path, weights_only=True)
    for tensor in checkpoint["model"].values():
        tensor.fill_(math.nan)
    put_checkpoint(path, checkpoint)
    says("no perplexity").check(call("likelihood", RUN).one_line)
    assert list(folder.glob("results/runs/*/*/1/measurements/likelihood.*")) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("static_2_3",), says("unknown", "run", "static_2_3", nearest="static_2_2")),
        ((RUN, "--split", "vaild"), says("unknown", "held-out split", "vaild", nearest="valid")),
        ((RUN, "--split", "train"), says("unknown", "held-out split", "train")),
        (
            (RUN, "--gates", "soft"),
            says("unknown", "gates", "soft", remedy=prose("valid names", "plain")),
        ),
        ((RUN, "--scale", "smal"), says("unknown", "scale", "smal", nearest="small")),
        ((RUN, "--seed", "2"), says("no such file", where="/2/training.json")),
        ((GATED, "--gates", "hrad"), says(nearest="hard")),
        ((GATED,), says("no such file", where="training.json")),
    ],
)
def test_a_mistake_is_refused_in_one_line_before_torch_is_loaded(
    trained, call, monkeypatch, words, message
):
    monkeypatch.chdir(trained)
    monkeypatch.setitem(sys.modules, "torch", None)
    message.check(call("likelihood", *words).one_line)


MASKED = {
    "runs.yaml": """\
  masked:
    like: base
    data: {max_pieces: 100}  # §3
    model: {architecture: masked_lm, decoder_layers: 0, activation: gelu, output_bias: true,
            block: 128}  # §3
    method: {name: latent_layers, stacks: [encoder], posterior: shared}  # §3
    masking: {chosen: 0.15}  # §3
    training: {updates: 6, batch: {tokens: 1000, per: update}, label_smoothing: 0.0}  # §3
    decoding: null
""",
    "tables.yaml": """\
table2:
  title: A masked language model
  section: §6
  columns: [perplexity]
  rows: {Masked: masked}
""",
    "reported/table2.csv": "row,column,value,stderr,mark,right,note\nMasked,perplexity,4.0,,,,\n",
}


def test_a_masked_language_model_goes_from_text_to_perplexity(own, text, call):
    folder = own(text)
    for name, added in MASKED.items():
        with open(folder / "config" / "papers" / "sample" / name, "a", encoding="utf-8") as stream:
            stream.write(added)
    data = load(folder).spec("sample/masked", "small").data
    assert call("subwords", data.subwords_folder).code == 0
    assert call("encode", data.folder).code == 0
    assert call("train", "masked").code == 0
    for gates in ("soft", "hard"):
        answer = call("likelihood", "masked", "--gates", gates)
        assert answer.code == 0, answer
        found = written(folder, f"valid.{gates}", "masked").measurements
        record = found[f"perplexity.valid.{gates}"]
        assert list(record.tasks) == ["bos", "kor"]
        assert 1 < record.all.value < 1000
    says("no decoder").check(call("translate", "masked").one_line)
