"""`import fathom`: the Python interface, against the verbs and the files that they wrote."""

import inspect
import json
import re
import subprocess
import sys

import numpy as np
import pytest

import fathom
from fathom.results.measurements import read
from fathom.scoring.metrics import of_key
from fathom.scoring.sentences import read as read_counts
from tests.support.paired import paired_bootstrap
from tests.support.refused import refused
from tests.support.scripts import python
from tests.support.small_project import GATED, RUN
from tests.support.specs import ROOT

LINES = ["ta lo mi", "", "sur ket"]
# The names and signatures that are promised: a change here is a change for every user.
FRAME = "-> 'DataFrame'"
PUBLIC = {
    "Depth": "class",
    "DiagnosticArray": "class",
    "FathomError": "class",
    "Loss": "class",
    "Method": "class",
    "Metric": "class",
    "OpenProject": "class",
    "OpenProject.claims": f"(self, paper: str) {FRAME}",
    "OpenProject.papers": "property",
    "OpenProject.run": "(self, name: str | Path, seed: int = 1, gates: str | None = None) -> 'Run'",
    "OpenProject.runs": "(self, pattern: str = '*') -> tuple[str, ...]",
    "OpenProject.table": f"(self, target: str) {FRAME}",
    "ParameterGroup": "class",
    "Run": "class",
    "Run.curves": f"(self) {FRAME}",
    "Run.gates": f"(self) {FRAME}",
    "Run.hypotheses": f"(self, split: str = 'test', task: str | None = None) {FRAME}",
    "Run.network": "(self) -> 'Module'",
    "Run.nll": "(self, pairs: Iterable[tuple[str, str]], task: str | None = None) -> 'list[Nll]'",
    "Run.outcome": "property",
    "Run.scores": f"(self, split: str = 'test') {FRAME}",
    "Run.settings": "property",
    "Run.states": "(self, lines: Iterable[str], task: str | None = None) -> 'list[ndarray]'",
    "Run.translate": (
        "(self, lines: Iterable[str], task: str | None = None, *, beam: int | None = None)"
        " -> list[str]"
    ),
    "RunComparison": "class",
    "RunComparison.high": "property",
    "RunComparison.low": "property",
    "RunComparison.p": "property",
    "Stack": "class",
    "open": (
        "(folder: str | Path = '.', *, scale: str | None = None, results: str | None = None,"
        " device: str = 'auto') -> 'OpenProject'"
    ),
    "test": (
        "(a: Run | Sequence[Run], b: Run | Sequence[Run], *, metric: str = 'bleu',"
        " split: str = 'test', task: str | None = None) -> RunComparison"
    ),
}
ATTRIBUTES = {"name", "seed", "tasks", "folder"}


def described(thing):
    if isinstance(thing, property | type):
        return "property" if isinstance(thing, property) else "class"
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", str(inspect.signature(thing)))


def test_the_public_names_and_signatures_stay():
    found = {}
    for name in fathom.__all__:
        thing = getattr(fathom, name)
        found[name] = described(thing)
        if name in ("OpenProject", "Run", "RunComparison"):
            parts = {f"{name}.{key}": part for key, part in vars(thing).items() if key[0] != "_"}
            is_member = (property, type(described))
            parts = {key: part for key, part in parts.items() if isinstance(part, is_member)}
            found |= {key: described(part) for key, part in parts.items()}
    assert found == PUBLIC
    assert dir(fathom) == sorted(fathom.__all__)
    assert not hasattr(fathom, "translate")


def test_the_import_takes_nothing_and_opening_a_project_loads_no_torch():
    code = """
import sys, time
before, start = {*sys.modules}, time.process_time()
import fathom
milliseconds = 1000 * (time.process_time() - start)
loaded = {name.partition(".")[0] for name in {*sys.modules} - before}
fathom.open(sys.argv[1]).runs()
print(milliseconds, sorted(loaded - {*sys.stdlib_module_names}), "torch" in sys.modules)
"""
    milliseconds, _, rest = python(code, ROOT).stdout.partition(" ")
    assert rest == "['fathom'] False\n"
    assert float(milliseconds) < 50


USER = """\
import fathom

project = fathom.open(scale="tiny")
run = project.run("latent_depth_table5: LL-D, 12/24", seed=2)
words: list[str] = run.translate(["Bonjour"], "fra", beam=1)
nats: float = sum(each.nats / each.tokens for each in run.nll([("a", "b")], "fra"))
shape: tuple[int, ...] = run.states(words)[0].shape
compared = fathom.test([run], project.run("m2o_diverse_12_12"), metric="chrf")
low: float = compared.low if compared.over_seeds is None else compared.over_seeds.p
"""
METHOD = """\


class Shifted(fathom.Method):
    def losses(self, target_tokens: int, tasks: object) -> dict[str, fathom.Loss]:
        raise fathom.FathomError("a mistake", "here", "correct it")
"""


