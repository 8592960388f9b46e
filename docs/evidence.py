"""Keep results of a scale in docs/results, and update the page that shows them.

    python -m docs.evidence results tiny_long

docs/results is a tree of results without its runs: `fathom diff` compares another one with it.
"""

import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from fathom.artefacts.parameters import KEY as SIZE
from fathom.artefacts.rendering import write_csv
from fathom.artefacts.table.differences import parts_over_seeds
from fathom.artefacts.table.sources import NOT_RUN
from fathom.config.claims import Claim
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.schedules import learning_rate
from fathom.config.spec import Spec
from fathom.results.measurements import FINISHED
from fathom.results.tree import SEEDS, RunResults, read_run, rows
from fathom.scoring.students_t import OUTSIDE, Parts, half_interval, holm, p_value

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "results"
SCALE, PAPER, TABLE = "tiny_long", "latent_depth", "table5"
PAGE = ROOT / "docs" / "results.md"
RUNS = "runs.csv"
# Files that are kept, and those that are not: points of each layer at each update, 2.3 MB.
FILES = ("*/*.csv", "*/*.md", "*/*_curves.svg", "claims.csv")
NOT_KEPT = ("deep/transparent_attention/figure4.csv", "tiny/latent_depth/figure6.csv")
SCALES = ("tiny", SCALE, "deep")
LADDERS = ("deep",)  # scales that ask which rows train, and at which rate
# Rows are compared with the base; and these pairs, by BLEU.
BASE = "12/12"
PAIRS = {"LL-D, 24/24": ("24/24", "Gates at ½, 24/24")}
# Answers of claims that results decided.
ANSWERED = ("holds", "fails", "inconclusive")
HOUR = 3600
NEARLY_ALL = 0.9  # of the layers
# What a claim asks of a comparison, at its end; and letters above which it is its difference alone.
_ASKED = re.compile(r" ([<>]=? \S+)$")
LONG = 180
# How far a training that failed ended from the unigram baseline, in a note of a cell.
_DISTANCE = re.compile(r"\(([\d.]+ (?:above|below)) the unigram\)")


def keep(results: Path, scale: str, kept: Path = KEPT) -> None:
    """Copy the artefacts of a scale, and write a line for each of its trainings."""
    folder, top = kept / scale, results / scale
    project = load(ROOT)
    trainings = list(_trainings(project, results, scale))
    if not trainings:
        raise SystemExit(f"{results}: no training of scale {scale} has ended")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in (path for pattern in FILES for path in sorted(top.glob(pattern))):
        name = path.relative_to(top)
        if f"{scale}/{name.as_posix()}" not in NOT_KEPT:
            copy = folder / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    write_csv(folder / RUNS, list(trainings[0]), trainings)


def _trainings(project: Project, results: Path, scale: str) -> Iterator[dict[str, Any]]:
    """Yield a line for each training of a scale that has ended."""
    for name in project.entries:
        spec = project.spec(name, scale)
        for folder in sorted(Paths(results, scale).run(spec, 1).parent.glob("*/")):
            if run := read_run(folder):
                yield {
                    "run": name,
                    "seed": run.seed,
                    "identity": spec.identity[:8],
                    "layers": f"{spec.model.encoder_layers}/{spec.model.decoder_layers}",
                    "width": spec.model.width,
                    "peak_rate": f"{highest_rate(spec, run.training.totals.updates):.3g}",
                    "precision": spec.training.precision,
                } | _measured(run)


def highest_rate(spec: Spec, updates: int) -> float:
    """Return the highest learning rate of a training's first updates; 0 without any."""
    settings = spec.training
    end = settings.updates if isinstance(settings.updates, int) else updates
    rate = learning_rate(settings.schedule, spec.model.width, end)
    rates = (settings.rate_factor * rate(update) for update in range(1, updates + 1))
    return max(rates, default=0.0)


def _measured(run: RunResults) -> dict[str, Any]:
    """Return how a training ended, how far it is below the baseline, and what it took."""
    training, validation = run.training, run.training.validation
    return {
        "outcome": training.outcome.kind,
        "updates": training.totals.updates,
        "valid_nll": validation.nll if validation else "",
        "unigram_nll": training.unigram_nll,
        "seconds": training.totals.seconds,
        "device": training.device.get("name") or training.device.get("type"),
        "torch": training.versions.get("torch"),
        "commit": training.commit_words,
    }


