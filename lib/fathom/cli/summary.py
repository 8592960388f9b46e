"""The verb `summary`: what the trainings of a scale came to, in a few lines."""

from collections.abc import Iterator, Mapping

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.needs import Artefact, Needs
from fathom.cli.options import Json, Results, Scale, open_artefacts
from fathom.cli.terminal import answer, suggest
from fathom.config.tables import Table
from fathom.io.errors import FathomError
from fathom.io.screen import duration
from fathom.results import training_record
from fathom.results.training_record import TrainingRecord

# Of each training that has ended, by the run's full name and the seed.
Ended = Mapping[tuple[str, int], TrainingRecord]


def summary(scale: Scale = None, results: Results = None, as_json: Json = False) -> None:
    """Print what the trainings of a scale came to.

    How many learned, how that differs from the papers, what the scale can show, the
    time that it took. Exit code 1 if the run that the scale names (`check_learning`)
    has ended and is not below the unigram baseline by what the scale requires.

    Example: fathom summary --scale tiny
    """
    artefacts = open_artefacts(scale, results, None, of_results=True)
    project, paths = artefacts.project, artefacts.paths
    needs = Needs(project, paths.scale)
    places = {
        (name, seed): paths.training(project.spec(name, paths.scale), seed)
        for name in needs.runs
        for seed in artefacts.seeds_of(name)
        if not project.not_built(name, paths.scale)
    }
    ended = {key: training_record.read(path) for key, path in places.items() if path.exists()}
    if not ended:
        remedy = f"train them with `{paths.target('all')}`"
        raise FathomError("no training has ended", f"scale {paths.scale}", remedy)
    below = {key: _below(record) for key, record in ended.items()}
    content = {
        "trainings": len(places),
        "ended": len(ended),
        "nats_below_unigram": {f"{run} seed {seed}": nats for (run, seed), nats in below.items()},
        "outcomes": {
            f"{run} seed {seed}": each.outcome.kind for (run, seed), each in ended.items()
        },
        "seconds": sum(record.totals.seconds for record in ended.values()),
    }
    answer(as_json, content, _lines(artefacts, needs, ended, content["seconds"]))
    if required := project.scale(paths.scale).check_learning:
        key = (project.run_name(required.run), 1)
        if key in below and (below[key] or 0.0) < required.nats_below_unigram:
            nats = f"{below[key] or 0:.2f} nats below the unigram baseline"
            what = f"{key[0]} has not learned: {nats} (>= {required.nats_below_unigram:g} required)"
            raise FathomError(what, str(places[key]), "read train.log and metrics.tsv next to it")
    if len(ended) < len(places) and not as_json:
        suggest(f"{paths.target('all')}, or your text: fathom adopt")


def _below(record: TrainingRecord) -> float | None:
    """Return how far a training is below the unigram baseline, in nats per token."""
    if record.validation is None or not record.outcome.finished:
        return None
    return record.unigram_nll - record.validation.nll


def _lines(artefacts: Artefacts, needs: Needs, ended: Ended, seconds: float) -> Iterator[str]:
    learned = sorted(nats for nats in map(_below, ended.values()) if nats is not None and nats > 0)
    line = f"{len(learned)} of {len(ended)} trainings learned"
    if learned:
        span = dict.fromkeys((f"{learned[0]:.1f}", f"{learned[-1]:.1f}"))
        line += f": {' to '.join(span)} nats per token below the unigram baseline"
    yield f"{line}."
    for (run, seed), record in ended.items():
        if not record.outcome.finished:
            ended_at = record.outcome.update
            yield f"{run} seed {seed}: {record.outcome.words} at update {ended_at}"
    drawn = {
        name: artefact
        for name, artefact in needs.artefacts.items()
        if artefacts.is_drawn(artefact.paper, artefact.spec) and _share(artefact, ended)
    }
    for name, artefact in drawn.items():
        if rows := _diverged_there(artefacts, artefact, ended):
            yield f"{name}: {', '.join(rows)} finished here, and diverged in the paper."
    project, scale = artefacts.project, artefacts.project.scale(artefacts.scale)
    if scale.cuts_down:
        whole = next((name for name, each in project.scales.items() if not each.cuts_down), None)
        yield f"SCALE {artefacts.scale.upper()} shows that every step works, from text to cell."
        further = f"; scale {whole} can: fathom plan --scale {whole}" if whole else ""
        yield f"It cannot show whether a paper's numbers hold{further}"
    yield f"time: {len(ended)} trainings took {duration(seconds)} in all"
    for paper in {artefact.paper.name: None for artefact in drawn.values()}:
        of_paper = [each for each in drawn.values() if each.paper.name == paper]
        best = max(of_paper, key=lambda each: _share(each, ended))
        if (page := artefacts.paths.page(paper)).exists():
            yield f"page: {page}#{best.spec.name}"


def _share(artefact: Artefact, ended: Ended) -> float:
    """Return the share of the runs of a table or figure that have ended."""
    runs = {run for run, _ in ended}
    return sum(run in runs for run in artefact.runs) / max(len(artefact.runs), 1)


def _diverged_there(artefacts: Artefacts, artefact: Artefact, ended: Ended) -> list[str]:
    """Return the rows of a table that finished here and have an outcome in the paper."""
    finished = {run for (run, _), record in ended.items() if record.outcome.finished}
    if not isinstance(artefact.spec, Table):
        return []
    cells = artefacts.project.cells(artefact.spec)
    printed = artefact.paper.printed(artefact.spec.name, cells)
    diverged = {cell.row for cell in printed if cell.outcome == "diverged"}
    return [row for row, runs in artefact.rows.items() if row in diverged and {*runs} <= finished]
