"""The verbs of text: fetch, prepare, subwords, encode."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from typing import Annotated

import typer

from fathom.cli.options import Results, Scale, data_named, dataset_named, open_scale
from fathom.cli.terminal import report, suggest
from fathom.config.schema.source import ByHand, Source
from fathom.io.errors import FathomError, nearest, without_secrets

DatasetName = Annotated[
    str, typer.Argument(help="A data set of config/datasets, or its folder `<name>-<hash8>`.")
]
DataName = Annotated[
    str, typer.Argument(help="A data set that the scale uses, or its folder `<name>-<hash8>`.")
]


# Addresses that are asked at the same time.
_TOGETHER = 8


def fetch(
    source: Annotated[
        str | None,
        typer.Argument(help="A source of `fathom list sources`. Default: all of the scale's text."),
    ] = None,
    scale: Scale = None,
    results: Results = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only ask whether addresses have the files.")
    ] = False,
) -> None:
    """Fetch a source's file and check it.

    Size and checksum must be those of config/sources. The licence notice is
    printed and saved. With --check each address gets a HEAD request and nothing is
    downloaded; exit code 1 if a file is at no address, or has another size there.
    pip's packages and files that come by hand have no address.

    Example: fathom fetch django
    """
    from fathom.artefacts.needs import Needs, sources_of
    from fathom.data.fetch import fetch

    project, paths = open_scale(scale, results)
    if source is None:
        needs = Needs(project, paths.scale)
        sources = sources_of(project, needs.texts(*needs.runs))
    elif source in project.sources:
        sources = [project.sources[source]]
    else:
        remedy = f"{nearest(source, project.sources)}. All: `fathom list sources`"
        raise FathomError(f"no source '{source}'", "source", remedy)
    if check:
        _ask(sources)
        return
    # What only the user can get stops nothing but itself.
    for each in sorted(sources, key=lambda each: isinstance(each, ByHand)):
        fetch(each, paths.source(each.name), paths.by_hand, report)


def _ask(sources: Iterable[Source]) -> None:
    """Print what each address of some sources answers."""
    places = [
        (source, file, address)
        for source in sources
        for file in source.contents
        for address in source.addresses(file)
    ]
    with ThreadPoolExecutor(_TOGETHER) as threads:
        answers = [*threads.map(lambda place: _answer(*place), places)]
    for *_, line in answers:
        print(line)
    files = {file for file, *_ in answers}
    found = {file for file, fault, _ in answers if not fault}
    report(f"{len(found)} of {len(files)} files are at an address")
    if files - found:
        raise typer.Exit(1)


def _answer(source: Source, file: str, address: str) -> tuple[tuple[str, str], str, str]:
    """Return a file of a source, what is wrong with it at an address, and what a user reads."""
    from fathom.data.download import asked

    (fault, size), checks = asked(address), source.contents[file]
    there = "there, of unknown size" if size is None else f"{size:,} bytes"
    if not fault and checks and size not in (None, checks.bytes):
        fault = f"{there}, not the published {checks.bytes:,}"
    line = f"{source.name}  {without_secrets(address)}: {fault or there}"
    return (source.name, file), fault, line


def prepare(
    dataset: DatasetName,
    task: Annotated[str | None, typer.Option(help="One of several independent tasks.")] = None,
    count: Annotated[
        bool, typer.Option("--count", help="Only count the text, which is prepared already.")
    ] = False,
    results: Results = None,
) -> None:
    """Clean, split and check a data set's text.

    Independent tasks, as those of wikipedia25, may be prepared one by one, and are then joined.
    With --count, statistics.json gets the pairs or sentences, tokens and types of the text;
    tokens are those of sacreBLEU's tokenizer 13a.

    Example: fathom prepare po_wheels_diverse
    """
    project, paths = open_scale(None, results)
    card = dataset_named(project, dataset)
    out = paths.corpus_named(card.corpus_folder(project.sources))
    if count and task:
        raise FathomError("--count counts all tasks", "--task", "leave one of the two out")
    if count:
        from fathom.scoring.corpus import measure

        measure(card, project.sources, out, report)
        return
    from fathom.data.prepare import prepare

    prepare(card, project.sources, paths.source, out, report, task)
    suggest(paths.fathom("prepare" if task else "subwords", card.name))


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
