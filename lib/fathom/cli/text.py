"""The verbs of text: fetch, doctor, prepare, statistics, subwords, encode."""

from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from typing import Annotated, Any

import typer

from fathom.cli.options import Json, Results, Scale, data_named, dataset_named, open_scale
from fathom.cli.terminal import answer, report, suggest
from fathom.config.schema.source import Source
from fathom.io.errors import FathomError, nearest, without_secrets

DatasetName = Annotated[
    str, typer.Argument(help="A data set of config/datasets, or its folder `<name>-<hash8>`.")
]
DataName = Annotated[
    str, typer.Argument(help="A data set that the scale uses, or its folder `<name>-<hash8>`.")
]


def fetch(
    source: Annotated[str, typer.Argument(help="A source, as `fathom list sources` names it.")],
    results: Results = None,
) -> None:
    """Fetch a source's file and check it.

    Size and checksum must be those of config/sources. The licence notice is
    printed and saved.

    Example: fathom fetch django
    """
    from fathom.data.fetch import fetch

    project, paths = open_scale(None, results)
    if source not in project.sources:
        remedy = f"{nearest(source, project.sources)}. All: fathom list sources"
        raise FathomError(f"no source '{source}'", "source", remedy)
    fetch(project.sources[source], paths.source(source), paths.by_hand, report)


# Addresses that are asked at the same time.
_TOGETHER = 8


def doctor(scale: Scale = None, as_json: Json = False) -> None:
    """Ask whether the addresses of a scale's text answer.

    Sends a HEAD request to each and downloads nothing; pip's packages and files
    that come by hand have no address. A line for each answer; exit code 1 if no
    address has a file, or its published size.

    Example: fathom doctor --scale paper
    """
    from fathom.artefacts.needs import Needs, sources_of

    project, paths = open_scale(scale)
    needs = Needs(project, paths.scale)
    places = [
        (source, file, address)
        for source in sources_of(project, needs.texts(*needs.runs))
        for file in source.contents
        for address in source.addresses(file)
    ]
    with ThreadPoolExecutor(_TOGETHER) as threads:
        answers = [*threads.map(lambda place: _answer(*place), places)]
    lines = (
        f"{each['source']}  {each['address']}: {each['fault'] or _bytes(each['bytes'])}"
        for each in answers
    )
    answer(as_json, answers, lines)
    files = {(each["source"], each["file"]) for each in answers}
    missing = files - {(each["source"], each["file"]) for each in answers if not each["fault"]}
    report(f"{len(files) - len(missing)} of {len(files)} files are at an address")
    if missing:
        raise typer.Exit(1)


def _answer(source: Source, file: str, address: str) -> dict[str, Any]:
    """Return what the server of an address says of a file."""
    from fathom.data.download import asked

    (fault, size), checks = asked(address), source.contents[file]
    if not fault and checks and size not in (None, checks.bytes):
        fault = f"{_bytes(size)}, not the published {checks.bytes:,}"
    place = without_secrets(address)
    return {"source": source.name, "file": file, "address": place, "bytes": size, "fault": fault}


def _bytes(size: int | None) -> str:
    return "there, of unknown size" if size is None else f"{size:,} bytes"


def prepare(
    dataset: DatasetName,
    task: Annotated[str | None, typer.Option(help="One of several independent tasks.")] = None,
    results: Results = None,
) -> None:
    """Clean, split and check a data set's text.

    Independent tasks, as those of wikipedia25, may be prepared one by one, and are then joined.

    Example: fathom prepare po_wheels_diverse
    """
    from fathom.data.prepare import prepare

    project, paths = open_scale(None, results)
    card = dataset_named(project, dataset)
    out = paths.corpus_named(card.corpus_folder(project.sources))
    prepare(card, project.sources, paths.source, out, report, task)
    suggest(paths.fathom("prepare" if task else "subwords", card.name))


def statistics(dataset: DatasetName, results: Results = None) -> None:
    """Count the pairs or sentences, tokens and types of a corpus.

    Tokens are those of sacreBLEU's tokenizer 13a.

    Example: fathom statistics po_wheels_diverse
    """
    from fathom.scoring.corpus import measure

    project, paths = open_scale(None, results)
    card = dataset_named(project, dataset)
    out = paths.corpus_named(card.corpus_folder(project.sources))
    measure(card, project.sources, out, report)


def subwords(data: DataName, scale: Scale = None, results: Results = None) -> None:
    """Learn the pieces and dictionaries of a data set.

    Example: fathom subwords po_wheels_diverse
    """
    from fathom.data.subwords import train

    project, paths = open_scale(scale, results)
    spec = data_named(project, data, paths.scale, attrgetter("subwords_folder"))
    train(spec, paths.pieces_corpus(spec), paths.subwords(spec), report)
    suggest(paths.command("encode", spec.folder))


def encode(data: DataName, scale: Scale = None, results: Results = None) -> None:
    """Turn a data set's text into ids.

    The unigram baseline is measured too.

    Example: fathom encode po_wheels_diverse
    """
    project, paths = open_scale(scale, results)
    spec = data_named(project, data, paths.scale)
    # Imported here: torch takes seconds, and a mistyped name need not wait for it.
    from fathom.data.encode import encode

    encode(spec, paths.corpus(spec), paths.subwords(spec), paths.tensors(spec), report)
    suggest("fathom list runs")
