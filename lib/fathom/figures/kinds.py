"""Figure kinds: each is a module of this room, imported when its name is asked for."""

from importlib import import_module
from pathlib import Path

from fathom.errors import FathomError, nearest
from fathom.papers.paper import Artefact

_NOT_KINDS = ("__init__", "kinds", "style")


def names() -> tuple[str, ...]:
    """Return the kinds, by the names of their files."""
    stems = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return tuple(sorted(stem for stem in stems if stem not in _NOT_KINDS))


def draw(artefact: Artefact, stem: Path) -> None:
    """Draw a figure from its CSV, as pdf and png.

    Args:
        artefact: the figure; its kind names the module.
        stem: the files' common path, without a suffix.

    Raises:
        FathomError: there is no such kind, or the CSV cannot be used.
    """
    if artefact.kind not in names():
        raise FathomError(
            f"no figure kind '{artefact.kind}'", artefact.name, nearest(artefact.kind, names())
        )
    import_module(f"fathom.figures.{artefact.kind}").draw(artefact, stem)
