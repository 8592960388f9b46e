"""Claims of a paper: claims.yaml read, each sentence with its expressions or its figures."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fathom.config.check import checked
from fathom.config.files import Parts
from fathom.config.merge import combinations, fill_text, placeholders
from fathom.config.schema.paper import Answer, ClaimSettings, FigureClaim, Reading
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, nearest, refuse, unknown


@dataclass(frozen=True)
class ClaimPart:
    """A claim for one combination of `for`."""

    name: str  # the values of `for`, joined by slashes; empty without `for`
    text: str  # what must hold, names of `for` replaced
    guard_text: str  # where it is false, the claim is undecided; empty without a guard
    supports: Answer  # what the paper's own cells answer
    where: str
    guard_where: str
    supports_where: str
    reading: Reading = "printed"  # `ours` where we draw it from a sentence that says less


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper as an expression, in one part for each combination of `for`.

    A sentence about figures has no parts: readers judge it by eye.
    """

    paper: str
    name: str  # its key in claims.yaml
    sentence: str
    section: str
    parts: tuple[ClaimPart, ...] = ()
    note: str = ""  # printed with the answer
    context: str = ""  # all of the sentence, where it leaves words out
    # The figures below which the sentence stands, each with the place that names it.
    figures: Mapping[str, str] = field(default_factory=dict)

    @property
    def quotation(self) -> str:
        """The sentence in a line, with its place and the note."""
        place = f" ({self.section})" if self.section else ""
        note = f": {self.note}" if self.note else ""
        return " ".join(f"“{self.sentence}”{place}{note}".split())


def load(file: Value, paper: str) -> Mapping[str, Claim]:
    """Read a paper's claims.yaml."""

    def claim(name: str) -> Claim:
        values = file.at((name,))
        if values.find("figures") is not None:
            about = checked(FigureClaim, values)
            places = (values.place("figures", at) for at in range(len(about.figures)))
            figures = dict(zip(about.figures, places, strict=True))
            return Claim(paper, name, about.sentence, about.section, (), about.note, "", figures)
        settings = checked(ClaimSettings, values)
        parts = _parts(settings, values)
        quoted = settings.sentence, settings.section
        return Claim(paper, name, *quoted, parts, settings.note, settings.context)

    claims = Parts((name for name, _ in file.items()), claim)
    refuse(claims.faults())
    return claims


def _parts(settings: ClaimSettings, values: Value) -> tuple[ClaimPart, ...]:
    given = values.find("for")
    choices = [{}] if given is None or given.value is None else combinations(given)
    chosen = {"/".join(map(str, names.values())): names for names in choices}
    findings = [*_answer_faults(settings, [*chosen], values)]
    parts: list[ClaimPart] = []
    for name, names in chosen.items():
        answer, reading = settings.supports, settings.reading
        path = ("supports", name) if isinstance(answer, dict) else ("supports",)
        try:
            part = ClaimPart(
                name=name,
                text=_text(settings.claim, names, values.place("claim")),
                guard_text=_text(settings.guard or "", names, values.place("guard")),
                supports=answer.get(name, "not printed") if isinstance(answer, dict) else answer,
                where=values.place("claim"),
                guard_where=values.place("guard"),
                supports_where=values.place(*path),
                reading=reading.get(name, "printed") if isinstance(reading, dict) else reading,
            )
            parts.append(part)
        except FathomError as error:
            findings.append(error)
    refuse(findings)
    return tuple(parts)


def _text(text: str, names: Mapping[str, Any], where: str) -> str:
    """Return an expression with the names of `for` replaced."""
    full = " ".join(str(fill_text(text, names)).split())
    for missing in placeholders(full):
        raise FathomError(f"`for` gives no <{missing}>", where, nearest(missing, names))
    return full


def _answer_faults(
    settings: ClaimSettings, parts: list[str], values: Value
) -> Iterator[FathomError]:
    """Yield parts without an answer or a reading, and answers and readings without a part."""
    given = {"supports": (settings.supports, "holds"), "reading": (settings.reading, "ours")}
    for key, (words, example) in given.items():
        if not isinstance(words, dict):
            continue
        for part in words:
            if part not in parts:
                yield unknown("part", part, values.place(key, part), parts)
        for part in parts:
            if part not in words:
                what, remedy = f"`{key}` lacks part '{part}'", f"add `{part}: {example}`"
                yield FathomError(what, values.place(key), remedy)
