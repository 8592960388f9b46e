"""The jobs of a target, by the files that they make: counted without Snakemake's graph."""

from collections.abc import Iterator
from pathlib import Path

from fathom.config.spec import Spec
from fathom.workflow.targets import ALL, Targets


def steps(targets: Targets, target: str) -> dict[Path, str]:
    """Return the last file of each job that makes a target from nothing, and the job's stage.

    Raises:
        FathomError: the target cannot be made.
    """
    made: dict[Path, str] = {}
    for name in targets.names_of(target):
        made.update(_of_run(targets, name))
    for artefact in targets.drawn(target):
        for corpus in artefact.corpora:
            statistics = targets.corpora.statistics(corpus)
            made.update(_of_corpus(targets, statistics.parent.name))
            made[statistics] = "statistics"
        made[targets.artefact_files(artefact)[0]] = artefact.verb
    if target == ALL:
        made |= {targets.paths.compare: "compare", targets.paths.claims: "claims"}
        made |= {targets.paths.page(paper): "page" for paper in targets.project.papers}
    return made


def _of_run(targets: Targets, name: str) -> Iterator[tuple[Path, str]]:
    """Yield the files of a run, all seeds, and of the run that it starts from."""
    runs, spec = targets.runs, targets.runs.spec(name)
    start = targets.project.start_name(name)
    for trained in [start, name] if start else [name]:
        of_trained = runs.spec(trained)
        yield from _of_text(targets, of_trained)
        yield from (
            (targets.paths.training(of_trained, seed), "training") for seed in runs.seeds(name)
        )
    folder = f"{spec.paper}/{spec.folder}"
    for seed in runs.seeds(name):
        measured = runs.results(name, seed)
        others = [path for path in measured if path != targets.paths.training(spec, seed)]
        yield from ((path, path.name.partition(".")[0]) for path in others)
        if any(path.name.startswith("scores.") for path in others):
            yield runs.asked(folder, str(seed)), "decoding"


def _of_text(targets: Targets, spec: Spec) -> Iterator[tuple[Path, str]]:
    """Yield the files of the text of a run."""
    paths, data = targets.paths, spec.data
    yield from _of_corpus(targets, data.corpus_folder)
    yield from _of_corpus(targets, data.pieces_corpus_folder)
    yield paths.subwords(data) / "subwords.json", "subwords"
    yield paths.tensors(data) / "tensors.json", "tensors"


def _of_corpus(targets: Targets, folder: str) -> Iterator[tuple[Path, str]]:
    """Yield the files of a corpus and its sources."""
    yield from ((path, "source") for path in targets.corpora.sources(folder))
    yield targets.paths.corpus_named(folder) / "corpus.json", "corpus"
