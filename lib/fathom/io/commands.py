"""The command that makes a file under results/ again; messages about damaged files end with it.

A stage whose record is deleted has not finished: Snakemake runs it again, too.
"""

import shlex
from itertools import count
from pathlib import Path

# The folder of the project, for commands that run elsewhere.
PROJECT_VARIABLE = "FATHOM_PROJECT"
# By the record of a folder of data.
_DATA = {
    "corpus.json": "prepare",
    "statistics.json": "statistics",
    "subwords.json": "subwords",
    "tensors.json": "encode",
}
_DATA_FOLDERS = {"corpora": "corpus.json", "subwords": "subwords.json", "tensors": "tensors.json"}
# The verbs of measurement files by rule; any other rule is a metric.
_RULES = {"scores": "score", "window": "best-window", "training": "train"}
_RULES |= {rule: rule for rule in ("likelihood", "gates", "sharing")}
_SCORED = ("scoring.json", "scores.tsv", "sentences.")


def again(path: Path) -> str:
    """Return the command that makes a file of `Paths` again, with what must be deleted first."""
    parts = path.parts
    if path.name in _DATA:
        return _deleted(path) + _verb(path, 2, _DATA[path.name], path.parent.name)
    for at in range(len(parts) - 1, -1, -1):
        rest = parts[at + 1 :]
        if parts[at] == "runs" and len(rest) > 3:
            return _of_run(path, rest)
        if parts[at] == "sources" and len(rest) > 1:
            return _verb(path, len(rest), "fetch", rest[0])
        if parts[at] in _DATA_FOLDERS and len(rest) > 1:
            record = Path(*parts[: at + 1], rest[0], _DATA_FOLDERS[parts[at]])
            return again(record)
    return "make it with the stage that writes it"


def _of_run(path: Path, rest: tuple[str, ...]) -> str:
    """Return the command for a file of a run; `rest` is its path below runs/."""
    paper, run, seed, place, *inner = rest

    def verb(name: str, *options: str) -> str:
        return _verb(path, len(rest), name, f"{paper}/{run}", "--seed", seed, *options)

    if place in ("training.json", "checkpoints"):
        # Only what is no file stands in the way: a training goes on with its files.
        return ("" if path.is_file() else _deleted(path)) + verb("train")
    if place == "measurements":
        rule, *words = inner[0].removesuffix(".json").split(".")
        metric = [] if rule in _RULES else ["--metric", rule]
        return _deleted(path) + verb(_RULES.get(rule, "score"), *_options(words), *metric)
    if place == "decodings" and len(inner) > 1:
        scored = path.name.startswith(_SCORED)
        record = path.with_name("scoring.json" if scored else "decoding.json")
        made = "score" if scored else "translate"
        # A metric has a folder inside the decoding's.
        metric = ["--metric", inner[1]] if len(inner) > 2 else []
        return _deleted(record) + verb(made, *_options(inner[0].split(".")), *metric)
    if place == "window" and len(inner) > 1:
        record = path.with_name("decoding.json")
        return _deleted(record) + verb("best-window", *_options([inner[0]]))
    if place == "pruned" and len(inner) > 1:
        return verb("prune", "--task", inner[0])
    if place == "state.json":
        # The next start writes it; of a training that has ended nothing needs it.
        return _deleted(path).removesuffix(" && ")
    # What only a training writes; the weights are put aside, for they may still be of use.
    folder = path.parents[len(rest) - 4]
    aside = next(name for n in count() if not Path(name := f"{run}.{seed}.old{n or ''}").exists())
    return f"mv {shlex.quote(str(folder))} {shlex.quote(aside)} && {verb('train')}"


def _options(words: list[str]) -> list[str]:
    """Return the options of `<split>.<gates>-<hash8>`, of which the split may be missing."""
    *split, gates = [*words] or [""]
    options = ["--split", split[0]] if split else []
    return [*options, "--gates", gates.rpartition("-")[0]] if gates else options


def _deleted(path: Path) -> str:
    """Return the beginning of a command that deletes a record, or what is in its place."""
    if not (path.exists() or path.is_symlink()):
        return ""
    recursive = "-r " if path.is_dir() and not path.is_symlink() else ""
    return f"rm {recursive}{shlex.quote(str(path))} && "


def _verb(path: Path, below: int, *words: str) -> str:
    """Return a command of fathom; `below` folders up from the file is a folder of results."""
    results = str(path.parents[below])
    words = words if results == "results" else (*words, "--results", results)
    return shlex.join(("fathom", *words))
