"""JSON Schema errors turned into one line each: file, line, key, what is wrong, what to write."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema

from fathom.config.yaml_files import YamlFile, read
from fathom.errors import FathomError, nearest

_EXPONENT = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+")
_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}


class Schemas:
    """The JSON Schemas of a folder, each read once: `<kind>.schema.yaml` describes a kind."""

    def __init__(self, folder: Path, root: Path):
        """Remember where the schemas stand.

        Args:
            folder: workflow/schemas.
            root: the project's folder, which messages leave out.
        """
        self.folder, self.root = folder, root
        self._read: dict[str, dict[str, Any]] = {}

    def schema(self, kind: str) -> dict[str, Any]:
        """Return the schema of a kind of file."""
        if kind not in self._read:
            self._read[kind] = read(self.folder / f"{kind}.schema.yaml", self.root).value
        return self._read[kind]

    def findings(self, kind: str, file: YamlFile) -> Iterator[FathomError]:
        """Yield every error of a file, in the order of its keys."""
        yield from self.findings_of(self.schema(kind), file)

    def findings_of(self, schema: dict[str, Any], file: YamlFile) -> Iterator[FathomError]:
        """Yield every error of a file against a schema, or a part of one."""
        validator = jsonschema.Draft202012Validator(schema)
        errors = sorted(validator.iter_errors(file.value), key=lambda e: [str(p) for p in e.path])
        for error in errors:
            yield from _findings(error, file)


def _findings(error: jsonschema.ValidationError, file: YamlFile) -> Iterator[FathomError]:
    """Translate one schema error; an unknown key is told by name, one line each."""
    path = tuple(error.absolute_path)
    if error.validator in ("oneOf", "anyOf") and error.context:
        best = jsonschema.exceptions.best_match([error])
        if best is not error:
            yield from _findings(best, file)
            return
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        for key in error.instance:
            if str(key) not in known:
                where = file.where((*path, key))
                yield FathomError(f"unknown key '{key}'", where, nearest(key, known))
        return
    yield FathomError(*_sentence(error, path, file))


def _sentence(error: jsonschema.ValidationError, path: tuple, file: YamlFile):
    """Return what, where and remedy of one error."""
    value, wanted, where = error.instance, error.validator_value, file.where(path)
    if error.validator == "type":
        return _type_error(value, wanted, where)
    if error.validator == "enum":
        if isinstance(value, bool):
            return "YAML reads no, on, yes and off as true or false", where, "put it in quotes"
        return f"'{value}' is not possible here", where, nearest(value, wanted)
    if error.validator == "required":
        missing = next(key for key in wanted if key not in value)
        return f"the key '{missing}' is missing", where, "add it; the schema describes it"
    if error.validator == "minimum":
        return f"{value} is too small", where, f"write {wanted} or more"
    if error.validator == "exclusiveMinimum":
        return f"{value} is too small", where, f"write more than {wanted}"
    if error.validator == "maximum":
        return f"{value} is too large", where, f"write {wanted} or less"
    if error.validator == "exclusiveMaximum":
        return f"{value} is too large", where, f"write less than {wanted}"
    if error.validator == "pattern":
        return f"'{value}' has another form than {wanted}", where, "write it in that form"
    return error.message, where, "mend the value; the schema describes the key"


def _type_error(value: object, wanted: str | list[str], where: str):
    """Say what type is wanted, and name YAML's trap where it is the cause."""
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    expected = " or ".join(_TYPES[name] for name in names)
    if isinstance(value, str) and {"number", "integer"} & set(names) and _EXPONENT.fullmatch(value):
        mantissa, exponent = re.split("[eE]", value)
        sign = exponent if exponent[0] in "+-" else f"+{exponent}"
        dotted = mantissa if "." in mantissa else f"{mantissa}.0"
        return f"YAML reads {value} as text", where, f"write {dotted}e{sign}"
    if isinstance(value, bool):
        remedy = "put it in quotes" if "string" in names else f"write {expected}"
        return "YAML reads no, on, yes and off as true or false", where, remedy
    if isinstance(value, int | float) and "string" in names:
        return f"YAML reads {value} as a number", where, "put it in quotes"
    return f"{value!r} is not {expected}", where, f"write {expected}"
