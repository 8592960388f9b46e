"""Cards: one YAML file each, whose name is the card's."""

from typing import TypeVar

from fathom.config.section import Section
from fathom.config.validation import check
from fathom.config.yaml_files import YamlFile
from fathom.io.errors import FathomError, brief, nearest

P = TypeVar("P", bound=Section)


def read_card(model: type[P], name: str, file: YamlFile) -> tuple[P | None, list[FathomError]]:
    """Check a card against its class.

    Args:
        model: the class; it has a field `name`.
        name: the name of the card's file, without its ending.
        file: the card.

    Returns:
        The checked card and no findings, or None and all findings.
    """
    card, findings = check(model, {**file.value, "name": name}, file.where)
    if "name" in file.value:
        remedy = "delete it: a card is called like its file"
        findings.append(FathomError("unknown key 'name'", file.where(("name",)), remedy))
    return (None if findings else card), findings


def read_card_of_kind(
    models: dict[str, type[P]], key: str, name: str, file: YamlFile
) -> tuple[P | None, list[FathomError]]:
    """Check a card against the class that one of its keys chooses.

    Args:
        models: the class for each value of the key.
        key: the key that chooses.
        name: the name of the card's file, without its ending.
        file: the card.

    Returns:
        The checked card and no findings, or None and all findings.
    """
    where = file.where((key,))
    if key not in file.value:
        remedy = f"write {key}: {' or '.join(models)}"
        return None, [FathomError("no value is given", where, remedy)]
    value = file.value[key]
    if not isinstance(value, str) or value not in models:
        return None, [
            FathomError(f"'{brief(value)}' is not possible here", where, nearest(value, models))
        ]
    return read_card(models[value], name, file)
