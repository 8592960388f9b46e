"""Settings of claims: the keys of claims.yaml."""

from typing import Annotated, Any, Literal

from pydantic import Field

from fathom.config.schema.section import Doc, Section

Answer = Literal["holds", "fails", "inconclusive", "undecided", "not printed"]


class ClaimSettings(Section):
    """The form of an entry of claims.yaml."""

    sentence: Annotated[str, Field(min_length=1)] = Doc("As in the paper.")
    section: str = Doc("Where it is.")
    for_: Annotated[Any, Field(alias="for")] = Doc("One claim for each combination.", None)
    claim: str = Doc("What must hold.")
    guard: str | None = Doc("Where it is false, the claim is undecided.", None)
    supports: Answer | dict[str, Answer] = Doc(
        "The answer of the paper's own cells: one word, or one for each part."
    )
