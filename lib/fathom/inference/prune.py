"""One task's layers of a trained network, as a checkpoint that fairseq reads without fathom.

Hard gates keep some layers for a task and skip the others. The skipped layers and the gates are
removed; the rest is a plain Transformer. That is right only if the method does nothing else, which
is tested: every hook must return random hidden states unchanged, to the bit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fathom.batches import tensors
from fathom.checkpoints.read import write_checkpoint
from fathom.errors import FathomError
from fathom.inference.trained_run import TrainedRun
from fathom.io.files import replacing
from fathom.io.integrity import hashes, write_record
from fathom.models.hooks import Method
from fathom.models.network import Network
from fathom.models.size import count_parameters
from fathom.provenance.recipe import RECIPE
from fathom.runs.settings import Model
from fathom.runs.spec import Spec
from fathom.subwords.sides import sides

Active = Mapping[str, Sequence[int]]

SUB_LAYERS = {
    "encoder": ("self_attention", "ffn"),
    "decoder": ("self_attention", "cross_attention", "ffn"),
}
# fairseq takes the final norm from a stack whose weights come without this number.
STACK_VERSION = 3.0


def plain_state(state: Mapping[str, Tensor], active: Active) -> dict[str, Tensor]:
    """Return the weights of the kept layers, numbered from 0, under the names that fairseq uses.

    The parameters of methods are left out.

    Args:
        state: the weights of a trained encoder-decoder.
        active: the layers that stay, from 0 and in order, by side.
    """
    plain = {f"{side}.version": torch.tensor([STACK_VERSION]) for side in active}
    for name, tensor in state.items():
        side, part, *rest = name.split(".")
        if part == "layers":
            layer = int(rest[0])
            if layer in active[side]:
                number = active[side].index(layer)
                plain[".".join((side, part, str(number), *rest[1:]))] = tensor
        elif part != "method":
            plain[name] = tensor
    return plain


def parameters(plain: Mapping[str, Tensor]) -> int:
    """Return the parameters among a pruned network's weights; a shared tensor counts once."""
    own = (tensor for name, tensor in plain.items() if not name.endswith(".version"))
    return sum({tensor.data_ptr(): tensor.numel() for tensor in own}.values())


def fairseq_settings(model: Model, active: Active, positions: int) -> dict[str, Any]:
    """Return the settings with which fairseq builds the pruned network.

    Args:
        model: the shape of the network before pruning.
        active: the layers that stay, by side.
        positions: the longest source and target (pieces, with the end symbol).
    """
    settings = {
        "_name": "transformer",
        "arch": "transformer",
        "activation_fn": model.activation,
        "dropout": model.dropout,
        "attention_dropout": model.attention_dropout,
        "activation_dropout": model.activation_dropout,
        "share_decoder_input_output_embed": model.tie_embeddings != "none",
        "share_all_embeddings": model.tie_embeddings == "all",
        "max_source_positions": positions,
        "max_target_positions": positions,
    }
    for side, layers in active.items():
        settings |= {
            f"{side}_layers": len(layers),
            f"{side}_embed_dim": model.width,
            f"{side}_ffn_embed_dim": model.ffn,
            f"{side}_attention_heads": model.heads,
            f"{side}_normalize_before": model.norm == "pre",
        }
    return settings


def active_layers(method: Method, task: int) -> tuple[int, ...]:
    """Return the layers of a stack that a method keeps for a task, with the gates in use.

    Args:
        method: of a network ready for inference, on the CPU.
        task: the task's index.
    """
    method.begin(torch.tensor([task]))
    return tuple(layer for layer in range(method.stack.layers) if method.keep(layer))


@torch.no_grad()
def beyond_keeping(method: Method, task: int) -> str | None:
    """Return the hook by which a method does more for a task than keep or skip layers, or None.

    Args:
        method: of a network ready for inference, on the CPU.
        task: the task's index.
    """
    tried = _tried(method, active_layers(method, task))
    return next((hook for hook, own, plain in tried if not torch.equal(own, plain)), None)


