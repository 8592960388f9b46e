"""The base of every class that describes config, what a setting can say, and shared types.

A setting is one line of a class: `name: <type> = Doc("text", <default>)`.
"""

from collections import Counter
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict
from pydantic.fields import FieldInfo

# A tuple may be written as a list; its items stay strict.
AsTuple = Strict(False)
# What pydantic calls a text that does not match its pattern.
PATTERN = "pattern"


def Doc(
    text: str,
    default: Any = ...,
    *,
    unit: str | None = None,
    source: str = "",
    no_choice: bool = False,
) -> Any:
    """Describe a setting, as the page *Settings* of the site prints it.

    Args:
        text: what the setting means.
        default: its value where config gives none; without one, config must give it.
        unit: "layers", "width" or "updates" where a scale multiplies the value.
        source: where the default is from.
        no_choice: whether a paper need not explain the default in deviations.yaml.
    """
    said = {"unit": unit, "source": source, "no_choice": no_choice}
    extra: Any = {key: value for key, value in said.items() if value}
    return Field(default, description=text, json_schema_extra=extra or None)


class Pattern:
    """The form of a text.

    Messages print its words (all that may be written), or else an example that matches.
    """

    def __init__(self, pattern: str, example: str, words: str = ""):
        self.pattern, self.example, self.words = pattern, example, words

    def __get_pydantic_core_schema__(self, *_: Any) -> Any:
        return {
            "type": "custom-error",
            "schema": {"type": "str", "pattern": self.pattern},
            "custom_error_type": PATTERN,
            "custom_error_message": "no match",
            "custom_error_context": vars(self),
        }


NOTHING = object()


class UnhashedValue:
    """What the code did before a setting existed; the identity leaves that value out.

    It is written once, when a setting is added, and never changed. It is not the default: an edited
    default must give another identity. A setting without it has always been hashed.
    """

    def __init__(self, value: Any = NOTHING, was: str | None = None):
        # Without a value the setting is always hashed; `was` is the name that is hashed.
        self.value, self.was = value, was


class Section(BaseModel):
    """A section of config: strict, frozen, without unknown keys, NaN and infinity.

    A whole number in a float field becomes a float; 14000.0 is not a whole number, and `yes` is not
    text.
    """

    # A class is built when it is first used: a command uses few of them.
    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        validate_default=True,
        defer_build=True,
    )

    def given(self) -> dict[str, Any]:
        """Return the settings that config gives; the others have their defaults."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    def identity(self) -> dict[str, Any]:
        """Return what is hashed: every setting but those excluded or equal to `UnhashedValue`."""
        hashed: dict[str, Any] = {}
        for name, (mark, unhashed) in _hashed_fields(type(self)).items():
            value = plain(getattr(self, name))
            # True is not 1.
            same = value == unhashed and isinstance(value, bool) == isinstance(unhashed, bool)
            if not same:
                hashed[mark.was or name] = value
        return hashed


@cache
def fields_of(section: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the settings of a class by name; pydantic's own look-up is slow."""
    return section.model_fields


@cache
def _hashed_fields(section: type[BaseModel]) -> dict[str, tuple[UnhashedValue, Any]]:
    """Return the settings that are hashed by name, each with the value that is left out."""
    hashed: dict[str, tuple[UnhashedValue, Any]] = {}
    for name, field in section.model_fields.items():
        if not field.exclude:
            marks = (item for item in field.metadata if isinstance(item, UnhashedValue))
            mark = next(marks, UnhashedValue())
            hashed[name] = mark, plain(mark.value)
    return hashed


def plain(value: Any) -> Any:
    """Return a value as JSON has it, sections as what is hashed of them; −0.0 becomes 0.0."""
    # Most settings are whole numbers, words, or switches.
    if value is None or type(value) in (int, str, bool):
        return value
    if isinstance(value, Section):
        return value.identity()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return 0.0 if isinstance(value, float) and value == 0 else value


# The largest integer that JSON and floats hold exactly.
MOST = 2**53
SEED_LIMIT = 2**31
# Where a page can be read; a link of another kind might be a script.
Address = Annotated[str, Field(pattern=r"^https?://\S+$")]
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
    """Return a list in which nothing is twice."""
    for value, times in Counter(values).items():
        if times > 1:
            raise ValueError(f"'{value}' is there {times} times; delete the repeats")
    return values


def in_order(stacks: tuple[StackName, ...]) -> tuple[StackName, ...]:
    """Return stacks in the order in which they are hashed; none may be there twice."""
    return tuple(sorted(unique(stacks), key=STACKS.index))


# A list of stacks is a set: two orders are one setting.
Stacks = Annotated[tuple[StackName, ...], AsTuple, AfterValidator(in_order)]
# Lists of YAML: any, those that are not empty, and those that also have nothing twice.
ListOf = Annotated[tuple[T, ...], AsTuple]
NonEmpty = Annotated[tuple[T, ...], AsTuple, MinLen(1)]
Unique = Annotated[tuple[T, ...], AsTuple, MinLen(1), AfterValidator(unique)]
# A number n is the seeds 1 to n. A seed that is there twice would count twice in means.
Seeds = (
    Annotated[int, Ge(1), Le(MOST_SEEDS)]
    | Annotated[tuple[Seed, ...], AsTuple, MinLen(1), MaxLen(MOST_SEEDS), AfterValidator(unique)]
)
