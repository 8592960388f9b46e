"""The settings of a table: the keys of tables.yaml."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from fathom.config.schema.section import Doc, ListOf, Section


def _text(value: Any) -> Any:
    """Return a whole number as the text that is printed; YAML reads `6` as a number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Id = Annotated[str, BeforeValidator(_text)]
Ids = ListOf[Id]


# flores200 is left out: sacreBLEU downloads its model when it scores.
Tokenize = Literal["13a", "13a_pieces", "none", "intl", "char", "moses", "zh", "ko-mecab"]


class MetricSettings(Section):
    """How a paper or a table scores."""

    tokenize: Tokenize | None = Doc(
        "sacreBLEU's tokenizer, or Moses, or 13a against references that are joined from their "
        "pieces; runs ask for the last two in scoring.tokenizers. By default that of the language.",
        None,
    )
    unknown_for: Ids = Doc("Tasks whose metric in the paper is not known.", ())
    note: str = Doc("Why this is the paper's metric.", "")

    def over(self, other: "MetricSettings | None") -> "MetricSettings":
        """Return this metric with what another one, a table's or a block's, says instead."""
        return self.model_copy(update=other.given() if other else {})


# What marks mean: a significant gain over `to`; the number is a difference; it has one next to it.
GAIN, DIFFERENCE, WITH_DIFFERENCE = "gain", "difference", "with difference"


class Mark(Section):
    """What a mark on a printed cell means."""

    means: Literal["gain", "difference", "with difference"] = Doc(
        "A significant gain over `to`; the number is a difference; one is printed with it."
    )
    to: str = Doc("A row, a column or a run.")
    test: Literal["paired_bootstrap"] | None = Doc("Of significance.", None)
    draws: Annotated[int | None, Field(ge=1)] = Doc("Samples of the bootstrap.", None)
    share: Annotated[float | None, Field(gt=0, le=1)] = Doc("Of the sentences in a sample.", None)
    level: Annotated[float | None, Field(gt=0, lt=1)] = Doc("Samples that must agree.", None)


Marks = dict[str, Mark]


class RowSettings(Section):
    """A row in its long form; a key that is a column names the run of that cell alone."""

    model_config = Section.model_config | ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str] = Field(init=False)

    run: str | None = Doc("The run of its cells.", None)
    value: str | None = Doc("What its cells show.", None)
    empty: Ids = Doc("Columns in which the paper prints N/A.", ())

    def runs(self) -> dict[str, str]:
        """Return the run of each column that has one of its own."""
        return dict(self.__pydantic_extra__ or {})


RowValue = str | RowSettings
Rows = Ids | dict[str, RowValue]
Columns = Ids | dict[str, str]
Gates = Literal["soft", "hard"]


class Ours(Section):
    """What is printed next to the paper's cells."""

    columns: Columns = Doc("Columns of ours.", ())
    rows: dict[str, RowValue] = Doc("Rows of ours.", {})


class BlockSettings(Section):
    """A part of a table; what it does not say is the table's."""

    rows: Rows | None = None
    columns: Columns | None = None
    corpus: str | None = Doc("A data set, in a table without runs.", None)
    with_: Annotated[dict[str, Id], Field(alias="with")] = Doc("`<name>` in runs' names.", {})
    value: str | None = Doc("What cells show where row and column do not say.", None)
    gates: Gates | None = Doc("The gates of scores where the value names none.", None)
    metric: MetricSettings | None = None


class TableSettings(BlockSettings):
    """A table."""

    title: str = Doc("A short heading.")
    section: str = Doc("Where the paper discusses it.")
    caption: str = Doc("What a reader must know to read it.", "")
    blocks: dict[str, BlockSettings] = Doc("Parts of the table, by heading.", {})
    labels: dict[Id, str] = Doc("What rows and columns are called, by id.", {})
    ours: Ours = Doc("What is printed next to the paper's cells.", Ours())
    control: bool = Doc(
        "Not of the paper: `all` and the paper's target leave it and its own runs out.",
        False,
    )
    marks: Marks | None = Doc("What marks mean; default: the paper's.", None)
    against: Id | None = Doc("A row or run: adds the difference to it, 95 % interval and p.", None)
    less: dict[Id, Id] = Doc("Columns that show differences, and the row that is subtracted.", {})
    base: Id | None = Doc(
        "The row from which the page shows differences; default: that of `against` or `less`.", None
    )

    @property
    def base_row(self) -> str | None:
        """The row or run from which the page shows differences."""
        return self.base or self.against or next(iter(self.less.values()), None)
