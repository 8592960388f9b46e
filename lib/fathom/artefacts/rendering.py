"""The templates of pages: files of the folder `templates`, in which every text is escaped."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent / "templates"


@cache
def environment() -> "Environment":
    """Return what renders templates of HTML and SVG."""
    from fathom.artefacts.table import formats

    return formats.environment(FOLDER, autoescape=True)
