"""What a reader must know of a table: comparability, metric, spreads, marks, what is missing."""

from collections.abc import Iterable, Iterator, Sequence

from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.differences import LEVEL, is_score
from fathom.artefacts.table.results import CellResult
from fathom.artefacts.table.sources import NOT_MEASURED, NOT_RUN, OTHER_DECODING
from fathom.config.schema.columns import Vocabulary
from fathom.config.schema.table import DIFFERENCE, GAIN, WITH_DIFFERENCE, Mark

FEW_SENTENCES = 100
FEW = "†"
ADDED = "*"
DOUBTFUL = "‡"
TURNED = "⇄"
WRONG_LANGUAGE = "the hypotheses are not in the language, or languages, that were asked for"
_MEANS = {
    GAIN: "a significant gain over",
    DIFFERENCE: "the number is the difference to",
    WITH_DIFFERENCE: "the number in parentheses is the difference to",
}


def notes_of(compared: ComparedTable) -> Iterator[str]:
    """Yield the notes of a table, one sentence or more each."""
    if compared.table.settings.caption:
        yield compared.table.settings.caption
    if any(item.reported for item in compared.cells):
        yield f"Rows named “paper” are the paper's own numbers; rows with {ADDED} are not in it."
    results = [item.result for item in compared.cells]
    if any(not result.comparable and result.cell.kind != "empty" for result in results):
        differ = f"At scale {compared.scale}, settings differ from the paper's"
        yield f"{differ}: the numbers cannot be compared with it."
    yield from notes_on_cells(compared)


def _against_notes(compared: ComparedTable) -> Iterator[str]:
    """Yield what the columns of a comparison with one row say, and of which column."""
    for column, row in compared.table.settings.less.items():
        shown = (item for item in compared.cells if item.result.cell.column == column)
        methods = dict.fromkeys(item.against.method for item in shown if item.against)
        words = "; ".join(filter(None, methods))
        interval = f"; in brackets: {words}" if words else ""
        yield f"{compared.called(column)}: minus that of {compared.called(row)}{interval}."
    items = [item for item in compared.cells if item.against and not item.result.cell.less]
    scores = [item for item in items if is_score(item.result)]
    if not scores:
        return
    column = scores[0].result.cell.column
    shown = [item.against for item in scores if item.result.cell.column == column and item.against]
    methods = "; ".join(dict.fromkeys(each.method for each in shown if each.method))
    less = f"difference: {compared.called(column)} minus that of {compared.table.settings.against}"
    yield f"{less}; low, high and p: {methods}." if methods else f"{less}."
    count = sum(each.p_holm is not None for each in shown)
    if count:
        yield f"p_holm: p with Holm's correction for {count} row{'s' if count > 1 else ''}."


def notes_on_cells(compared: ComparedTable) -> Iterator[str]:
    """Yield the notes of a table that are about its numbers, and not about its rows or scale."""
    results = [item.result for item in compared.cells]
    if compared.shown_as:
        yield f"Not the paper's text, but what the name says: {', '.join(_texts(compared))}."
    yield from _metric_notes(results, compared)
    yield from _spread_notes(results)
    yield from _against_notes(compared)
    if any(result.words.partition(":")[0] == NOT_RUN for result in results):
        yield f"{NOT_RUN}: the run was not trained."
    runs = {result.cell.source for result in results if result.cell.kind == "run"}
    if len({compared.sources[run].updates for run in runs}) > 1:
        yield "Rows are trained for different numbers of updates."
    for run, source in sorted(compared.sources.items()):
        if source.unused:
            yield f"{run}: {source.unused_words}; --seeds all shows every seed."
        if source.tf32_words:
            yield f"{run}: {source.tf32_words}."
    yield from _mark_notes(compared)
    if any(item.turned for item in compared.cells):
        yield f"{TURNED}: we have a result where the paper has none, or the reverse."
    yield from _cell_notes(results)


def metrics_of(results: Iterable[CellResult], vocabulary: Vocabulary) -> list[str]:
    """Return the metric of each score once: its unit, the tokenizer, and how it was computed."""
    words = []
    for result in results:
        if result.cell.value is None:
            continue
        unit = vocabulary.measurement(result.cell.value).unit or result.cell.value.measurement
        cut = f"tokenizer {result.cell.metric}" if result.cell.metric else ""
        cut += " (the text is scored as it is)" if result.cell.metric == "none" else ""
        words += [", ".join(filter(None, (unit, cut, how))) for how in result.how]
    return list(dict.fromkeys(words))


