"""The page of all settings: meaning, type, default, and what each paper gives with its source."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from fathom.config.inheritance import Entry
from fathom.config.settings import Part
from fathom.project.project import Project
from fathom.runs.families import read_families
from fathom.runs.method_card import Card
from fathom.runs.settings import Method, Run

_HEAD = """\
# Settings

Every setting of a run, with its default and what the papers give. A run's own values with file
and line: `fathom show <run>`. This page is generated (`make docs`) from `lib/fathom/runs/settings.py`,
the methods' cards and the papers' `runs.yaml`.
"""


def page(project: Project) -> str:
    """Return the page as Markdown."""
    given = _given(project)
    lines = [_HEAD]
    for title, part, above in _parts(Run, ()):
        lines += [f"## {title}", "", _docstring(part), ""]
        for name, field in part.model_fields.items():
            if _inner(field.annotation):
                continue
            path = ".".join((*above, name))
            lines += _setting(path, field, given.get(path, {}))
        lines.append("")
    for name, card in project.methods.items():
        lines += _method(name, card, given)
    return "\n".join(lines).rstrip() + "\n"


def _parts(part: type[Part], above: tuple[str, ...]) -> Iterator[tuple[str, type[Part], tuple]]:
    """Yield heading, class and key path of each class of settings below one."""
    yield ".".join(above) or "run", part, above
    for name, field in part.model_fields.items():
        inner = _inner(field.annotation)
        for one in inner:
            if one is Method:
                continue
            tag = f" ({get_args(one.model_fields['name'].annotation)[0]})" if len(inner) > 1 else ""
            for title, found, path in _parts(one, (*above, name)):
                yield title + tag, found, path


def _inner(annotation: Any) -> list[type[Part]]:
    """Return the classes of settings that a field may hold, where it holds nothing else."""
    options = get_args(annotation) or (annotation,)
    parts = [one for one in options if isinstance(one, type) and issubclass(one, Part)]
    others = [one for one in options if one not in parts and one is not type(None)]
    return [] if others else parts


def _docstring(part: type[Part]) -> str:
    return (part.__doc__ or "").strip().split("\n\n")[0].replace("\n    ", " ")


def _setting(path: str, field: Any, given: Mapping[str, list[str]]) -> list[str]:
    """Return the lines of one setting."""
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    default = "required" if field.is_required() else f"default {_text(field.get_default())}"
    if extra.get("source"):
        default += f", {extra['source']}"
    unit = f"; scaled by {extra['unit']}" if extra.get("unit") else ""
    lines = [f"- `{path}` ({default}{unit}): {field.description or ''}".rstrip(": ")]
    for value, places in given.items():
        lines.append(f"    - {value}: {'; '.join(places)}")
    return lines


def _method(name: str, card: Card, given: Mapping[str, Mapping[str, list[str]]]) -> list[str]:
    lines = [f"## method {name}", "", card.about.summary, ""]
    for key, setting in card.about.settings.items():
        unit = f"; scaled by {setting.unit}" if setting.unit else ""
        default = f"default {_text(setting.value)}, {setting.source}{unit}"
        lines.append(f"- `method.{key}` ({default}): {setting.description}")
        for value, places in given.get(f"method.{key}", {}).items():
            own = [place for place in places if place.startswith(f"{name} ")]
            lines += [f"    - {value}: {'; '.join(p.partition(' ')[2] for p in own)}"] if own else []
    if not card.about.settings:
        lines.append("It has no settings.")
    return [*lines, ""]


def _given(project: Project) -> dict[str, dict[str, list[str]]]:
    """Return, by path and value, the papers' families and runs that give it, with the source."""
    given: dict[str, dict[str, list[str]]] = {}
    for paper, file in project.files["runs"].items():
        runs = {
            name.partition("/")[2]: entry
            for name, entry in project.entries.items()
            if name.startswith(f"{paper}/")
        }
        for name, entry in {**read_families(file), **runs}.items():
            for path, value, source in _own(name, entry):
                method = f"{entry.get(('method', 'name'))} " if path.startswith("method.") else ""
                places = given.setdefault(path, {}).setdefault(_text(value), [])
                line = f"{method}{paper}" + (f" ({source})" if source else "")
                if line not in places:
                    places.append(line)
    return given


def _own(name: str, entry: Entry) -> Iterator[tuple[str, Any, str]]:
    """Yield path, value and source of each value that an entry gives itself."""
    waiting = [((), entry.node)]
    while waiting:
        path, node = waiting.pop(0)
        if isinstance(node.value, dict):
            waiting += [((*path, key), inner) for key, inner in node.value.items()]
        elif node.place.path[1:2] == (name,) or node.place.path[1:2] != ():
            yield ".".join(path), node.value, node.place.source


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(_text(item) for item in value)}]"
    if isinstance(value, Part):
        return f"{{{', '.join(f'{k}: {_text(v)}' for k, v in value)}}}"
    return str(value)
