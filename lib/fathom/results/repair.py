"""What `fathom repair` does about files that are damaged or lost: it moves them, deletes nothing.

A file that a verb writes is moved to `results/damaged/<date>` and the verb is run. What only a
training writes along the way cannot be written again without training: spec.yaml is, from config;
of other files lost.json says that they are lost, and the weights stay as they are.
"""

import hashlib
import os
import shlex
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from itertools import count
from pathlib import Path

from fathom.config.project import Project
from fathom.io.commands import BEFORE, Stage, stage_of
from fathom.io.errors import FathomError
from fathom.io.files import write_text
from fathom.results import training_record
from fathom.results.run_state import STATE_FILE
from fathom.results.training_record import (
    LOST,
    SETTINGS,
    WEIGHTS,
    record_loss,
    settings_text,
)
from fathom.results.verify import SET_ASIDE, Verified

LAST = "last.pt"


@dataclass(frozen=True)
class Action:
    """One thing that is done about one or several files."""

    aside: tuple[Path, ...]  # what is moved
    verb: tuple[str, ...] = ()  # the command line that is run then, without `fathom`
    lost: str = ""  # why what is moved is recorded as lost
    text: str = ""  # what is written in its place

    def __str__(self) -> str:
        names = ", ".join(map(str, self.aside))
        moved = f"move {names}" if self.aside else ""
        then = "write it again" if self.text else "record the loss" if self.lost else ""
        typed = shlex.join(("fathom", *self.verb)) if self.verb else ""
        return "; ".join(filter(None, (moved, then, typed)))

    def prepare(self, results: Path) -> None:
        """Move what is moved, and write what takes its place."""
        for path in self.aside:
            move_aside(path, results)
            if self.lost:
                record_loss(path, self.lost)
            if self.text:
                write_text(path, self.text)


def move_aside(path: Path, results: Path) -> None:
    """Move a file or folder to today's folder of what is damaged, under a name that is free."""
    if os.path.lexists(path):
        place = results / SET_ASIDE / date.today().isoformat() / path.relative_to(results)
        place.parent.mkdir(parents=True, exist_ok=True)
        names = (place.with_name(f"{place.name}.{n}" if n else place.name) for n in count())
        # A folder of results may be a link to another disk.
        shutil.move(path, next(name for name in names if not os.path.lexists(name)))


def actions(verified: Verified, project: Project, train_again: bool = False) -> list[Action]:
    """Return what is done about findings, so that each verb finds what it reads.

    Args:
        train_again: whether trainings may begin from nothing.
    """
    found: dict[tuple[str, ...], Action] = {}
    for path in verified.in_order():
        action = None if path in verified.beyond else _action(path, verified, project, train_again)
        if action is None:
            continue
        # One call of a verb makes several files again.
        key = action.verb or (str(path),)
        before = found[key].aside if key in found else ()
        found[key] = replace(action, aside=(*dict.fromkeys((*before, *action.aside)),))
    return [*found.values()]


def _action(path: Path, verified: Verified, project: Project, train_again: bool) -> Action | None:
    """Return what is done about a file; None where the user must decide."""
    stage = stage_of(verified.drawn.get(path, path))
    if stage is None:
        return None
    aside = () if path in verified.older else (path,)
    if not stage.run and stage.words[0] == "repair":
        stem = path.name.split(".")[0]
        return Action(tuple(sorted(path.parent.glob(f"{stem}.*"))))  # of learning curves of nobody
    if not stage.run or stage.words[0] not in ("repair", "train"):
        return Action(aside, stage.typed)
    folder = stage.results.joinpath("runs", stage.run, stage.seed)
    train = replace(stage, words=("train", stage.run, "--seed", stage.seed)).typed
    record, weights = folder / "training.json", folder / WEIGHTS
    if path.parent.name == "measurements":
        # A training that is not whole writes it when it ends, and is not begun for it.
        whole = {record, *weights.glob("*"), weights / LAST}.isdisjoint(verified.findings)
        return Action(aside, train) if whole else None
    ended = record.exists()
    if path.name in (STATE_FILE, LOST, BEFORE) or not (ended or path == record):
        return Action(aside)  # the next start writes it, or goes on without it
    if "pruned" in path.relative_to(folder).parts:
        return Action((path.parent,))  # what an earlier version wrote for one task
    if train_again and (stage.words[0] == "repair" or (folder / LOST).exists()):
        return Action((folder,), train)
    if stage.words[0] == "train":
        states = {weights / LAST, weights / BEFORE} - verified.findings.keys()
        resumes = path.name in (LAST, record.name) and any(map(Path.is_file, states))
        if resumes or train_again:
            return Action(aside, train)
        return Action(aside) if path.is_dir() else None
    text = _settings(path, stage, project) if path.name == SETTINGS else ""
    return Action(aside, text=text, lost="" if text else verified.findings[path].what)


def _settings(path: Path, stage: Stage, project: Project) -> str:
    """Return the spec.yaml of a run, if config still has the settings that were recorded."""
    recorded = training_record.read(path.with_name("training.json")).files[SETTINGS]
    with suppress(FathomError):
        text = settings_text(project.run_named(stage.run, next(iter(project.scales))))
        if hashlib.sha256(text.encode()).hexdigest() == recorded:
            return text
    return ""
