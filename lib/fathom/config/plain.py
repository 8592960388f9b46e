"""Which networks are a plain Transformer, that fairseq and CTranslate2 compute without fathom.

Settings say this before anything is trained. `decode/export/plain.py` looks at the network itself.
"""

from collections.abc import Iterator

from fathom.config.schema.method import MethodCard
from fathom.config.schema.run import MethodSettings, Model
from fathom.config.schema.types import STACKS
from fathom.io.errors import FathomError

# What to do where CTranslate2 cannot translate.
REMEDY = "write decoding.decoder: fathom"


def beyond(model: Model) -> Iterator[str]:
    """Yield what a network's shape has that no plain Transformer has."""
    foreign = {
        f"the architecture {model.architecture}": model.architecture != "transformer",
        f"the norm {model.norm}": model.norm not in ("pre", "post"),
        "a network without all residuals": set(model.residuals) != set(STACKS),
        "an output bias": model.output_bias,
        "learned positions": model.block is not None,
    }
    yield from (what for what, there in foreign.items() if there)


def findings(
    model: Model, method: MethodSettings, card: MethodCard, where: str
) -> Iterator[FathomError]:
    """Yield what keeps a run from a translation by CTranslate2, whatever its gates.

    Args:
        model: the network's shape.
        method: the settings of its method.
        card: of the method.
        where: the place of the setting that asks for CTranslate2.
    """
    for what in beyond(model):
        yield FathomError(f"no plain Transformer: {what}", where, REMEDY)
    if not set(card.gates(method.settings)) & set(card.about.plain_with):
        yield FathomError(f"no plain Transformer: the method {card.name}", where, REMEDY)


def require_plain_gates(card: MethodCard, gates: str, where: str, remedy: str) -> None:
    """Refuse gates with which a method adds something to the layers that it keeps.

    Args:
        card: of the method.
        gates: "plain", "soft" or "hard".
        where: what the message names first.
        remedy: what it proposes.

    Raises:
        FathomError: the network is no plain Transformer with these gates.
    """
    if gates not in card.about.plain_with:
        what = f"no plain Transformer: the method {card.name} with {gates} gates"
        raise FathomError(what, where, remedy)
