"""Values checked against the classes of config/schema: pydantic's errors as findings.

A finding says file, line and key, what is wrong, and what to write.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from fathom.config.schema.section import PATTERN
from fathom.config.yaml_values import Key, Value
from fathom.io.errors import FathomError, Findings, brief, closest, nearest
from fathom.io.retired import KEYS

P = TypeVar("P", bound=BaseModel)

_MISSING = ("missing", "union_tag_not_found")
_TYPES = {
    **dict.fromkeys(("int_type", "int_from_float", "int_parsing"), "a whole number"),
    **{"float_type": "a number", "string_type": "text", "bool_type": "true or false"},
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    **dict.fromkeys(("model_type", "dict_type", "model_attributes_type"), "a mapping"),
}
_BOUNDS = {
    "greater_than_equal": ("too small", "{ge} or more"),
    "greater_than": ("too small", "more than {gt}"),
    "less_than_equal": ("too large", "{le} or less"),
    "less_than": ("too large", "less than {lt}"),
    "too_short": ("too short", "{min_length} or more items"),
    "too_long": ("too long", "{max_length} or fewer items"),
    "string_too_short": ("too short", "{min_length} or more characters"),
}
_EXPONENT = re.compile(r"([-+]?\d+)(\.\d*)?[eE]([-+]?\d{1,2})")


def check(
    model: type[P], value: Value, partial: bool = False, also: Mapping[str, Any] | None = None
) -> tuple[P | None, list[FathomError]]:
    """Return a value checked against a class, or None with all findings, one for each key.

    Args:
        partial: whether required settings may be missing, as in a family of runs.
        also: settings in place of the value's, such as parts that are checked already.
    """
    plain = value.plain
    if also is not None and isinstance(plain, dict):
        plain = plain | dict(also)
    try:
        return model.model_validate(plain), []
    except ValidationError as error:
        errors = [(_path(e["loc"], plain, e["type"]), e) for e in error.errors(include_url=False)]
    if partial:
        errors = [(path, error) for path, error in errors if error["type"] not in _MISSING]
    # A misspelled key is one finding, not also one of the key that it means.
    meant = {_meant(path, error, model) for path, error in errors}
    messages: dict[Key, list[tuple[str, str]]] = {}
    for path, error in errors:
        if error["type"] == "missing" and path in meant:
            continue
        vague = error["type"] in (*_TYPES, "too_short", "literal_error")
        if vague and any(key[: len(path)] == path != key for key, _ in errors):
            continue  # it says nothing new where a part of its value has an error, too
        of_key = messages.setdefault(path, [])
        # Of a union's branches, what a validator of ours says counts most.
        of_key.insert(0 if error["type"] == "value_error" else len(of_key), _message(error, model))
    return None, [
        FathomError(of_key[0][0], value.place(*path), _either(remedy for _, remedy in of_key))
        for path, of_key in messages.items()
    ]


def checked(model: type[P], value: Value) -> P:
    """Return a value checked against a class, or raise all that is wrong with it."""
    part, findings = check(model, value)
    if part is None:
        raise Findings(findings)
    return part


def field_names(model: type[BaseModel], location: Key) -> list[str]:
    """Return the keys that a mapping at a location may have; a union's tags choose its branch."""
    models = _models_at(model, location)
    return [field.alias or name for each in models for name, field in each.model_fields.items()]


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the classes of settings inside a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from models_in(inner)


def _models_at(model: type[BaseModel], location: Key) -> list[type[BaseModel]]:
    """Return the classes of which a mapping at a location may be one."""
    models = [model]
    for part in location:
        tagged = [each for each in models if part in _tags(each) or part == each.__name__]
        fields = [each.model_fields[str(part)] for each in models if part in each.model_fields]
        inside = [inner for field in fields for inner in models_in(field.annotation)]
        models = tagged or inside or models
    return models


def _tags(model: type[BaseModel]) -> tuple[Any, ...]:
    """Return the names by which config chooses a class, such as a schedule's."""
    name = model.model_fields.get("name")
    return get_args(name.annotation) if name else ()


def _path(location: Key, value: Any, kind: str) -> Key:
    """Return the part of pydantic's location that is keys; it also holds a union's tags."""
    path: list[str | int] = []
    for number, part in enumerate(location):
        if isinstance(value, Mapping) and part in value:
            path.append(part)
            value = value[part]
        elif isinstance(value, Mapping):
            if kind == "missing" and number == len(location) - 1:
                path.append(part)
        elif isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
            path.append(part)
            value = value[part]
    return tuple(path)


