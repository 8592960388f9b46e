"""runs.yaml: families of settings, and the runs that are like them."""

import re
from collections.abc import Iterable, Iterator

from fathom.config.inheritance import Entry, Sections
from fathom.config.schema.run import RunSettings
from fathom.config.validation import check
from fathom.config.yaml_files import KeyPath, YamlFile
from fathom.io.errors import FathomError, Partly, brief, nearest

_SECTIONS = ("families", "runs")
_LAYERS = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def read_runs(file: YamlFile) -> dict[str, Entry]:
    """Return the runs of a runs.yaml by name, each with all that it inherits.

    Raises:
        Partly: keys other than `families` and `runs`, and what `Sections` finds.
    """
    return _sections(file).expanded(("runs",))


def read_families(file: YamlFile) -> dict[str, Entry]:
    """Return the families of a runs.yaml by name.

    Raises:
        Partly: keys other than `families` and `runs`, and what `Sections` finds.
    """
    return _sections(file).expanded(("families",))


def family_findings(families: Iterable[Entry]) -> Iterator[FathomError]:
    """Yield what is wrong in families that can be read, whether or not a run uses them."""
    for family in families:
        values = {key: value for key, value in family.values.items() if key != "method"}
        yield from check(RunSettings, values, family.where, partial=True)[1]


def _sections(file: YamlFile) -> Sections:
    """Return both sections of a runs.yaml, of which each may name entries of the other."""
    unknown = [
        FathomError(f"unknown key '{key}'", file.where((key,)), nearest(key, _SECTIONS))
        for key in file.value
        if key not in _SECTIONS
    ]
    if unknown:
        raise Partly(unknown, {}, ["*"])
    return Sections(file, [(section,) for section in _SECTIONS], written_out)


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
