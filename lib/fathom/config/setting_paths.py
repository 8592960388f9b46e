"""Paths of settings in config, such as `training.clip`: what does not exist of them."""

from collections.abc import Mapping

from fathom.config.schema.run import RunSettings
from fathom.config.section import Section
from fathom.config.validation import field_names


def unknown_part(dotted: str, methods: Mapping[str, type[Section]]) -> tuple[str, list[str]] | None:
    """Return the part of a path that no run can have, with the names that are possible there.

    Args:
        dotted: the path.
        methods: the classes of all methods' settings.
    """
    path = tuple(dotted.split("."))
    for length, part in enumerate(path):
        if path[:length] == ("method",):
            names = {name for method in methods.values() for name in method.model_fields}
        else:
            names = set(field_names(RunSettings, path[:length]))
        if part not in names:
            return part, sorted(names)
    return None
