"""The page of all settings: meaning, type, default, and what each paper gives."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from fathom.config.check import models_in
from fathom.config.merge import Entry
from fathom.config.project import Project
from fathom.config.schema.figures import KINDS, FigureSettings
from fathom.config.schema.method import MethodCard
from fathom.config.schema.run import MethodSettings, RunSettings
from fathom.config.schema.section import Section
from fathom.config.show import source_of

_HEAD = """\
# Settings

Every setting of a run, with its default and what the papers give. `fathom show <run>` prints a
run's own values with file and line. A run of `runs.yaml` may also have `like` (an entry whose
settings come first, or several, of which later ones win), `for` (one run for each combination),
`layers: 12/24` (of encoder and decoder) and `method: <name>` (a method without settings of its own;
`fathom list methods` prints their names). This page is written from
`lib/fathom/config/schema/run.py`, cards of methods and the papers' `runs.yaml`. At its end are the
keys of `figures.yaml`: those of every figure, and those of each kind.

Below a setting are the papers that give a value, with the place in brackets. *silent*: the paper
does not give the value; what follows is where ours comes from.
"""


def page(project: Project) -> str:
    """Return the page as Markdown."""
    given = _given(project)
    lines = [_HEAD]
    for title, part, above in _parts(RunSettings, ()):
        lines += [f"## {title}", "", _docstring(part), ""]
        for name, field in part.model_fields.items():
            if _inner(field.annotation):
                continue
            path = ".".join((*above, name))
            tag = (
                get_args(part.model_fields["name"].annotation)
                if "name" in part.model_fields
                else ()
            )
            lines += _setting(path, field, _of(given.get(path, {}), tag[0] if tag else ""))
        lines.append("")
    for name, card in project.methods.items():
        lines += _method(name, card, given)
    lines += _keys("figure", FigureSettings)
    for name, kind in KINDS.items():
        lines += _keys(f"figure {name}", kind)
    return "\n".join(lines).rstrip() + "\n"


def _parts(
    part: type[Section], above: tuple[str, ...]
) -> Iterator[tuple[str, type[Section], tuple]]:
    """Yield heading, class and key path of each class of settings below one."""
    yield ".".join(above) or "run", part, above
    for name, field in part.model_fields.items():
        inner = _inner(field.annotation)
        for one in inner:
            if one is MethodSettings:
                continue
            tag = f" ({_tag(one)})" if _tag(one) else ""
            for title, below, path in _parts(one, (*above, name)):
                yield title + tag, below, path


def _tag(part: type[Section]) -> str:
    """Return the name of a schedule's class, by which config chooses it; empty for others."""
    name = part.model_fields.get("name")
    options = get_args(name.annotation) if name else ()
    return str(options[0]) if options else ""


def _inner(annotation: Any) -> list[type[Section]]:
    """Return the classes of settings that a field may hold, where it holds nothing else."""
    options = get_args(annotation) or (annotation,)
    parts = [one for one in options if isinstance(one, type) and issubclass(one, Section)]
    others = [one for one in options if one not in parts and one is not type(None)]
    return [] if others else parts


def _choices(annotation: Any) -> Iterator[Any]:
    """Yield the values of a setting's choices, also of a list's items; none of other types."""
    for inner in get_args(annotation):
        if get_origin(annotation) is Literal:
            yield inner
        else:
            yield from _choices(inner)


def _allowed(annotation: Any) -> str:
    """Return what a setting with choices may be; empty for other settings."""
    names = [f"`{value}`" for value in _choices(annotation)]
    if len(names) < 2:
        return ""
    if any(isinstance(one, type) and issubclass(one, Section) for one in get_args(annotation)):
        names.append("a mapping")
    return f"; {'any' if get_origin(annotation) is tuple else 'one'} of {', '.join(names)}"


def _docstring(part: type[Section]) -> str:
    return (part.__doc__ or "").strip().split("\n\n")[0].replace("\n    ", " ")


