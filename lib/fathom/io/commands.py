"""The command that makes a file under results/ again; messages about damaged files end with it.

No command deletes anything: `fathom train` renames what is damaged, and a user moves a folder that
is in the place of a file.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path

# The folder of the project, for commands that run elsewhere.
PROJECT_VARIABLE = "FATHOM_PROJECT"
COUNT = "--count"
# Verb and options, by the record of a folder of data.
_DATA = {
    "corpus.json": ("prepare",),
    "statistics.json": ("prepare", COUNT),
    "subwords.json": ("subwords",),
    "tensors.json": ("encode",),
}
# What a training writes along the way: files and folders of a run.
_SERIES = ("metrics.tsv", "times.tsv", "diagnostics")
AFTER_TRAINING = "it cannot be made again without training; curves leave this run out"
DATA_FOLDERS = {"corpora": "corpus.json", "subwords": "subwords.json", "tensors": "tensors.json"}
# The verbs of measurement files by rule; any other rule is a metric.
_RULES = {"scores": "score", "window": "best-window", "training": "train"}
_RULES |= {rule: rule for rule in ("likelihood", "gates", "sharing")}
_SCORED = ("scoring.json", "scores.tsv", "sentences.")
# In the order in which each verb finds what it reads; metrics score what is translated.
VERBS = (
    "fetch", "prepare", "subwords", "encode", "train", "translate",
    "score", "likelihood", "gates", "sharing", "best-window",
)  # fmt: skip


@dataclass(frozen=True)
class Stage:
    """What makes a file again."""

    results: Path  # the folder of results that the file is in
    words: tuple[str, ...]  # verb and options

    @property
    def rank(self) -> tuple[int, bool]:
        """The place of its verb in VERBS; text is counted after it is prepared."""
        return VERBS.index(self.words[0]), COUNT in self.words

    @property
    def typed(self) -> tuple[str, ...]:
        """The words of the command line, without `fathom`."""
        results = str(self.results)
        return self.words if results == "results" else (*self.words, "--results", results)


def again(path: Path) -> str:
    """Return what a user does to make a file of `Paths` again, as messages say it.

    The folder of a run or of data names its scale, too.
    """
    stage = stage_of(path)
    if stage is None and {path.name, path.parent.name} & {*_SERIES}:
        return AFTER_TRAINING
    if stage is None:
        return "make it with the stage that writes it"
    run = f"run `{shlex.join(('fathom', *stage.typed))}`"
    return f"move the folder away, and {run}" if path.is_dir() else run


def stage_of(path: Path) -> Stage | None:
    """Return what makes a file of `Paths` again; None for a series, and for a file of nobody."""
    parts = path.parts
    if path.name in _DATA:
        verb, *options = _DATA[path.name]
        return Stage(path.parents[2], (verb, path.parent.name, *options))
    for at in range(len(parts) - 1, -1, -1):
        rest = parts[at + 1 :]
        if parts[at] == "runs" and len(rest) > 3:
            return _of_run(path.parents[len(rest)], rest)
        if parts[at] == "sources" and len(rest) > 1:
            return Stage(path.parents[len(rest)], ("fetch", rest[0]))
        if parts[at] in DATA_FOLDERS and len(rest) > 1:
            return stage_of(Path(*parts[: at + 1], rest[0], DATA_FOLDERS[parts[at]]))
    return None


def _of_run(results: Path, rest: tuple[str, ...]) -> Stage | None:
    """Return what makes a file of a run again; `rest` is its path below runs/."""
    paper, folder, seed, place, *inner = rest
    run = f"{paper}/{folder}"

    def verb(name: str, *options: str) -> Stage:
        return Stage(results, (name, run, "--seed", seed, *options))

    if place == "measurements":
        rule, *words = inner[0].removesuffix(".json").split(".")
        metric = [] if rule in _RULES else ["--metric", rule]
        return verb(_RULES.get(rule, "score"), *_options(words), *metric)
    if place == "decodings" and len(inner) > 1:
        made = "score" if inner[-1].startswith(_SCORED) else "translate"
        # A metric has a folder inside the decoding's.
        metric = ["--metric", inner[1]] if len(inner) > 2 else []
        return verb(made, *_options(inner[0].split(".")), *metric)
    if place == "window" and len(inner) > 1:
        return verb("best-window", *_options([inner[0]]))
    return None if place in _SERIES else verb("train")


def _options(words: list[str]) -> list[str]:
    """Return the options of `<split>.<gates>-<hash8>`, of which the split may be missing."""
    *split, gates = [*words] or [""]
    options = ["--split", split[0]] if split else []
    return [*options, "--gates", gates.rpartition("-")[0]] if gates else options