def _tried(method: Method, active: Sequence[int]) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield each hook, what it returns for random states, and what the static model returns."""
    stack = method.stack
    stream = torch.Generator().manual_seed(1)
    states = [torch.randn(5, 1, stack.width, generator=stream) for _ in range(stack.layers + 1)]
    for layer, (x, y) in enumerate(pairwise(states)):
        yield "source", method.source(layer, states[: layer + 1]), x
        if layer in active:
            for part in SUB_LAYERS[stack.name]:
                yield "residual", method.residual(layer, part, x, y), x + y
            yield "block", method.block(layer, x, y), y
            yield "after", method.after(layer, y), y
    yield "source", method.source(stack.layers, states), states[-1]
    if stack.name == "encoder":
        for memory in method.memory(states, stack.memories):
            yield "memory", memory, states[-1]


def prune(run: TrainedRun, task: str, report: Callable[[str], None]) -> None:
    """Write the checkpoint of one task: its layers and no gates.

    Writes model.pt, dict.<language>.txt of the source and of the target, and pruned.json last.

    Args:
        run: the training, on the CPU.
        task: the task whose layers stay.
        report: called with a line about the result.

    Raises:
        FathomError: there is no such task, the training did not finish, or what hard gates leave
            is no Transformer of fairseq.
    """
    spec, folder = run.spec, run.paths.pruned(run.spec, run.seed, task)
    (folder / "pruned.json").unlink(missing_ok=True)
    where = f"{run.name}, {task}"
    number = run.task(task)
    _require_plain_shape(spec)
    run.require_finished()
    network = run.network("hard")
    active = _active_layers(network, number, where)
    plain = plain_state(network.state_dict(), active)
    languages = {side.name: side.languages[task] for side in sides(spec.data)}
    path = folder / "model.pt"
    write_checkpoint(path, _checkpoint(run, plain, active, languages, folder))
    encoded = run.paths.tensors(spec.data)
    for side, language in languages.items():
        with replacing(folder / f"dict.{language}.txt", "wb") as stream:
            stream.write(tensors.dictionary_path(encoded, side).read_bytes())
    layers = {stack: method.stack.layers for stack, method in network.methods.items()}
    before, after = count_parameters(network)["total"], parameters(plain)
    content = {
        "task": task,
        "languages": languages,
        "gates": "hard",
        "active": active,
        "layers": layers,
        "parameters": {"before": before, "after": after},
        "files": hashes(folder, path.name, *(f"dict.{name}.txt" for name in languages.values())),
        "recipe": RECIPE["decoding"],
    }
    write_record(folder / "pruned.json", content)
    counts = ", ".join(f"{side} {len(active[side])} of {layers[side]} layers" for side in active)
    report(f"{task}: {counts}, {after} of {before} parameters: {path}")


def _require_plain_shape(spec: Spec) -> None:
    """Refuse networks that are no Transformer of fairseq's, whatever their gates select."""
    model = spec.model
    foreign = {
        f"the architecture {model.architecture}": model.architecture != "transformer",
        f"the norm {model.norm}": model.norm not in ("pre", "post"),
        "a network without all residuals": set(model.residuals) != set(SUB_LAYERS),
        "an output bias": model.output_bias,
        "learned positions": model.block is not None,
    }
    for what, there in foreign.items():
        if there:
            raise FathomError(
                f"{what} cannot be written as fairseq's Transformer",
                f"run {spec.run}",
                "choose another run",
            )


def _active_layers(network: Network, task: int, where: str) -> dict[str, tuple[int, ...]]:
    """Return the layers that stay, by stack; refuse what is no plain Transformer."""
    methods = network.methods
    if all(method.depth() is None for method in methods.values()):
        raise FathomError("no method with gates", where, "choose a run whose gates skip layers")
    active = {side: active_layers(method, task) for side, method in methods.items()}
    for side, layers in active.items():
        if not layers:
            raise FathomError(f"no {side} layer is left", where, "choose another run or task")
    for side, method in methods.items():
        hook = beyond_keeping(method, task)
        if hook:
            raise FathomError(
                f"the {side}'s method does more than keep or skip layers ('{hook}')",
                where,
                "translate with fathom instead",
            )
    return active


def _checkpoint(
    run: TrainedRun,
    plain: dict[str, Tensor],
    active: Active,
    languages: dict[str, str],
    folder: Path,
) -> dict[str, Any]:
    """Return a checkpoint as fairseq reads it: tensors and plain containers only."""
    spec = run.spec
    longest, decoding = spec.data.max_pieces, run.require_decoder()
    # So that no hypothesis meets fairseq's bound before its own cap.
    positions = max(longest, int(decoding.cap_ratio * longest) + decoding.cap_constant) + 1
    return {
        "args": None,
        "cfg": {
            "model": fairseq_settings(spec.model, active, positions),
            "task": {
                "_name": "translation",
                "data": str(folder.absolute()),
                "source_lang": languages["source"],
                "target_lang": languages["target"],
                "left_pad_source": False,
                "max_source_positions": positions,
                "max_target_positions": positions,
            },
            # The task's own settings point into these two.
            "dataset": {
                "train_subset": "train",
                "dataset_impl": None,
                "required_seq_len_multiple": 1,
            },
            "generation": {"replace_unk": None, "print_alignment": None},
            "tokenizer": None,
            "bpe": None,
        },
        "model": plain,
        "optimizer_history": [
            {
                "criterion_name": "",
                "optimizer_name": "",
                "lr_scheduler_state": {},
                "num_updates": run.outcome.update,
            }
        ],
        "extra_state": {"train_iterator": {"epoch": 1}},
    }
