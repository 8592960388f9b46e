"""The base of every class that describes config, and what a setting can say about itself.

A setting is one line of a class: `name: Annotated[<type>, <bounds>, About("text")] = <default>`.
"""

from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, Strict
from pydantic.fields import FieldInfo

# A tuple may be written as a list; its items stay strict.
AsTuple = Strict(False)
# What pydantic calls a text that is not of its form.
FORM = "form"


def Doc(text: str, unit: str | None = None, source: str = "") -> Any:
    """Describe a setting; all of it also appears in the generated JSON Schema.

    Args:
        text: what the setting means.
        unit: "layers", "width" or "updates" where a scale multiplies the value.
        source: where the default is from.
    """
    extra: dict[str, Any] = {
        key: value for key, value in (("unit", unit), ("source", source)) if value
    }
    return Field(description=text, json_schema_extra=extra or None)


class Pattern:
    """The form of a text, with an example that messages print, or with what may be written."""

    def __init__(self, pattern: str, example: str, words: str = ""):
        """Keep the pattern, a text that matches it, and all that match it in words."""
        self.pattern, self.example, self.words = pattern, example, words

    def __get_pydantic_core_schema__(self, *_: Any) -> Any:
        """Return the schema of a text whose mistakes are all of one kind."""
        return {
            "type": "custom-error",
            "schema": {"type": "str", "pattern": self.pattern},
            "custom_error_type": FORM,
            "custom_error_message": "no match",
            "custom_error_context": vars(self),
        }


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()


class UnhashedValue:
    """What the code did before a setting existed; the identity leaves that value out.

    It is written once, when a setting is added, and never changed. It is not the default: an edited
    default must give another identity. A setting without it has always been hashed.
    """

    def __init__(self, value: Any = NOTHING, was: str | None = None):
        """Keep the value, and the name under which the setting is hashed.

        Args:
            value: the value that changes nothing; without one the setting is always hashed.
            was: the setting's older name.
        """
        self.value, self.was = value, was


class Section(BaseModel):
    """A part of config: strict, frozen, without unknown keys, NaN and infinity.

    A whole number in a float field becomes a float; 14000.0 is no whole number; `yes` is no text.
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

    def identity(self) -> dict[str, Any]:
        """Return what is hashed: every setting but those excluded or equal to their `absent`."""
        hashed: dict[str, Any] = {}
        for name, field in fields_of(type(self)).items():
            if field.exclude:
                continue
            mark = next(
                (item for item in field.metadata if isinstance(item, UnhashedValue)),
                UnhashedValue(),
            )
            value = plain(getattr(self, name))
            if mark.value is NOTHING or not _same(value, plain(mark.value)):
                hashed[mark.was or name] = value
        return hashed


@cache
def fields_of(part: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the settings of a class by name; pydantic's own look-up is slow."""
    return part.model_fields


def plain(value: Any) -> Any:
    """Return a value as JSON has it, parts as what is hashed of them; −0.0 becomes 0.0."""
    if isinstance(value, Section):
        return value.identity()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return 0.0 if isinstance(value, float) and value == 0 else value


def _same(value: Any, other: Any) -> bool:
    """Return whether two values are equal and of one type; True is not 1."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)
