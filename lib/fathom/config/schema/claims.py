"""Settings of claims: the keys of claims.yaml."""

from typing import Annotated, Any, Literal

from pydantic import Field

from fathom.config.section import About, Part

Answer = Literal["holds", "fails", "inconclusive", "undecided", "not printed"]


class ClaimSettings(Part):
    """The form of an entry of claims.yaml."""

    sentence: Annotated[str, Field(min_length=1), About("As in the paper.")]
    section: Annotated[str, About("Where it is.")]
    for_: Annotated[Any, Field(alias="for"), About("One claim for each combination.")] = None
    claim: Annotated[str, About("What must hold.")]
    guard: Annotated[str | None, About("Where it is false, the claim is undecided.")] = None
    supports: Annotated[
        Answer | dict[str, Answer],
        About("The answer of the paper's own cells: one word, or one for each part."),
    ]
