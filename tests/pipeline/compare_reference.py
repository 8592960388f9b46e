"""The frozen numbers and those of some results, side by side; `make reproduce` ends with it.

    python -m tests.pipeline.compare_reference results

It ends with status 1 if numbers moved and no recipe was raised, or a recipe was raised and the
numbers were not frozen again.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fathom.results.tree import RunResults
from tests.pipeline import freeze


def side_by_side(reference: dict[str, Any], runs: Iterable[RunResults]) -> Iterator[str]:
    """Yield a line for each frozen run: its validation NLL (nats a token) then and now."""
    now = {run.name: freeze.frozen(run)["nll"] for run in runs}
    yield f"{'validation NLL':40} {'frozen':>20} {'now':>20}"
    for run, before in reference["runs"].items():
        numbers = [before["nll"], now[run]] if run in now else [before["nll"], "not trained"]
        old, new = ("no result" if number is None else str(number) for number in numbers)
        yield f"{run:40} {old:>20} {new:>20}{'' if old == new else '  differs'}"


def elsewhere(reference: dict[str, Any]) -> Iterator[str]:
    """Yield why numbers differ, where this machine is another one than that of the frozen."""
    if reference["machine"] != freeze.machine():
        frozen, here = (", ".join(of.values()) for of in (reference["machine"], freeze.machine()))
        yield f"frozen on {frozen}; here is {here}"
        yield "Processors round and draw dropout otherwise, so runs differ as those of other seeds."


def problems(reference: dict[str, Any], runs: list[RunResults]) -> list[str]:
    """Return a sentence for each number that must not be as it is."""
    frozen = [run for run in runs if run.name in reference["runs"]]
    return [*freeze.raised(reference), *freeze.moved(reference, frozen)]


def main(results: str) -> None:
    """Print both numbers of each run; end with status 1 if they must not be as they are."""
    reference, runs = freeze.reference(), freeze.first_seeds(Path(results))
    lines = [*side_by_side(reference, runs), *elsewhere(reference)]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    if wrong := problems(reference, runs):
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main(sys.argv[1])
