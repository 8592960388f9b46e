"""One task's layers of a trained network, as a checkpoint that fairseq reads without fathom.

Hard gates keep some layers for a task and skip the others. The skipped layers and the gates are
removed; the rest is a plain Transformer.
"""

from collections.abc import Callable

from fathom.data.subwords.sides import sides
from fathom.decode.export import fairseq_checkpoint
from fathom.decode.export.plain import parameters, plain, require_plain_shape
from fathom.decode.trained_run import TrainedRun
from fathom.io.errors import FathomError
from fathom.io.integrity import hashes, write_record
from fathom.nn.network import count_parameters
from fathom.results.recipe import RECIPE


def prune(run: TrainedRun, task: str, report: Callable[[str], None]) -> None:
    """Write the checkpoint of one task: its layers and no gates.

    Writes model.pt, dict.<language>.txt of the source and of the target, and pruned.json last.

    Args:
        run: the training, on the CPU.
        task: the task whose layers stay.
        report: called with a line about the result.

    Raises:
        FathomError: there is no such task, the training did not finish, or what hard gates leave is
            no plain Transformer.
    """
    spec, folder = run.spec, run.paths.pruned(run.spec, run.seed, task)
    (folder / "pruned.json").unlink(missing_ok=True)
    where = f"{run.name}, {task}"
    number = run.task(task)
    require_plain_shape(spec.model, run.name)
    run.require_finished()
    network = run.network("hard")
    if all(method.depth() is None for method in network.methods.values()):
        raise FathomError("no method with gates", where, "choose a run whose gates skip layers")
    transformer = plain(network, spec.model, number, where)
    languages = {side.name: side.languages[task] for side in sides(spec.data)}
    path = folder / "model.pt"
    fairseq_checkpoint.write(path, run, transformer, languages, (task,))
    layers = {stack: method.stack.layers for stack, method in network.methods.items()}
    before, after = count_parameters(network)["total"], parameters(transformer.state)
    content = {
        "task": task,
        "languages": languages,
        "gates": "hard",
        "active": transformer.active,
        "layers": layers,
        "parameters": {"before": before, "after": after},
        "files": hashes(folder, path.name, *(f"dict.{name}.txt" for name in languages.values())),
        "recipe": RECIPE["decoding"],
    }
    if task in spec.data.target_tokens:
        content["target_token"] = spec.data.target_tokens[task]
    write_record(folder / "pruned.json", content)
    active = transformer.active
    counts = ", ".join(
        f"{stack} {len(active[stack])} of {layers[stack]} layers" for stack in active
    )
    report(f"{task}: {counts}, {after} of {before} parameters: {path}")
