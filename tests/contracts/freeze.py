"""Freeze again what tests compare with, and update the numbers in the documentation: `make freeze`.

    python -m tests.contracts.freeze            after a paper, a method or a metric is added
    python -m tests.contracts.freeze --moved    where runs get another identity, or go, on purpose

It prints what is new, gone and changed. Without --moved it does not write config whose runs have
other folders of results or are gone: their finished trainings would not be found again. Numbers of
training, decoding and scoring follow a raised RECIPE alone.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from docs import evidence, readme_table
from fathom.io.files import write_json
from tests.contracts import frozen_claims, frozen_config, recipe
from tests.contracts.frozen_config import changed

Answers = dict[str, Any]


def differences(kind: str, before: Answers, now: Answers) -> Iterator[str]:
    """Yield what is new, gone and changed of a kind, by name and without scales."""
    found: dict[str, dict[str, None]] = {"added": {}, "gone": {}, "changed": {}}
    for name, (old, new) in changed(before, now).items():
        end = "added" if old is None else "gone" if new is None else "changed"
        found[end][name.rpartition(":")[2]] = None
    for end, names in found.items():
        if names:
            yield f"{kind} {end}: {', '.join(names)}"


def config(may_move: bool) -> bool:
    """Freeze what config/ resolves to; return whether it was refused."""
    before, now = frozen_config.frozen(), frozen_config.resolved()
    for part in now:
        _say(differences(part, before[part], now[part]))
    moved = frozen_config.moved(before, now)
    _say(f"moved: {line}" for line in moved)
    if moved and not may_move:
        remedy = "put it right, or, if it is meant, make freeze MOVED=1"
        _say([f"{len(moved)} runs moved or are gone; frozen_config is not written: {remedy}"])
        return True
    if now != before:
        frozen_config.written(now)
    return False


def claims() -> None:
    """Freeze what claims answer and figures draw."""
    before, now = frozen_claims.frozen(), frozen_claims.answers()
    _say(differences("answers on printed cells", before["printed"], now["printed"]))
    for world in frozen_claims.WORLDS:
        for part in ("claims", "figures"):
            kind = f"{part} on invented results ({world})"
            _say(differences(kind, before[world][part], now[world][part]))
    if now != before:
        frozen_claims.written(now)


def numbers() -> bool:
    """Freeze the numbers whose RECIPE was raised; return whether that was refused."""
    before = recipe.frozen()
    if not recipe.raised(before) and recipe.processor() in before["training"]:
        return False
    if recipe.versions() != recipe.LOCKED:
        _say([f"recipe.json is made with {recipe.LOCKED}; here is {recipe.versions()}"])
        return True
    with tempfile.TemporaryDirectory() as folder:
        made = recipe.numbers(Path(folder))
    now = recipe.again(before, made)
    if moved := recipe.moved(now, made):  # of a stage whose RECIPE was not raised
        _say(moved)
        return True
    if now != before:
        _say(differences("recipe.json", before, now))
        write_json(recipe.FILE, now)
    return False


def pages() -> None:
    """Update the numbers of the README and of docs/."""
    texts = {
        page: page.read_text(encoding="utf-8") for page in (*readme_table.PAGES, evidence.PAGE)
    }
    readme_table.main()
    evidence.update()
    for page, text in texts.items():
        if page.read_text(encoding="utf-8") != text:
            _say([f"updated: {page.relative_to(frozen_config.ROOT)}"])


def _say(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)


def main(words: list[str] | None = None) -> None:
    """Freeze everything, or exit with status 1 where a part was refused."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moved", action="store_true", help="write runs that moved or are gone")
    may_move = parser.parse_args(words).moved
    refused = [config(may_move), numbers()]
    claims()
    pages()
    sys.exit(any(refused))


if __name__ == "__main__":
    main()
