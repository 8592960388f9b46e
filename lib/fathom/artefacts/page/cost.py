"""What the trainings of a paper took: hours by device, and energy under an assumption."""

from collections.abc import Iterable
from dataclasses import dataclass

from fathom.artefacts.page.runs import Run, Training
from fathom.results.training_record import device_seconds

WATTS_OF_A_THREAD = 8.0
WATTS_OF_A_GPU = 400.0
# Power of a board by its maker's data sheet, by a word of the device's name.
WATTS_BY_NAME = {"B200": 1000.0, "H200": 700.0, "H100": 700.0, "A100": 400.0, "V100": 300.0}
BUILDING = 1.2  # energy of the building for each unit that computes
ASSUMPTION = (
    f"Nothing was metered. Assumed: {WATTS_OF_A_THREAD:g} W for a busy thread of a CPU; for a GPU "
    "the power on its data sheet "
    f"({', '.join(f'{name} {watts:g} W' for name, watts in WATTS_BY_NAME.items())}, others "
    f"{WATTS_OF_A_GPU:g} W); times {BUILDING:g} for the building."
)


@dataclass(frozen=True)
class Cost:
    """What one or several trainings took.

    Attributes:
        name: the run, or the device.
        device: what it ran on.
        trainings: how many.
        seconds: of all devices together; loading and validation included.
        tokens: target tokens without padding.
        watt_hours: of energy, under the assumption.
    """

    name: str
    device: str
    trainings: int
    seconds: float
    tokens: int
    watt_hours: float

    @property
    def hours(self) -> float:
        """Hours of the device."""
        return self.seconds / 3600


def costs(runs: Iterable[Run]) -> list[Cost]:
    """Return what each run took, in the order of the runs; those that did not run are left out."""
    listed = []
    for run in runs:
        for device in dict.fromkeys(device_of(training) for training in run.ended):
            own = [training for training in run.ended if device_of(training) == device]
            listed.append(_sum(run.short_name, device, own))
    return listed


def by_device(listed: Iterable[Cost]) -> list[Cost]:
    """Return the sums over all runs, one for each device."""
    sums: dict[str, Cost] = {}
    for cost in listed:
        before = sums.get(cost.device, Cost(cost.device, cost.device, 0, 0.0, 0, 0.0))
        sums[cost.device] = Cost(
            cost.device,
            cost.device,
            before.trainings + cost.trainings,
            before.seconds + cost.seconds,
            before.tokens + cost.tokens,
            before.watt_hours + cost.watt_hours,
        )
    return list(sums.values())


def device_of(training: Training) -> str:
    """Return the device of a training in words."""
    device = training.file.device if training.file else {}
    threads = device.get("threads")
    words = f"{device.get('name', 'unknown')}"
    return f"{words}, {threads} thread{'s' if threads > 1 else ''}" if threads else words


def _sum(name: str, device: str, trainings: list[Training]) -> Cost:
    files = [training.file for training in trainings if training.file]
    return Cost(
        name=name,
        device=device,
        trainings=len(files),
        seconds=sum(device_seconds(file.totals, file.device) for file in files),
        tokens=sum(file.totals.target_tokens for file in files),
        watt_hours=sum(
            _watts(file.device) * device_seconds(file.totals, file.device) / 3600 for file in files
        ),
    )


def _watts(device: dict) -> float:
    """Return the power that a device is assumed to take, the building's included."""
    if device.get("type") == "cpu":
        return WATTS_OF_A_THREAD * (device.get("threads") or 1) * BUILDING
    name = str(device.get("name", ""))
    own = (watts for word, watts in WATTS_BY_NAME.items() if word in name)
    return next(own, WATTS_OF_A_GPU) * BUILDING
