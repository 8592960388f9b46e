"""Scales: what is cut down, by kind of run, so that a chain fits a machine."""

import re
from typing import Annotated, Any

from annotated_types import MinLen
from pydantic import field_validator

from fathom.config.schema.section import Count, Doc, ListOf, Positive, Section, Seeds, Text
from fathom.io.errors import brief, nearest

_RATIO = re.compile(r"[1-9][0-9]{0,5}/[1-9][0-9]{0,5}")
_UNITS = ("layers", "width")


class Rule(Section):
    """Settings of the runs that fit: `when` holds at the paper's own scale."""

    when: dict[str, Any] = Doc(
        "A setting's value, or a list of them; `like: family`, `run: paper/name`, `paper`.", {}
    )
    set: Annotated[dict[str, Any], MinLen(1)] = Doc("The value at each path.")


class CheckLearning(Section):
    """The run that shows whether a scale works at all; `fathom status` looks at it."""

    run: Text = Doc("The run that must learn, `<paper>/<run>`.")
    nats_below_unigram: Positive = Doc("How much it must learn (nats per token).")


class Scale(Section):
    """The keys of config/scales/<name>.yaml; a scale that gives none is the papers' own."""

    title: Text = Doc("One sentence: what is cut down.")
    like: Text | None = Doc("Another scale, whose keys and rules come before this one's.", None)
    for_cpu: bool = Doc("Whether it is for a CPU, where no run trains in float16.", False)
    seeds: Seeds | None = Doc("The seeds of every run; null: the papers'.", None)
    times: dict[str, str] = Doc("The ratio of settings with unit layers or width.", {})
    datasets: dict[str, str] = Doc("The data set that substitutes another.", {})
    updates: dict[str, dict[str, Count]] = Doc(
        "Updates by paper and group; settings in updates follow the run's own ratio.", {}
    )
    rules: ListOf[Rule] = Doc("From top to bottom; a later rule wins.", ())
    check_learning: CheckLearning | None = None
    new_study: ListOf[Text] = Doc("The runs that a new study compares where it names none.", ())

    @property
    def cuts_down(self) -> bool:
        """Whether it trains anything else than the papers did."""
        return bool(self.times or self.datasets or self.updates or self.rules)

    @field_validator("times")
    @classmethod
    def _are_ratios(cls, times: dict[str, str]) -> dict[str, str]:
        for unit, ratio in times.items():
            if unit not in _UNITS:
                raise ValueError(f"no unit '{unit}'; {nearest(unit, _UNITS)}")
            if not _RATIO.fullmatch(ratio):
                raise ValueError(f"'{brief(ratio)}' is not a ratio; write 1/4")
        return times


class PaperScale(Section):
    """The keys of a scale in a paper's scales.yaml, which come after the scale's own."""

    datasets: dict[str, str] = Doc("The data set that substitutes another.", {})
    updates: dict[str, Count] = Doc("Updates by group.", {})
    rules: ListOf[Rule] = Doc("After the scale's; for the paper's runs.", ())
