"""The verbs of runs: train, translate, export."""

import os
import select
import sys
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.cli.options import (
    Device,
    Gates,
    Results,
    Run,
    Scale,
    Seed,
    Split,
    decodings,
    enter_job,
    open_run,
)
from fathom.cli.terminal import report, report_of, suggest
from fathom.config.rules import early_average, require_plain_gates
from fathom.config.spec import Spec
from fathom.config.switches import VARIABLE
from fathom.decode.open_run import OpenRun
from fathom.decode.ready import (
    missing_decodings,
    require_decoder,
    require_made,
    require_name,
    require_weights,
)
from fathom.io.errors import FathomError
from fathom.io.machine import job_is_live

if TYPE_CHECKING:
    from fathom.decode.trained_run import TrainedRun

# Seconds in which a program that is piped in writes its first byte.
PATIENCE = 1.0
PROGRAMS = ("fairseq", "ctranslate2", "transformers")


def train(
    run: Run, scale: Scale = None, results: Results = None, seed: Seed = 1, device: Device = None
) -> None:
    """Train one run, or resume it.

    A run that was interrupted resumes from its newest checkpoint. One that has ended
    is left as it is; where its weights are damaged or missing, it resumes from the
    newest state before them, or starts afresh where no state is left. Damaged files
    are renamed to *.damaged.

    Example: fathom train m2o_diverse_12_12 --scale tiny --seed 1
    """
    from fathom.results import training_record
    from fathom.results.verify import restore

    opened = open_run(run, scale, results, device)
    spec, paths, switches = opened.spec, opened.paths, opened.project.switches
    stale = switches.retrain == "stale"
    record = paths.training(spec, seed)
    if not stale and (ended := training_record.already_ended(record)):
        restore(record, spec, seed, report)
        report(f"{spec.folder}: {ended}")
        return
    enter_job()
    text = paths.tensors(spec.data)
    require_made(text / "tensors.json", paths.run_command(spec.name, seed))
    if warning := early_average(spec, opened.project.spec(spec.name)):
        report(warning)
    from fathom.train.loop import TrainPaths
    from fathom.train.train import train

    switches = switches.model_copy(update={"device": device or switches.device})
    folders = TrainPaths(text, paths.run(spec, seed), paths.start(spec, seed))
    train(spec, seed, folders, switches, report, job_is_live)
    verb = "likelihood" if spec.decoding is None else "translate"
    suggest(paths.command(verb, spec.name, seed))


def translate(
    run: Run,
    split: Split = None,
    gates: Gates = None,
    task: Annotated[
        str | None,
        typer.Option(help="Translate standard input, text of this task; not needed with one task."),
    ] = None,
    scale: Scale = None,
    results: Results = None,
    seed: Seed = 1,
    device: Device = None,
) -> None:
    """Translate a run's held-out sentences, or your own.

    Without --split and --gates every decoding that config asks for and that
    does not exist yet is made; the network is loaded once. With --task, or if
    text is piped into a run with one task, standard input is translated line
    by line to standard output.

    Example: fathom translate m2o_diverse_12_12 --task fra < sentences.txt
    """
    opened = open_run(run, scale, results, device)
    require_decoder(opened.spec)
    enter_job()
    if task is None and split is None:
        task = piped_task(opened.spec)
    if task is None:
        _translate_held_out(opened, split, gates, seed, device)
        return
    spec = opened.spec
    require_name(task, spec.data.tasks, "task", spec.name)
    if split is not None:
        what = "--task translates standard input, and --split held-out sentences"
        raise FathomError(what, spec.name, "leave one of the two out")
    chosen = opened.one_gates(gates)
    require_weights(spec, seed, opened.paths)
    if sys.stdin is None:
        what, remedy = "standard input is closed", "give it text: < sentences.txt"
        raise FathomError(what, spec.name, remedy)
    if sys.stdin.isatty():
        _translate_typed(opened.trained(seed, device), chosen, task)
        return
    lines = _lines(sys.stdin.buffer.read())
    from fathom.decode.translate import translate_lines

    for line in translate_lines(opened.trained(seed, device), chosen, task, lines, report):
        typer.echo(line)