def parts(kept: Path = KEPT) -> dict[str, str]:
    """Return what the page says of the kept files, as Markdown by part."""
    folder = kept / SCALE
    _, _, table = (folder / PAPER / f"{TABLE}.md").read_text(encoding="utf-8").partition("\n")
    trained = {scale: rows(kept / scale / RUNS) for scale in SCALES if (kept / scale).is_dir()}
    judged = {scale: kept / scale / "claims.csv" for scale in trained}
    answers = {scale: rows(path) for scale, path in judged.items() if path.is_file()}
    today = [claim for of_paper in load(ROOT).claims.values() for claim in of_paper.values()]
    return {
        **{f"trainings of {scale}": _summary(lines) for scale, lines in trained.items()},
        **{f"answers of {scale}": _answers(lines, today) for scale, lines in answers.items()},
        **{name: part for scale in LADDERS for name, part in of_ladder(kept / scale).items()},
        "table": _of_both(table.strip()) + "\n",
        "differences": "".join(f"- {sentence}\n" for sentence in _sentences(folder)),
        "claims": _claims(answers[SCALE], f"{PAPER}/{TABLE}"),
        "likelihood or bleu": _grid(folder / "likelihood_or_bleu" / "table1.md"),
    }


def _of_both(table: str) -> str:
    """Return the Markdown of the table with headings that a table of contents can show."""
    heading = "\n## Table 5: what the paper does not print\n"
    table = table.replace("\n## Not in the paper\n", heading)
    return table.replace("\n\n- ", "\n\nNotes on both tables:\n\n- ", 1)


def of_ladder(folder: Path) -> dict[str, str]:
    """Return the parts on which rows train; before there are results, that there are none."""
    scale, claims = folder.name, folder / "claims.csv"
    if not folder.is_dir():
        return {f"trainings of {scale}": f"No results of `{scale}` are kept yet.\n"}
    return {
        f"rows of {scale}": _which_train(folder),
        f"claims of {scale}": _claims(rows(claims)) if claims.is_file() else "",
        f"missing of {scale}": _missing(folder),
        f"ladders of {scale}": _grid(folder / "ladders" / "table1.md"),
        f"highest rate of {scale}": _each_seed(folder / "ladders" / "table2"),
    }


def _grid(path: Path) -> str:
    """Return the table alone of an artefact's Markdown."""
    lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
    return "".join(f"{line}\n" for line in lines if line.startswith("|"))


def _each_seed(table: Path) -> str:
    """Return the number of each seed of a table and, of a seed that failed, how far it ended.

    Args:
        table: the file of a table, without its ending.
    """
    if not table.with_suffix(".csv").is_file():
        return ""
    columns: list[str] = []
    cells: dict[str, list[str]] = {}
    numbers = rows(table.with_name(f"{table.name}_seeds.csv"))
    for line in rows(table.with_suffix(".csv")):
        row, column = line["row"], line["column"]
        of_cell = [each for each in numbers if (each["row"], each["column"]) == (row, column)]
        ends = [f"{float(each['value']):.2f}" for each in of_cell]
        ends += _DISTANCE.findall(line["note"])
        columns += [column] * (column not in columns)
        cells.setdefault(row, []).append(", ".join(ends))
    heading = [("", *columns), ("---",) * (len(columns) + 1)]
    return _markdown([*heading, *((row, *texts) for row, texts in cells.items())])


def _summary(trainings: Sequence[Mapping[str, str]]) -> str:
    """Return how many trainings there were, what they learned, and what they took."""

    def all_of(column: str) -> str:
        return " and ".join(sorted({line[column] for line in trainings}))

    runs = {line["run"] for line in trainings}
    updates = ", ".join(f"{n:,}" for n in sorted({int(line["updates"]) for line in trainings}))
    outcomes = Counter(line["outcome"].replace("_", " ") for line in trainings)
    ended = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    hours = sum(float(line["seconds"]) for line in trainings) / HOUR
    below = [_below(line) for line in trainings if line["outcome"] == FINISHED]
    learned = below and (
        f" Where they finished, their validation NLL ended {min(below):.2f} to {max(below):.2f} "
        "nats below the unigram baseline."
    )
    return (
        f"{len(trainings)} trainings of {len(runs)} runs with {updates} updates: "
        f"{ended}, after {hours:.2f} hours of one core in all ({all_of('device')}, "
        f"torch {all_of('torch')}, commit {all_of('commit')}).{learned or ''}\n"
    )


def _below(line: Mapping[str, str]) -> float:
    """Return how many nats a training ended below the unigram baseline."""
    return float(line["unigram_nll"]) - float(line["valid_nll"] or "nan")


