"""Claims of a paper: claims.yaml read, each sentence with the texts of its expressions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fathom.config.inheritance import combinations
from fathom.config.places import Place, placeholders, substitute
from fathom.config.schema.claims import Answer, ClaimSettings
from fathom.config.validation import check
from fathom.config.yaml_files import YamlFile
from fathom.io.errors import FathomError, Findings, Partly, nearest


@dataclass(frozen=True)
class ClaimPart:
    """A claim for one combination of `for`.

    Attributes:
        name: the values of `for`, joined by slashes; empty without `for`.
        text: what must hold, names of `for` replaced.
        guard_text: where it is false, the claim is undecided; empty without a guard.
        supports: what the paper's own cells answer.
        where, guard_where, supports_where: file, line and key of each.
    """

    name: str
    text: str
    guard_text: str
    supports: Answer
    where: str
    guard_where: str
    supports_where: str


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper as an expression.

    Attributes:
        paper: the paper's name.
        name: its key in claims.yaml.
        sentence, section: as in the paper.
        parts: one for each combination of `for`.
    """

    paper: str
    name: str
    sentence: str
    section: str
    parts: tuple[ClaimPart, ...]


def load(file: YamlFile, paper: str) -> dict[str, Claim]:
    """Read a paper's claims.yaml.

    Args:
        file: claims.yaml.
        paper: the paper's name.

    Raises:
        Partly: everything that is wrong in the file alone.
    """
    claims: dict[str, Claim] = {}
    findings: list[FathomError] = []
    for name, value in file.value.items():
        settings, wrong = check(ClaimSettings, value, file.where, (name,))
        findings += wrong
        if settings is None:
            continue
        try:
            claims[name] = _claim(name, settings, file, paper)
        except Findings as error:
            findings += error.findings
        except FathomError as error:
            findings.append(error)
    if findings:
        raise Partly(findings, claims, [name for name in file.value if name not in claims])
    return claims


def _claim(name: str, settings: ClaimSettings, file: YamlFile, paper: str) -> Claim:
    place = Place(file, (name, "for"))
    where, guard_where = (file.where((name, key)) for key in ("claim", "guard"))
    choices = [{}] if settings.for_ is None else combinations(settings.for_, place)
    by_name = {"/".join(map(str, chosen.values())): chosen for chosen in choices}
    findings = list(_supports_findings(settings, list(by_name), file, name))
    claim_parts = []
    for part, chosen in by_name.items():
        try:
            guard_text = _text(settings.guard or "", chosen, file, (name, "guard"))
            text = _text(settings.claim, chosen, file, (name, "claim"))
            claim_parts.append(
                ClaimPart(
                    name=part,
                    supports=_supports(settings, part),
                    text=text,
                    guard_text=guard_text,
                    where=where,
                    guard_where=guard_where,
                    supports_where=file.where(_supports_path(settings, name, part)),
                )
            )
        except FathomError as error:
            findings.append(error)
    if findings:
        raise Findings(findings)
    return Claim(paper, name, settings.sentence, settings.section, tuple(claim_parts))


def _text(text: str, chosen: dict[str, Any], file: YamlFile, path: tuple) -> str:
    """Return an expression with the names of `for` replaced."""
    full = " ".join(str(substitute(text, chosen)).split())
    for missing in placeholders(full):
        where = file.where(path)
        raise FathomError(f"`for` gives no <{missing}>", where, nearest(missing, chosen))
    return full


def _supports_path(settings: ClaimSettings, name: str, part: str) -> tuple[str, ...]:
    own = (part,) if isinstance(settings.supports, dict) else ()
    return (name, "supports", *own)


def _supports(settings: ClaimSettings, part: str) -> Answer:
    if isinstance(settings.supports, dict):
        return settings.supports.get(part, "not printed")
    return settings.supports


def _supports_findings(
    settings: ClaimSettings, names: list[str], file: YamlFile, name: str
) -> Iterator[FathomError]:
    """Yield parts without an answer, and answers without a part."""
    if not isinstance(settings.supports, dict):
        return
    for part in settings.supports:
        if part not in names:
            where = file.where((name, "supports", part))
            yield FathomError(f"no part '{part}'", where, nearest(part, names))
    for part in names:
        if part not in settings.supports:
            where = file.where((name, "supports"))
            yield FathomError(f"no answer for part '{part}'", where, f"add `{part}: holds`")
