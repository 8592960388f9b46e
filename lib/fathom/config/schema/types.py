"""Types that settings share: numbers with bounds, seeds, names, text."""

from collections import Counter
from typing import Annotated, Literal, TypeVar, get_args

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import AfterValidator

from fathom.config.section import AsTuple, Pattern

# The largest integer that JSON and floats hold exactly.
MOST = 2**53
SEED_LIMIT = 2**31
MOST_SEEDS = 100

Count = Annotated[int, Ge(1), Le(MOST)]
Whole = Annotated[int, Ge(0), Le(MOST)]
Share = Annotated[float, Ge(0), Le(1)]
BelowOne = Annotated[float, Ge(0), Lt(1)]
Positive = Annotated[float, Gt(0)]
NotNegative = Annotated[float, Ge(0)]
StackName = Literal["encoder", "decoder"]
STACKS: tuple[StackName, ...] = get_args(StackName)
Text = Annotated[str, MinLen(1)]
Name = Annotated[str, Pattern(r"^[a-z][a-z0-9_]*$", "o2m_related")]
Seed = Annotated[int, Ge(0), Lt(SEED_LIMIT)]
T = TypeVar("T")


def unique(values: tuple[T, ...]) -> tuple[T, ...]:
    """Return a list in which nothing is twice.

    Raises:
        ValueError: something is.
    """
    for value, times in Counter(values).items():
        if times > 1:
            raise ValueError(f"'{value}' is there {times} times; delete the repeats")
    return values


# A number n is the seeds 1 to n. A seed that is there twice would count twice in means.
Seeds = (
    Annotated[int, Ge(1), Le(MOST_SEEDS)]
    | Annotated[tuple[Seed, ...], AsTuple, MinLen(1), MaxLen(MOST_SEEDS), AfterValidator(unique)]
)
