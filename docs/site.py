"""What MkDocs adds to docs/: pages made from config and code, and those of files elsewhere.

Links of docs/ lead to files of the clone, and do so on every host of the repository. On the site a
file outside of docs/ has a page of its own, with its text.
"""

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LIBRARY = ROOT / "lib" / "fathom"
# Files outside of docs/ that are pages in their own right.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "config/README.md": "configuration.md",
}
# A page has those of all papers.
DEVIATIONS = "deviations.md"
SOURCE, API = "source", "api"
# Of Markdown, and of the pictures of a <picture>.
LINK = re.compile(r"(\]\(|src(?:set)?=\")(?![a-z]+:|#)([^)\s#\"]+)(#[^)\s\"]*)?([)\"])")
_UNSEARCHED = "---\nsearch: {exclude: true}\n---\n"
# What the theme would fetch when a page is opened from a disk, and what does the same.
FETCHED = '<script src="https://unpkg.com/iframe-worker/shim"></script>'
OWN = "search_from_disk.js"
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".smk": "python", ".toml": "toml", ".csv": "text"}


def place(path: Path) -> str:
    """Return the place in the site of a file or folder of the project."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    if path.name == "deviations.yaml":
        return DEVIATIONS
    name = path.relative_to(ROOT).as_posix()
    return PAGES.get(name, f"{SOURCE}/{name}.md")


def linked(text: str, folder: Path, page: str) -> str:
    """Return Markdown whose links lead to places in the site.

    Args:
        text: of a page of the project.
        folder: the folder from which its links go.
        page: the page's place in the site.
    """

    def lead(match: re.Match) -> str:
        path = (folder / match[2]).resolve()
        if not path.exists() or not path.is_relative_to(ROOT):
            return match[0]
        there = os.path.relpath(place(path), Path(page).parent)
        return f"{match[1]}{there}{match[3] or ''}{match[4]}"

    return LINK.sub(lead, text)


def outside(text: str, folder: Path) -> Iterator[Path]:
    """Yield the files and folders outside of docs/ to which a page of the project leads."""
    for match in LINK.finditer(text):
        path = (folder / match[2]).resolve()
        if path.exists() and path.is_relative_to(ROOT) and not path.is_relative_to(DOCS):
            yield path


def described(path: Path) -> str:
    """Return the page of a file or folder outside of docs/."""
    name = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        names = sorted(item.name + "/" * item.is_dir() for item in path.iterdir())
        lines = [f"- `{item}`" for item in names if item[0] not in "._"]
        return "\n".join([f"# {name}/", "", *lines, ""])
    language = _LANGUAGES.get(path.suffix, "text")
    text = path.read_text(encoding="utf-8")
    return f"{_UNSEARCHED}# {name}\n\n````{language}\n{text}\n````\n"


def rooms() -> dict[str, list[str]]:
    """Return the modules of each room of the library."""
    modules: dict[str, list[str]] = {}
    for path in sorted(LIBRARY.rglob("*.py")):
        parts = path.relative_to(LIBRARY).with_suffix("").parts
        if parts[-1] != "__init__":
            modules.setdefault(parts[0], []).append(".".join(("fathom", *parts)))
    return modules


def commands() -> str:
    """Return the page of all verbs with their options, from their help."""
    from typer.cli import get_docs_for_click
    from typer.main import get_command

    from fathom.cli.verbs import VERBS, build

    verbs = get_command(build())
    context = verbs.make_context("fathom", [], resilient_parsing=True)
    text = get_docs_for_click(obj=verbs, ctx=context)
    _, heading, text = text.partition("\n## ")
    parts = re.split(r"(```.*?```|`[^`\n]*`)", f"{heading}{text}", flags=re.DOTALL)
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    text = re.sub(r"^Example: (.*)$", r"Example: `\1`", "".join(parts), flags=re.MULTILINE)
    lines = ["# Commands", "", "Every verb of `fathom`, as `fathom VERB --help` prints it.", ""]
    for subject, named in VERBS.items():
        lines.append(f"- {subject}: {', '.join(f'[{verb}](#fathom-{verb})' for verb in named)}")
    return "\n".join([*lines, text])


@cache
def made() -> dict[str, str]:
    """Return the content of each page that docs/ does not have, by its place in the site."""
    from docs import settings
    from fathom.artefacts import deviations, equations
    from fathom.config.load import load

    project = load(ROOT, check=False)
    index = equations.markdown(project)
    waiting = [*outside(index, DOCS)]
    pages = {
        "settings.md": settings.page(project),
        "commands.md": commands(),
        "equations.md": linked(index, DOCS, "equations.md"),
        DEVIATIONS: deviations.page(project.papers),
    }
    for name, there in PAGES.items():
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        pages[there] = linked(text, path.parent, there)
        waiting += outside(text, path.parent)
    for path in DOCS.glob("*.md"):
        waiting += outside(path.read_text(encoding="utf-8"), DOCS)
    pages |= {place(path): described(path) for path in waiting if place(path) not in pages}
    for room, modules in rooms().items():
        pages[f"{API}/{room}.md"] = "\n".join(
            [f"# {room}", "", *(f"::: {module}\n" for module in modules)]
        )
    return pages


def on_config(config: Any) -> Any:
    """Put a page for each room of the library in the place of `api/`."""
    for section in config["nav"]:
        for pages in section.values():
            for entry in pages if isinstance(pages, list) else ():
                if entry.get("Library") == f"{API}/":
                    entry["Library"] = [{room: f"{API}/{room}.md"} for room in rooms()]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that docs/ does not have."""
    from mkdocs.structure.files import File

    for there, text in made().items():
        files.append(File.generated(config, there, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to places in the site."""
    there = page.file.src_uri
    return linked(markdown, DOCS, there) if (DOCS / there).is_file() else markdown


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Put our script in the place of the one that would be fetched."""
    there = os.path.relpath(OWN, Path(page.file.dest_uri).parent)
    return output.replace(FETCHED, f'<script src="{there}"></script>')


def on_post_template(output: str, template_name: str, **_: Any) -> str:
    """Fetch nothing on the page for missing pages either."""
    return output.replace(FETCHED, "")