def _answers(lines: Sequence[Mapping[str, str]], today: Iterable[Claim]) -> str:
    """Return how many parts of claims have each answer, as Markdown, and which are not today's."""
    counts = Counter(
        (line["paper"], line.get("reading") or "printed", line["answer"]) for line in lines
    )
    answers = [*dict.fromkeys((*ANSWERED, *(answer for *_, answer in counts)))]
    table = [("paper", "who says it", *answers), ("---",) * (2 + len(answers))]
    for paper, reading in dict.fromkeys((paper, reading) for paper, reading, _ in counts):
        words = "the paper" if reading == "printed" else "our reading"
        numbers = (str(counts[paper, reading, answer]) for answer in answers)
        table.append((paper, words, *numbers))
    asked = ("paper", "claim", "part", "expression", "guard")
    judged = {(*map(line.get, asked), line.get("reading") or "printed") for line in lines}
    changed = dict.fromkeys(
        f"`{claim.name}`"
        for claim in today
        for part in claim.parts
        if (claim.paper, claim.name, part.name, part.text, part.guard_text, part.reading)
        not in judged
    )
    since = f"\nNew, or changed since these answers: {', '.join(changed)}.\n" if changed else ""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in table) + since


def _which_train(folder: Path) -> str:
    """Return how each seed of each row ended and with which settings, as Markdown."""
    trained = rows(folder / RUNS)
    seeds = sorted({int(line["seed"]) for line in trained})
    heading = ("paper", "row", "highest rate", "depth", "width", "precision", "updates")
    table: list[Sequence[str]] = [(*heading, *(f"seed {seed}" for seed in seeds))]
    table.append(("---",) * len(table[0]))
    lines = {(line["run"], int(line["seed"])): line for line in trained}
    for run, name in _first_places(folder).items():
        of_run = {seed: lines[run, seed] for seed in seeds if (run, seed) in lines}
        if not of_run:
            continue
        # A training that diverges in its warm-up has a lower rate.
        most = max(of_run.values(), key=lambda line: float(line["peak_rate"]))
        settings = (most[key] for key in ("peak_rate", "layers", "width", "precision"))
        updates = " to ".join(sorted({line["updates"] for line in of_run.values()}, key=int))
        ends = (_end(of_run[seed]) if seed in of_run else "" for seed in seeds)
        table.append((run.partition("/")[0], name, *settings, updates, *ends))
    return _markdown(table)


def _first_places(folder: Path) -> dict[str, str]:
    """Return the runs of the kept tables, each with the row that shows it first, sizes last."""
    found: dict[str, str] = {}
    lines = [(line, cells) for cells in tables(folder).values() for line in cells if line["run"]]
    for line, cells in sorted(lines, key=lambda item: item[0]["measurement"] == SIZE):
        of_row = {each["run"] for each in cells if each["row"] == line["row"]} - {""}
        column = f", {line['column']}" if len(of_row) > 1 else ""
        found.setdefault(line["run"], f"{line['table']}: {line['row']}{column}")
    return found


def tables(folder: Path) -> dict[str, list[dict[str, str]]]:
    """Return the cells of the kept tables by `<paper>/<table>`, in the order of the papers."""
    found = {}
    for paper in load(ROOT).papers.values():
        for table in paper.tables:
            path = folder / paper.name / f"{table}.csv"
            if path.is_file():
                lines = [line | {"table": table} for line in rows(path)]
                found[f"{paper.name}/{table}"] = lines
    return found


def _end(line: Mapping[str, str]) -> str:
    """Return the nats below the unigram baseline of a training, and the outcome of a failed one."""
    nats = f"{_below(line):.2f}" if line["valid_nll"] else ""
    if line["outcome"] == FINISHED:
        return nats
    return " ".join(filter(None, (line["outcome"].replace("_", " "), nats and f"({nats})")))