def _setting(path: str, field: Any, given: Mapping[str, list[str]]) -> list[str]:
    """Return the lines of one setting."""
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    default = "required"
    if not field.is_required():
        default = f"default `{_text(field.get_default(call_default_factory=True))}`"
    if extra.get("source"):
        default += f", {extra['source']}"
    unit = f"; scaled by {extra['unit']}" if extra.get("unit") else ""
    unit += _allowed(field.annotation)
    lines = [f"- `{path}` ({default}{unit}): {field.description or ''}".rstrip(": ")]
    for value, places in given.items():
        lines.append(f"    - `{value}`: {'; '.join(places)}")
    return lines


def _of(given: Mapping[str, list[str]], chosen: str) -> dict[str, list[str]]:
    """Return the places that belong to a method or schedule, without its name."""
    if not chosen:
        return dict(given)
    own = {
        value: [place.partition(" ")[2] for place in places if place.startswith(f"{chosen} ")]
        for value, places in given.items()
    }
    return {value: places for value, places in own.items() if places}


def _method(name: str, card: MethodCard, given: Mapping[str, Mapping[str, list[str]]]) -> list[str]:
    lines = [f"## method {name}", "", card.about.summary, ""]
    for key, setting in card.about.settings.items():
        unit = f"; scaled by {setting.unit}" if setting.unit else ""
        default = f"default `{_text(setting.default)}`, {setting.source}{unit}"
        lines.append(f"- `method.{key}` ({default}): {setting.description}")
        for value, places in _of(given.get(f"method.{key}", {}), name).items():
            lines.append(f"    - `{value}`: {'; '.join(places)}")
    if not card.about.settings:
        lines.append("It has no settings.")
    return [*lines, ""]


def _keys(title: str, part: type[Section]) -> list[str]:
    """Return the keys of a class of figures.yaml, and those of a part's long form."""
    lines = [f"## {title}", "", _docstring(part), ""]
    for name, field in part.model_fields.items():
        if part is not FigureSettings and name in FigureSettings.model_fields:
            continue
        lines += _setting(name, field, {})
        for inner in models_in(field.annotation):
            # What a panel may say are the keys of the figure itself.
            if issubclass(part, inner):
                lines.append("    - A panel may have other keys of this list; its own win.")
            else:
                long = (f"{name}.<…>.{key}" for key in inner.model_fields)
                fields = zip(long, inner.model_fields.values(), strict=True)
                lines += [f"    {line}" for key, one in fields for line in _setting(key, one, {})]
    return [*lines, ""]


def _given(project: Project) -> dict[str, dict[str, list[str]]]:
    """Return, by path and value, the papers' families and runs that give it, with the source."""
    given: dict[str, dict[str, list[str]]] = {}
    for paper, file in project.runs_files.items():
        for entry in (*file.families.values(), *file.runs.values()):
            for path, value, source in _values(entry):
                places = given.setdefault(path, {}).setdefault(_text(value), [])
                line = f"{_chosen(path, entry)}{paper}" + (f" ({source})" if source else "")
                if line not in places:
                    places.append(line)
    return given


def _chosen(path: str, entry: Entry) -> str:
    """Return the method or schedule to which a setting belongs, and a blank; else nothing."""
    for key in (("method",), ("training", "schedule")):
        if path.startswith(".".join(key) + "."):
            return f"{entry.values.get(*key, 'name')} "
    return ""


def _values(entry: Entry) -> Iterator[tuple[str, Any, str]]:
    """Yield path, value and source of each value of an entry."""
    waiting = [((), entry.values)]
    while waiting:
        path, value = waiting.pop(0)
        if isinstance(value.value, dict):
            waiting += [((*path, key), inner) for key, inner in value.items()]
        elif path:
            yield ".".join(path), value.plain, source_of(value, entry.values)


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(_text(item) for item in value)}]"
    if isinstance(value, Section):
        return f"{{{', '.join(f'{k}: {_text(v)}' for k, v in value)}}}"
    return str(value) or '""'
