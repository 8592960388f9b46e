"""study.yaml: a comparison without printed numbers, read by the code that reads a paper's files."""

from fathom.config.merge import combinations, entry_name, fill_text
from fathom.config.yaml_values import Value

# The files of a paper that a study has as sections; `paper` is all of it, `runs` two sections.
VIEWS = ("paper", "scales", "runs", "tables", "figures", "claims")
# What an entry has that a paper must say, and a study need not.
_TITLED = {"title": None, "section": ""}
_DEFAULTS = {
    "tables": _TITLED,
    "figures": _TITLED,
    "claims": {"section": "", "supports": "not printed"},
}
# What a borrowed recipe says of its text, and of the direction of translation.
_TEXT, _DIRECTION = ("dataset", "pieces_of"), ("direction", "target_token")


def view(study: Value, kind: str) -> Value:
    """Return what a study says in place of a paper's file of a kind, with its lines and keys."""
    if kind == "paper":
        return study
    if kind == "runs":
        keys = [key for key in ("families", "runs") if key in study.value]
        return study.over({key: study.value[key] for key in keys})
    section = study.at((kind,))
    if not isinstance(section.value, dict):
        return section if section.value is not None else section.over({})
    defaults = _DEFAULTS.get(kind, {})
    return section.over({name: _with(entry, defaults, study) for name, entry in section.items()})


def _with(entry: Value, defaults: dict[str, str | None], study: Value) -> Value:
    """Return an entry with what it need not say; a title that is None is the study's."""
    if not isinstance(entry.value, dict) or "like" in entry.value:
        return entry
    given = {
        key: entry.over(study.get("title") if default is None else default)
        for key, default in defaults.items()
    }
    return entry.over(given | _with_runs(entry, study).value)


def _with_runs(entry: Value, study: Value) -> Value:
    """Return a table or figure with a row, line or cell for each run of a `for` that it names."""
    for section in ("rows", "lines", "cells"):
        written, items = entry.at((section,)), {}
        for name, run in written.items():
            runs = study.find("runs", str(run.value), "for")
            for chosen in [{}] if runs is None else combinations(runs):
                item = run.over(entry_name(run.value, chosen)) if chosen else run
                items[str(fill_text(name, chosen))] = item
        entry = entry.put((section,), written.over(items)) if items else entry
    return entry


def with_study(recipe: Value, study: Value, both_ways: bool) -> Value:
    """Return a borrowed recipe, or an empty one, with a study's text, direction, pieces and seeds.

    The recipe keeps its direction where the study names none and its data set has `both_ways`.
    """
    for key in ("data", "seeds"):
        given = study.find(key)
        if given is None:
            continue
        if key == "data":
            given = data_of(study)
            replaced = (*_TEXT, *(() if both_ways else _DIRECTION))
            lost = (*given.value, *(replaced if "dataset" in given.value else ()))
            kept = {name: item for name, item in recipe.at(("data",)).items() if name not in lost}
            given = given.over(kept | given.value)
        recipe = recipe.put((key,), given)
    return recipe


def data_of(study: Value) -> Value:
    """Return the text of a study's runs in its long form: `data: name` is `{dataset: name}`."""
    data = study.at(("data",))
    if isinstance(data.value, dict) or data.value is None:
        return data.over(data.value or {})
    return data.over({"dataset": data})
