"""The static model is the base class."""

from fathom.methods.static import Static
from fathom.nn.hooks import Method
from tests.support.small_networks import stack


def test_nothing_is_overridden():
    assert not [name for name in vars(Static) if not name.startswith("__")]
    assert Static.__bases__ == (Method,)
    assert not list(Static(stack()).parameters())
