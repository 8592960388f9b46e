"""The Python interface: runs, tables and claims of a project, and what a trained network computes.

`import fathom` gives these names. Nothing here trains a network or writes a file. Errors are
FathomError: what is wrong, where, and what to do. docs/python.md has examples.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import filter as matching
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.judged import judged
from fathom.artefacts.claims.view import COLUMNS, lines
from fathom.artefacts.significance import RunComparison, Trainings, compare_runs
from fathom.artefacts.table.formats import judged_numbers
from fathom.artefacts.table.sources import ResultSource
from fathom.config import plugins
from fathom.config.load import open_paths, open_project
from fathom.config.measurement_keys import SCORES, ShownValue
from fathom.config.show import describe
from fathom.config.switches import one_seed
from fathom.decode import ready
from fathom.decode.open_run import OpenRun
from fathom.io import metrics
from fathom.io.errors import FathomError, brief
from fathom.io.files import is_there
from fathom.io.screen import say
from fathom.results import measurements
from fathom.results.run_state import run_state
from fathom.results.training_record import MeasurementFile

if TYPE_CHECKING:
    from numpy import ndarray
    from pandas import DataFrame
    from torch.nn import Module

    from fathom.decode.trained_run import TrainedRun
    from fathom.decode.user_text import Nll


def open(
    folder: str | Path = ".",
    *,
    scale: str | None = None,
    results: str | None = None,
    device: str = "auto",
) -> "OpenProject":
    """Open the project of a folder, or the package's own where there is none above the folder.

    None takes what config.yaml says. Relative `results` are below the folder. Networks compute on
    the device: auto, cpu, cuda or cuda:<n>.
    """
    ready.require_device(str(device))
    here, project = Path(folder), open_project(Path(folder))
    return OpenProject(Artefacts(project, open_paths(project, scale, results, here)), device)


class OpenProject:
    """A project at a scale, with its results. `fathom.open` returns it."""

    def __init__(self, artefacts: Artefacts, device: str):
        self._artefacts, self._device = artefacts, device
        self._project, self._paths = artefacts.project, artefacts.paths

    @property
    def papers(self) -> tuple[str, ...]:
        """The names of all papers and studies."""
        return tuple(self._project.papers)

    def runs(self, pattern: str = "*") -> tuple[str, ...]:
        """Return the names of runs, `<paper>/<run>`, that match a pattern such as `*/m2o_*`."""
        return tuple(matching(self._project.entries, pattern))

    def run(self, name: str | Path, seed: int = 1, gates: str | None = None) -> "Run":
        """Return a training, which need not have begun, by the name of a run or by a row.

        A name is `<paper>/<run>`, also with `-<hash8>`; a row is `<paper>_<table>: <row>`. A path
        is a training's `folder`, whose seed counts. Gates are plain, soft or hard; None takes those
        of the run's validation.
        """
        if isinstance(name, Path) and name.name.isdecimal():
            run = self.run("/".join(name.parts[-3:-1]), int(name.name), gates)
            if run.folder.resolve() != name.resolve():
                raise FathomError("a folder of other results", str(name), f"give '{run.name}'")
            return run
        _require(name, str, "run", "give `<paper>/<run>`, a row or a training's folder")
        opened = OpenRun.of(self._project, self._paths, str(name), self._device)
        if opened.spec != self._project.spec(opened.spec.name, self._paths.scale):
            remedy = "open the project with its scale"
            raise FathomError("a run of another scale", f"{name}, {self._paths.scale}", remedy)
        return Run(opened, self._artefacts, one_seed(seed), opened.one_gates(gates))

    def table(self, target: str) -> "DataFrame":
        """Return the cells of a table, `<paper>_<table>`: its csv, with `reported` and `verdict`.

        `interval` is half of the 95 % interval over test sentences; `words` replace a value.
        """
        table = self._project.find(target, "table")
        return _frame(judged_numbers(self._artefacts.compared(*table)))

    def claims(self, paper: str) -> "DataFrame":
        """Return the parts of a paper's claims with our answers and those of its own cells."""
        ready.require_name(paper, self._project.papers, "paper", "claims")
        claims = judged(self._artefacts, self._project.papers[paper])
        return _frame(lines(claims), [*COLUMNS])


