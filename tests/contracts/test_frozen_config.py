"""The frozen config: no change of code moves a run, a setting, a cell or its place.

A paper or scale that is added since is not compared; `make freeze` freezes it.
"""

import pytest

from tests.contracts.frozen_config import changed, frozen, resolved


@pytest.fixture(scope="module")
def both():
    """What was frozen, and what is resolved now."""
    before = frozen()
    return before, resolved(before)


@pytest.mark.parametrize("part", ["show", "cells", "reported"])
def test_what_is_shown_and_printed_is_what_was_frozen(both, part):
    differing = changed(*(side[part] for side in both))
    first = min(differing, default=None)
    assert not differing, (sorted(differing)[:9], _first(*differing[first]))


def test_every_run_at_every_scale_has_its_frozen_settings_and_identities(both):
    differing = changed(*(side["runs"] for side in both))
    names = {name: [*changed(old or {}, new or {})] for name, (old, new) in differing.items()}
    assert names == {}


def _first(before, now):
    """Return the first pair of values that differ, or how many there are."""
    if before is None or now is None or len(before) != len(now):
        return before and len(before), now and len(now)
    return next(pair for pair in zip(before, now, strict=True) if pair[0] != pair[1])