def _translate_held_out(
    opened: OpenRun, split: str | None, gates: str | None, seed: int, device: str | None
) -> None:
    """Make the decoding that the user named, or all that are missing."""
    from fathom.io.files import write_json

    spec, paths = opened.spec, opened.paths
    everything = split is None and gates is None
    asked = decodings(opened, split, gates)
    require_weights(spec, seed, paths)
    missing = missing_decodings(spec, seed, paths, asked) if everything else asked
    if missing:
        from fathom.decode.translate import translate

        translate(opened.trained(seed, device), missing, report_of(spec.folder))
    else:
        report(f"{spec.folder}: every translation is there")
    if everything:
        # A workflow waits for this file, whose name says which decodings there are.
        write_json(paths.asked(spec, seed, asked), {"decodings": asked})
    suggest(paths.command("score", spec.name, seed))


def _translate_typed(trained: "TrainedRun", gates: str, task: str) -> None:
    """Translate each line that the user types at a terminal when it comes."""
    from fathom.decode.translate import translate_lines

    trained.network(gates)  # before the prompt, so that the first line does not wait for it
    report(f"type text of {task}, a sentence a line; Ctrl-D ends")
    for number, typed in enumerate(iter(sys.stdin.buffer.readline, b""), start=1):
        for line in translate_lines(trained, gates, task, _lines(typed), report, number):
            typer.echo(line)


def piped_task(spec: Spec) -> str | None:
    """Return the task of text that is piped in; None where there is no text.

    What a workflow runs leaves standard input alone.
    """
    if VARIABLE in os.environ or not _text_waits():
        return None
    task, *others = spec.data.tasks
    if others:
        what = "standard input has text, and nothing says of which task"
        remedy = f"add --task with one of: {', '.join(spec.data.tasks)}; no text: add </dev/null"
        raise FathomError(what, spec.name, remedy)
    return task


def _text_waits() -> bool:
    """Return whether text is piped in."""
    try:
        if sys.stdin is None or sys.stdin.isatty():
            return False
        ready, _, _ = select.select([sys.stdin], [], [], PATIENCE)
        text = sys.stdin.buffer
        return bool(ready) and isinstance(text, BufferedReader) and bool(text.peek(1))
    except (OSError, ValueError):
        return False  # closed, or not a file at all


def _lines(text: bytes) -> list[str]:
    """Return the lines of a user's text; the last may lack its end."""
    try:
        lines = text.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start + 1}"
        raise FathomError(what, "standard input", "convert the text first") from None
    return lines if lines[-1] else lines[:-1]


def export(
    run: Run,
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.")],
    program: Annotated[str, typer.Option("--format", help="fairseq, ctranslate2 or transformers.")],
    task: Annotated[
        str | None, typer.Option(help="The task whose layers stay, where tasks keep others.")
    ] = None,
    scale: Scale = None,
    results: Results = None,
    seed: Seed = 1,
) -> None:
    """Write a run for fairseq, CTranslate2 or transformers.

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
    require_plain_gates(card, gates, spec.name)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        # An export of something else may be among the files.
        raise FathomError("this is not an empty folder", str(folder), "name a new folder")
    require_weights(spec, seed, opened.paths)
    from fathom.artefacts.model_card import model_card
    from fathom.decode.export.export import export
    from fathom.io.files import write_text
    from fathom.results.tree import read_run

    export(opened.trained(seed, "cpu"), program, folder, task, report_of(spec.folder))
    results_of_run = read_run(opened.paths.run(spec, seed))
    if results_of_run is not None:
        card = model_card(opened.project, spec, opened.paths, results_of_run, program)
        write_text(folder / "README.md", card)
