"""What a reader must know of a table: comparability, metric, spreads, marks, what is missing."""

from collections.abc import Iterable, Iterator, Sequence

from fathom.papers.table_settings import Mark
from fathom.papers.vocabulary import Vocabulary
from fathom.tables.comparison import DIFFERENCE, ComparedTable
from fathom.tables.differences import LEVEL
from fathom.tables.results import CellResult
from fathom.tables.sources import NOT_MEASURED, NOT_RUN, OTHER_DECODING

FEW_SENTENCES = 100
FEW = "†"
ADDED = "*"
DOUBTFUL = "‡"
_MEANS = {
    "significant": "a significant difference",
    "difference": "the number is the difference",
    "with difference": "the number in parentheses is the difference",
}


def notes_of(compared: ComparedTable) -> Iterator[str]:
    """Yield the notes of a table, one sentence or more each."""
    if any(item.reported for item in compared.cells):
        yield f"Rows named “paper” are the paper's own numbers; rows with {ADDED} are not in it."
    own = (item.result for item in compared.cells)
    if any(not item.comparable and item.cell.kind != "empty" for item in own):
        yield (
            f"At scale {compared.scale}, settings differ from the paper's: the numbers cannot be "
            "compared with it."
        )
    yield from notes_on_cells(compared)


def notes_on_cells(compared: ComparedTable) -> Iterator[str]:
    """Yield the notes of a table that are about its numbers, and not about its rows or scale."""
    items, table = compared.cells, compared.table
    own = [item.result for item in items]
    if compared.shown_as:
        names = ", ".join(compared.shown_as.values())
        yield f"Not the paper's text, but what the name says: {names}."
    yield from _metric_notes(own, table.vocabulary)
    yield from _spread_notes(own)
    if any(item.words == NOT_RUN for item in own):
        yield f"{NOT_RUN}: the run was not trained."
    if table.settings.unequal:
        yield f"Rows are trained for different numbers of updates: {table.settings.unequal}."
    for run, source in sorted(compared.sources.items()):
        if source.unused:
            yield f"{run}: {source.unused_words}; --seeds all shows every seed."
    yield from _mark_notes(compared)
    yield from first_notes(compared)
    for words in (OTHER_DECODING, NOT_MEASURED):
        details = dict.fromkeys(item.note for item in own if item.words.startswith(words))
        if details:
            more = f" and {len(details) - 3} more" if len(details) > 3 else ""
            yield f"{words}: {'; '.join(list(details)[:3])}{more}."
    notes = [
        f"{item.cell.row}: {item.note}." for item in own if item.value is not None and item.note
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


def _metric_notes(own: Sequence[CellResult], vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the metric of the scores with its signatures, and their gates."""
    scored = [item for item in own if item.cell.kind != "empty" and item.how]
    if scored:
        yield f"Metric: {'; '.join(metrics_of(scored, vocabulary))}."
    unknown = dict.fromkeys(item.cell.task for item in scored if not item.cell.metric_known)
    if unknown and None not in unknown:
        yield f"The paper's metric is not known for {', '.join(map(str, unknown))}."
    gates = {item.cell.gates for item in scored}
    if gates >= {"soft", "hard"}:
        yield "Soft gates have no noise; hard gates leave out layers with p < 0.5."
    elif "soft" in gates:
        yield "Rows with gates are scored with soft gates without noise."
    elif "hard" in gates:
        yield "Hard gates leave out layers with p < 0.5."


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
        yield f"{DOUBTFUL}: the hypotheses are not in the languages that were asked for."


def _mark_notes(compared: ComparedTable) -> Iterator[str]:
    """Yield what the paper's marks mean."""
    used = {item.reported.mark for item in compared.cells if item.reported}
    used |= {item.mark for item in compared.cells}
    for name, mark in compared.table.marks.items():
        if name in used:
            to = f" to {mark.to}" if mark.to else ""
            yield f"“{name}”: {_MEANS[mark.means]}{to}{_test(mark)}."
    less = {name for name, mark in compared.table.marks.items() if mark.means == DIFFERENCE}
    differences = (item for item in compared.cells if item.reported and item.reported.mark in less)
    if any(item.result.interval is not None for item in differences):
        yield "± of a difference: by bootstrap of both rows in pairs."
    if any(item.reported and item.reported.right for item in compared.cells):
        yield "In brackets: what a misprint must mean."


def _test(mark: Mark) -> str:
    """Return the test of a mark in words, which our numbers take too."""
    if mark.test is None:
        return ""
    draws = f"{mark.draws:,} draws" if mark.draws else "draws"
    size = f" of {mark.share:.0%} of the sentences" if mark.share else ""
    agree = f", of which {mark.level or LEVEL:.0%} agree"
    return f", for our numbers too, by {mark.test.replace('_', ' ')} ({draws}{size}{agree})"


def first_notes(compared: ComparedTable) -> Iterator[str]:
    """Yield a warning while the row to be trained first is outside its band."""
    first = compared.table.settings.first
    if first is None:
        return
    for column, (low, high) in first.bands.items():
        for item in compared.cells:
            cell = item.result.cell
            if (cell.id, cell.column) == (first.row, column) and item.result.comparable:
                value = item.result.value
                if value is None or not low <= value <= high:
                    yield (
                        f"Train {first.row} first: its {column} is to be between {low} and {high}, "
                        f"and is {item.result.words if value is None else format(value, '.2f')}."
                    )
