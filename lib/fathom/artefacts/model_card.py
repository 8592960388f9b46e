"""The model card of a training: what the network is, what it was trained on, and its scores.

After Mitchell et al., Model Cards for Model Reporting, 2019; the head is that of model hubs.
"""

from collections.abc import Iterable, Iterator

from fathom.artefacts.rendering import environment
from fathom.config.measurement_keys import METRICS
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.schema.dataset import Dataset
from fathom.config.show import describe
from fathom.config.spec import Spec
from fathom.results.measurements import Number, Record
from fathom.results.training_record import device_seconds
from fathom.results.tree import RunResults

# What is listed of the test sentences.
_SCORES = tuple(f"{name}.test" for name in (*METRICS, "nll", "perplexity"))
_HOUR = 3600


def model_card(project: Project, spec: Spec, paths: Paths, found: RunResults) -> str:
    """Return the model card of a training as Markdown."""
    training = found.training
    dataset = project.datasets[spec.data.dataset]
    tasks = list(spec.data.tasks)
    scores = {key: one for key, one in found.measurements.items() if key.startswith(_SCORES)}
    changed = [one for one in describe(project, spec.name, paths.scale) if one.changed]
    return (
        environment()
        .get_template("model_card.md")
        .render(
            run=spec.name,
            seed=found.seed,
            scale=paths.scale,
            scale_title=project.scales[paths.scale].title,
            paper=project.papers[spec.paper].about,
            method=project.methods[spec.method.name].about,
            translates=spec.decoding is not None,
            languages=list(dict.fromkeys(_languages(dataset, tasks))),
            tasks=tasks,
            data=dataset,
            training=training,
            identity=spec.identity,
            outcome=training.outcome.kind.replace("_", " ").capitalize(),
            updates=spec.training.updates,
            hours=device_seconds(training.totals, training.device) / _HOUR,
            device=training.device.get("name") or training.device.get("type"),
            parameters=found.over_all("parameters"),
            validation=found.over_all("last_validation"),
            unigram=found.over_all("unigram_nll"),
            columns=list(scores),
            scores=_rows(scores.values(), tasks),
            hows=list(dict.fromkeys(one.how for one in scores.values() if one.how)),
            changed=changed,
            translate=paths.command("translate", spec.name, found.seed),
            versions=[f"{name} {version}" for name, version in training.versions.items()],
        )
    )


def _languages(dataset: Dataset, tasks: Iterable[str]) -> Iterator[str]:
    for task in tasks:
        yield from dataset.languages_of(task)
    yield from dataset.translates or ()


def _rows(records: Iterable[Record], tasks: Iterable[str]) -> dict[str, list[str]]:
    """Return a cell for each measurement, by task and over all."""
    records = list(records)
    rows = {task: [_cell(record.tasks.get(task)) for record in records] for task in tasks}
    rows["all"] = [_cell(record.all) for record in records]
    return {name: cells for name, cells in rows.items() if any(cells)}


def _cell(number: Number | None) -> str:
    if number is None:
        return ""
    if number.low is None or number.high is None:
        return f"{number.value:.2f}"
    return f"{number.value:.2f} ({number.low:.2f} to {number.high:.2f})"