def _meant(path: Key, error: Mapping[str, Any], model: type[BaseModel]) -> Key | None:
    if error["type"] != "extra_forbidden":
        return None
    return *path[:-1], closest(path[-1], field_names(model, error["loc"][:-1])) or ""


def _either(remedies: Iterable[str]) -> str:
    """Return remedies of which one is enough as one."""
    first, *others = dict.fromkeys(remedies)
    if first.startswith("write "):
        verbs = r"^(write|valid names:|nearest valid name:) "
        others = [re.sub(verbs, "", each) for each in others]
    return " or ".join([first, *others])


def _message(error: Mapping[str, Any], model: type[BaseModel]) -> tuple[str, str]:
    kind, value, location = error["type"], error["input"], error["loc"]
    context = error.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(location, model)
    if kind in _MISSING:
        return "no value is given", _choices(model, location) or "add the key"
    if kind in ("literal_error", "union_tag_invalid") and not isinstance(value, bool):
        names = re.findall(r"'([^']*)'", context.get("expected") or context["expected_tags"])
        given = context.get("tag", value)
        return f"'{brief(given)}' is not possible here", nearest(given, names)
    if kind in _TYPES or isinstance(value, bool):
        return _wrong_type(value, _TYPES.get(kind, "text"))
    if kind in _BOUNDS:
        side, remedy = _BOUNDS[kind]
        return f"{brief(value) or 'empty text'} is {side}", f"write {remedy.format(**context)}"
    if kind in (PATTERN, "string_pattern_mismatch"):
        return _wrong_form(value, context)
    what, _, remedy = error["msg"].removeprefix("Value error, ").partition("; ")
    return what, remedy or "change the value"


def in_place_of(location: Key, model: type[BaseModel]) -> str | None:
    """Return what to write in place of a key that an earlier version had, or None."""
    *above, key = location
    keys = (f"{each.__name__}.{key}" for each in _models_at(model, tuple(above)))
    return next((KEYS[key] for key in keys if key in KEYS), None)


def _unknown_key(location: Key, model: type[BaseModel]) -> tuple[str, str]:
    """Say what to write in place of a key that is gone, or the nearest name of one that is not."""
    *above, key = location
    if instead := in_place_of(location, model):
        return f"no key '{key}' any more", instead
    return f"unknown key '{key}'", nearest(key, field_names(model, tuple(above)))


def _wrong_form(value: Any, context: Mapping[str, Any]) -> tuple[str, str]:
    """Say what a text may be: its words, or else its pattern with an example where there is one."""
    if context.get("words"):
        return f"'{brief(value)}' is not possible here", f"write {context['words']}"
    what = f"'{brief(value)}' does not match {context['pattern']}"
    example = context.get("example")
    return what, f"write for example '{example}'" if example else "write it in that form"


def _wrong_type(value: Any, expected: str) -> tuple[str, str]:
    """Say which type is expected, and name YAML's trap where it is the cause."""
    if value is None:
        return "no value is given", f"write {expected}"
    if isinstance(value, bool):
        remedy = "put it in quotes" if expected == "text" else f"write {expected}"
        return "YAML reads no, on, yes and off as true or false", remedy
    if isinstance(value, int | float) and expected == "text":
        return f"YAML reads {brief(value)} as a number", "put it in quotes"
    if "number" in expected and isinstance(value, str) and (match := _EXPONENT.fullmatch(value)):
        sign = match[3] if match[3][0] in "+-" else f"+{match[3]}"
        return f"YAML reads {value} as text", f"write {match[1]}{match[2] or '.0'}e{sign}"
    return f"{brief(repr(value))} is not {expected}", f"write {expected}"


def _choices(model: type[BaseModel], location: Key) -> str:
    """Return the remedy where one of a few values must be given; empty for other settings."""
    for each in _models_at(model, location[:-1]):
        field = each.model_fields.get(str(location[-1]))
        if field is None:
            continue
        if get_origin(field.annotation) is Literal:
            *names, last = map(str, get_args(field.annotation))
            return f"write {', '.join(names)} or {last}" if names else f"write {last}"
        tags = [str(tag) for inner in models_in(field.annotation) for tag in _tags(inner)]
        if field.discriminator and tags:
            return f"write {{{field.discriminator}: …}} with {', '.join(tags[:-1])} or {tags[-1]}"
    return ""
