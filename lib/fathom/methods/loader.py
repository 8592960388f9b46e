"""From a method's name to its class, by its file's name, and from a specification to a network."""

from importlib import import_module
from pathlib import Path

import torch

from fathom.errors import FathomError, nearest
from fathom.models.hooks import Method
from fathom.models.layers import Vocabulary
from fathom.models.network import Network
from fathom.models.size import Entries, parts
from fathom.runs import spec


def names() -> list[str]:
    """Return the names of all methods: this folder's files, without this one."""
    files = Path(__file__).parent.glob("[!_]*.py")
    return sorted(file.stem for file in files if file.stem != Path(__file__).stem)


def load(name: str) -> type[Method]:
    """Return a method's class, importing its file alone.

    Args:
        name: the name of its file.

    Raises:
        FathomError: there is no such file.
    """
    if name not in names():
        raise FathomError(f"no method '{name}'", "method", nearest(name, names()))
    return _only(f"fathom.methods.{name}", Method)


def load_network(architecture: str) -> type[Network]:
    """Return the class of a kind of network, importing its file alone.

    Args:
        architecture: the name of its file.
    """
    return _only(f"fathom.models.{architecture}", Network)


def _only(name: str, kind: type) -> type:
    """Return the one class of a module that derives from `kind` and is its own."""
    module = import_module(name)
    classes = (each for each in vars(module).values() if isinstance(each, type))
    (found,) = (each for each in classes if issubclass(each, kind) and each.__module__ == name)
    return found


def build(
    model: spec.Model,
    method: spec.Method,
    tasks: int,
    source_dictionary: Vocabulary,
    target_dictionary: Vocabulary,
) -> Network:
    """Build a network with its method on the sides that the specification names.

    Args:
        model: the network's shape.
        method: the method, its sides and all of its card's settings.
        tasks: tasks of the run, N.
        source_dictionary: the source side's.
        target_dictionary: the target side's.
    """
    network, chosen = load_network(model.architecture), load(method.name)
    methods = {
        side: chosen(stack, **method.settings) if side in method.sides else Method(stack)
        for side, stack in network.stacks(model, tasks).items()
    }
    return network(model, source_dictionary, target_dictionary, methods)


def count(
    model: spec.Model, method: spec.Method, tasks: int, source_size: int, target_size: int
) -> dict[str, int]:
    """Return the parameters of a network by part, without making its tensors.

    Args:
        model: the network's shape.
        method: the method, its sides and all of its card's settings.
        tasks: tasks of the run, N.
        source_size: entries of the source dictionary.
        target_size: entries of the target dictionary.
    """
    with torch.device("meta"):
        network = build(model, method, tasks, Entries(source_size), Entries(target_size))
    return parts(network)
