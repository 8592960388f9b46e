"""A paper's files of few keys: paper.yaml, claims.yaml, deviations.yaml and parameters.yaml."""

from typing import Annotated, Any, Literal

from pydantic import Field

from fathom.config.schema.section import Address, Count, Doc, ListOf, NonEmpty, Section, Seeds, Text
from fathom.config.schema.table import Id, Marks, MetricSettings

# The names that tags in docstrings use, as in [<paper> Eq. 5]; what has no number is named by its
# symbol, as in [<paper> L_K].
EquationName = Annotated[str, Field(pattern=r"^((Eq|Alg)\. [0-9]+|[A-Za-z][A-Za-z0-9_]*)$")]


class Equation(Section):
    """An equation or algorithm."""

    title: str = Doc("About five words that say what it is.")
    reason: str = Doc("Why no function computes it; without one, exactly one does.", "")


class Citation(Section):
    """The fields of a BibTeX entry; title and authors are the paper's."""

    type: Literal["inproceedings", "article", "misc"] = Doc("The kind of entry.")
    key: str = Doc("The entry's key.")
    year: str = Doc("The year of publication.")
    booktitle: str = Doc("The proceedings.", "")
    journal: str = Doc("The journal.", "")
    volume: str = Doc("The volume.", "")
    pages: str = Doc("First and last page.", "")
    publisher: str = Doc("The publisher.", "")
    eprint: str = Doc("The number at arXiv.", "")

    def fields(self) -> dict[str, str]:
        """Return the fields that are given."""
        return {key: value for key, value in self.model_dump().items() if value}


class Summary(Section):
    """What reproducing the paper was like; a page of its own shows it."""

    easy: ListOf[str] = Doc("What was easy, a sentence or more each.", ())
    hard: ListOf[str] = Doc("What was hard, a sentence or more each.", ())


class PaperSettings(Section):
    """The form of paper.yaml."""

    title: str = Doc("The paper's title.")
    authors: NonEmpty[str] = Doc("In the paper's order.")
    url: Address = Doc("Where the paper can be read.")
    citation: Citation
    equations: dict[EquationName, Equation] = Doc(
        "Numbered equations and algorithms, all; others by their symbol.", {}
    )
    summary: Summary = Doc("What was easy and what was hard.", Summary())
    metric: MetricSettings = Doc("How tables score that do not say otherwise.", MetricSettings())
    marks: Marks = Doc("What marks mean in tables that have none.", {})

    @property
    def reference(self) -> str:
        """One line that names the paper: authors, title, year."""
        end = "" if self.title[-1:] in ("?", "!") else "."
        return f"{', '.join(self.authors)}: {self.title}{end} {self.citation.year}"


class StudySettings(PaperSettings):
    """The form of study.yaml; its sections are those of a paper's files."""

    authors: ListOf[str] = Doc("Of the study.", ())
    url: Address | Literal[""] = Doc("Where it can be read.", "")
    citation: Citation | None = None
    metric: MetricSettings = Doc("How tables score.", MetricSettings())
    data: str | dict[str, Any] | None = Doc(
        "The data set of all runs, or {dataset: …, subwords: …}; in place of borrowed text.", None
    )
    seeds: Seeds | None = Doc("The seeds of all runs, at every scale.", None)
    families: dict[str, Any] = Doc("As in a paper's runs.yaml.", {})
    runs: dict[str, Any] = Doc("As in a paper's runs.yaml; values need no source.", {})
    tables: dict[str, Any] = Doc("As in tables.yaml, without reported cells.", {})
    figures: dict[str, Any] = Doc("As in figures.yaml.", {})
    claims: dict[str, Any] = Doc("As in claims.yaml, without `supports`.", {})
    scales: dict[str, Any] = Doc("As in scales.yaml; without it, runs scale as the lender's.", {})

    @property
    def reference(self) -> str:
        """The title: who wrote a study need not say who and when."""
        return self.title


# claims.yaml

Answer = Literal["holds", "fails", "inconclusive", "undecided", "not printed"]
Reading = Literal["printed", "ours"]


class Quotation(Section):
    """What each entry of claims.yaml says."""

    sentence: Text = Doc("As in the paper.")
    section: str = Doc("Where it is.")
    note: str = Doc("What a reader must know with it, such as what else differs.", "")


class FigureClaim(Quotation):
    """An entry of claims.yaml about figures, which readers judge by eye."""

    figures: NonEmpty[Id] = Doc("The figures below which the sentence stands.")


class ClaimSettings(Quotation):
    """An entry of claims.yaml about cells of tables."""

    context: str = Doc("All of the sentence; needed if words are left out (…), or cells fail.", "")
    for_: Annotated[Any, Field(alias="for")] = Doc("One claim for each combination.", None)
    claim: str = Doc("What must hold.")
    reading: Reading | dict[str, Reading] = Doc(
        "Whether the sentence says it (printed) or we draw it (ours); or for each part.", "printed"
    )
    guard: str | None = Doc("Where it is false, the claim is undecided.", None)
    supports: Answer | dict[str, Answer] = Doc(
        "The answer of the paper's own cells: one word, or one for each part."
    )


# deviations.yaml: what a paper leaves open or what is done differently, and why


class DeviationSettings(Section):
    """An entry of deviations.yaml."""

    title: str = Doc("A few words that name the choice.")
    paper: str = Doc("What the paper says, with the place, or that it is silent.")
    released: str = Doc("What the released code does, where there is any.", "")
    ours: str = Doc("What is done here, at the paper's own scale.")
    why: str = Doc("What speaks for it.")
    applies: NonEmpty[str] = Doc(
        "Families, methods, tables, figures, `<paper>/<name>` of a borrowed family or run, or "
        "`paper` for all; never the paper's runs."
    )
    settings: ListOf[str] = Doc("What it decides, as training.clip or metric.tokenize.", ())


# parameters.yaml: sizes of dictionaries, and printed counts that are not explained


class VocabularySizes(Section):
    """The sizes of the dictionaries of some runs."""

    like: Text = Doc("A run, or a family that runs are like; the last entry that fits counts.")
    source: Count = Doc("Entries of the source dictionary.")
    target: Count = Doc("Entries of the target dictionary.")
    origin: Text = Doc("How the sizes are known.")


class Unexplained(Section):
    """Printed counts that are no count of the network."""

    tables: NonEmpty[str] = Doc("Tables of the paper.")
    columns: ListOf[str] = Doc("Columns; none: all.", ())
    finding: str = Doc("The clause on it in the sentence that counts what agrees.", "")
    reason: Text = Doc("What is known of it.")


class Parameters(Section):
    """The keys of parameters.yaml."""

    vocabularies: NonEmpty[VocabularySizes]
    unexplained: ListOf[Unexplained] = ()
