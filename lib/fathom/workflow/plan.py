"""What a start will train and what it finds: a few lines, printed before anything happens."""

from pathlib import Path

from fathom.workflow.targets import Targets


def lines(targets: Targets) -> list[str]:
    """Return the lines that each start of the head process prints.

    Args:
        targets: the wishes of this start.
    """
    wanted = targets.requested or ("all",)
    needed = _needed(targets, wanted)
    found = [path for path in needed if _ended(path)]
    missing = [path for path in needed if not _ended(path)]
    title = targets.catalog.scale(targets.scale).title
    said = [f"fathom: scale {title}", f"fathom: asked for {', '.join(wanted)}"]
    if any(each not in targets.names for each in wanted):
        said.append(
            "fathom: a file was asked for: Snakemake's list of jobs says what will be trained"
        )
        return said
    if not needed:
        said.append("fathom: nothing will be trained; cells without a manifest say `not run`")
        return said
    said.append(f"fathom: {len(found)} of {len(needed)} trainings found, {len(missing)} to train")
    if missing:
        said.append("fathom: to train: " + ", ".join(_name(path) for path in missing))
    return said


def _needed(targets: Targets, wanted: tuple[str, ...]) -> list[Path]:
    """Return the manifests behind the targets, each once, after those that their runs start from.

    Of a run from which another starts the training alone is needed; it counts as its manifest here.
    """
    if "all" in wanted:
        asked = targets.manifests_of(targets.catalog.paper_of)
    else:
        asked = [path for each in wanted for path in targets.behind(each)]
    needed: list[Path] = []
    for path in asked:
        seed, folder = path.parent.name, path.parent.parent.name
        needed += [base.parent / path.name for base in targets.base(folder, seed)]
        needed.append(path)
    return list(dict.fromkeys(needed))


def _ended(manifest: Path) -> bool:
    return manifest.exists() or (manifest.parent / "training.json").exists()


def _name(manifest: Path) -> str:
    """Return `<run>-<hash8>`, with the seed where it is not the first."""
    seed, folder = manifest.parent.name, manifest.parent.parent.name
    return folder if seed == "1" else f"{folder} seed {seed}"
