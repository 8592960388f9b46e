"""The pages of docs/ that config and code give: `python -m tests.house.pages` writes them."""

from collections.abc import Callable

from fathom.io.files import write_text
from fathom.project.load import load
from fathom.project.project import Catalog
from fathom.report import equations, ledger
from tests.house.tree import ROOT


def deviations(catalog: Catalog) -> str:
    """Return the ledgers of all papers as one page."""
    return ledger.page(catalog.papers, ledger.ledgers(catalog.root, catalog.papers))


PAGES: dict[str, Callable[[Catalog], str]] = {
    "docs/deviations.md": deviations,
    "docs/equations.md": equations.markdown,
}


def main() -> None:
    """Write every page."""
    catalog = load(ROOT)
    for name, page in PAGES.items():
        write_text(ROOT / name, page(catalog))


if __name__ == "__main__":
    main()
