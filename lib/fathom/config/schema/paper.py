"""What a paper is: paper.yaml."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from fathom.config.schema.table import Marks, Metric
from fathom.config.section import About, Part, Several

# The names that tags in docstrings use, as in [<paper> Eq. 5]; what has no number is named by its
# symbol, as in [<paper> L_K].
EquationName = Annotated[
    str, StringConstraints(pattern=r"^((Eq|Alg)\. [0-9]+|[A-Za-z][A-Za-z0-9_]*)$")
]


class Equation(Part):
    """An equation or algorithm."""

    title: Annotated[str, About("About five words that say what it is.")]
    reason: Annotated[str, About("Why no function computes it; without one, exactly one does.")] = (
        ""
    )

    @property
    def computed(self) -> bool:
        """Whether exactly one function claims it by its tag."""
        return not self.reason


class Citation(Part):
    """The fields of a BibTeX entry; title and authors are the paper's."""

    type: Annotated[Literal["inproceedings", "article", "misc"], About("The kind of entry.")]
    key: Annotated[str, About("The entry's key.")]
    year: Annotated[str, About("The year of publication.")]
    booktitle: Annotated[str, About("The proceedings.")] = ""
    journal: Annotated[str, About("The journal.")] = ""
    volume: Annotated[str, About("The volume.")] = ""
    pages: Annotated[str, About("First and last page.")] = ""
    publisher: Annotated[str, About("The publisher.")] = ""
    eprint: Annotated[str, About("The number at arXiv.")] = ""

    def fields(self) -> dict[str, str]:
        """Return the fields that are given."""
        return {key: value for key, value in self.model_dump().items() if value}


class Summary(Part):
    """What reproducing the paper was like; a page of its own shows it."""

    easy: Annotated[tuple[str, ...], Several, About("What was easy, a sentence or more each.")] = ()
    hard: Annotated[tuple[str, ...], Several, About("What was hard, a sentence or more each.")] = ()


class PaperSettings(Part):
    """The form of paper.yaml."""

    title: Annotated[str, About("The paper's title.")]
    authors: Annotated[
        tuple[str, ...], Several, Field(min_length=1), About("In the paper's order.")
    ]
    url: Annotated[str, About("Where the paper can be read.")]
    citation: Citation
    equations: Annotated[
        dict[EquationName, Equation],
        About("Numbered equations and algorithms, all; others by their symbol."),
    ] = Field(default_factory=dict)
    summary: Annotated[Summary, About("What was easy and what was hard.")] = Summary()
    metric: Annotated[Metric, About("How tables score that do not say otherwise.")] = Metric()
    marks: Annotated[Marks, About("What marks mean in tables that have none.")] = Field(
        default_factory=dict
    )

    @property
    def reference(self) -> str:
        """One line that names the paper: authors, title, year."""
        end = "" if self.title[-1:] in ("?", "!") else "."
        return f"{', '.join(self.authors)}: {self.title}{end} {self.citation.year}"
