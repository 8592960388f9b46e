"""Cost of an update by depth, tokens and languages: time and memory, ours and fairseq's layers."""

from dataclasses import replace
from statistics import median

from benchmarks.growth.curves import Curve, Panel
from benchmarks.growth.point import Point
from benchmarks.peer.contenders import ONE_PASS, OURS
from benchmarks.peer.workload import LATENT

DEPTHS, SHALLOW = (6, 12, 24, 48, 100), 6
TOKENS = (512, 1024, 2048, 4096, 8192)
LANGUAGES = (1, 8, 25)
SWEEPS = 3
TIME, MEMORY = "ms an update", "peak MB"
# The points of a curve, by what grows.
Points = dict[float, Point]


def depth(base: Point) -> dict[str, list[Panel]]:
    """Return the curves over the layers of one stack, with the other at 6 layers."""
    pictures = {}
    for stack, layers in (
        ("encoder", lambda depth: (depth, SHALLOW)),
        ("decoder", lambda depth: (SHALLOW, depth)),
    ):
        points = {
            name: {x: replace(base, contender=name, layers=layers(x)) for x in DEPTHS}
            for name in (OURS, ONE_PASS)
        }
        pictures[f"{stack}_depth"] = _panels(f"{stack} layers", points)
    return pictures


def tokens(base: Point) -> dict[str, list[Panel]]:
    """Return the curves over the target tokens of an update."""
    points = {
        name: {x: replace(base, contender=name, tokens=x) for x in TOKENS}
        for name in (OURS, ONE_PASS)
    }
    return {"tokens": _panels("target tokens of an update", points)}


def languages(base: Point) -> dict[str, list[Panel]]:
    """Return the curves over languages that share the same tokens, with gates for each of them."""
    points = {
        f"{OURS}, {name}": {x: replace(base, run=run, languages=x) for x in LANGUAGES}
        for name, run in (("static", base.run), ("latent", LATENT))
    }
    return {"languages": _panels("languages of an update of 1,024 tokens", points, constant=True)}


def _panels(x: str, points: dict[str, Points], constant: bool = False) -> list[Panel]:
    """Measure the points of each curve; return a panel of times and one of memory.

    All points are measured once, then all again, and the medians are drawn: a machine that is slow
    for a minute would bend a curve.
    """
    all_points = [(name, at) for name, own in points.items() for at in own]
    sweeps = [{key: points[key[0]][key[1]].measured() for key in all_points} for _ in range(SWEEPS)]
    panels = []
    for number, y in enumerate((TIME, MEMORY)):
        curves = []
        for name, own in points.items():
            medians = [(at, median(sweep[name, at][number] for sweep in sweeps)) for at in own]
            curves.append(Curve(name, medians, constant))
        panels.append(Panel(x, y, curves))
    return panels
