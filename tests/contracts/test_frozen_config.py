"""The frozen config: no change of code moves a run, a setting, a cell or its place."""

import gzip
import json

import pytest

from tests.contracts.frozen_config import FROZEN, changed, resolved


@pytest.fixture(scope="module")
def both():
    """What was frozen, and what is resolved now."""
    return json.loads(gzip.decompress(FROZEN.read_bytes())), resolved()


@pytest.mark.parametrize("part", ["show", "cells", "reported"])
def test_what_is_shown_and_printed_is_what_was_frozen(both, part):
    frozen, now = (side[part] for side in both)
    differing = changed(frozen, now)
    first = min(differing, default=None)
    assert not differing, (sorted(differing)[:9], _first(*differing[first]))


def test_every_run_at_every_scale_has_its_frozen_settings_and_identities(both):
    frozen, now = (side["runs"] for side in both)
    differing = changed(frozen, now)
    first = min(differing, default=None)
    assert not differing, (sorted(differing)[:9], first and changed(*differing[first]))


def _first(frozen, now):
    """Return the first pair of values that differ, or how many there are."""
    if frozen is None or now is None or len(frozen) != len(now):
        return frozen and len(frozen), now and len(now)
    return next(pair for pair in zip(frozen, now, strict=True) if pair[0] != pair[1])