class Run:
    """A training of a run, read with some gates. With one task, methods need no `task`."""

    def __init__(self, opened: OpenRun, artefacts: Artefacts, seed: int, gates: str):
        self._opened, self._artefacts, self._gates, self.seed = opened, artefacts, gates, seed
        self._spec, self._paths = opened.spec, opened.paths
        self.name: str = opened.spec.name
        self.tasks: tuple[str, ...] = opened.spec.data.tasks
        self.folder: Path = opened.paths.run(opened.spec, seed)

    def __repr__(self) -> str:
        return f"<run {self.name}, seed {self.seed}, {self._gates} gates: {self.outcome}>"

    @property
    def settings(self) -> Mapping[str, Any]:
        """All settings by their keys, such as `model.width`."""
        project, scale = self._opened.project, self._paths.scale
        return {each.path: each.value for each in describe(project, self.name, scale)}

    @property
    def outcome(self) -> str:
        """`finished`, `diverged`, `failed to train`, `running`, `not started` or the like."""
        return run_state(self.folder).kind

    def translate(
        self, lines: Iterable[str], task: str | None = None, *, beam: int | None = None
    ) -> list[str]:
        """Translate sentences as `fathom translate` does.

        Of a sentence that is longer than those of the training, the first pieces are translated,
        and a line on standard error says so. `beam` replaces the run's number of hypotheses.
        """
        from fathom.decode.translate import translate_lines

        decoding, run = ready.require_decoder(self._spec), self._trained
        if beam is not None:
            if beam < 1:
                raise FathomError(f"a beam of {beam}", self.name, "give 1 or more")
            decoding = decoding.model_copy(update={"beam": beam})
            opened = replace(self._opened, spec=replace(self._spec, decoding=decoding))
            run = opened.trained(self.seed)
        return translate_lines(run, self._gates, self._task(task), _texts(lines), say)

    def nll(self, pairs: Iterable[tuple[str, str]], task: str | None = None) -> "list[Nll]":
        """Return the NLL of the target of each pair of source and target: `nats` and `tokens`."""
        from fathom.decode.user_text import nll_of_pairs

        return nll_of_pairs(self._trained, self._gates, self._task(task), _pairs(pairs), say)

    def states(self, lines: Iterable[str], task: str | None = None) -> "list[ndarray]":
        """Return what the encoder computes of each sentence, (layers + 1, pieces, width).

        Layer 0 is the embeddings. The end symbol is a piece. The last norm is not applied.
        """
        from fathom.decode.user_text import encoder_states

        return encoder_states(self._trained, self._gates, self._task(task), _texts(lines), say)

    def hypotheses(self, split: str = "test", task: str | None = None) -> "DataFrame":
        """Return task, source, reference and hypothesis of each sentence of a translated split."""
        from fathom.scoring.score import decoded_texts

        decoding = self._paths.decoding(self._spec, self.seed, split, self._gates)
        ready.require_made(decoding / "decoding.json", self._command("translate", split))
        tasks = self.tasks if task is None else [self._task(task)]
        texts = decoded_texts(self._spec, self.seed, split, self._gates, self._paths, tasks)
        return _frame(texts, ["task", "source", "reference", "hypothesis"])

    def scores(self, split: str = "test") -> "DataFrame":
        """Return the scores of a split, with 95 % bootstrap intervals and `n` sentences."""
        where = self._spec, self.seed, self._paths
        rules = SCORES, *plugins.names("metrics")
        files = [MeasurementFile(*where, rule, split, self._gates).path for rule in rules]
        ready.require_made(files[0], self._command("score", split))
        made = (self._source.read(path, self.seed) for path in files if is_there(path))
        return _frame(chain.from_iterable(map(measurements.rows, made)))

    def curves(self) -> "DataFrame":
        """Return the columns of metrics.tsv, a line for each logged update; NLL is per token."""
        path = self._source.recorded(self.seed, "metrics.tsv")
        ready.require_made(path, self._paths.run_command(self.name, self.seed))
        return _frame(metrics.read(path))

    def gates(self) -> "DataFrame":
        """Return the probability of each gate, by stack, task and layer."""
        from fathom.decode.gates import gate_rows

        return _frame(gate_rows(self._trained), ["stack", "task", "layer", "probability"])

    def network(self) -> "Module":
        """Return the network in evaluation mode; all calls return the same one."""
        return self._trained.network(self._gates)

    @cached_property
    def _trained(self) -> "TrainedRun":
        ready.require_weights(self._spec, self.seed, self._paths)
        return self._opened.trained(self.seed)

    @property
    def _source(self) -> ResultSource:
        return self._artefacts.with_seeds((self.seed,)).source(self.name)

    def _task(self, name: str | None) -> str:
        if name is None and len(self.tasks) > 1:
            remedy = f"name one as `task`: {', '.join(self.tasks)}"
            raise FathomError(f"the run has {len(self.tasks)} tasks", self.name, remedy)
        task = name or next(iter(self.tasks))
        ready.require_name(task, self.tasks, "task", self.name)
        return task

    def _command(self, verb: str, split: str) -> str:
        ready.require_name(split, ready.SPLITS, "held-out split", self.name)
        command = self._paths.command(verb, self.name, self.seed)
        return f"{command} --split {split} --gates {self._gates}"


