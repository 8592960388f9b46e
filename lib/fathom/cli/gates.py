"""`fathom gates`: which layers the gates of a trained run select."""

from fathom.cli.options import Device, Results, Run, Scale, Seed, report_of
from fathom.cli.run_options import open_run
from fathom.decode.ready import averaged, require_weights
from fathom.io.errors import FathomError
from fathom.results.measurements import Record


def gates(
    run: Run, scale: Scale = None, results: Results = None, seed: Seed = 1, device: Device = None
) -> None:
    """Measure the gates of a trained run, by task and layer.

    Example: fathom gates m2o_diverse_ll_d_12_24
    """
    opened = open_run(run, scale, results, device)
    if opened.spec.gates == ("plain",):
        where = opened.spec.name
        raise FathomError("its method has no gates", where, "choose a run of latent layers")
    require_weights(opened.spec, seed, opened.paths)
    from fathom.results.measured import MeasurementFile

    def records() -> dict[str, Record]:
        from fathom.decode.gates import gate_records

        return gate_records(opened.trained(seed, device))

    report = report_of(opened.spec.folder)
    run_with = {"average_of": averaged(opened.spec)}
    file = MeasurementFile(opened.spec, seed, opened.paths, "gates")
    file.measure(records, report, run_with)
