"""What a reader must know of a table: comparability, metric, spreads, marks, what is missing."""

from collections.abc import Iterable, Iterator, Sequence

from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.differences import LEVEL
from fathom.artefacts.table.results import CellResult
from fathom.artefacts.table.sources import NOT_MEASURED, NOT_RUN, OTHER_DECODING
from fathom.config.schema.table import DIFFERENCE, GAIN, WITH_DIFFERENCE, First, Mark
from fathom.config.vocabulary import Vocabulary

FEW_SENTENCES = 100
FEW = "†"
ADDED = "*"
DOUBTFUL = "‡"
WRONG_LANGUAGE = "the hypotheses are not in the languages that were asked for"
_MEANS = {
    GAIN: "a significant gain over",
    DIFFERENCE: "the number is the difference to",
    WITH_DIFFERENCE: "the number in parentheses is the difference to",
}


def notes_of(compared: ComparedTable) -> Iterator[str]:
    """Yield the notes of a table, one sentence or more each."""
    own = [item.result for item in compared.cells]
    yield from _origin_notes(compared, own)
    yield from notes_on_cells(compared)


def notes_on_cells(compared: ComparedTable) -> Iterator[str]:
    """Yield the notes of a table that are about its numbers, and not about its rows or scale."""
    items, table = compared.cells, compared.table
    own = [item.result for item in items]
    if compared.shown_as:
        names = ", ".join(_shown_names(compared))
        yield f"Not the paper's text, but what the name says: {names}."
    yield from _metric_notes(own, compared)
    yield from _spread_notes(own)
    if any(item.words == NOT_RUN for item in own):
        yield f"{NOT_RUN}: the run was not trained."
    if table.settings.unequal:
        yield f"Rows are trained for different numbers of updates: {table.settings.unequal}."
    for run, source in sorted(compared.sources.items()):
        if source.unused:
            yield f"{run}: {source.unused_words}; --seeds all shows every seed."
    yield from _mark_notes(compared)
    yield from warnings_of(compared)
    unmeasured = (OTHER_DECODING, NOT_MEASURED)
    for words in unmeasured:
        details = dict.fromkeys(item.note for item in own if item.words.startswith(words))
        if details:
            more = f" and {len(details) - 3} more" if len(details) > 3 else ""
            yield f"{words}: {'; '.join(list(details)[:3])}{more}."
    notes = [
        f"{item.cell.row}: {item.note}."
        for item in own
        if item.note and (item.value is not None or item.lost)
        if not item.words.startswith(unmeasured)
    ]
    yield from dict.fromkeys(notes)


def metrics_of(own: Iterable[CellResult], vocabulary: Vocabulary) -> list[str]:
    """Return the metric of each score once: its unit, the tokenizer, and how it was computed."""
    words = []
    for item in own:
        if item.cell.value is None:
            continue
        unit = vocabulary.measurement(item.cell.value).unit or item.cell.value.measurement
        cut = f"tokenizer {item.cell.metric}" if item.cell.metric else ""
        cut += " (the text is scored as it is)" if item.cell.metric == "none" else ""
        words += [", ".join(filter(None, (unit, cut, how))) for how in item.how]
    return list(dict.fromkeys(words))


def _origin_notes(compared: ComparedTable, own: Sequence[CellResult]) -> Iterator[str]:
    """Yield what is shown, and whose numbers they are."""
    if compared.table.settings.caption:
        yield compared.table.settings.caption
    if any(item.reported for item in compared.cells):
        yield f"Rows named “paper” are the paper's own numbers; rows with {ADDED} are not in it."
    if any(not item.comparable and item.cell.kind != "empty" for item in own):
        yield (
            f"At scale {compared.scale}, settings differ from the paper's: the numbers cannot be "
            "compared with it."
        )


def _shown_names(compared: ComparedTable) -> list[str]:
    """Return what tasks are called: those of rows and columns, or all where none is one."""
    cells = [item.result.cell for item in compared.cells]
    places = {name.lower() for cell in cells for name in (cell.row, cell.column)}
    own = [words for name, words in compared.shown_as.items() if name.lower() in places]
    return own or list(compared.shown_as.values())


