"""The model card of a training: what the network is, what it was trained on, and its scores.

After Mitchell et al., Model Cards for Model Reporting, 2019; the head is that of model hubs.
"""

from collections.abc import Iterable

from fathom.artefacts.rendering import environment
from fathom.config.measurement_keys import METRICS
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.show import describe
from fathom.config.spec import Spec
from fathom.results.measurements import Number, Record
from fathom.results.training_record import device_seconds
from fathom.results.tree import RunResults

# What is listed of the test sentences.
_SCORES = tuple(f"{name}.test" for name in (*METRICS, "nll", "perplexity"))


def model_card(project: Project, spec: Spec, paths: Paths, run: RunResults, library: str) -> str:
    """Return as Markdown the model card of a training that is written for a library."""
    dataset, tasks = project.datasets[spec.data.dataset], list(spec.data.tasks)
    languages = [language for task in tasks for language in dataset.languages_of(task)]
    scores = {key: part for key, part in run.measurements.items() if key.startswith(_SCORES)}
    settings = describe(project, spec.name, paths.scale)
    template = environment().get_template("model_card.md")
    return template.render(
        spec=spec,
        library=library,
        run=run,
        scale=paths.scale,
        scale_title=project.scales[paths.scale].title,
        paper=project.papers[spec.paper].about,
        method=project.methods[spec.method.name].about,
        languages=list(dict.fromkeys([*languages, *(dataset.translates or ())])),
        tasks=tasks,
        data=dataset,
        training=run.training,
        hours=device_seconds(run.training.totals, run.training.device) / 3600,
        columns=list(scores),
        scores=_rows(scores.values(), tasks),
        hows=list(dict.fromkeys(part.how for part in scores.values() if part.how)),
        changed=[setting for setting in settings if setting.changed],
        translate=paths.command("translate", spec.name, run.seed),
    )


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
