"""All of config/: what there is to train, and what papers print and claim of it."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.config.files import ConfigFiles, Parts
from fathom.config.inventory import Inventory, kept
from fathom.config.switches import FILE, Switches
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, nearest, shortened, unknown

# Imported where it is used: a command on one run needs none of it, and it takes as long to import
# as all that the command does need.
if TYPE_CHECKING:
    from fathom.config.claims import Claim
    from fathom.config.paper import Paper
    from fathom.config.schema.columns import Vocabulary
    from fathom.config.tables import Cell, Table


class Project(Inventory):
    """All of config/; a part is read and checked when it is first asked for."""

    def __init__(self, root: Path, files: ConfigFiles, switches: Switches):
        super().__init__(root, files, switches)
        # The switches, each at its place.
        self.given = Value({}, str(FILE))
        self.papers: Parts[Paper] = Parts(files.papers, self._paper)
        self.claims: Parts[Mapping[str, Claim]] = Parts(files.names("claims"), self._claims)

    def with_switches(self, switches: Switches) -> "Project":
        """Return the project with other switches; what is read already is shared."""
        project = copy(self)
        project.switches = switches
        return project

    @cached_property
    def vocabulary(self) -> "Vocabulary":
        """The measurements and the columns that tables share."""
        from fathom.config.schema.columns import read_vocabulary

        return read_vocabulary(self.files.read("columns", "columns"))

    def run_name(self, text: str) -> str:
        """Return the full name of a run that a user names, also by a row that has one run."""
        run, *others = self.run_names(text)
        if others:
            target, _, row = (part.strip() for part in text.rpartition(":"))
            remedy = f"name one: {shortened((run, *others))}"
            raise FathomError(f"row '{row}' has several runs", target or "run", remedy)
        return run

    def run_names(self, text: str) -> tuple[str, ...]:
        """Return the full names of a run, or of the runs of a row, that a user names.

        A row is `<paper>_<table>: <row>`, or the row alone where this is clear.
        """
        from fathom.config.tables import runs_by_row

        target, colon, row = (part.strip() for part in text.partition(":"))
        if colon:
            _, table = self.find(target, "table")
            rows = runs_by_row(self.cells(table))
            if row not in rows:
                raise unknown("row", row, target, rows)
            return rows[row]
        try:
            return (super().run_name(text),)
        except FathomError as error:
            # A study may call its rows after runs.
            is_run = any(name.partition("/")[2] == text for name in self.readable)
            found, wrong = {} if is_run else dict(self._rows_called(text)), error
            if not found:
                with suppress(FathomError):
                    rows = runs_by_row(self.cells(self.find(text, "table")[1]))
                    written = shortened(f"'{row}'" for row in rows)
                    remedy = f"write '{text}: <row>'; its rows: {written}"
                    wrong = FathomError("a table, not a run", text, remedy)
                with suppress(FathomError):
                    self.find(text, "figure")
                    wrong = FathomError("a figure, not a run", text, "`fathom list runs` has runs")
                raise wrong from None
        if len({*found.values()}) > 1:
            tables = ", ".join(found)
            what = f"'{text}' is a row of {len(found)} tables ({tables})"
            raise FathomError(what, "run", f"write '{next(iter(found))}: {text}'")
        return next(iter(found.values()))

    def find(self, target: str, verb: str) -> "tuple[Paper, Any]":
        """Return the paper and the table or figure that a target `<paper>_<artefact>` names.

        `verb` says which of the two it must be, "table" or "figure"; the user typed the target.
        """
        other = "figure" if verb == "table" else "table"
        for name, paper in self.papers.items():
            artefact = target.removeprefix(f"{name}_")
            if artefact == target:
                continue
            if artefact in (artefacts := getattr(paper, f"{verb}s")):
                return paper, artefacts[artefact]
            if artefact in getattr(paper, f"{other}s"):
                remedy = f"draw it with `fathom {other} {target}`"
                raise FathomError(f"a {other}, not a {verb}", target, remedy)
        if fault := self.files.absent_for(target):
            raise fault
        names = [
            f"{name}_{each}" for name, of in self.papers.items() for each in getattr(of, f"{verb}s")
        ]
        remedy, folder = nearest(target, names), target.rpartition("_")[0]
        if Path(folder, "study.yaml").is_file() and folder not in self.papers:
            remedy = "name its folder under `papers` in config/config.yaml"
        raise FathomError(f"no {verb} '{target}'", "target", remedy)

    def _rows_called(self, row: str) -> "Iterator[tuple[str, tuple[str, ...]]]":
        from fathom.config.tables import runs_by_row

        for name in self.papers:
            # A mistake in another paper, or table, is for `fathom validate`.
            with suppress(FathomError):
                for table in self.papers[name].tables.values():
                    with suppress(FathomError):
                        if runs := runs_by_row(self.cells(table)).get(row):
                            yield f"{name}_{table.name}", runs

    def _paper(self, name: str) -> "Paper":
        from fathom.config.paper import Paper

        return Paper(name, self.files, lambda: self.vocabulary)

    def _claims(self, paper: str) -> "Mapping[str, Claim]":
        from fathom.config.claims import load

        return load(self.files.read("claims", paper), paper)

    def sentences(self, paper: str, figure: str) -> tuple[str, ...]:
        """Return the sentences of a paper that stand below one of its figures."""
        claims = self.claims.get(paper, {}).values()
        return tuple(claim.quotation for claim in claims if figure in claim.figures)

    @kept
    def cells(self, table: "Table", scale: str | None = None) -> "tuple[Cell, ...]":
        """Return a table's cells, block by block and row by row, in the printed order, ours last.

        Its tasks are those of a scale, or (None) the paper's own.
        """
        from fathom.config.tables import resolve_cells

        return resolve_cells(table, self, scale)

    def outlined(self, table: "Table") -> "tuple[Cell, ...]":
        """Return a table's cells; where runs have a mistake, as tables.yaml alone gives them."""
        try:
            return self.cells(table)
        except FathomError:
            from fathom.config.tables import resolve_cells

            return resolve_cells(table, self, None, outline=True)
