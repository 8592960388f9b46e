"""The parameter counts that papers print, each with the network that it describes."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from fathom.config.yaml_files import YamlFile, read
from fathom.errors import FathomError, nearest
from fathom.project.project import Catalog
from fathom.runs import method_card as cards
from fathom.runs.resolve import Leaf, Scale, Setting, leaves, nested, with_card
from fathom.runs.spec import Method, Model

# A share of the printed number.
AGREEMENT = 0.01
_MILLION = 1_000_000


@dataclass(frozen=True)
class Network:
    """What determines a number of parameters; entries are those of the two dictionaries."""

    model: Model
    method: Method
    tasks: int
    source_entries: int
    target_entries: int


@dataclass(frozen=True)
class Printed:
    """A count as a paper prints it.

    Attributes:
        paper, table, row: where it stands; the row as printed.
        millions: the number as printed, in millions.
        network: what it counts.
        added_to: what its network adds to, where the number counts only what is added.
        right: what a misprint must mean, in millions; empty where there is none.
        reason: why the number is no count of the network; empty where it is.
    """

    paper: str
    table: str
    row: str
    millions: str
    network: Network
    added_to: Network | None
    right: str
    reason: str

    def difference(self, ours: int) -> float | None:
        """Return by which share of the printed number ours is larger; None where 0 is printed."""
        printed = float(self.millions) * _MILLION
        return ours / printed - 1 if printed else None

    def verdict(self, ours: int) -> str:
        """Judge a printed number by the network's count.

        Args:
            ours: the parameters of the network, or those that it adds.

        Returns:
            "agrees" (within 1 %, or the same digits: few are printed of what is added), "misprint"
            (what must be meant agrees), "unexplained" or "differs".
        """
        if _agrees(self.millions, ours):
            return "agrees"
        if self.right:
            return "misprint" if _agrees(self.right, ours) else "differs"
        return "unexplained" if self.reason else "differs"


def _agrees(millions: str, ours: int) -> bool:
    printed, decimals = float(millions) * _MILLION, len(millions.partition(".")[2])
    same_digits = f"{ours / _MILLION:.{decimals}f}" == millions
    return same_digits or abs(ours - printed) <= AGREEMENT * printed


def undiminished(scale: Scale) -> bool:
    """Return whether a scale leaves every network as the papers describe it."""
    changed = scale.datasets or scale.replace or scale.method_settings
    return scale.layers == scale.width == 1 and not changed


def printed(catalog: Catalog, scale: str) -> list[Printed]:
    """Return the printed counts of all papers, in the papers' order.

    Args:
        catalog: a catalog whose files have been checked.
        scale: the scale of the runs that networks name.
    """
    found = []
    for paper in catalog.papers:
        path = catalog.root / "config" / "papers" / paper / "parameters.yaml"
        if path.exists():
            found += _of_paper(catalog, paper, read(path, catalog.root), scale)
    return found


def _of_paper(catalog: Catalog, paper: str, file: YamlFile, scale: str) -> Iterator[Printed]:
    networks = {name: _network(catalog, file, name, scale) for name in file.value["networks"]}
    for table, rows in file.value["tables"].items():
        for row, count in rows.items():
            misprint = count.get("misprint", {"right": "", "reason": ""})
            yield Printed(
                paper=paper,
                table=table,
                row=row,
                millions=count["printed"],
                network=networks[count["network"]],
                added_to=networks[count["added_to"]] if "added_to" in count else None,
                right=misprint["right"],
                reason=misprint["reason"] or count.get("unexplained", ""),
            )


def _network(catalog: Catalog, file: YamlFile, name: str, scale: str) -> Network:
    settings = _settings(file, name)
    vocabulary = file.value["vocabularies"][settings[("vocabulary",)].value]
    entries = (vocabulary["source"], vocabulary["target"])
    if ("run",) in settings:
        spec = catalog.spec(settings[("run",)].value, scale)
        return Network(spec.model, spec.method, len(spec.data.tasks), *entries)
    chosen = settings[("method", "name")].value
    tree = nested(with_card(settings, catalog.methods[chosen], catalog.card_files[chosen]))
    model = tree["model"] | {"residuals": tuple(tree["model"]["residuals"])}
    method = Method(chosen, tuple(tree["method"]["sides"]), tree["method"].get("settings", {}))
    return Network(Model(**model), method, tree["tasks"], *entries)


def _settings(file: YamlFile, name: str) -> dict[Leaf, Setting]:
    """Return what a network says of itself: the defaults, then `like`, then its own."""
    networks = file.value["networks"]
    places = [("networks", name)]
    if "like" in networks[name]:
        places.insert(0, ("networks", networks[name]["like"]))
    settings = _given(file, ("defaults",))
    for place in places:
        settings |= _given(file, place)
    return settings


def _given(file: YamlFile, place: Leaf) -> dict[Leaf, Setting]:
    """Return the settings that stand under one place of a file, with where."""
    return {
        leaf: Setting(value, file.where((*place, *leaf)))
        for leaf, value in leaves(_entry(file, place)).items()
    }


def _entry(file: YamlFile, place: Leaf) -> dict[str, Any]:
    value = file.value
    for key in place:
        value = value[key]
    return value


def findings(catalog: Catalog, file: YamlFile) -> Iterator[FathomError]:
    """Yield what a parameters.yaml says that its schema cannot refuse.

    Args:
        catalog: the catalog, whose runs and cards the file names.
        file: parameters.yaml.
    """
    networks = file.value["networks"]
    shared = list(_shape_findings(catalog, file, ("defaults",)))
    yield from shared
    # What is wrong in the defaults would be told again for every network.
    for name in () if shared else networks:
        found = list(_network_findings(catalog, file, name))
        yield from found or _method_findings(catalog, file, name)
    for table, rows in file.value["tables"].items():
        for row, count in rows.items():
            place = ("tables", table, row)
            for key in ("network", "added_to"):
                if key in count and count[key] not in networks:
                    where, remedy = file.where((*place, key)), nearest(count[key], networks)
                    yield FathomError(f"no network '{count[key]}'", where, remedy)
            if "misprint" in count and "unexplained" in count:
                where = file.where((*place, "unexplained"))
                yield FathomError("a misprint is explained", where, "delete one of the two")


def _shape_findings(catalog: Catalog, file: YamlFile, place: Leaf) -> Iterator[FathomError]:
    """Yield keys and values of a model or a method that a run could not have."""
    runs = catalog.schemas.schema("runs")
    entry = _entry(file, place)
    schema = runs["$defs"]["run"]
    value = {key: entry[key] for key in ("model", "method") if key in entry}
    for key in reversed(place):
        schema, value = {"properties": {key: schema}}, {key: value}
    whole = schema | {"$defs": runs["$defs"]}
    yield from catalog.schemas.findings_of(whole, YamlFile(file.name, value, file.lines))


def _network_findings(catalog: Catalog, file: YamlFile, name: str) -> Iterator[FathomError]:
    """Yield names that a network gives and that do not exist, and what it lacks."""
    networks, place = file.value["networks"], ("networks", name)
    own = networks[name]
    plain = [each for each, value in networks.items() if not {"like", "run"} & value.keys()]
    if "like" in own and own["like"] not in plain:
        where, remedy = file.where((*place, "like")), nearest(own["like"], plain)
        yield FathomError(f"'{own['like']}' cannot be taken as a model", where, remedy)
        return
    wrong = list(_shape_findings(catalog, file, place))
    yield from wrong
    if wrong:
        return
    settings = _settings(file, name)
    names = {
        ("vocabulary",): file.value["vocabularies"],
        ("run",): catalog.paper_of,
        ("method", "name"): catalog.methods,
    }
    for leaf, known in names.items():
        if leaf in settings and settings[leaf].value not in known:
            value, where = settings[leaf].value, settings[leaf].where
            yield FathomError(f"no {leaf[0]} '{value}'", where, nearest(value, known))
    yield from _said_twice(own, file, place)
    wanted = [("vocabulary",)]
    if "run" not in own:
        wanted += [("tasks",), ("method", "name"), ("method", "sides")]
        wanted += [("model", each.name) for each in fields(Model)]
    for leaf in wanted:
        if leaf not in settings:
            what, remedy = f"no {'.'.join(leaf)} is given", "give it in the network or in defaults"
            yield FathomError(what, file.where(place), remedy)


def _said_twice(own: dict[str, Any], file: YamlFile, place: Leaf) -> Iterator[FathomError]:
    """Yield what a network says beside the run that says it already."""
    for key in ("like", "model", "method", "tasks"):
        if "run" in own and key in own:
            yield FathomError("the run says this", file.where((*place, key)), "delete it")


def _method_findings(catalog: Catalog, file: YamlFile, name: str) -> Iterator[FathomError]:
    """Yield what a network's card refuses; every name that it gives exists."""
    if "run" in file.value["networks"][name]:
        return
    settings = _settings(file, name)
    chosen = settings[("method", "name")].value
    card = catalog.methods[chosen]
    # Nothing is decoded here, so that no gates can be refused.
    gates = {("evaluation", "compared_gates"): Setting("", "")}
    try:
        settings = with_card(settings, card, catalog.card_files[chosen])
        sides = settings[("method", "sides")].value
        yield from cards.settings_findings(card, sides, settings | gates)
    except FathomError as error:
        yield error
