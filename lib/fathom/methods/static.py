"""The static model: every layer is computed, as it stands."""

from fathom.models.hooks import Method


class Static(Method):
    """Nothing is done to the layers."""