def _missing(folder: Path) -> str:
    """Return which artefacts were not drawn or not kept, and which runs of tables lack."""
    sentences = []
    for paper in load(ROOT).papers.values():
        names = [*paper.tables, *paper.figures]
        files = {name: folder / paper.name / f"{name}.csv" for name in names}
        left_out = [
            name
            for name, path in files.items()
            if f"{folder.name}/{paper.name}/{path.name}" in NOT_KEPT
        ]
        missing = [name for name in names if not files[name].is_file() and name not in left_out]
        if missing:
            some = ", ".join(missing) if len(missing) < len(names) else "all tables and figures"
            sentences.append(f"Not drawn of {paper.name}: {some}.")
        if left_out:
            sentences.append(
                f"Drawn, but too large to keep: {', '.join(left_out)} of {paper.name}."
            )
    for name, cells in tables(folder).items():
        runs = {line["run"] for line in cells if line["run"]}
        lacking = dict.fromkeys(line["run"] for line in cells if line["words"].startswith(NOT_RUN))
        if lacking:
            named = ", ".join(f"`{run.partition('/')[2]}`" for run in lacking)
            sentences.append(
                f"{len(lacking)} of {len(runs)} runs of {name} lack trainings: {named}."
            )
    return "".join(f"- {sentence}\n" for sentence in sentences) or "Nothing is missing.\n"


def _markdown(table: Iterable[Sequence[str]]) -> str:
    escaped = ([cell.replace("|", "\\|") for cell in cells] for cells in table)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in escaped)


@dataclass(frozen=True)
class Gap:
    """A row less another one."""

    value: float
    parts: Parts

    @property
    def half(self) -> float:
        """Half of the 95 % interval over seeds."""
        return half_interval(self.parts)

    def text(self, decimals: int) -> str:
        """Return the difference with its interval."""
        low, high = self.value - self.half, self.value + self.half
        return f"{self.value:+.{decimals}f} [{low:+.{decimals}f}, {high:+.{decimals}f}]"


def _sentences(folder: Path) -> Iterator[str]:
    """Yield what the numbers of the table and of its trainings say, in sentences."""
    cells = {(line["row"], line["column"]): line for line in rows(folder / PAPER / f"{TABLE}.csv")}
    runs = {row: line["run"] for (row, column), line in cells.items() if column == "avg"}
    others = [row for row in runs if row != BASE]
    nll = {row: _gap(_likelihoods(folder), runs[row], runs[BASE]) for row in others}
    bleu, how = scores(folder, cells)
    gaps = {row: bleu(row, BASE) for row in others}
    yield f"By validation NLL, {_better_and_worse(nll, -1)}; by BLEU, {_better_and_worse(gaps, 1)}."
    yield (
        f"These have p < {OUTSIDE} with Holm's correction for {len(others)} rows "
        f"(NLL in pairs of equal seeds, BLEU {how})."
    )
    for row in others:
        both = nll[row], gaps[row]
        if all(abs(gap.value) > gap.half for gap in both) and both[0].value * both[1].value > 0:
            yield (
                f"For “{row}” the two disagree in sign: {both[0].text(3)} nats and "
                f"{both[1].text(2)} BLEU, 95 % intervals."
            )
    for row, bases in PAIRS.items():
        for base in bases:
            gap = bleu(row, base)
            side = f"{'above' if gap.value > 0 else 'below'} “{base}”"
            told = abs(gap.value) > gap.half
            words = f"is {side}" if told else f"cannot be told from “{base}”"
            yield f"“{row}” {words} by BLEU: {gap.text(2)}."
    yield from _of_gates(cells, runs)


def _of_gates(
    cells: Mapping[tuple[str, str], Mapping[str, str]], runs: Mapping[str, str]
) -> Iterator[str]:
    """Yield what became of the decoders' gates: whether the target was met, and layers chosen."""
    project, met = load(ROOT), {}
    for row, run in runs.items():
        spec = project.spec(run, SCALE)
        target, layers = spec.method.settings.get("target_depth"), spec.model.decoder_layers
        if target is None or (row, "depth_decoder") not in cells:
            continue
        names = ("avg", "avg_hard", "depth_decoder", "probability_decoder")
        soft, hard, depth, total = (float(cells[row, name]["value"]) for name in names)
        if hard < soft / 2:
            yield (
                f"Hard gates of “{row}” have BLEU {hard:.1f}: {depth:.2f} of {layers} decoder "
                f"layers are left where K = {target:g}."
            )
        elif depth > NEARLY_ALL * layers:
            met.setdefault((target, layers), []).append((row, total, depth))
    for (target, layers), items in met.items():
        named, totals, depths = zip(*items, strict=True)
        yield (
            f"Σp of the decoder is {min(totals):.2f} to {max(totals):.2f} for K = {target:g}, and "
            f"E[L] {min(depths):.2f} to {max(depths):.2f} of {layers} ({_listed(named)}): the "
            f"target is met by p near K/L = {target / layers:.2g}, and hardly a layer is left out."
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)


