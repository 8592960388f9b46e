"""A plain Transformer as a checkpoint that stock fairseq translates with, without fathom.

It holds tensors and plain containers only, so that `torch.load` reads it with `weights_only=True`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathom.batches import tensors
from fathom.checkpoints.read import write_checkpoint
from fathom.inference.plain import Active, Plain
from fathom.inference.ready import require_fairseq_start
from fathom.inference.trained_run import TrainedRun
from fathom.io.files import replacing
from fathom.runs.settings import Model


def write(path: Path, run: TrainedRun, plain: Plain, languages: Mapping[str, str]) -> None:
    """Write the checkpoint, and next to it the dictionaries, dict.<language>.txt.

    Args:
        path: the checkpoint's file.
        run: the training.
        plain: what the network is for the tasks of the checkpoint.
        languages: what fairseq calls each side, by "source" and "target".

    Raises:
        FathomError: the decoder does not read the end symbol first.
    """
    require_fairseq_start(run.spec)
    write_checkpoint(path, _content(run, plain, languages, path.parent))
    encoded = run.paths.tensors(run.spec.data)
    for side, language in languages.items():
        with replacing(path.parent / f"dict.{language}.txt", "wb") as stream:
            stream.write(tensors.dictionary_path(encoded, side).read_bytes())


def fairseq_settings(model: Model, active: Active, positions: int) -> dict[str, Any]:
    """Return the settings with which fairseq builds the network.

    Args:
        model: the shape of the network with all its layers.
        active: the layers that stay, by stack.
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
    for stack, layers in active.items():
        settings |= {
            f"{stack}_layers": len(layers),
            f"{stack}_embed_dim": model.width,
            f"{stack}_ffn_embed_dim": model.ffn,
            f"{stack}_attention_heads": model.heads,
            f"{stack}_normalize_before": model.norm == "pre",
        }
    return settings


def _content(
    run: TrainedRun, plain: Plain, languages: Mapping[str, str], folder: Path
) -> dict[str, Any]:
    """Return a checkpoint as fairseq reads it."""
    longest = run.longest_source
    # So that no hypothesis meets fairseq's bound before its own cap.
    positions = max(longest, run.require_decoder().cap(longest)) + 1
    return {
        "args": None,
        "cfg": {
            "model": fairseq_settings(plain.model, plain.active, positions),
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
        "model": plain.state,
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
