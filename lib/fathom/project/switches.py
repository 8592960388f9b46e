"""What a user may switch in config.yaml or with `--config`: where, how much, on what device."""

from typing import Annotated, Literal

from pydantic import Field

from fathom.config.settings import About, Part
from fathom.errors import FathomError
from fathom.runs.settings import Count, Text, Whole


class Switches(Part):
    """The keys of config/config.yaml; none of them changes what a training learns."""

    scale: Annotated[Text, About("A scale of config/scales.")]
    results: Annotated[Text, About("The folder of everything that is made.")] = "results"
    device: Annotated[
        str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$"), About("auto, cpu, cuda or cuda:<n>.")
    ] = "auto"
    seeds: Annotated[
        str | int | None, About("Seeds in place of the runs' own: 3 (1 to 3), 1-5, or 2,5.")
    ] = None
    row: Annotated[str | None, About("The row for a target that ends in `_row`.")] = None
    retrain: Annotated[
        Literal["stale"] | None,
        About("stale: train runs of an older recipe again, from the start."),
    ] = None
    tokens_per_device: Annotated[
        Count, About("Target tokens of a micro-batch, at most: memory, not results.")
    ] = 16384
    log_every: Annotated[Count, About("Updates between rows of metrics.tsv.")] = 25
    diagnose_first: Annotated[Whole, About("Diagnostics are recorded for the first N updates.")] = (
        1000
    )
    diagnose_every: Annotated[Whole, About("Then for every N-th update; 0 records none.")] = 100


def seed_list(text: str | int) -> tuple[int, ...]:
    """Return the seeds that a user names: 3 is 1 to 3, `1-5` a range, `2,5` a list.

    Raises:
        FathomError: the text has another form, or no seeds.
    """
    parts = str(text).replace(" ", "").split(",")
    seeds: list[int] = []
    for part in parts:
        low, dash, high = part.partition("-")
        if not low.isdigit() or (dash and not high.isdigit()):
            raise FathomError(f"'{text}' names no seeds", "seeds", "write 3, 1-5 or 2,5")
        if dash:
            seeds += range(int(low), int(high) + 1)
        else:
            seeds += range(1, int(low) + 1) if len(parts) == 1 else [int(low)]
    if not seeds:
        raise FathomError(f"'{text}' names no seeds", "seeds", "write 3, 1-5 or 2,5")
    return tuple(dict.fromkeys(seeds))
