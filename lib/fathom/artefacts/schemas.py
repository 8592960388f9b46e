"""JSON Schemas of all config files, generated from their classes for editors.

An editor that knows them completes keys and shows what they mean. `fathom validate` does not read
them: the classes themselves check config.
"""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from fathom.config.project import Project
from fathom.config.schema.columns import Vocabulary
from fathom.config.schema.dataset import FORMATS, PlannedDataset
from fathom.config.schema.figures import KINDS as FIGURES
from fathom.config.schema.method import CardFile
from fathom.config.schema.paper import (
    ClaimSettings,
    DeviationSettings,
    PaperSettings,
    Parameters,
    StudySettings,
)
from fathom.config.schema.run import RunSettings
from fathom.config.schema.scale import PaperScale, Scale
from fathom.config.schema.section import Section
from fathom.config.schema.source import KINDS
from fathom.config.schema.table import TableSettings
from fathom.config.switches import Switches

_PRESET = {"preset": {"description": "Settings of the card by name.", "type": "string"}}
# Keys that an entry may have besides its settings.
_ENTRY_KEYS = {
    "like": {
        "description": "An entry, or several, whose keys come first.",
        "type": ["string", "array"],
    },
    "for": {"description": "One entry for each combination.", "type": ["object", "array"]},
}
_RUN_KEYS = {"layers": {"description": "Encoder and decoder layers: 12/24.", "type": "string"}}
_NAME = {"type": "string", "pattern": "<[a-z0-9_]+>"}
# What the sources that one card makes differ in, and what a schema says of their form.
_VARIED = {"file", "files", "package", "bytes", "sha256"}
_FORMS = {"anyOf", "type", "pattern", "minimum", "maximum", "exclusiveMinimum"}
_FORMS |= {"additionalProperties", "minProperties", "propertyNames"}


def schemas(project: Project) -> dict[str, dict[str, Any]]:
    """Return the schema of each kind of config file by the file's name without suffix."""
    methods = {name: card.method for name, card in project.methods.items()}
    run = _entry(_schema(RunSettings))
    settings = {"name": {"enum": [*methods], "description": "A method, by the name of its card."}}
    for method in methods.values():
        settings = _partial(_schema(method))["properties"] | settings
    short = {"type": "string"}
    run["properties"] |= _RUN_KEYS | {
        "method": {"anyOf": [short, {"type": "object", "properties": settings | _PRESET}]},
        "start": {"anyOf": [short, {"type": "object"}]},
    }
    definitions = run.pop("$defs", {})
    entries = {"type": "object", "additionalProperties": run}
    return {
        "config": _schema(Switches),
        "runs": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"families": entries, "runs": entries},
            "$defs": definitions,
        },
        "scale": _schema(Scale),
        "scales": _entries(_schema(PaperScale)),
        "method": _schema(CardFile),
        "paper": _schema(PaperSettings),
        "study": _schema(StudySettings),
        "tables": _entries(_entry(_schema(TableSettings))),
        "figures": _figures(),
        "claims": _entries(_schema(ClaimSettings)),
        "deviations": _entries(_schema(DeviationSettings)),
        "parameters": _schema(Parameters),
        "columns": _schema(Vocabulary),
        "dataset": _cards(PlannedDataset, *FORMATS.values()),
        "source": _sources(),
    }


def _figures() -> dict[str, Any]:
    """Return the schema of figures.yaml: an entry has the keys of its kind."""
    options, definitions = [], {}
    for name, kind in FIGURES.items():
        schema = _entry(_schema(kind))
        definitions |= schema.pop("$defs", {})
        schema["properties"]["kind"] = {"const": name, "description": str(kind.__doc__)}
        options.append(schema)
    entry = {"anyOf": options}
    return {"type": "object", "additionalProperties": entry, "$defs": definitions}


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


def _cards(*models: type[Section]) -> dict[str, Any]:
    """Return the schema of cards of several classes, which are called like their files."""
    _, schema = models_json_schema([(model, "validation") for model in models], by_alias=True)
    for model in models:
        card = schema["$defs"][model.__name__]
        del card["properties"]["name"]
        card["required"].remove("name")
    return schema | {"anyOf": [{"$ref": f"#/$defs/{model.__name__}"} for model in models]}


def _sources() -> dict[str, Any]:
    """Return the schema of sources' cards, whose `for` makes several sources of one."""
    schema = _cards(*KINDS.values())
    for model in KINDS.values():
        properties = schema["$defs"][model.__name__]["properties"]
        for key in _VARIED & properties.keys():
            forms = {name: properties[key].pop(name) for name in _FORMS & properties[key].keys()}
            properties[key]["anyOf"] = [*forms.pop("anyOf", [forms]), _NAME]
        properties["for"] = _ENTRY_KEYS["for"]
    return schema


def _entries(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.pop("$defs", {})
    return {"type": "object", "additionalProperties": schema, "$defs": definitions}


def _entry(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an entry, which may be partial and like others."""
    partial = _partial(schema)
    partial["properties"] |= _ENTRY_KEYS
    return partial


def _partial(schema: Any) -> Any:
    """Return a schema without required keys, in which a value may be a `<name>`."""
    if isinstance(schema, list):
        return [_partial(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {
        "anyOf" if key == "oneOf" else key: _partial(value)
        for key, value in schema.items()
        if key not in ("required", "discriminator")
    }
    if isinstance(result.get("properties"), dict):
        result["properties"] = {key: _or_name(value) for key, value in result["properties"].items()}
    return result


def _or_name(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that may also be a `<name>`."""
    kinds = {"integer", "number", "boolean"}
    if str(schema.get("type")) not in kinds and "enum" not in schema:
        return schema
    outer = {key: schema[key] for key in ("description", "title") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in outer}
    return {**outer, "anyOf": [inner, _NAME]}
