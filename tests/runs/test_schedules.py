"""Settings of schedules: what each takes, and what reaches the function that computes it."""

import pytest
from pydantic import ValidationError

from fathom.config.schema.run import InverseSqrt, Noam, Polynomial, ReplicaRamp


def test_the_functions_keywords_are_all_settings_but_the_name():
    schedule = InverseSqrt(name="inverse_sqrt", learning_rate=1e-3, warmup=10)
    assert schedule.settings == {"learning_rate": 1e-3, "warmup": 10}


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (InverseSqrt, {"name": "inverse_sqrt", "learning_rate": 0.0, "warmup": 10}),
        (Noam, {"name": "noam", "scale": 1.0, "warmup": -1}),
        (Polynomial, {"name": "polynomial", "learning_rate": 1e-3, "warmup": 10, "power": 0}),
        (ReplicaRamp, {"name": "replica_ramp", "learning_rate": 1e-3, "replicas": 0}),
    ],
)
def test_a_value_out_of_bounds_is_refused(kind, wrong):
    with pytest.raises(ValidationError):
        kind(**wrong)
