"""`fathom train`: train one run."""

from fathom.cli.options import Device, Results, Run, Scale, Seed, report, suggest
from fathom.cli.run_options import open_run
from fathom.cluster.slurm import job_state
from fathom.decode.ready import require_made
from fathom.results import training_record


def train(
    run: Run, scale: Scale = None, results: Results = None, seed: Seed = 1, device: Device = None
) -> None:
    """Train one run, or resume it.

    A run that was interrupted resumes from its newest checkpoint; one that has
    ended is left as it is.

    Example: fathom train m2o_diverse_12_12 --scale tiny --seed 1
    """
    opened = open_run(run, scale, results, device)
    spec, paths, switches = opened.spec, opened.paths, opened.project.switches
    stale = switches.retrain == "stale"
    record = paths.training(spec, seed)
    if not stale and (ended := training_record.already_ended(record)):
        training_record.restore_measured(record, spec, seed)
        report(f"{spec.folder}: {ended}")
        return
    text = paths.tensors(spec.data)
    require_made(text / "tensors.json", paths.command("encode", spec.data.folder))
    from fathom.train.loop import RuntimeOptions, TrainPaths
    from fathom.train.train import train as train_run

    options = RuntimeOptions(
        device=device or switches.device,
        tokens_per_device=switches.tokens_per_device,
        log_every=switches.log_every,
        save_minutes=switches.save_minutes,
        diagnose_first=switches.diagnose_first,
        diagnose_every=switches.diagnose_every,
        kernels=switches.kernels,
        compile=switches.compile,
        retrain_stale=stale,
        micro_batches=switches.micro_batches,
    )
    folders = TrainPaths(text, paths.run(spec, seed), paths.start(spec, seed))
    train_run(spec, seed, folders, options, report, job_state)
    verb = "likelihood" if spec.decoding is None else "translate"
    suggest(paths.command(verb, spec.name, seed))
