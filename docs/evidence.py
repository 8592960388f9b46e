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
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from docs.readme_table import ROOT, replaced
from fathom.artefacts.rendering import write_csv
from fathom.artefacts.table.differences import parts_over_seeds
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.schedules import highest_rate
from fathom.results.measurements import FINISHED
from fathom.results.tree import SEEDS, RunResults, read_run, rows
from fathom.scoring.students_t import OUTSIDE, Parts, half_interval, holm, p_value

SCALE, PAPER, TABLE = "tiny_long", "latent_depth", "table5"
PAGE, KEPT = ROOT / "docs" / "results.md", ROOT / "docs" / "results"
RUNS = "runs.csv"
# Files that are kept as they are, and the pages of papers without their links to runs.
FILES = ("*/*.csv", "*/*.md", "curves/*", "claims.csv")
SCALES = ("tiny", SCALE, "deep")
# Scales that ask which rows train, and at which rate.
LADDERS = ("deep",)
# Rows are compared with the base; and these pairs, by BLEU.
BASE = "12/12"
PAIRS = {"LL-D, 24/24": ("24/24", "Gates at ½, 24/24")}
# Answers of claims that results decided.
ANSWERED = ("holds", "fails", "inconclusive")
HOUR = 3600
NEARLY_ALL = 0.9  # of the layers
# Links of a page to the files of its runs, which are not kept.
_TO_RUNS = re.compile(r'<a\b[^>]*href="\.\./[^"]*"[^>]*>(.*?)</a>', re.DOTALL)


def keep(results: Path, scale: str, kept: Path = KEPT) -> None:
    """Copy the artefacts of a scale, and write a line for each of its trainings."""
    folder, top = kept / scale, results / scale
    project = load(ROOT)
    shutil.rmtree(folder, ignore_errors=True)
    for path in (path for pattern in FILES for path in sorted(top.glob(pattern))):
        copy = folder / path.relative_to(top)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    for page in (top / f"{paper}.html" for paper in project.papers):
        if page.is_file():
            text = _TO_RUNS.sub(r"\1", page.read_text(encoding="utf-8"))
            (folder / page.name).write_text(text, encoding="utf-8")
    trainings = list(_trainings(project, results, scale))
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
                    "peak_rate": f"{highest_rate(spec, run.training.totals.updates):.3g}",
                    "precision": spec.training.precision,
                } | _measured(run)


def _measured(run: RunResults) -> dict[str, Any]:
    """Return how a training ended, how far it is below the baseline, and what it took."""
    training = run.training
    return {
        "outcome": training.outcome.kind,
        "updates": training.totals.updates,
        "valid_nll": run.over_all("last_validation"),
        "unigram_nll": run.over_all("unigram_nll"),
        "seconds": training.totals.seconds,
        "device": training.device.get("name") or training.device.get("type"),
        "torch": training.versions.get("torch"),
        "commit": (training.commit or "")[:8],
    }


def parts(kept: Path = KEPT) -> dict[str, str]:
    """Return what the page says of the kept files, as Markdown by part."""
    folder = kept / SCALE
    _, _, table = (folder / PAPER / f"{TABLE}.md").read_text(encoding="utf-8").partition("\n")
    trained = {scale: rows(kept / scale / RUNS) for scale in SCALES if (kept / scale).is_dir()}
    answers = {scale: rows(kept / scale / "claims.csv") for scale in trained}
    return {
        **{f"trainings of {scale}": _summary(lines) for scale, lines in trained.items()},
        **{f"answers of {scale}": _answers(lines) for scale, lines in answers.items()},
        **{
            f"rows of {scale}": _which_train(trained[scale])
            for scale in trained
            if scale in LADDERS
        },
        "table": table.strip() + "\n",
        "differences": "".join(f"- {sentence}\n" for sentence in _sentences(folder)),
        "claims": _claims(rows(folder / "claims.csv")),
    }


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
    return (
        f"{len(trainings)} trainings of {len(runs)} runs with {updates} updates: "
        f"{ended}, after {hours:.2f} hours of one core in all ({all_of('device')}, "
        f"torch {all_of('torch')}, commit {all_of('commit')}). Where they finished, their "
        f"validation NLL ended {min(below):.2f} to {max(below):.2f} nats below the unigram "
        "baseline.\n"
    )


def _below(line: Mapping[str, str]) -> float:
    """Return how many nats a training ended below the unigram baseline."""
    return float(line["unigram_nll"]) - float(line["valid_nll"] or "nan")


def _answers(lines: Sequence[Mapping[str, str]]) -> str:
    """Return how many parts of claims have each answer, as Markdown."""
    counts = Counter(
        (line["paper"], line.get("reading") or "printed", line["answer"]) for line in lines
    )
    answers = [*dict.fromkeys((*ANSWERED, *(answer for *_, answer in counts)))]
    table = [("paper", "who says it", *answers), ("---",) * (2 + len(answers))]
    for paper, reading in dict.fromkeys((paper, reading) for paper, reading, _ in counts):
        words = "the paper" if reading == "printed" else "our reading"
        numbers = (str(counts[paper, reading, answer]) for answer in answers)
        table.append((paper, words, *numbers))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in table)


def _which_train(trainings: Sequence[Mapping[str, str]]) -> str:
    """Return how the seeds of each run ended, as Markdown."""
    heading = (
        "run",
        "layers",
        "peak rate",
        "precision",
        "updates",
        "seeds that train",
        "nats below the unigram",
    )
    table = [heading, ("---",) * len(heading)]
    for run, group in groupby(trainings, lambda line: line["run"]):
        lines = list(group)
        trained = sum(line["outcome"] == FINISHED for line in lines)
        first = lines[0]
        settings = first["layers"], first["peak_rate"], first["precision"], first["updates"]
        below = ", ".join(f"{_below(line):.2f}" for line in lines)
        table.append((run, *settings, f"{trained} of {len(lines)}", below))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in table)


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
    bleu, how = _scores(folder, cells)
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


def _scores(
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


def _claims(lines: Sequence[Mapping[str, str]]) -> str:
    """Return the claims about the table that these results decide, as Markdown."""
    table = [
        ("claim", "asks", "here", "numbers", "on the paper's own cells"),
        ("---",) * 5,
    ]
    for line in lines:
        about = line["paper"] == PAPER and f"{TABLE}[" in line["expression"]
        if about and line["answer"] in ANSWERED:
            name = " ".join(filter(None, (line["claim"], line["part"])))
            ours = "our reading: " if line.get("reading") == "ours" else ""
            numbers = (line["answer"], line["numbers"], ours + line["reported_answer"])
            table.append((name, f"`{line['expression']}`", *numbers))
    escaped = ([cell.replace("|", "\\|") for cell in cells] for cells in table)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in escaped)


def main() -> None:
    """Keep the results and the scale that the command line names, if any, and update the page."""
    if sys.argv[1:]:
        keep(Path(sys.argv[1]), sys.argv[2])
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts().items():
        text = replaced(text, name, part)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
