"""Which files of a scale's results are handed on: what readers need, without text and weights."""

from collections.abc import Iterator
from pathlib import Path

from fathom.config.paths import Paths
from fathom.config.project import Project

# Of a run: how it was trained, its series, measurements and hypotheses.
_OF_A_RUN = (
    "README.md", "manifest.json", "training.json", "spec.yaml", "attempts.json", "metrics.tsv",
    "times.tsv", "diagnostics/**/*", "measurements/**/*", "decodings/**/*", "window/**/*",
)  # fmt: skip
# Of a corpus: what was counted. Its text has licences, and everyone can prepare it.
_OF_A_CORPUS = ("corpus.json", "statistics.json")
_OF_A_PROCESS = ("lock", "lock.holder")
_NOT_READ = "logs"


def results_files(project: Project, paths: Paths) -> tuple[list[str], list[str]]:
    """Return the files of a scale that are packed, by their path from the folder of results.

    Runs are those that the scale has, with all their seeds. Weights, states, text, dictionaries and
    logs are left out.

    Args:
        project: the project.
        paths: the places of the scale's files.

    Returns:
        The files, and the folders of trainings that have not ended, whose series may still grow.
    """
    specs = [project.spec(name, paths.scale) for name in project.entries]
    runs = dict.fromkeys(paths.run(spec, 0).parent for spec in specs)
    trainings = [seed for run in runs for seed in sorted(run.glob("*/"))]
    ended = [seed for seed in trainings if (seed / "training.json").is_file()]
    corpora = dict.fromkeys(
        folder
        for spec in specs
        for folder in (paths.corpus(spec.data), paths.pieces_corpus(spec.data))
    )
    corpora |= {
        paths.corpus_named(data.corpus_folder(project.sources)): None
        for data in project.datasets.values()
    }
    read = [
        *(path for training in ended for path in _fitting(training, _OF_A_RUN)),
        *(path for corpus in corpora for path in _fitting(corpus, _OF_A_CORPUS)),
        *(path for path in _fitting(paths.top, ("**/*",))),
    ]
    names = (path.relative_to(paths.results) for path in read)
    left_out = (path.relative_to(paths.results) for path in trainings if path not in ended)
    return (
        sorted({name.as_posix() for name in names if _is_read(name, paths.scale)}),
        [path.as_posix() for path in left_out],
    )


def _fitting(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    return (path for pattern in patterns for path in folder.glob(pattern) if path.is_file())


def _is_read(name: Path, scale: str) -> bool:
    """Return whether a file is one for readers, and not of a process or hidden."""
    hidden = any(part.startswith(".") for part in name.parts)
    return not hidden and name.name not in _OF_A_PROCESS and name.parts[:2] != (scale, _NOT_READ)
