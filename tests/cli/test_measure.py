"""`fathom score`, `likelihood`, `best-window`, `gates`, `sharing`."""

import math

import pytest

from fathom.config.load import load
from fathom.io.locks import only_writer
from fathom.io.records import read_record, write_record
from fathom.results import measurements
from tests.cli.conftest import invoke
from tests.support import run_files
from tests.support.small_corpus import silent
from tests.support.small_project import GATED, RUN, TEST_SENTENCES


@pytest.fixture
def decoding(own, summarised):
    """The folder of a decoding that may be changed."""
    (folder,) = own(summarised).glob("results/runs/*/*/1/decodings/test.plain-*")
    return folder


def test_every_task_is_scored_in_every_metric_with_the_same_bytes(decoding, call):
    (measured,) = decoding.parents[1].glob("measurements/scores.test.plain-*.json")
    before = {path: path.read_bytes() for path in (decoding / "scores.tsv", measured)}
    answer = call("score", RUN)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err.count(f"({TEST_SENTENCES} sentences)") == 2
    assert {path: path.read_bytes() for path in before} == before
    scores = run_files.scores(decoding / "scores.tsv")
    assert {line.task for line in scores} == {"bos", "kor"}
    assert {"13a", "intl", "char", "none", "chrF"} == {line.metric for line in scores}


def written(folder, name, run=RUN):
    (path,) = folder.glob(f"results/runs/sample/{run}-*/1/measurements/likelihood.{name}-*.json")
    return measurements.read(path)


def test_validation_is_measured_as_training_measured_it_with_the_same_bytes(own, trained, call):
    folder = own(trained)
    texts = []
    for _ in range(2):
        assert call("likelihood", RUN).code == 0
        (path,) = folder.glob("results/runs/*/*/1/measurements/likelihood.*")
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]
    nll = measurements.read(path).measurements["nll.valid.plain"]
    (path,) = folder.glob("results/runs/*/*/1/training.json")
    validation = read_record(path)["validation"]
    assert nll.all.value == pytest.approx(validation["nll"], abs=1e-6)
    by_task = {task: number.value for task, number in nll.tasks.items()}
    assert by_task == pytest.approx(validation["by_task"], abs=1e-6)


def test_the_table_shows_what_the_file_holds(own, trained, call):
    folder = own(trained)
    answer = call("likelihood", RUN, "--split", "test")
    heading, *rows = (line.split("\t") for line in answer.lines)
    assert heading == ["task", "tokens", "nats", "bits", "perplexity"]
    nll = written(folder, "test.plain").measurements["nll.test.plain"]
    numbers = nll.tasks | {"all": nll.all}
    assert [row[0] for row in rows] == ["bos", "kor", "all"]
    for task, tokens, nats, *others in rows:
        value = numbers[task].value
        assert (int(tokens), nats) == (numbers[task].n, f"{value:.4f}")
        assert others == [f"{value / math.log(2):.4f}", f"{math.exp(value):.4f}"]


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_training_without_a_result_says_so_and_prints_no_number(own, trained, call, kind):
    folder = own(trained)
    (path,) = folder.glob("results/runs/*/*/1/training.json")
    outcome = {"kind": kind, "update": 3, "reason": "so it is"}
    write_record(path, read_record(path) | {"outcome": outcome})
    for verb, options in (("likelihood", ()), ("best-window", ("--size", "3"))):
        answer = call(verb, RUN, *options)
        assert (answer.code, answer.out) == (0, "")
        assert f"{kind.replace('_', ' ')} (so it is)" in answer.err
    for file in (written(folder, "valid.plain"), measurements.read(file_of(folder))):
        assert (file.outcome, file.measurements) == (kind, {})


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


@pytest.mark.slow
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
    assert "a network without a decoder" in call("translate", "masked").one_line


WEIGHTS = "      clip: 1.0  # §4\n      keep_weights: 6  # §4\n"


@pytest.fixture(scope="session")
def measured(encoded, after):
    """A project with a run of six saved weights, and with its best window of three."""
    folder = after(encoded)
    runs = folder / "config" / "papers" / "sample" / "runs.yaml"
    text = runs.read_text(encoding="utf-8")
    text = text.replace("updates: 4  #", "updates: 6  #").replace("every: 4  #", "every: 1  #")
    runs.write_text(text.replace("      clip: 1.0  # §4\n", WEIGHTS), encoding="utf-8")
    invoke(folder, ("train", RUN), ("best-window", RUN, "--size", "3"))
    return folder


def file_of(folder):
    """Return the measurement file of the window."""
    (path,) = folder.glob(f"results/runs/sample/{RUN}-*/1/measurements/window.plain-*.json")
    return path


def results_of(folder):
    """Return what a window left, but for the lock, which names its holder."""
    paths = folder.glob(f"results/runs/sample/{RUN}-*/1/window/plain-*/**/*")
    paths = [path for path in paths if path.is_file() and "lock" not in path.name]
    return {path: path.read_bytes() for path in [*paths, file_of(folder)]}


@pytest.mark.slow
def test_a_second_start_translates_nothing_and_measures_the_same(own, measured, call):
    folder = own(measured)
    before, file = results_of(folder), measurements.read(file_of(folder))
    tested = {path.parent.name for path in before if path.parent.name.startswith("test.")}
    windows = file.settings["updates"].values()
    assert tested == {f"test.{update}" for window in windows for update in window}
    assert {len(window) for window in windows} == {3}
    answer = call("best-window", RUN, "--size", "3")
    assert "6 of 6 checkpoints are translated already" in answer.err
    assert " sentences" not in answer.err
    assert results_of(folder) == before
    assert "6 of 6 checkpoints" in call("best-window", RUN, "--size", "4").err


@pytest.mark.slow
def test_two_at_a_time_are_refused(own, measured, call):
    folder = own(measured)
    before = results_of(folder)
    (place,) = folder.glob(f"results/runs/sample/{RUN}-*/1/window/plain-*")
    with only_writer(place, silent):
        assert "locked by process" in call("best-window", RUN, "--size", "3").one_line
    assert results_of(folder) == before


def test_gates_and_depth_are_measured(own, summarised, call):
    folder = own(summarised)
    (path,) = folder.glob("results/runs/*/*/1/measurements/gates.json")
    path.unlink()
    answer = call("gates", GATED)
    assert (answer.code, answer.out) == (0, "")
    assert path.name in answer.err
    found = measurements.read(path).measurements
    assert found["gates.decoder"].labels["task"] == ["bos", "kor"]
    assert list(found["depth.decoder"].tasks) == ["bos", "kor"]


GROUPS = "  groups: {like: base, method: {name: group_dropout, groups: 4, active: 3}}  # §3\n"


def test_similarity_and_sharing_are_measured(own, encoded, call, edit):
    folder = own(encoded)
    edit("papers/sample/runs.yaml", "runs:\n", f"runs:\n{GROUPS}")
    assert call("train", "groups").code == 0
    answer = call("sharing", "groups")
    assert (answer.code, answer.out) == (0, "")
    (path,) = folder.glob("results/runs/*/*/1/measurements/sharing.json")
    found = measurements.read(path).measurements
    assert found["similarity"].values[0][0] == 1.0
    # Two masks of three of four groups have two in common at least.
    assert 2 / 3 <= found["sharing"].all.value <= 1
