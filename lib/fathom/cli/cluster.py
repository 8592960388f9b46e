"""The verb of a cluster: its profile, written from what Slurm answers."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.terminal import suggest
from fathom.config.load import open_project
from fathom.workflow import cluster_setup
from fathom.workflow.cluster_setup import Choice, Cluster

PROFILE = Path("workflow") / "profiles" / "slurm"

Yes = Annotated[bool, typer.Option("--yes", help="Ask nothing: take what is proposed.")]


def cluster(yes: Yes = False) -> None:
    """Ask Slurm about the cluster and write a profile.

    Asks sinfo, scontrol and sacctmgr; asks you for what they do not tell, such as
    your partition where there are several; asks `sbatch --test-only` for each size
    of job; and writes site.yaml and the options of config.yaml in
    workflow/profiles/slurm.

    Example: fathom cluster
    """
    project = open_project(Path(), profile=PROFILE.name)
    found = cluster_setup.found()
    print(*found.lines(), sep="\n")
    choice = _choice(found, ask=not yes)
    proposed, lines = cluster_setup.checked(cluster_setup.proposal(found, choice))
    print(*lines, sep="\n")
    folder = project.root / PROFILE
    changed = cluster_setup.written(folder, proposed)
    print(f"written into {PROFILE}:" if changed else f"{PROFILE} has all of it already")
    results = Path(project.switches.results)
    print(*changed, *cluster_setup.remarks(proposed, results), sep="\n")
    suggest("snakemake --profile slurm -n latent_depth_table5")


def _choice(found: Cluster, ask: bool) -> Choice:
    """Return what the user chooses, or what is proposed."""
    partitions = {each.name: each for each in found.partitions}
    with_gpus = [each.name for each in found.with_gpus]
    here = found.default.name
    # Where the default partition has GPUs, all jobs go there.
    gpu = here if here in with_gpus else next(iter(with_gpus), "")
    here = _chosen("partition of jobs without a GPU", partitions, here, ask)
    gpu = _chosen("partition of jobs with a GPU", with_gpus, gpu, ask)
    used = [partitions[name] for name in (here, gpu) if name]
    kinds = [*used[1].gpus] if gpu else [""]
    return Choice(
        partition=used[0],
        gpu_partition=partitions.get(gpu),
        kind=_chosen("kind of GPU", kinds, kinds[0], ask),
        account=_chosen("account", found.named("account"), "", ask),
        qos=_chosen("qos", found.named("qos"), "", ask),
        constraint=_chosen("constraint", {"": 0} | used[0].features | used[-1].features, "", ask),
    )


def _chosen(what: str, names: Iterable[str], proposed: str, ask: bool) -> str:
    """Return a name that the user types, or the one that is proposed; one name is not asked for."""
    names = [*names]
    while ask and len(names) > 1:
        shown = ", ".join(filter(None, names))
        typed = typer.prompt(f"{what} ({shown})", proposed, show_default=bool(proposed))
        if typed in (*names, proposed):
            return typed
        print(f"no {what} '{typed}'")
    return proposed
