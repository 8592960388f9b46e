"""The static model: every layer is computed, and nothing is changed."""

from fathom.nn.hooks import Method


class Static(Method):
    """Changes nothing."""
