"""Methods by name, each on its stacks, and networks that are built from them."""

import sys

import pytest

from fathom.config import plugins
from fathom.methods.build import load
from fathom.nn.hooks import Method
from tests.support.refused import refused
from tests.support.small_networks import method, network, shape


def test_each_file_holds_one_method():
    assert {"static", "layerdrop", "latent_layers"} <= set(plugins.names("methods"))
    for name in plugins.names("methods"):
        assert issubclass(load(name), Method)


@pytest.mark.parametrize("name", ["latent_layer", "loader", "__init__", "../models/hooks", ""])
def test_an_unknown_name_is_told_with_the_nearest(name):
    with refused(f"no method '{name}'"):
        load(name)
    if name == "latent_layer":
        with refused(nearest="latent_layers"):
            load(name)


def test_a_method_is_imported_alone(monkeypatch):
    """Editing one method must leave the code of other methods' runs alone."""
    for name in plugins.names("methods"):
        monkeypatch.delitem(sys.modules, f"fathom.methods.{name}", raising=False)
    load("layerdrop")
    found = [name for name in plugins.names("methods") if f"fathom.methods.{name}" in sys.modules]
    assert found == ["layerdrop"]


@pytest.mark.parametrize("sides", [(), ("encoder",), ("decoder",), ("encoder", "decoder")])
def test_the_method_stands_on_its_sides_and_the_others_are_static(sides):
    model = network(method("latent_layers", sides), shape(decoder_layers=5))
    for side, layers in (("encoder", 3), ("decoder", 5)):
        found = model.methods[side]
        assert (type(found) is Method) is (side not in sides)
        assert (found.stack.layers, found.stack.tasks, found.stack.name) == (layers, 2, side)
