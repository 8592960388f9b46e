"""What a paper leaves open or what is done differently, and why: the keys of deviations.yaml."""

from typing import Annotated

from annotated_types import MinLen

from fathom.config.schema.section import AsTuple, Doc, Section


class DeviationSettings(Section):
    """An entry of deviations.yaml."""

    title: str = Doc("A few words that name the choice.")
    paper: str = Doc("What the paper says, with the place, or that it is silent.")
    released: str = Doc("What the released code does, where there is any.", "")
    ours: str = Doc("What is done here, at the paper's own scale.")
    why: str = Doc("What speaks for it.")
    applies: Annotated[tuple[str, ...], AsTuple, MinLen(1)] = Doc(
        "Families, methods, tables, figures, or `paper` for all of it; never runs."
    )
    settings: Annotated[tuple[str, ...], AsTuple] = Doc(
        "What it decides, as training.clip or metric.tokenize.", ()
    )
