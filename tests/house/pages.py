"""The files that config and code give: `python -m tests.house.pages` writes them."""

from collections.abc import Callable

from fathom.artefacts import equations
from fathom.config.load import load
from fathom.config.project import Project
from fathom.io.files import write_text
from tests.house.tree import ROOT

PAGES: dict[str, Callable[[Project], str]] = {
    "docs/equations.md": equations.markdown,
}


def main() -> None:
    """Write every page."""
    project = load(ROOT)
    for name, page in PAGES.items():
        write_text(ROOT / name, page(project))


if __name__ == "__main__":
    main()
