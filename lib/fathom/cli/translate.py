"""`fathom translate`: held-out sentences to hypotheses, or a user's own text."""

import os
import select
import sys
from io import BufferedReader
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.cli.options import Device, Results, Run, Scale, Seed, report, report_of, suggest
from fathom.cli.run_options import Gates, Split, open_run
from fathom.config.spec import Spec
from fathom.config.switches import VARIABLE
from fathom.decode.ready import (
    missing_decodings,
    require_decoder,
    require_name,
    require_weights,
)
from fathom.io.errors import FathomError
from fathom.io.files import write_json

if TYPE_CHECKING:
    from fathom.decode.trained_run import TrainedRun

# Seconds in which a program that is piped in writes its first byte.
PATIENCE = 1.0


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
    spec, paths = opened.spec, opened.paths
    require_decoder(spec)
    if task is None and split is None:
        task = _piped_task(spec)
    if task is None:
        everything = split is None and gates is None
        decodings = opened.decodings(split, gates)
        opened.require_decodable(*(name for _, name in decodings))
        require_weights(spec, seed, paths)
        asked = missing_decodings(spec, seed, paths, decodings) if everything else decodings
        if asked:
            from fathom.decode import translate as decoding

            decoding.translate(opened.trained(seed, device), asked, report_of(spec.folder))
        else:
            report(f"{spec.folder}: every translation is there")
        if everything:
            # A workflow waits for this file, whose name says which decodings there are.
            write_json(paths.asked(spec, seed, decodings), {"decodings": decodings})
        suggest(paths.command("score", spec.name, seed))
        return
    require_name(task, spec.data.tasks, "task", spec.name)
    if split is not None:
        what = "--task translates standard input, and --split held-out sentences"
        raise FathomError(what, spec.name, "leave one of the two out")
    chosen = opened.one_gates(gates)
    opened.require_decodable(chosen)
    require_weights(spec, seed, paths)
    if sys.stdin is None:
        what, remedy = "standard input is closed", "give it text: < sentences.txt"
        raise FathomError(what, spec.name, remedy)
    if sys.stdin.isatty():
        _answer(opened.trained(seed, device), chosen, task)
        return
    lines = _lines(sys.stdin.buffer.read())
    from fathom.decode import translate as decoding

    trained = opened.trained(seed, device)
    for line in decoding.translate_lines(trained, chosen, task, lines, report):
        typer.echo(line)


def _answer(trained: "TrainedRun", gates: str, task: str) -> None:
    """Translate each line that the user types at a terminal when it comes."""
    from fathom.decode import translate as decoding

    trained.network(gates)  # before the prompt, so that the first line does not wait for it
    report(f"type text of {task}, a sentence a line; Ctrl-D ends")
    for number, typed in enumerate(iter(sys.stdin.buffer.readline, b""), start=1):
        for line in decoding.translate_lines(trained, gates, task, _lines(typed), report, number):
            typer.echo(line)


def _piped_task(spec: Spec) -> str | None:
    """Return the task of text that is piped in; None where there is no text.

    What a workflow runs leaves standard input alone.

    Raises:
        FathomError: the run has several tasks.
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
        return False  # closed, or no file at all


def _lines(text: bytes) -> list[str]:
    """Return the lines of a user's text; the last may lack its end."""
    try:
        lines = text.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start + 1}"
        raise FathomError(what, "standard input", "convert the text first") from None
    return lines if lines[-1] else lines[:-1]
