"""Settings of parameters.yaml: sizes of dictionaries, and printed counts that are not explained."""

from typing import Annotated

from annotated_types import MinLen
from pydantic import Field

from fathom.config.schema.section import AsTuple, Count, Doc, Section, Text


class VocabularySizes(Section):
    """The sizes of the dictionaries of some runs."""

    like: Text = Doc("A family of runs.yaml; the last entry that fits counts.")
    source: Count = Doc("Entries of the source dictionary.")
    target: Count = Doc("Entries of the target dictionary.")
    origin: Text = Doc("How the sizes are known.")


class Unexplained(Section):
    """Printed counts that are no count of the network."""

    tables: Annotated[tuple[str, ...], AsTuple, MinLen(1)] = Doc("Tables of the paper.")
    columns: Annotated[tuple[str, ...], AsTuple] = Doc("Columns; none: all.", ())
    reason: Text = Doc("What is known of it.")


class Parameters(Section):
    """The keys of parameters.yaml."""

    vocabularies: Annotated[tuple[VocabularySizes, ...], AsTuple, MinLen(1)]
    unexplained: Annotated[tuple[Unexplained, ...], AsTuple] = Field(default=())
