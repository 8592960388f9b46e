"""From fetched sources to a corpus: line-aligned text and `corpus.json`, which is written last."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from fathom.data.fetch import located
from fathom.data.statistics import drift, figures, same_text
from fathom.data.texts import TaskText
from fathom.errors import Findings
from fathom.io.files import sha256, write_json, write_lines
from fathom.runs.datasets import Dataset, Source


def prepare(
    dataset: Dataset,
    sources: dict[str, Source],
    source_folder: Callable[[str], Path],
    out: Path,
    report: Callable[[str], None],
) -> None:
    """Read, clean, split and check a data set's text, then write it.

    Args:
        dataset: what is made.
        sources: all sources, by name.
        source_folder: from a source's name to its folder.
        out: the corpus's folder: `<task>/<split>.<language>`, `corpus.json`.
        report: takes a line for the user.

    Raises:
        FathomError: a source is missing, which leaves a corpus as it is, or cannot be read.
        Findings: counts that are not the expected ones, or two languages with the same text; then
            nothing is written.
    """
    files = {name: located(sources[name], source_folder(name)) for name in dataset.sources}
    corpus = out / "corpus.json"
    corpus.unlink(missing_ok=True)
    report(f"{dataset.name}: reading {', '.join(files)}")
    # By name, so that a corpus needs the reader of its own format and no other.
    reader = import_module(f"fathom.data.formats.{dataset.format}")
    texts: dict[str, TaskText] = reader.read(files, dataset)
    # The same text under two names first: it explains counts that are not the expected ones.
    findings = [*same_text(dataset, texts), *drift(dataset, texts)]
    if findings:
        raise Findings(findings)
    tasks = {task: _written(dataset, task, texts[task], out, report) for task in dataset.task_names}
    write_json(corpus, _record(dataset, sources, tasks))


def _written(
    dataset: Dataset, task: str, text: TaskText, out: Path, report: Callable[[str], None]
) -> dict[str, object]:
    """Write a task's files; return its figures, with the checksum of each file."""
    languages = dataset.languages(task)
    record = figures(text, languages)
    for split, pairs in text.splits.items():
        sums = {}
        for side, language in enumerate(languages):
            file = out / task / f"{split}.{language}"
            write_lines(file, [pair[side] for pair in pairs])
            sums[language] = sha256(file)
        record["splits"][split]["sha256"] = sums
    counts = ", ".join(f"{len(pairs)} {split}" for split, pairs in text.splits.items())
    report(f"{dataset.name}: {task}: {counts}, {sum(text.dropped.values())} dropped")
    return record


def _record(
    dataset: Dataset, sources: dict[str, Source], tasks: dict[str, dict[str, object]]
) -> dict[str, object]:
    """Return what `corpus.json` says."""
    used = [sources[name] for name in dataset.sources]
    return {
        "dataset": dataset.name,
        "title": dataset.title,
        "citation": dataset.citation,
        "licences": sorted({each.licence for each in used}),
        "definition": dataset.definition(sources),
        "task_names": list(dataset.task_names),
        "tasks": tasks,
        "sources": [
            {
                "name": each.name,
                "file": each.file,
                "bytes": each.bytes,
                "sha256": each.sha256,
                "licence": each.licence,
            }
            for each in used
        ],
    }
