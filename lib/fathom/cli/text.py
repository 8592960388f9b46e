"""The verbs of text: fetch, prepare, subwords, encode."""

from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.cli.options import Results, Scale, data_named, dataset_named, open_scale
from fathom.cli.terminal import print_lines, report, suggest
from fathom.config.schema.source import ByHand
from fathom.io.errors import FathomError, nearest

if TYPE_CHECKING:
    from fathom.data.sites import Lookup

DatasetName = Annotated[
    str, typer.Argument(help="A data set of config/datasets, or its folder `<name>-<hash8>`.")
]
DataName = Annotated[
    str, typer.Argument(help="A data set that the scale uses, or its folder `<name>-<hash8>`.")
]


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
    printed and saved. With --check the first bytes of each file are read and nothing
    is downloaded: what no address has comes first, then what you put there by hand;
    exit code 1 if a file is missing. Packages are left to pip.

    Example: fathom fetch django
    """
    from fathom.artefacts.needs import Needs, sources_of
    from fathom.data.fetch import fetch
    from fathom.data.sites import counts, look_up

    project, paths = open_scale(scale, results)
    needs = Needs(project, paths.scale)
    if source is None:
        sources = sources_of(project, needs.texts(*needs.runs))
    elif source in project.sources:
        sources = [project.sources[source]]
    else:
        remedy = f"{nearest(source, project.sources)}. All: `fathom list sources`"
        raise FathomError(f"no source '{source}'", "source", remedy)
    if check:
        found = look_up(sources, paths.source, paths.by_hand)
        for item in sorted(found, key=lambda item: isinstance(item.source, ByHand)):
            if item.is_missing:
                print_lines(_missing(item, needs.shown_from(item.source.name)))
        report(counts(found))
        if any(item.is_missing for item in found):
            raise typer.Exit(1)
        return
    # What only the user can get stops nothing but itself.
    for each in sorted(sources, key=lambda each: isinstance(each, ByHand)):
        fetch(each, paths.source(each.name), paths.by_hand, report)


def _missing(item: "Lookup", stopped: list[str]) -> Iterator[str]:
    """Yield what is known of a file that no address has, or that comes by hand."""
    by_hand = isinstance(item.source, ByHand)
    yield f"{item.source.name}  {item.file}: {'by hand' if by_hand else 'not found'}"
    yield from (f"  {fault}" for fault in item.faults)
    if stopped:
        yield f"  without it: no {', '.join(stopped)}"
    yield f"  to do: {item.remedy}"


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