@pytest.mark.slow
def test_a_users_file_passes_pyrights_strict_check(tmp_path):
    (tmp_path / "user.py").write_text(USER + METHOD, encoding="utf-8")
    settings = {"typeCheckingMode": "strict", "include": ["user.py"]}
    settings |= {"extraPaths": [str(ROOT / "lib")], "venvPath": str(ROOT), "venv": ".venv"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    words = [sys.executable, "-m", "pyright", "--project", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert (ROOT / "lib" / "fathom" / "py.typed").is_file()


@pytest.fixture(scope="module")
def project(summarised):
    return fathom.open(summarised, device="cpu")


@pytest.fixture(scope="module")
def runs(project):
    """A static run, and one with gates."""
    return project.run(RUN), project.run("sample_table1: Gated")


def test_a_project_has_papers_runs_tables_and_claims(project, runs):
    static, gated = runs
    assert project.papers == ("sample",)
    assert project.runs() == (f"sample/{RUN}", f"sample/{GATED}")
    assert project.runs("*gated*") == (gated.name,)
    assert (static.outcome, static.seed, static.tasks) == ("finished", 1, ("bos", "kor"))
    assert project.run(RUN, seed=2).outcome == "not started"
    assert static.settings["model.width"] == 16
    assert (static.folder / "training.json").is_file()
    assert project.run(project.run(RUN, seed=2).folder).folder == static.folder.parent / "2"
    cells = project.table("sample_table1").set_index(["row", "column"])
    scores = static.scores().set_index(["measurement", "task"])
    cell = cells.loc[("Static", "bos")]
    assert cell["value"] == scores.loc[("bleu.test.plain.13a", "bos"), "value"]
    assert (cell["reported"], cell["run"]) == (20.0, static.name)
    assert cell["verdict"] in ("lower", "higher")
    assert [*project.claims("sample").columns[:2]] == ["paper", "claim"]


def test_sentences_are_translated_as_by_the_verb(summarised, runs, call, monkeypatch):
    monkeypatch.chdir(summarised)
    for run in runs:
        typed = "\n".join([*LINES, ""]).encode()
        translated = run.translate(LINES, "bos")
        assert call("translate", run.name, "--task", "bos", typed=typed).lines == translated
        texts = run.hypotheses(task="bos")
        assert run.translate(texts["source"], "bos") == [*texts["hypothesis"]]
    assert len(runs[0].translate(iter(LINES), "bos", beam=1)) == len(LINES)


def test_the_nll_of_the_test_pairs_is_what_is_measured(summarised, runs, call, monkeypatch):
    monkeypatch.chdir(summarised)
    for run in runs:
        assert call("likelihood", run.name, "--split", "test").code == 0
        (path,) = run.folder.glob("measurements/likelihood.test.*.json")
        (record,) = (r for key, r in read(path).measurements.items() if key.startswith("nll."))
        path.unlink()  # other tests read this project
        for task in run.tasks:
            texts = run.hypotheses(task=task)
            found = run.nll(zip(texts["source"], texts["reference"], strict=True), task)
            number = record.tasks[task]
            assert sum(each.tokens for each in found) == number.n
            nats = sum(each.nats for each in found)
            assert nats / number.n == pytest.approx(number.value, rel=1e-6)
        assert run.nll([], "bos") == []


def test_states_have_a_layer_more_than_the_encoder_and_follow_the_sentence(runs):
    run = runs[0]
    long, empty, short = run.states(LINES, "bos")
    assert long.shape == (3, long.shape[1], 16)
    assert (empty.shape, long.dtype) == ((3, 1, 16), np.float32)
    assert min(long.shape[1], short.shape[1]) > 1
    assert np.array_equal(run.states([LINES[2]], "bos")[0], short)
    assert not np.allclose(short[0], short[2])
    assert run.network().stacks["encoder"].observer is None


def test_curves_and_gates_are_those_of_the_files(runs):
    static, gated = runs
    curves = static.curves()
    assert [*curves["update"]] == [1, 2, 3, 4]
    assert curves["valid_nll"].notna().sum() == 1
    gates = gated.gates()
    (path,) = gated.folder.glob("measurements/gates.json")
    stored = read(path).measurements["gates.decoder"].values
    assert [*gates["probability"]] == pytest.approx(np.ravel(stored))
    assert [*gates.columns] == ["stack", "task", "layer", "probability"]


def test_two_runs_are_compared_as_by_the_verb(summarised, project, runs, call, monkeypatch):
    monkeypatch.chdir(summarised)
    compared = fathom.test(*runs, metric="chrf", task="kor")
    words = ("test", *(run.name for run in runs), "--metric", "chrf", "--task", "kor", "--json")
    (printed,) = json.loads(call(*words).out)
    assert compared.difference == printed["difference"]
    chance = printed["over_sentences"]
    assert (compared.low, compared.high, compared.p) == (chance["low"], chance["high"], chance["p"])
    assert (compared.over_seeds, compared.seeds) == (None, (1, 1))
    counts = [
        read_counts(next(run.folder.glob(f"decodings/test.{gates}-*")), "kor")
        for run, gates in zip(runs, ("plain", "soft"), strict=True)
    ]
    metric = of_key("chrf.test.plain")
    systems = ([[each.statistics(metric)]] for each in counts)
    assert compared.p == paired_bootstrap(*systems).p
    hard, soft = (project.run(GATED, gates=gates) for gates in ("hard", "soft"))
    assert fathom.test(hard, soft).gates == ("hard", "soft")


def test_every_cell_of_the_notebook_runs(summarised, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(summarised / "config")
    notebook = json.loads((ROOT / "docs" / "python.ipynb").read_text(encoding="utf-8"))
    here = {"tiny": "small", "latent_depth_table5": "sample_table1"}
    here |= {"LL-D, 12/24": "Gated", "12/12": "Static"}
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            code = re.sub("|".join(here), lambda match: here[match[0]], "".join(cell["source"]))
            exec(compile(code, cell["id"], "exec"), names)
    assert (names["run"].name, names["base"].name) == (f"sample/{GATED}", f"sample/{RUN}")


@pytest.mark.parametrize(
    ("question", "what", "remedy"),
    [
        (lambda project, run: project.run("static_2_3"), "no run 'static_2_3'", "'static_2_2"),
        (lambda project, run: project.run(RUN, gates="soft"), "no gates 'soft'", "plain"),
        (lambda project, run: project.run(RUN, seed=-1), "'-1' is not a seed", "write one number"),
        (lambda project, run: project.claims("smaple"), "no paper 'smaple'", "'sample'"),
        (lambda project, run: run.translate(LINES), "has 2 tasks", "name one as `task`: bos, kor"),
        (lambda project, run: run.translate("ta lo", "bos"), "a sentence alone", "give a list"),
        (lambda project, run: run.translate(LINES, "bos", beam=0), "a beam of 0", "give 1 or more"),
        (lambda project, run: run.translate([1], "bos"), "'1' has the type int", "give a list"),
        (lambda project, run: run.translate(1, "bos"), "'1' has the type int", "give a list"),
        (lambda project, run: run.nll([("ta",)], "bos"), "1 texts", "(source, target)"),
        (lambda project, run: run.nll(1, "bos"), "'1' has the type int", "(source, target)"),
        (lambda project, run: project.run(1), "'1' has the type int", "<paper>/<run>"),
        (lambda project, run: project.run(run.folder.parent), "PosixPath", "training's folder"),
        (
            lambda project, run: project.run("elsewhere" / run.folder.relative_to(ROOT.root)),
            "a folder of other results",
            f"give 'sample/{RUN}'",
        ),
        (lambda project, run: project.claims(1), "no paper '1'", "valid names: sample"),
        (lambda project, run: fathom.test("name", run), "the type str", "project.run(name)"),
        (lambda project, run: fathom.test(run, 1), "'1' has the type int", "project.run(name)"),
        (lambda project, run: fathom.test(run, run, metric=1), "no metric '1'", "bleu"),
        (lambda project, run: run.states(LINES, "fra"), "no task 'fra'", "bos, kor"),
        (lambda project, run: run.scores("tset"), "no held-out split 'tset'", "'test'"),
        (lambda project, run: run.scores("valid"), "no such file", "`fathom score"),
        (lambda project, run: run.gates(), "its method has no gates", "latent layers"),
        (
            lambda project, run: project.run(RUN, seed=2).translate(LINES, "bos"),
            "no such file",
            "`fathom run",
        ),
        (lambda project, run: fathom.test([run, project.run(GATED)], run), "2 trainings", "give a"),
        (lambda project, run: fathom.test(run, []), "0 trainings", "give a run"),
        (
            lambda project, run: fathom.test(run, fathom.open(ROOT).run("m2o_diverse_12_12")),
            "several open projects",
            "one call of fathom.open",
        ),
        (lambda project, run: fathom.test(run, project.run(RUN, 2)), "other seeds", "equal seeds"),
        (lambda project, run: fathom.open(ROOT, scale="tniy"), "no scale 'tniy'", "'tiny'"),
        (lambda project, run: fathom.open(ROOT, device="gpu"), "no device 'gpu'", "cuda"),
    ],
)
def test_a_mistake_says_what_to_do(project, runs, question, what, remedy):
    with refused(what, remedy=remedy):
        question(project, runs[0])
