"""Start a run from the weights of a finished one, which may be frozen."""

from pathlib import Path

from torch import nn

from fathom.config.spec import StartSpec
from fathom.io.errors import FathomError
from fathom.nn.average import final_weights
from fathom.results.training_record import Ended, read

# Part of the names of all parameters that belong to a method.
_OWN = ".method."


def load_weights_from(network: nn.Module, start: StartSpec, folder: Path) -> None:
    """Load a finished run's weights into a network.

    The parameters of the network's own method keep their values; with `start.freeze` only they are
    trained.

    Args:
        network: the network of the run that starts.
        start: which weights.
        folder: the folder of the run that they are from, of one seed.

    Raises:
        FathomError: the weights are missing or belong to another network, or all weights would be
            frozen.
    """
    recorded = read(folder / "training.json").weights
    weights = final_weights(folder / "checkpoints", recorded, start.average_of)
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
            raise FathomError("nothing is left to train", "start.freeze", remedy)


def _unfit(start: StartSpec, what: str) -> FathomError:
    return FathomError(
        f"its weights do not fit this network ({what})",
        f"start.run: {start.name}",
        "name a run with the same model and data",
    )


def inherited(start: StartSpec, folder: Path) -> Ended | None:
    """Return how a run ends because the one it starts from did not finish; None if it finished.

    Args:
        start: the run to start from.
        folder: its folder, of one seed.

    Raises:
        FathomError: it has not ended.
    """
    path = folder / "training.json"
    if not path.exists():
        raise FathomError("the training has not ended", str(folder), f"train {start.name} first")
    outcome = read(path).outcome
    if outcome.finished:
        return None
    reason = f"{start.name}, from which it starts: {outcome.reason}"
    return Ended(kind=outcome.kind, update=0, reason=reason)