def _texts(compared: ComparedTable) -> list[str]:
    """Return what tasks are called: those of rows and columns, or all where none is one."""
    cells = [item.result.cell for item in compared.cells]
    places = {name.lower() for cell in cells for name in (cell.row, cell.column)}
    shown = [words for name, words in compared.shown_as.items() if name.lower() in places]
    return shown or list(compared.shown_as.values())


def _metric_notes(results: Sequence[CellResult], compared: ComparedTable) -> Iterator[str]:
    """Yield the metric of the scores with its signatures, and their gates."""
    scored = [result for result in results if result.cell.kind != "empty" and result.how]
    if scored:
        yield f"Metric: {'; '.join(metrics_of(scored, compared.table.vocabulary))}."
    unknown = dict.fromkeys(result.cell.task for result in scored if not result.cell.metric_known)
    if unknown and None not in unknown:
        yield f"The paper's metric is not known for {', '.join(map(str, unknown))}."
    gates = {result.cell.gates for result in scored}
    if "soft" in gates:
        yield "Soft gates have no noise."
    if "hard" in gates:
        kinds = (source.hard_gates for source in compared.sources.values())
        yield f"Hard gates leave out {', or '.join(dict.fromkeys(filter(None, kinds)))}."


def _spread_notes(results: Sequence[CellResult]) -> Iterator[str]:
    if any(result.deviation is not None for result in results):
        yield "±: standard error over the seeds."
    windows = [
        bool(result.cell.value and result.cell.value.window)
        for result in results
        if result.stderr is not None and result.deviation is None
    ]
    if any(windows):
        yield "±: standard deviation over the checkpoints of the window (one seed)."
    if not all(windows):
        yield "±: standard error over test sentences, by bootstrap (one seed)."
    counts = [result.sentences for result in results if result.sentences is not None]
    if any(count < FEW_SENTENCES for count in counts):
        yield f"{FEW}: fewer than {FEW_SENTENCES} test sentences."
    if any(result.doubtful for result in results):
        yield f"{DOUBTFUL}: {WRONG_LANGUAGE}."


def _mark_notes(compared: ComparedTable) -> Iterator[str]:
    """Yield what the paper's marks mean."""
    printed = [item.reported for item in compared.cells if item.reported]
    used = {item.mark for item in printed} | {item.mark for item in compared.cells}
    cells = [item.result.cell for item in compared.cells]
    columns = {cell.column for cell in cells}
    rows = {name for cell in cells for name in (cell.row, cell.id)}
    for name, mark in compared.table.marks.items():
        if name in used:
            to = mark.to  # a column, a row or a run
            if to in columns:
                to = compared.called(to)
            elif to not in rows:
                to = f"the run {to}"
            yield f"The paper's mark “{name}”: {_MEANS[mark.means]} {to}{_test(mark)}."
    less = {name for name, mark in compared.table.marks.items() if mark.means == DIFFERENCE}
    differences = (item for item in compared.cells if item.reported and item.reported.mark in less)
    if any(item.result.interval is not None for item in differences):
        yield "± of a difference: by bootstrap of both rows in pairs."
    signs = {item.sign: item.outcome for item in printed if item.outcome != item.sign}
    yield from (f"The paper's “{sign}”: {outcome}." for sign, outcome in signs.items() if outcome)
    if any(item.right for item in printed):
        yield "In brackets: what a misprint must mean."


def _test(mark: Mark) -> str:
    """Return the test of a mark in words, which our numbers take too."""
    if mark.test is None:
        return ""
    draws = f"{mark.draws:,} draws" if mark.draws else "draws"
    size = f" of {mark.share:.0%} of the sentences" if mark.share else ""
    agree = f", of which {mark.level or LEVEL:.0%} agree"
    return f", for our numbers too, by {mark.test.replace('_', ' ')} ({draws}{size}{agree})"


def _cell_notes(results: Sequence[CellResult]) -> Iterator[str]:
    """Yield what was not measured, and the notes of cells, each once."""
    unmeasured = (OTHER_DECODING, NOT_MEASURED)
    for words in unmeasured:
        details = list(dict.fromkeys(r.note for r in results if r.words.startswith(words)))
        if details:
            more = f" and {len(details) - 3} more" if len(details) > 3 else ""
            yield f"{words}: {'; '.join(details[:3])}{more}."
    notes = (
        f"{result.cell.row}: {result.note}."
        for result in results
        if result.note and (result.value is not None or result.lost)
        if not result.words.startswith(unmeasured)
    )
    yield from dict.fromkeys(notes)
