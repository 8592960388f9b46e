"""Types that settings share: numbers with bounds, names of stacks, text."""

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt, MinLen

Count = Annotated[int, Ge(1), Le(2**53)]
Whole = Annotated[int, Ge(0), Le(2**53)]
Share = Annotated[float, Ge(0), Le(1)]
BelowOne = Annotated[float, Ge(0), Lt(1)]
Positive = Annotated[float, Gt(0)]
NotNegative = Annotated[float, Ge(0)]
StackName = Literal["encoder", "decoder"]
Text = Annotated[str, MinLen(1)]