def _metric_notes(own: Sequence[CellResult], compared: ComparedTable) -> Iterator[str]:
    """Yield the metric of the scores with its signatures, and their gates."""
    scored = [item for item in own if item.cell.kind != "empty" and item.how]
    if scored:
        yield f"Metric: {'; '.join(metrics_of(scored, compared.table.vocabulary))}."
    unknown = dict.fromkeys(item.cell.task for item in scored if not item.cell.metric_known)
    if unknown and None not in unknown:
        yield f"The paper's metric is not known for {', '.join(map(str, unknown))}."
    gates = {item.cell.gates for item in scored}
    if "soft" in gates:
        yield "Soft gates have no noise."
    if "hard" in gates:
        kinds = (source.hard_gates for source in compared.sources.values())
        yield f"Hard gates leave out {', or '.join(dict.fromkeys(filter(None, kinds)))}."


def _spread_notes(own: Sequence[CellResult]) -> Iterator[str]:
    several = [item for item in own if item.deviation is not None]
    single = [item for item in own if item.stderr is not None and item.deviation is None]
    if several:
        yield "±: standard error over the seeds."
    windows = [bool(item.cell.value and item.cell.value.window) for item in single]
    if any(windows):
        yield "±: standard deviation over the checkpoints of the window (one seed)."
    if not all(windows):
        yield "±: standard error over test sentences, by bootstrap (one seed)."
    if any(item.sentences is not None and item.sentences < FEW_SENTENCES for item in own):
        yield f"{FEW}: fewer than {FEW_SENTENCES} test sentences."
    if any(item.doubtful for item in own):
        yield f"{DOUBTFUL}: {WRONG_LANGUAGE}."


def _mark_notes(compared: ComparedTable) -> Iterator[str]:
    """Yield what the paper's marks mean."""
    used = {item.reported.mark for item in compared.cells if item.reported}
    used |= {item.mark for item in compared.cells}
    for name, mark in compared.table.marks.items():
        if name in used:
            to = _called(mark.to, compared)
            yield f"“{name}”: {_MEANS[mark.means]} {to}{_test(mark)}."
    less = {name for name, mark in compared.table.marks.items() if mark.means == DIFFERENCE}
    differences = (item for item in compared.cells if item.reported and item.reported.mark in less)
    if any(item.result.interval is not None for item in differences):
        yield "± of a difference: by bootstrap of both rows in pairs."
    if any(item.reported and item.reported.right for item in compared.cells):
        yield "In brackets: what a misprint must mean."


def _called(name: str, compared: ComparedTable) -> str:
    """Return the words of a row, a column or a run that a mark names."""
    vocabulary = compared.table.vocabulary
    if any(name == item.result.cell.column for item in compared.cells):
        return compared.shown_as.get(name, vocabulary.title(name))
    is_row = any(name in (item.result.cell.row, item.result.cell.id) for item in compared.cells)
    return name if is_row else f"the run {name}"


def _test(mark: Mark) -> str:
    """Return the test of a mark in words, which our numbers take too."""
    if mark.test is None:
        return ""
    draws = f"{mark.draws:,} draws" if mark.draws else "draws"
    size = f" of {mark.share:.0%} of the sentences" if mark.share else ""
    agree = f", of which {mark.level or LEVEL:.0%} agree"
    return f", for our numbers too, by {mark.test.replace('_', ' ')} ({draws}{size}{agree})"


def warnings_of(compared: ComparedTable) -> Iterator[str]:
    """Yield which row is to be trained first, of this table and of others."""
    if first := compared.table.settings.first:
        yield from first_notes(first, (item.result for item in compared.cells))
    yield from compared.warnings


def first_notes(first: First, own: Iterable[CellResult], place: str = "") -> Iterator[str]:
    """Yield a warning while the row to be trained first is outside its band.

    Args:
        first: the row and its bands.
        own: cells, among others those of the row.
        place: the table of the row, in words, where it is another one.
    """
    for item in own:
        band = first.bands.get(item.cell.column)
        if item.cell.id != first.row or band is None or not item.comparable:
            continue
        low, high = band
        if item.value is None or not low <= item.value <= high:
            yield (
                f"Train {first.row}{place} first: its {item.cell.column} is to be between {low} "
                f"and {high}, and is {item.words if item.value is None else f'{item.value:.2f}'}."
            )
