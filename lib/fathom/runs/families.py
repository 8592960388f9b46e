"""runs.yaml: families of settings, and the runs that are like them."""

import re
from collections.abc import Iterator

from fathom.config.inheritance import Entry, expand
from fathom.config.validation import check
from fathom.config.yaml_files import KeyPath, YamlFile
from fathom.errors import FathomError, Partly, brief, nearest, right_and_wrong
from fathom.runs.settings import Run

_SECTIONS = ("families", "runs")
_LAYERS = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def read_runs(file: YamlFile) -> dict[str, Entry]:
    """Return the runs of a runs.yaml by name, each with all that it inherits.

    Args:
        file: a paper's runs.yaml.

    Raises:
        Partly: keys other than `families` and `runs`, and what `expand` finds.
    """
    unknown = [
        FathomError(f"unknown key '{key}'", file.where((key,)), nearest(key, _SECTIONS))
        for key in file.value
        if key not in _SECTIONS
    ]
    if unknown:
        raise Partly(unknown, {}, ["*"])
    return expand(file, "runs", also=("families",), normal=written_out)


def read_families(file: YamlFile) -> dict[str, Entry]:
    """Return the families of a runs.yaml by name.

    Raises:
        Partly: what `expand` finds.
    """
    return expand(file, "families", also=("runs",), normal=written_out)


def family_findings(file: YamlFile) -> Iterator[FathomError]:
    """Yield what is wrong in a family that can be read, whether or not a run uses it."""
    for family in right_and_wrong(read_families, file)[0].values():
        values = {key: value for key, value in family.values.items() if key != "method"}
        yield from check(Run, values, family.where, partial=True)[1]


def written_out(entry: Entry) -> Entry:
    """Return an entry without short forms: `layers: 12/24`, `method: dlcl`, `start: <run>`.

    Raises:
        FathomError: `layers` does not match `12/24`.
    """
    layers = entry.get(("layers",))
    if layers is not None:
        counts = _LAYERS.fullmatch(str(layers))
        if not counts:
            where = entry.where(("layers",))
            raise FathomError(f"'{brief(layers)}' is no pair of layer counts", where, "write 12/24")
        stacks = ("encoder_layers", "decoder_layers")
        values: dict[KeyPath, int] = {
            ("model", stack): int(count)
            for stack, count in zip(stacks, counts.groups(), strict=True)
        }
        entry = entry.spelled("layers", values)
    for key, name in (("method", "name"), ("start", "run")):
        if isinstance(entry.get((key,)), str):
            entry = entry.with_value((key,), {name: entry.get((key,))}, entry.place((key,)))
    return entry
