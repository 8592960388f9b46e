"""Whether the trainings of some results agree with the frozen numbers.

    python -m tests.pipeline.compare_reference results

It ends with status 1 if numbers moved and no recipe was raised, a recipe was raised and the numbers
were not frozen again, or nothing that was frozen is there.
"""

import sys
from pathlib import Path
from typing import Any

from fathom.results.tree import RunResults
from tests.pipeline import freeze


def agreement(reference: dict[str, Any], runs: list[RunResults]) -> str:
    """Return a sentence on trainings that have not moved."""
    apart = freeze.differences(reference, runs)
    largest = max(map(abs, apart.values()), default=0.0)
    line = f"{len(apart)} of {len(reference['runs'])} trainings match the reference run"
    if reference["machine"] == freeze.machine():
        return f"{line} to the digit."
    seeds = f"two seeds differ by {reference['spread']['nats']:.3f}"
    return f"{line}: at most {largest:.3f} nats apart ({seeds})."


def problems(reference: dict[str, Any], runs: list[RunResults]) -> list[str]:
    """Return a sentence for each number that must not be as it is."""
    frozen = [run for run in runs if run.name in reference["runs"]]
    missing = (
        [] if frozen else ["none of the frozen trainings is here: fathom run latent_depth_table5"]
    )
    return [*missing, *freeze.raised(reference), *freeze.moved(reference, frozen)]


def main(results: str) -> None:
    """Print that the numbers agree; end with status 1 if they must not be as they are."""
    reference, runs = freeze.reference(), freeze.first_seeds(Path(results))
    if wrong := problems(reference, runs):
        sys.exit("\n".join(wrong))
    sys.stdout.write(f"{agreement(reference, runs)}\n")


if __name__ == "__main__":
    main(sys.argv[1])
