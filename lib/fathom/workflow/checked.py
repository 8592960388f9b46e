"""The state of config/ that an earlier start has checked, so that the next start need not."""

from collections.abc import Iterable
from pathlib import Path

from fathom.config.switches import FILE, merge, one_or_several
from fathom.config.yaml_files import YamlFile, read
from fathom.io.hashes import identity
from fathom.results.recipe import PACKAGE, hashed

MARKER = Path(".snakemake") / "fathom_checked"


def state(project: Path, layers: Iterable[YamlFile]) -> str:
    """Return one hash of config/, papers outside it, the switches and the code that checks them.

    Args:
        project: the project's folder.
        layers: switches that come after config.yaml's (config/switches.py).
    """
    layers = list(layers)
    given, _ = merge([read(project / FILE, project), *layers])
    papers = one_or_several(given.get("papers", ()))
    folders = [project / "config", *(Path(str(folder)) for folder in papers)]
    switches = [layer.value for layer in layers]
    return identity([[hashed(folder, "*") for folder in folders], hashed(PACKAGE), switches])


def is_checked(state_: str, folder: Path) -> bool:
    """Return whether an earlier start in a working folder found nothing wrong in this state."""
    marker = folder / MARKER
    return marker.is_file() and marker.read_text(encoding="utf-8", errors="replace") == state_


def remember(state_: str, folder: Path) -> None:
    """Note in a working folder that nothing is wrong in this state."""
    marker = folder / MARKER
    marker.parent.mkdir(exist_ok=True)
    marker.write_text(state_, encoding="utf-8")
