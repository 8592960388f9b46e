"""Config checked against its classes: pydantic's errors as one line each.

A line says file, line and key, what is wrong, and what to write; all findings come at once.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from fathom.config.section import FORM
from fathom.config.yaml_files import KeyPath
from fathom.io.errors import FathomError, brief, closest, nearest

P = TypeVar("P", bound=BaseModel)
Where = Callable[[KeyPath], str]
_MISSING = ("missing", "union_tag_not_found")
_EXPONENT = re.compile(r"([-+]?\d+)(\.\d*)?[eE]([-+]?\d+)")
_GROUPS = re.compile(r"\d{1,3}(?:[,' ]\d{3})+")
_WRITE = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_WHOLE = 2**53
_LIMITS = ("ge", "gt", "le", "lt", "min_length", "max_length")
_BOUNDS = {
    "greater_than_equal": ("too small", "{} or more"),
    "greater_than": ("too small", "more than {}"),
    "less_than_equal": ("too large", "{} or less"),
    "less_than": ("too large", "less than {}"),
    "too_short": ("too short", "{} or more items"),
    "too_long": ("too long", "{} or fewer items"),
}


def check(
    model: type[P], value: Any, where: Where, path: KeyPath = (), partial: bool = False
) -> tuple[P | None, list[FathomError]]:
    """Check a value against a class.

    Args:
        model: the class.
        value: what YAML gives.
        where: turns a key path into `file:line: key.path`; `YamlFile.where` for a file's value.
        path: the path of the value, where it is a part of a file.
        partial: whether required settings may be missing, as in a family of runs.

    Returns:
        The checked part and no findings, or None and all findings.
    """
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        details = [
            (_key_path(detail["loc"], value, detail["type"]), detail)
            for detail in error.errors(include_url=False)
            if not (partial and detail["type"] in _MISSING)
        ]
    by_path: dict[KeyPath, list[tuple[str, str]]] = {}
    meant = {_meant(place, detail, model) for place, detail in details}
    for place, detail in details:
        # A misspelled key is one finding, not also one of the key that it means.
        if detail["type"] == "missing" and place in meant:
            continue
        # A union's branch of another type says nothing where one of the right type has findings.
        below = (inner for inner, _ in details if len(inner) > len(place))
        # A list whose items are wrong is not too short as well.
        vague = detail["type"] in _WRITE or detail["type"] == "too_short"
        if vague and any(inner[: len(place)] == place for inner in below):
            continue
        sentences = by_path.setdefault(place, [])
        # What a check of our own says counts more than the type of another branch.
        at = 0 if detail["type"] == "value_error" else len(sentences)
        sentences.insert(at, _sentence(detail, model))
    # The branches of a union are one finding.
    return None, [
        FathomError(
            sentences[0][0], where((*path, *place)), _either(remedy for _, remedy in sentences)
        )
        for place, sentences in by_path.items()
    ]


def _meant(place: KeyPath, detail: Mapping[str, Any], model: type[BaseModel]) -> KeyPath | None:
    """Return the key that an unknown one probably means; None for other findings."""
    if detail["type"] != "extra_forbidden":
        return None
    return *place[:-1], closest(place[-1], field_names(model, detail["loc"][:-1])) or ""


def _either(remedies: Iterable[str]) -> str:
    """Return remedies of which one is enough as one."""
    first, *others = dict.fromkeys(remedies)
    verb = "write " if first.startswith("write ") else ""
    return " or ".join([first, *(other.removeprefix(verb) for other in others)])


def _key_path(loc: KeyPath, value: Any, kind: str) -> KeyPath:
    """Return the part of pydantic's location that is keys; it also holds a union's tags."""
    path: list[str | int] = []
    for position, part in enumerate(loc):
        last = position == len(loc) - 1
        if isinstance(value, Mapping):
            if part in value:
                path.append(part)
                value = value[part]
            elif last and kind == "missing":
                path.append(part)
        elif isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
            path.append(part)
            value = value[part]
    return tuple(path)


def _sentence(detail: Mapping[str, Any], model: type[BaseModel]) -> tuple[str, str]:
    """Return what is wrong and what to write for one of pydantic's errors."""
    kind, value, loc = detail["type"], detail["input"], detail["loc"]
    context = detail.get("ctx", {})
    if kind == "extra_forbidden":
        names = list(field_names(model, loc[:-1]))
        return f"unknown key '{loc[-1]}'", nearest(loc[-1], names)
    if kind in _MISSING:
        return "no value is given", _choices(model, loc) or "add the key"
    if kind in ("literal_error", "union_tag_invalid"):
        if isinstance(value, bool):
            return "YAML reads no, on, yes and off as true or false", "put it in quotes"
        names = re.findall(r"'([^']*)'", context.get("expected") or context["expected_tags"])
        given = context.get("tag", value)
        return f"'{brief(given)}' is not possible here", nearest(given, names)
    if kind in _WRITE:
        return _wrong_type(value, _WRITE[kind])
    if kind in _BOUNDS:
        side, remedy = _BOUNDS[kind]
        bound = next(context[key] for key in _LIMITS if key in context)
        return f"{brief(value)} is {side}", f"write {remedy.format(bound)}"
    if kind == "string_pattern_mismatch":
        return f"'{brief(value)}' does not match {context['pattern']}", "write it in that form"
    if kind == FORM:
        return _formless(value, context)
    if kind == "finite_number":
        return f"{brief(value)} is no number", "write a finite number"
    what, _, remedy = detail["msg"].removeprefix("Value error, ").partition("; ")
    return what, remedy or "change the value"