Runs = Run | Sequence[Run]


def test(
    a: Runs, b: Runs, *, metric: str = "bleu", split: str = "test", task: str | None = None
) -> RunComparison:
    """Return a less b, with 95 % intervals and p, as `fathom test` computes them.

    Each is a run, or its trainings with several seeds. Without a task, a score is a mean over them.
    """
    ready.require_name(metric, plugins.names("metrics"), "metric", "metric")
    ready.require_name(split, ready.SPLITS, "held-out split", "split")
    sides, chosen = [[*each] if isinstance(each, Iterable) else [each] for each in (a, b)], []
    for runs in sides:
        for run in runs:
            _require(run, Run, "test", "give what project.run(name) returns, or a list of it")
        if len({(run.name, run._gates) for run in runs}) != 1:
            remedy = "give a run, or its trainings with several seeds and the same gates"
            raise FathomError(f"{len(runs)} trainings that are not of one run", "test", remedy)
        chosen.append(Trainings(runs[0].name, runs[0]._gates, tuple(run.seed for run in runs)))
    if len({id(run._artefacts) for runs in sides for run in runs}) > 1:
        remedy = "take all runs from what one call of fathom.open returned"
        raise FathomError("runs of several open projects", "test", remedy)
    artefacts, shown = sides[0][0]._artefacts, ShownValue(metric, split=split)
    return compare_runs(artefacts, chosen, shown, (task,))[0]


def _frame(lines: Iterable[Any], columns: list[str] | None = None) -> "DataFrame":
    from pandas import DataFrame

    return DataFrame(list(lines), columns=columns)


def _texts(lines: Iterable[str]) -> list[str]:
    if isinstance(lines, str):
        raise FathomError("a sentence alone", "lines", "give a list of sentences")
    _require(lines, Iterable, "lines", "give a list of sentences")
    texts = [*lines]
    for text in texts:
        _require(text, str, "lines", "give a list of sentences")
    return texts


def _pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    _require(pairs, Iterable, "pairs", "give a list of (source, target)")
    texts = [_texts(pair) for pair in pairs]
    for pair in texts:
        if len(pair) != 2:
            raise FathomError(f"{len(pair)} texts", "pairs", "give a list of (source, target)")
    return [(source, target) for source, target in texts]


def _require(value: object, kind: Any, where: str, remedy: str) -> None:
    if not isinstance(value, kind):
        what = f"'{brief(value)}' has the type {type(value).__name__}"
        raise FathomError(what, where, remedy)
