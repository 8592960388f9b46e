"""The verbs of measurements: score, likelihood, best-window, gates, sharing."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import (
    Device,
    Gates,
    HeldOut,
    Results,
    Run,
    Scale,
    Seed,
    Split,
    decodings,
    enter_job,
    needs,
    open_run,
)
from fathom.cli.terminal import report_of, suggest
from fathom.config import plugins
from fathom.config.measurement_keys import SCORES, made_by
from fathom.decode.open_run import OpenRun
from fathom.decode.ready import (
    averaged,
    require_decoder,
    require_made,
    require_name,
    require_training,
    require_weights,
)
from fathom.io.errors import FathomError
from fathom.results.measurements import Number, Record, mean_words


def score(
    run: Run,
    split: Split = None,
    gates: Gates = None,
    scale: Scale = None,
    results: Results = None,
    seed: Seed = 1,
    metric: Annotated[str | None, typer.Option(help="One metric; chrf comes with bleu.")] = None,
) -> None:
    """Score a run's hypotheses with every metric.

    Without --split and --gates every decoding that config asks for is scored,
    and without --metric with every metric that tables show.

    Example: fathom score m2o_diverse_12_12
    """
    opened = open_run(run, scale, results)
    spec, paths = opened.spec, opened.paths
    if metric:
        require_name(metric, plugins.names("metrics"), "metric", "--metric")
    require_decoder(spec)
    asked, wanted = decodings(opened, split, gates), needs(opened)
    require_training(spec, seed, paths)
    for text, kind in asked:
        command = paths.command("translate", spec.name, seed)
        named = f"{command} --split {text} --gates {kind}" if split or gates else command
        require_made(paths.decoding(spec, seed, text, kind) / "decoding.json", named)
    from fathom.scoring.score import score

    for text, kind in asked:
        report = report_of(f"{spec.folder} {text}, {kind}")
        rules = [made_by(metric)] if metric else [SCORES, *wanted.metrics(spec.name, text, kind)]
        for rule in rules:
            score(spec, seed, text, kind, paths, report, rule)
    suggest(paths.fathom("status", spec.paper, "--runs", "--scale", paths.scale))


def likelihood(
    run: Run,
    split: HeldOut = "valid",
    gates: Gates = None,
    scale: Scale = None,
    results: Results = None,
    seed: Seed = 1,
    device: Device = None,
) -> None:
    """Measure NLL and perplexity of held-out text.

    Of pairs, the target sentences are predicted; of a masked language model's
    blocks, the hidden pieces, always the same ones. The numbers are per piece.

    Example: fathom likelihood m2o_diverse_12_12 --split valid
    """
    opened = open_run(run, scale, results, device)
    spec = opened.spec
    kind = opened.one_gates(gates)
    enter_job()
    training = require_weights(spec, seed, opened.paths)
    from fathom.decode import likelihood
    from fathom.results.training_record import MeasurementFile

    def records() -> dict[str, Record]:
        found = likelihood.likelihood(opened.trained(seed, device), split, kind)
        return likelihood.records(found, split, kind)

    report = report_of(f"{spec.folder} {split}, {kind}")
    file = MeasurementFile(spec, seed, opened.paths, "likelihood", split, kind)
    measured = file.measure(records, report)
    for line in likelihood.table(measured):
        print(line)
    nll = measured.measurements.get(f"nll.valid.{spec.gates[0]}")
    if nll and training.validation:
        last = Record(all=Number(value=training.validation.nll))
        if worse := mean_words(nll, last, averaged(spec)):
            report(worse)


def best_window(
    run: Run,
    size: Annotated[
        int | None, typer.Option(help="Checkpoints of the window; by default the run's.", min=1)
    ] = None,
    gates: Gates = None,
    scale: Scale = None,
    results: Results = None,
    seed: Seed = 1,
    device: Device = None,
) -> None:
    """Score a window of checkpoints, chosen on validation text.

    Validation text is translated with all weights that the training saved; test
    text only inside the consecutive checkpoints with the highest mean score.
    Interrupted and started again, it resumes.

    Example: fathom best-window en_de_transformer_transparent_6 --size 2
    """
    opened = open_run(run, scale, results, device)
    require_decoder(opened.spec)
    decoding, kind = opened.spec.decoding, opened.one_gates(gates)
    if decoding is None or (size is None and decoding.window is None):
        what = "the run has no window of checkpoints"
        raise FathomError(what, opened.spec.name, "give --size, or set decoding.window")
    decoding = decoding.model_copy(update={"window": size or decoding.window})
    opened = replace(opened, spec=replace(opened.spec, decoding=decoding))
    enter_job()
    spec, paths = opened.spec, opened.paths
    ended = require_weights(spec, seed, paths).outcome
    from fathom.results.training_record import MeasurementFile
    from fathom.scoring.window import best_window

    report = report_of(f"{spec.folder} {kind}")
    if not ended.finished:
        MeasurementFile(spec, seed, paths, "window", gates=kind).measure(dict, report)
        return
    from fathom.decode.translate import consecutive_updates, translate_saved

    trained = opened.trained(seed, device)

    def translated(split: str, updates: Sequence[int]) -> dict[int, dict[str, Path]]:
        return translate_saved(trained, kind, split, updates, report)

    updates = consecutive_updates(trained)
    metrics = needs(opened).metrics(spec.name, "test", kind, "window")
    report(str(best_window(spec, seed, kind, paths, updates, translated, report, metrics)))


def gates(
    run: Run, scale: Scale = None, results: Results = None, seed: Seed = 1, device: Device = None
) -> None:
    """Measure the gates of a trained run, by task and layer.

    Example: fathom gates m2o_diverse_ll_d_12_24
    """
    opened = open_run(run, scale, results, device)
    if opened.spec.gates == ("plain",):
        remedy = "choose a run of latent layers"
        raise FathomError("its method has no gates", opened.spec.name, remedy)
    _measure_network("gates", opened, seed, device)


def sharing(
    run: Run, scale: Scale = None, results: Results = None, seed: Seed = 1, device: Device = None
) -> None:
    """Measure which groups of units two tasks have in common.

    Example: fathom sharing m2o_diverse_lamgd
    """
    _measure_network("sharing", open_run(run, scale, results, device), seed, device)


def _measure_network(rule: str, opened: OpenRun, seed: int, device: str | None) -> None:
    """Write what is measured of a trained network alone."""
    spec = opened.spec
    require_weights(spec, seed, opened.paths)
    from fathom.results.training_record import MeasurementFile

    def records() -> dict[str, Record]:
        from fathom.decode.gates import gate_records, sharing_records

        measured = gate_records if rule == "gates" else sharing_records
        return measured(opened.trained(seed, device))

    file = MeasurementFile(spec, seed, opened.paths, rule)
    file.measure(records, report_of(spec.folder), {"average_of": averaged(spec)})
