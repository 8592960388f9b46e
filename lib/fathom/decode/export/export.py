"""A finished training for other programs, which then need no fathom.

fairseq gets checkpoint.pt, dict.source.txt and dict.target.txt; CTranslate2 model.bin, its settings
and vocabularies; transformers model.safetensors, its settings and tokenizers. All get the
SentencePiece models that cut source text into pieces, if the text does not come in pieces.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from fathom.data.sides import sides
from fathom.decode.export import ctranslate2, fairseq_checkpoint, transformers
from fathom.decode.export.comparison import require_equal
from fathom.decode.export.plain import Plain, parameters, plain, require_plain_shape
from fathom.decode.ready import require_decoder
from fathom.decode.trained_run import TrainedRun
from fathom.io.errors import FathomError
from fathom.io.files import naming, replacing
from fathom.io.records import Recorded, hashes, write_record
from fathom.results.recipe import RECIPE


def export(
    run: TrainedRun, program: str, folder: Path, task: str | None, report: Callable[[str], None]
) -> None:
    """Write a new or empty folder; export.json, its record, comes last.

    Layers that hard gates skip are left out. `program` is "fairseq", "ctranslate2" or
    "transformers". The layers are those of a task; None is for all tasks, which must then have the
    same layers. A network that the program lacks, or computes otherwise than ours, is refused; a
    length penalty that its search lacks is reported.
    """
    run.require_finished()
    gates = "hard" if "hard" in run.spec.gates else run.spec.gates[0]
    tasks = run.tasks if task is None else (task,)
    transformer = one_transformer(run, gates, tasks)
    if program == "fairseq":
        languages = {side.name: side.name for side in sides(run.spec.data)}
        fairseq_checkpoint.write(folder / "checkpoint.pt", run, transformer, languages, tasks)
    else:
        with TemporaryDirectory() as temporary:
            made = Path(temporary)
            if program == "ctranslate2":
                model = ctranslate2.export(made, run, transformer)
            else:
                model = transformers.export(made, run, transformer, tasks, report)
            for name in tasks:
                pairs, where = run.tensors.split(name, "valid"), f"{run.name}, {name}"
                require_equal(model, run.network(gates), run.task(name), pairs, where)
            # Nothing is left where the check fails.
            for path in sorted(made.rglob("*.*")):
                copy = folder / path.relative_to(made)
                copy.parent.mkdir(parents=True, exist_ok=True)
                with naming(copy, path):
                    shutil.copyfile(path, copy)
    _write_models(run, tasks, folder)
    form = require_decoder(run.spec).length_penalty_form
    if form != "power":
        report(
            f"{run.name}, decoding.length_penalty_form: the search of {program} has no form but "
            f"power, so hypotheses differ from those of {form}; search with fathom translate"
        )
    content = {
        "program": program,
        "run": run.spec.name,
        "identity": run.spec.identity,
        "seed": run.seed,
        "weights": run.averaged_updates,
        "gates": gates,
        "tasks": tasks,
        "active": transformer.active,
        "recipe": RECIPE["decoding"],
        "files": hashes(folder, "*.*", "*/*.*"),
    }
    tokens, place = run.spec.data.target_tokens, run.spec.data.settings.target_token
    if tokens:
        content["target_tokens"] = {place: {task: tokens[task] for task in tasks}}
    write_record(folder / "export.json", content)
    methods = run.network(gates).methods
    kept = [f"{len(transformer.active[s])} of {m.stack.layers} {s}" for s, m in methods.items()]
    size = f"{parameters(transformer.state):,} parameters"
    report(f"{program}: {folder}: {' and '.join(kept)} layers, {size}")


def one_transformer(run: TrainedRun, gates: str, tasks: Sequence[str]) -> Plain:
    """Return what a run is for some tasks, which must keep the same layers."""
    require_plain_shape(run.spec.model, run.name)
    network = run.network(gates)
    where = {task: f"{run.name}, {task}" for task in tasks}
    all_of_them = [plain(network, run.spec.model, run.task(task), where[task]) for task in tasks]
    first = all_of_them[0]
    for task, other in zip(tasks, all_of_them, strict=True):
        if other.active != first.active:
            what = f"{tasks[0]} and {task} keep different layers"
            raise FathomError(what, run.name, f"choose one: --task {tasks[0]}")
    return first


def _write_models(run: TrainedRun, tasks: Sequence[str], folder: Path) -> None:
    """Write the source's SentencePiece models: source.model, one for each task, or none."""
    source = sides(run.spec.data)[0]
    if source.marked:
        return
    files = Recorded.of(run.paths.subwords(run.spec.data) / "subwords.json")
    by_task = {task: source.models[task] for task in tasks}
    one = len(set(by_task.values())) == 1
    names = {"source": by_task[tasks[0]]} if one else {f"source.{t}": m for t, m in by_task.items()}
    for name, model in names.items():
        with replacing(folder / f"{name}.model", "wb") as stream:
            stream.write(files.read(f"{model}.model"))
