"""`fathom translate`: held-out sentences to hypotheses, or a user's own text."""

import sys
from typing import Annotated

import typer

from fathom.cli.options import Device, Results, Run, Scale, Seed, report_of
from fathom.cli.run_options import Gates, Split, open_run
from fathom.errors import FathomError
from fathom.inference.ready import (
    missing_decodings,
    require_decoder,
    require_name,
    require_weights,
)
from fathom.io.files import write_json


def translate(
    run: Run,
    split: Split = None,
    gates: Gates = None,
    task: Annotated[
        str | None, typer.Option(help="Translate standard input, text of this task, instead.")
    ] = None,
    scale: Scale = None,
    results: Results = None,
    seed: Seed = 1,
    device: Device = None,
) -> None:
    """Translate a run's held-out sentences, or your own.

    Without --split and --gates every decoding that config asks for and that
    does not exist yet is made; the network is loaded once. With --task,
    standard input is translated line by line to standard output.

    Example: fathom translate m2o_diverse_12_12 --task fra < sentences.txt
    """
    opened = open_run(run, scale, results, device)
    spec, paths = opened.spec, opened.paths
    require_decoder(spec)
    if task is None:
        everything = split is None and gates is None
        decodings = opened.decodings(split, gates)
        require_weights(spec, seed, paths)
        asked = missing_decodings(spec, seed, paths, decodings) if everything else decodings
        if asked:
            from fathom.inference import translate as decoding

            decoding.translate(opened.trained(seed, device), asked, report_of(spec.folder))
        if everything:
            # A workflow waits for this file, whose name says which decodings there are.
            write_json(paths.asked(spec, seed, decodings), {"decodings": decodings})
        return
    require_name(task, spec.data.tasks, "task", spec.name)
    chosen = opened.one_gates(gates)
    require_weights(spec, seed, paths)
    lines = _typed_lines()
    from fathom.inference import translate as decoding

    for line in decoding.translate_lines(opened.trained(seed, device), chosen, task, lines):
        typer.echo(line)


def _typed_lines() -> list[str]:
    """Return the lines of standard input; the last may lack its end."""
    try:
        lines = sys.stdin.buffer.read().decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start + 1}"
        raise FathomError(what, "standard input", "convert the text first") from None
    return lines if lines[-1] else lines[:-1]
