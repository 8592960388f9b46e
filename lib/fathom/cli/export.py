"""`fathom export`: a trained run for fairseq or CTranslate2."""

from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import Results, Run, Scale, Seed, report_of
from fathom.cli.run_options import open_run
from fathom.config.rules import require_plain_gates
from fathom.decode.ready import (
    require_decoder,
    require_name,
    require_weights,
)
from fathom.io.errors import FathomError

PROGRAMS = ("fairseq", "ctranslate2")


def export(
    run: Run,
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.")],
    program: Annotated[str, typer.Option("--format", help="fairseq or ctranslate2.")],
    task: Annotated[
        str | None, typer.Option(help="The task whose layers stay, where tasks keep others.")
    ] = None,
    scale: Scale = None,
    results: Results = None,
    seed: Seed = 1,
) -> None:
    """Write a run with which fairseq or CTranslate2 translates, without fathom.

    The network must be a plain Transformer; of a run with gates, the layers
    that hard gates keep are one. README.md, in the folder, is a model card;
    docs/export.md shows how to use the folder.

    Example: fathom export m2o_diverse_12_12 exported --format fairseq
    """
    opened = open_run(run, scale, results)
    spec = opened.spec
    require_name(program, PROGRAMS, "format", "--format")
    if task is not None:
        require_name(task, spec.data.tasks, "task", spec.name)
    require_decoder(spec)
    gates = "hard" if "hard" in spec.gates else spec.gates[0]
    card = opened.project.methods[spec.method.name]
    require_plain_gates(card, gates, spec.name, "translate with fathom instead")
    _require_empty(folder)
    require_weights(spec, seed, opened.paths)
    from fathom.artefacts.model_card import model_card
    from fathom.decode.export.export import export as write
    from fathom.io.files import write_text
    from fathom.results.tree import read_run

    write(opened.trained(seed, "cpu"), program, folder, task, report_of(spec.folder))
    found = read_run(opened.paths.run(spec, seed))
    if found is not None:
        card = model_card(opened.project, spec, opened.paths, found)
        write_text(folder / "README.md", card)


def _require_empty(folder: Path) -> None:
    """Refuse a folder with files: an export of something else may be among them.

    Raises:
        FathomError: it has files, or is a file itself.
    """
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise FathomError("this is no empty folder", str(folder), "name a new folder")
