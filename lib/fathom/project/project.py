"""The whole of config/; everything that is asked of it is a look-up."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fathom.config.schema_errors import Schemas
from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError, nearest
from fathom.papers import paper as papers
from fathom.runs import datasets
from fathom.runs import method_card as cards
from fathom.runs.resolve import (
    Leaf,
    Scale,
    Setting,
    nested,
    paper_settings,
    scaled,
    units,
    with_card,
)
from fathom.runs.spec import Data, Spec
from fathom.runs.specs import spec_from


@dataclass(frozen=True)
class Catalog:
    """Everything that config/ says.

    Attributes:
        root: the project's folder.
        config: the user's switches.
        scales, sources, datasets, methods, papers: by name.
        run_files: the runs.yaml of each paper.
        card_files: the file of each method's card.
    """

    root: Path
    config: dict[str, Any]
    scales: dict[str, Scale]
    sources: dict[str, datasets.Source]
    datasets: dict[str, datasets.Dataset]
    methods: dict[str, cards.Card]
    papers: dict[str, papers.Paper]
    run_files: dict[str, YamlFile]
    card_files: dict[str, YamlFile]
    schemas: Schemas

    @cached_property
    def paper_of(self) -> dict[str, str]:
        """The paper that each run belongs to."""
        return {run: paper for paper, file in self.run_files.items() for run in file.value["runs"]}

    @cached_property
    def _units(self) -> dict[Leaf, str]:
        return units(self.schemas.schema("runs")["$defs"]["run"])

    def scale(self, name: str) -> Scale:
        """Return a scale by name.

        Raises:
            FathomError: there is none of that name.
        """
        if name not in self.scales:
            raise FathomError(f"no scale '{name}'", "scale", nearest(name, self.scales))
        return self.scales[name]

    def settings(self, run: str, scale: str) -> dict[Leaf, Setting]:
        """Return the resolved settings of a run, each with where its value comes from.

        Raises:
            FathomError: there is no such run or scale.
        """
        chosen = self.scale(scale)
        if run not in self.paper_of:
            raise FathomError(f"no run '{run}'", "run", nearest(run, self.paper_of))
        settings = paper_settings(self.run_files[self.paper_of[run]], run)
        name = settings[("method", "name")].value
        if name not in self.methods:
            where = settings[("method", "name")].where
            raise FathomError(f"no method '{name}'", where, nearest(name, self.methods))
        card = self.methods[name]
        settings = with_card(settings, card, self.card_files[name])
        unit_of = dict(self._units)
        for each in card.settings:
            if each.unit:
                unit_of[("method", "settings", each.name)] = each.unit
        return scaled(settings, chosen, unit_of)

    def spec(self, run: str, scale: str) -> Spec:
        """Return the specification of a run at a scale; the same object's worth for equal calls."""
        key = (run, scale)
        if key not in self._specs:
            settings = self.settings(run, scale)
            dataset = self.datasets[settings[("data", "dataset")].value]
            self._specs[key] = spec_from(
                run,
                scale,
                nested(settings),
                dataset,
                dataset.definition(self.sources),
                self.methods[settings[("method", "name")].value].gates,
                self._base(settings, scale),
            )
        return self._specs[key]

    def _base(self, settings: dict[Leaf, Setting], scale: str) -> Spec | None:
        """Return the run whose weights a run starts from, where its settings name one.

        Raises:
            FathomError: there is no such run, or it starts from another one itself.
        """
        start = settings.get(("training", "start", "run"))
        if start is None:
            return None
        runs = [run for run in self.paper_of if not self._starts(run)]
        if start.value not in runs:
            what = f"'{start.value}' cannot be started from"
            raise FathomError(what, start.where, nearest(start.value, runs))
        return self.spec(start.value, scale)

    def _starts(self, run: str) -> bool:
        settings = paper_settings(self.run_files[self.paper_of[run]], run)
        return ("training", "start", "run") in settings

    @cached_property
    def _specs(self) -> dict[tuple[str, str], Spec]:
        return {}

    def seeds(self, run: str, scale: str) -> tuple[int, ...]:
        """Return the seeds with which a run is trained at a scale."""
        own = self.scale(scale).seeds
        if own is not None:
            return own
        file = self.run_files[self.paper_of[run]].value
        return tuple(file["runs"][run].get("seeds", file["defaults"].get("seeds", [1])))

    def reported(self) -> Iterator[tuple[papers.Paper, papers.Artefact, Path]]:
        """Yield each artefact of which the paper reports numbers, with their file."""
        for paper in self.papers.values():
            folder = self.root / "config" / "papers" / paper.name
            for artefact in paper.artefacts.values():
                if artefact.reported is not None:
                    yield paper, artefact, folder / artefact.reported

    def gates(self, spec: Spec) -> tuple[str, ...]:
        """Return the gates with which a run is decoded: those that its card does not refuse."""
        card = self.methods[spec.method.name]
        every = ("soft", "hard") if card.gates else ("plain",)
        return tuple(each for each in every if card.refusal(each, spec.method.settings) is None)

    def run_named(self, name: str, scale: str) -> Spec:
        """Return the specification of `<run>` or of a run's folder `<run>-<hash8>`.

        Raises:
            FathomError: no such run, or its settings are no longer those of the folder.
        """
        run, dash, digits = name.rpartition("-")
        if name in self.paper_of or not dash:
            return self.spec(name, scale)
        spec = self.spec(run, scale)
        if spec.folder != name:
            raise FathomError(
                f"the settings of '{run}' are no longer those of {digits}",
                f"run {name}",
                f"start again: the run is now {spec.folder}",
            )
        return spec

    def data(self, folder: str, scale: str) -> Data:
        """Return the data whose corpus, subword or tensor folder has this name.

        Raises:
            FathomError: no run of this scale uses such data.
        """
        found: dict[str, Data] = {}
        for run in self.paper_of:
            data = self.spec(run, scale).data
            found[data.folder] = found[data.corpus_folder] = data
        if folder not in found:
            raise FathomError(f"no data '{folder}'", f"scale {scale}", nearest(folder, found))
        return found[folder]
