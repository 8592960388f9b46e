"""A run that starts from the weights of a finished one, which may stay as they are."""

from pathlib import Path

from torch import nn

from fathom.checkpoints.average import final_weights
from fathom.errors import FathomError
from fathom.io.files import read_json
from fathom.provenance.manifest import FINISHED
from fathom.runs.spec import Start
from fathom.training.outcomes import Ending

# What a method adds to a network stands under this part of its parameters' names.
_OWN = ".method."


def take_up(network: nn.Module, start: Start, base: Path) -> None:
    """Put a finished run's weights into a network.

    What the network's own method adds keeps its values; with `start.freeze` nothing else is
    trained.

    Args:
        network: the network of the run that starts.
        start: which weights.
        base: the folder of the run that they are from, of one seed.

    Raises:
        FathomError: the weights are missing, are those of another kind of network, or are frozen
            and all that there is.
    """
    weights = final_weights(base / "checkpoints", start.average_of)
    names = network.state_dict().keys()
    unfilled = [name for name in names - weights.keys() if _OWN not in name]
    if strange := sorted(weights.keys() - names) + sorted(unfilled):
        raise _unfit(start, strange[0])
    try:
        network.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise _unfit(start, str(error).split("\n")[1].strip()) from None
    if start.freeze:
        for name, parameter in network.named_parameters():
            parameter.requires_grad_(name not in weights)
        if not any(parameter.requires_grad for parameter in network.parameters()):
            remedy = "choose a method that adds parameters, or write false"
            raise FathomError("nothing is left to train", "training.start.freeze", remedy)


def _unfit(start: Start, what: str) -> FathomError:
    return FathomError(
        f"its weights do not fit this network ({what})",
        f"training.start.run: {start.run}",
        "name a run with the same model and data",
    )


def inherited(start: Start, base: Path) -> Ending | None:
    """Return the ending that a run has from the one it starts from; None where that one finished.

    Args:
        start: which run that is.
        base: its folder, of one seed.

    Raises:
        FathomError: it has not ended.
    """
    ended = base / "training.json"
    if not ended.exists():
        raise FathomError("has not ended", str(base), f"train {start.run} first")
    outcome = read_json(ended)["outcome"]
    if outcome["kind"] == FINISHED:
        return None
    return Ending(outcome["kind"], 0, f"{start.run}, from which it starts: {outcome['reason']}")
