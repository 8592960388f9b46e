"""Papers of a project's folder, and everything that is wrong with them."""

from pathlib import Path

from fathom.artefacts.claims import names
from fathom.config import claims, vocabulary
from fathom.config import paper as papers
from fathom.config.load import refuse
from fathom.config.paper import Paper
from fathom.config.spec import Known
from fathom.config.yaml_values import YamlFile, read
from fathom.io.errors import FathomError, Findings

# Those of the project's papers whose cells and runs tests count; another paper changes no count.
PAPERS = ("latent_depth", "transparent_attention", "lamgd")
FILES = ("paper", "runs", "tables", "figures", "deviations")


def files_of(root: Path, name: str) -> dict[str, YamlFile]:
    """Return the files of a paper by kind."""
    folder = root / "config" / "papers" / name
    return {
        kind: read(folder / f"{kind}.yaml", root)
        for kind in FILES
        if (folder / f"{kind}.yaml").exists()
    }


def paper_of(root: Path, name: str) -> Paper:
    """Return a paper of a project's folder."""
    words = vocabulary.load(read(root / "config" / "columns.yaml", root))
    folder = root / "config" / "papers" / name
    paper, findings, _ = papers.load(folder, files_of(root, name), words)
    refuse(findings)
    return paper


def findings_of(root: Path, name: str, known: Known) -> list[str]:
    """Return all that is wrong with a paper and its claims, a line each."""
    try:
        paper = paper_of(root, name)
        wrong: list[FathomError] = list(papers.findings(paper, known, root))
        file = read(root / "config" / "papers" / name / "claims.yaml", root)
        cells = {key: table.resolve(known)[0] for key, table in paper.tables.items()}
        for claim in claims.load(file, name).values():
            for part in claim.parts:
                wrong += names.findings(part, cells, paper.figures, known)
    except Findings as error:
        wrong = list(error.findings)
    return [str(finding) for finding in wrong]