def _formless(value: Any, context: Mapping[str, Any]) -> tuple[str, str]:
    """Say that a value is no text of its form."""
    if isinstance(value, bool):
        return _wrong_type(value, "text")
    if context["words"]:
        return f"'{brief(value)}' is not possible here", f"write {context['words']}"
    what = f"'{brief(value)}' does not match {context['pattern']}"
    return what, f"write for example '{context['example']}'"


def _wrong_type(value: Any, expected: str) -> tuple[str, str]:
    """Say which type is expected, and name YAML's trap where it is the cause."""
    if value is None:
        return "no value is given", f"write {expected}"
    if isinstance(value, bool):
        remedy = "put it in quotes" if expected == "text" else f"write {expected}"
        return "YAML reads no, on, yes and off as true or false", remedy
    if isinstance(value, int | float) and expected == "text":
        return f"YAML reads {brief(value)} as a number", "put it in quotes"
    what, remedy = f"{brief(repr(value))} is not {expected}", f"write {expected}"
    if "number" not in expected:
        return what, remedy
    if isinstance(value, str) and (match := _EXPONENT.fullmatch(value)):
        sign = match[3] if match[3][0] in "+-" else f"+{match[3]}"
        what, remedy = f"YAML reads {value} as text", f"write {match[1]}{match[2] or '.0'}e{sign}"
    if isinstance(value, str) and _GROUPS.fullmatch(value):
        remedy = f"write {re.sub('[^0-9]', '', value)}"
    elif isinstance(value, str) and value.isdecimal():
        remedy = f"write {value} without quotes"
    elif expected == "a whole number":
        remedy = f"write {_whole(value) or expected}"
    return what, remedy


def _whole(value: Any) -> str:
    """Return the digits of a whole number that is written as another one; empty for others."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return ""
    # Above that a long exponent is more likely a slip.
    return str(int(number)) if abs(number) <= _WHOLE and number == int(number) else ""


def _choices(model: type[BaseModel], loc: KeyPath) -> str:
    """Return the remedy where one of a few values must be given; empty for other settings."""
    for one in _models_at(model, loc[:-1]):
        field = one.model_fields.get(str(loc[-1]))
        if field is None:
            continue
        if get_origin(field.annotation) is Literal:
            *names, last = map(str, get_args(field.annotation))
            return f"write {', '.join(names)} or {last}" if names else f"write {last}"
        tags = [str(tag) for inner in models_in(field.annotation) for tag in _tags(inner)]
        if field.discriminator and tags:
            return f"write {{{field.discriminator}: …}} with {', '.join(tags[:-1])} or {tags[-1]}"
    return ""


def field_names(model: type[BaseModel], loc: KeyPath) -> Iterator[str]:
    """Yield the keys that a mapping at a location may have; unions are searched for their tag."""
    for one in _models_at(model, loc):
        for name, field in one.model_fields.items():
            yield field.alias or name


def _models_at(model: type[BaseModel], loc: KeyPath) -> list[type[BaseModel]]:
    """Return the classes of which a mapping at a location may be one."""
    models = [model]
    for part in loc:
        tagged = [one for one in models if part in _tags(one) or one.__name__ == part]
        models = (
            tagged
            or [
                inner
                for one in models
                if part in one.model_fields
                for inner in models_in(one.model_fields[part].annotation)
            ]
            or models
        )
    return models


def _tags(model: type[BaseModel]) -> tuple[Any, ...]:
    name = model.model_fields.get("name")
    return get_args(name.annotation) if name else ()


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the classes of settings inside a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from models_in(inner)
