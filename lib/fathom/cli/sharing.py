"""`fathom sharing`: how much of the network the tasks of a trained run share."""

from fathom.cli.options import Device, Results, Run, Scale, Seed, report_of
from fathom.cli.run_options import open_run
from fathom.decode.ready import averaged, require_weights
from fathom.results.measurements import Record


def sharing(
    run: Run, scale: Scale = None, results: Results = None, seed: Seed = 1, device: Device = None
) -> None:
    """Measure which groups of units two tasks have in common.

    Example: fathom sharing m2o_diverse_lamgd
    """
    opened = open_run(run, scale, results, device)
    require_weights(opened.spec, seed, opened.paths)
    from fathom.results.measured import MeasurementFile

    def records() -> dict[str, Record]:
        from fathom.decode.gates import sharing_records

        return sharing_records(opened.trained(seed, device))

    report = report_of(opened.spec.folder)
    run_with = {"average_of": averaged(opened.spec)}
    file = MeasurementFile(opened.spec, seed, opened.paths, "sharing")
    file.measure(records, report, run_with)
