"""The settings of each learning rate schedule; train/schedules.py computes them."""

from typing import Annotated, Any, Literal

from fathom.config.schema.types import Count, NotNegative, Positive, Whole
from fathom.config.section import Doc, Section


class Schedule(Section):
    """The course of the learning rate, a function of train/schedules.py and its keywords."""

    name: str

    @property
    def settings(self) -> dict[str, Any]:
        """The keywords of the function."""
        return {key: getattr(self, key) for key in type(self).model_fields if key != "name"}


LearningRate = Annotated[Positive, Doc("The peak learning rate.")]
Warmup = Annotated[Whole, Doc("Updates until the peak.", unit="updates")]


class InverseSqrt(Schedule):
    """Linear warm-up, then the inverse square root of the update."""

    name: Literal["inverse_sqrt"]
    learning_rate: LearningRate
    warmup: Warmup


class Noam(Schedule):
    """The Transformer's course, scale · width^−½ · min(step^−½, step · warmup^−3/2)."""

    name: Literal["noam"]
    scale: Annotated[Positive, Doc("Factor of the course.")]
    warmup: Warmup
    step_duration: Annotated[
        Count, Doc("Updates in a step of the course.", source="Vaswani et al. 2017")
    ] = 1


class Polynomial(Schedule):
    """Linear warm-up, then a polynomial fall."""

    name: Literal["polynomial"]
    learning_rate: LearningRate
    warmup: Warmup
    end: Annotated[
        Count | None, Doc("Updates until the last rate; null: the run's.", unit="updates")
    ] = None
    power: Annotated[
        Positive, Doc("Exponent of the fall; 1 is a straight line.", source="fairseq's default")
    ] = 1.0
    final: Annotated[NotNegative, Doc("The last rate.", source="fairseq's default")] = 0.0


class ReplicaRamp(Schedule):
    """RNMT+'s course: a ramp to `replicas` times the rate, then an exponential fall."""

    name: Literal["replica_ramp"]
    learning_rate: Annotated[Positive, Doc("The learning rate of a single replica.")]
    replicas: Annotated[Count, Doc("Devices that share an update.")]
    warmup: Annotated[
        Whole,
        Doc(
            "Updates for each replica until the ramp's end.",
            unit="updates",
            source="Chen et al. 2018",
        ),
    ] = 500
    decay_start: Annotated[
        Whole,
        Doc(
            "Updates of all replicas until the fall begins.",
            unit="updates",
            source="Chen et al. 2018",
        ),
    ] = 600_000
    decay_end: Annotated[
        Count,
        Doc(
            "Updates of all replicas until the fall ends.",
            unit="updates",
            source="Chen et al. 2018",
        ),
    ] = 1_200_000
