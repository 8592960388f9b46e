"""Settings of parameters.yaml: sizes of dictionaries, and printed counts that are not explained."""

from typing import Annotated

from annotated_types import MinLen
from pydantic import Field

from fathom.config.schema.types import Count, Text
from fathom.config.section import About, Part, Several


class VocabularySizes(Part):
    """The sizes of the dictionaries of some runs."""

    like: Annotated[Text, About("A family of runs.yaml; the last entry that fits counts.")]
    source: Annotated[Count, About("Entries of the source dictionary.")]
    target: Annotated[Count, About("Entries of the target dictionary.")]
    origin: Annotated[Text, About("How the sizes are known.")]


class Unexplained(Part):
    """Printed counts that are no count of the network."""

    tables: Annotated[tuple[str, ...], Several, MinLen(1), About("Tables of the paper.")]
    columns: Annotated[tuple[str, ...], Several, About("Columns; none: all.")] = ()
    reason: Annotated[Text, About("What is known of it.")]


class Parameters(Part):
    """The keys of parameters.yaml."""

    vocabularies: Annotated[tuple[VocabularySizes, ...], Several, MinLen(1)]
    unexplained: Annotated[tuple[Unexplained, ...], Several] = Field(default=())