def _likelihoods(folder: Path) -> dict[str, dict[int, float]]:
    """Return the validation NLL of each training, by run and seed."""
    found: dict[str, dict[int, float]] = {}
    for line in rows(folder / RUNS):
        found.setdefault(line["run"], {})[int(line["seed"])] = float(line["valid_nll"])
    return found


def _gap(numbers: Mapping[str, Mapping[int, float]], name: str, base: str) -> Gap:
    """Return a run or row less another one, from their numbers by seed."""
    first, second = numbers[name], numbers[base]
    parts = parts_over_seeds([(name, 1.0, first), (base, -1.0, second)])
    if isinstance(parts, str):
        raise SystemExit(f"{name} and {base}: no interval, {parts}")
    return Gap(fmean(first.values()) - fmean(second.values()), parts)


def scores(
    folder: Path, cells: Mapping[tuple[str, str], Mapping[str, str]]
) -> tuple[Callable[[str, str], Gap], str]:
    """Return what subtracts the averages of two rows, and how.

    Results of earlier versions have no numbers by seed; then runs are taken as independent.
    """
    path = folder / PAPER / f"{TABLE}{SEEDS}"
    if path.is_file():
        found: dict[str, dict[int, float]] = {}
        for line in rows(path):
            if line["column"] == "avg":
                found.setdefault(line["row"], {})[int(line["seed"])] = float(line["value"])
        return (lambda row, base: _gap(found, row, base)), "too"

    def subtracted(row: str, base: str) -> Gap:
        both = [cells[name, "avg"] for name in (row, base)]
        values = [float(line["value"]) for line in both]
        parts = [(float(line["stderr"]), int(line["seeds"])) for line in both]
        return Gap(values[0] - values[1], parts)

    return subtracted, "by Welch's t"


def _better_and_worse(gaps: Mapping[str, Gap], sign: int) -> str:
    """Return which rows are better and worse than the base; `sign` is 1 where more is better."""
    corrected = holm([p_value(gap.value, gap.parts) for gap in gaps.values()])
    pairs = [
        (row, gap) for (row, gap), p in zip(gaps.items(), corrected, strict=True) if p < OUTSIDE
    ]
    named = {
        word: _listed(row for row, gap in pairs if sign * gap.value * side > 0)
        for word, side in (("better", 1), ("worse", -1))
    }
    better, worse = (named[word] or "no row" for word in ("better", "worse"))
    return f"{better} {'are' if '”,' in better else 'is'} better than {BASE} and {worse} worse"


def _claims(lines: Sequence[Mapping[str, str]], artefact: str = "") -> str:
    """Return the claims that these results decide, of an artefact or all, as Markdown.

    claims.csv has the expressions, and all comparisons.
    """
    table = [("the paper says", "here", "what decides", "the paper's own cells"), ("---",) * 4]
    paper, _, name = artefact.partition("/")
    for line in lines:
        about = not artefact or (line["paper"] == paper and f"{name}[" in line["expression"])
        if about and line["answer"] in ANSWERED:
            part = line["part"].removeprefix(name).removeprefix("/" if name else "")
            of_paper = "" if artefact else line["paper"]
            where = ", ".join(filter(None, (of_paper, part)))
            sentence = f"“{line['sentence']}”" + (f" ({where})" if where else "")
            ours = "our reading: " if line.get("reading") == "ours" else ""
            decides = _decides(line["numbers"], f"{name} " if name else "")
            table.append((sentence, line["answer"], decides, ours + line["reported_answer"]))
    return _markdown(table)


def _decides(numbers: str, table: str) -> str:
    """Return the first comparison of an answer, without its table's name, and how many follow."""
    first, *others = numbers.replace(table, "").split("; ")
    text = _ASKED.sub(r", must be \1", first)
    if len(text) > LONG:
        text = text.rpartition(" = ")[2]
    return text + (f"; {len(others)} more" if others else "")


def replaced(text: str, part: str, new: str) -> str:
    """Return a page with the text between the marks of a part replaced."""
    begin, end = f"<!-- begin: {part} -->\n", f"<!-- end: {part} -->"
    before, _, rest = text.partition(begin)
    return f"{before}{begin}{new}{end}{rest.partition(end)[2]}"


def main() -> None:
    """Keep the results and the scale that the command line names, if any, and update the page."""
    if sys.argv[1:]:
        keep(Path(sys.argv[1]), sys.argv[2])
    update()


def update() -> None:
    """Update the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts().items():
        text = replaced(text, name, part)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
