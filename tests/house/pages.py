"""The pages of docs/ that config and code give: `python -m tests.house.pages` writes them."""

from collections.abc import Callable

from fathom.catalog.catalog import Catalog
from fathom.catalog.load import load
from fathom.records.files import write_text
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
