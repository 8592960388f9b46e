"""`fathom export`: a run for fairseq or CTranslate2, and what is refused before torch is loaded."""

import shutil
import sys

import pytest

from fathom.io.integrity import read_record
from tests.cli.conftest import invoke
from tests.support.refused import prose, says
from tests.support.small_project import GATED, RUN


@pytest.fixture(scope="session")
def gated(encoded, tmp_path_factory):
    """A project with a trained run that has gates."""
    folder = tmp_path_factory.mktemp("gated") / "project"
    shutil.copytree(encoded, folder)
    invoke(folder, ("train", GATED))
    return folder


@pytest.mark.parametrize("program", ["fairseq", "ctranslate2"])
def test_a_run_is_written_for_a_program(trained, own, call, program):
    folder = own(trained)
    answer = call("export", RUN, "new", "--format", program)
    assert (answer.code, answer.out) == (0, "")
    assert f"{program}: new" in answer.err
    assert read_record(folder / "new" / "export.json")["program"] == program
    assert f"# sample/{RUN}, seed 1" in (folder / "new" / "README.md").read_text(encoding="utf-8")


def test_the_layers_of_a_task_are_written_without_gates(gated, own, call):
    folder = own(gated)
    assert call("export", GATED, "new", "--format", "fairseq", "--task", "kor").code == 0
    assert read_record(folder / "new" / "export.json")["gates"] == "hard"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((RUN, "new", "--format", "fairsec"), says("unknown", "format", nearest="fairseq")),
        ((RUN, "new", "--format", "fairseq", "--task", "boss"), says("unknown", nearest="bos")),
        ((RUN, "config", "--format", "fairseq"), says("not empty", where="config")),
        (
            (RUN, "new", "--format", "fairseq", "--seed", "2"),
            says("no such file", where="/2/training.json"),
        ),
    ],
)
def test_a_mistake_is_refused_before_torch_is_loaded(trained, call, monkeypatch, words, message):
    monkeypatch.chdir(trained)
    monkeypatch.setitem(sys.modules, "torch", None)
    message.check(call("export", *words).one_line)


def test_a_method_that_computes_more_is_refused_before_torch_is_loaded(
    project, edit, call, monkeypatch
):
    edit("papers/sample/runs.yaml", "method: static", "method: rezero")
    monkeypatch.setitem(sys.modules, "torch", None)
    line = call("export", RUN, "new", "--format", "fairseq").one_line
    says("not plain with", "rezero", "plain", where=RUN).check(line)


def test_a_run_is_translated_by_the_decoder_that_its_settings_name(trained, own, call):
    folder = own(trained)
    runs = folder / "config" / "papers" / "sample" / "runs.yaml"
    text = runs.read_text(encoding="utf-8")
    decoder = "{like: base, decoding: {decoder: ctranslate2}}  # §5"
    runs.write_text(text.replace("static_2_2: {like: base}", f"{RUN}: {decoder}"), encoding="utf-8")
    assert call("translate", RUN).code == 0
    (record,) = folder.glob("results/runs/*/*/1/decodings/*/decoding.json")
    assert read_record(record)["settings"]["decoder"] == "ctranslate2"
    assert call("translate", RUN, "--task", "bos", typed=b"ta\n").out.count("\n") == 1


def test_soft_gates_are_refused_by_name_before_torch_is_loaded(gated, own, call, monkeypatch):
    folder = own(gated)
    runs = folder / "config" / "papers" / "sample" / "runs.yaml"
    text = runs.read_text(encoding="utf-8")
    decoder = f"{GATED}: {{like: base, decoding: {{decoder: ctranslate2}},"
    runs.write_text(text.replace(f"{GATED}: {{like: base,", decoder), encoding="utf-8")
    monkeypatch.setitem(sys.modules, "torch", None)
    line = call("translate", GATED).one_line
    expected = says("not plain with", "latent_layers", "soft", remedy=prose("write fathom"))
    expected.check(line)
    expected.check(call("best-window", GATED, "--size", "1", "--gates", "soft").one_line)
