"""`fathom params`: parameters, counted on the meta device: those that papers print, and runs'."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fathom.cli.options import Json, Scale, open_catalog, open_paths, report
from fathom.project.parameters import Network, Printed, printed, undiminished
from fathom.project.project import Catalog
from fathom.runs.paths import Paths

_HEADINGS = ("paper", "table", "row", "printed", "ours", "difference", "verdict", "entries", "why")


def params(scale: Scale = None, as_json: Json = False) -> None:
    """Count parameters: those that papers print, and every run's.

    No network is made. Printed counts stand at a scale that leaves the papers' networks as they
    are; each agrees (within 1 %, or to the printed digits), is a known misprint, is unexplained, or
    differs. Runs are counted whose data has its dictionaries already.

    Example: fathom params --scale paper
    """
    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    found = printed(catalog, name) if undiminished(catalog.scale(name)) else []
    lines = [_beside_ours(each) for each in found]
    runs = dict(_runs(catalog, name, paths))
    if as_json:
        print(json.dumps({"printed": lines, "runs": runs}, indent=1, allow_nan=False))
        return
    if lines:
        print("\t".join(_HEADINGS))
        for line in lines:
            print("\t".join(_cells(line)))
        verdicts = Counter(line["verdict"] for line in lines)
        words = {"agrees": "agree", "differs": "differ"}
        told = ", ".join(f"{count} {words.get(each, each)}" for each, count in verdicts.items())
        report(f"{len(lines)} printed counts: {told}")
    for run, parts in runs.items():
        print(f"{run}\t{parts['total']}\t{parts['total'] / 1e6:.3f} M")


def _beside_ours(each: Printed) -> dict[str, Any]:
    """Return a printed count beside that of its network, as JSON shows it."""
    ours = _total(each.network)
    if each.added_to:
        ours -= _total(each.added_to)
    return {
        "paper": each.paper,
        "table": each.table,
        "row": each.row,
        "printed_millions": float(each.millions),
        "counts_what_is_added": each.added_to is not None,
        "ours": ours,
        "difference": each.difference(ours),
        "verdict": each.verdict(ours),
        "right_millions": float(each.right) if each.right else None,
        "reason": each.reason or None,
        "source_entries": each.network.source_entries,
        "target_entries": each.network.target_entries,
    }


def _total(network: Network) -> int:
    from fathom.methods.loader import count

    sizes = (network.source_entries, network.target_entries)
    return count(network.model, network.method, network.tasks, *sizes)["total"]


def _cells(line: dict[str, Any]) -> list[str]:
    """Return a line's cells as text, one for each heading."""
    sign = "+" if line["counts_what_is_added"] else ""
    share = line["difference"]
    # Adding 0 takes the sign from a rounded −0.
    difference = "" if share is None else f"{round(100 * share, 2) + 0:+.2f} %"
    right, reason = line["right_millions"], line["reason"] or ""
    return [
        line["paper"],
        line["table"],
        line["row"],
        f"{sign}{line['printed_millions']:g} M",
        f"{sign}{line['ours'] / 1e6:.3f} M",
        difference,
        line["verdict"],
        f"{line['source_entries']} + {line['target_entries']}",
        f"{right:g} M: {reason}" if right else reason,
    ]


def _runs(catalog: Catalog, name: str, paths: Paths) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield each run of a scale with its parameters by part, where its dictionaries are there."""
    from fathom.batches.tensors import load
    from fathom.methods.loader import count

    # Snakemake knows its files from the project's folder on.
    known = Paths(Path(catalog.config["results"]), name)
    missing: Counter[Path] = Counter()
    for run in catalog.paper_of:
        spec = catalog.spec(run, name)
        folder = paths.tensors(spec.data)
        if not (folder / "tensors.json").exists():
            missing[known.tensors(spec.data) / "tensors.json"] += 1
            continue
        tensors = load(folder)
        sizes = (len(tensors.source_dictionary), len(tensors.target_dictionary))
        yield run, count(spec.model, spec.method, len(tensors.tasks), *sizes)
    for wanted, runs in missing.items():
        command = f"snakemake {wanted} --config scale={name}"
        report(f"no dictionaries yet for {runs} runs; make them with `{command}`")
