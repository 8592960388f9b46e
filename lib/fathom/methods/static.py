"""The static model: every layer is computed, and nothing is changed."""

from fathom.models.hooks import Method


class Static(Method):
    """Changes nothing."""
