"""Decodings that tables and figures ask of runs, and that CTranslate2 cannot make."""

from collections.abc import Iterator

from fathom.artefacts.needs import Needs
from fathom.config.project import Project
from fathom.config.rules import CTRANSLATE2_REMEDY, require_plain_gates
from fathom.io.errors import FathomError


def findings(project: Project) -> Iterator[FathomError]:
    """Yield runs that CTranslate2 translates, and that an artefact shows with gates that it lacks.

    Args:
        project: one without other findings.
    """
    for scale in project.scales:
        needs = Needs(project, scale)
        for name in project.entries:
            resolved = project.resolved(name, scale)
            run = resolved.run
            if run is None or run.decoding is None or run.decoding.decoder != "ctranslate2":
                continue
            where = resolved.entry.values.place("decoding", "decoder")
            for _, gates in needs.decodings(name):
                try:
                    require_plain_gates(
                        project.methods[run.method.name], gates, where, CTRANSLATE2_REMEDY
                    )
                except FathomError as error:
                    yield FathomError(f"{error.what} (at scale {scale})", where, error.remedy)
