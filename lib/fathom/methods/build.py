"""Find a method or a kind of network by its name, and build a network."""

from importlib import import_module

import torch

from fathom.config import plugins
from fathom.config.schema.run import MethodSettings as MethodSettings
from fathom.config.schema.run import Model
from fathom.nn.hooks import Method
from fathom.nn.network import Entries, Network, count_parameters
from fathom.nn.stack import DictionaryLike


def load(name: str) -> type[Method]:
    """Return a method's class; no other method is imported."""
    return plugins.only_class(plugins.load("methods", name), Method)


def load_network(architecture: str) -> type[Network]:
    """Return the class of a kind of network, which is a folder of nn/ with a network.py."""
    return plugins.only_class(import_module(f"fathom.nn.{architecture}.network"), Network)


def build(
    model: Model,
    method: MethodSettings,
    tasks: int,
    source_dictionary: DictionaryLike,
    target_dictionary: DictionaryLike,
) -> Network:
    """Build a network with its method on the stacks that the specification names."""
    network, method_class = load_network(model.architecture), load(method.name)
    methods = {
        name: method_class(stack, **method.settings) if name in method.stacks else Method(stack)
        for name, stack in network.describe_stacks(model, tasks).items()
    }
    return network(model, source_dictionary, target_dictionary, methods)


def count(
    model: Model, method: MethodSettings, tasks: int, source_size: int, target_size: int
) -> dict[str, int]:
    """Return the parameters of a network by part, without allocating its tensors."""
    with torch.device("meta"):
        network = build(model, method, tasks, Entries(source_size), Entries(target_size))
    return count_parameters(network)
