"""A plain Transformer as a checkpoint that stock fairseq translates with, without fathom.

It holds tensors and plain containers only, so that `torch.load` reads it with `weights_only=True`.

Where the decoder reads the token of the target language first, fairseq's task is not `translation`,
which starts every hypothesis with the end symbol, but `translation_multi_simple_epoch`, which knows
this start as `--decoder-langtok --lang-tok-replacing-bos-eos`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fathom.config.schema.run import Model
from fathom.data import tensors
from fathom.data.sides import sides
from fathom.decode.export.plain import DROPOUTS, Active, Plain
from fathom.decode.ready import require_decoder
from fathom.decode.trained_run import TrainedRun
from fathom.io.files import replacing
from fathom.nn.weights import write_checkpoint


def write(
    path: Path, run: TrainedRun, plain: Plain, languages: Mapping[str, str], tasks: Sequence[str]
) -> None:
    """Write the checkpoint, and next to it the dictionaries, dict.<language>.txt.

    `languages` are what fairseq calls the source and the target. Where a token starts hypotheses,
    that of the first of the `tasks` does, unless the user names another language.
    """
    longest = run.longest_source
    # So that no hypothesis meets fairseq's bound before its own cap.
    positions = max(longest, require_decoder(run.spec).cap(longest)) + 1
    bounds = {f"max_{side}_positions": positions for side in languages}
    task: dict[str, Any] = {"data": str(path.parent.absolute()), **bounds}
    tokens = sides(run.spec.data)[1].languages
    if run.spec.data.settings.target_token == "decoder":
        task |= _starting_with_a_token(path.parent, languages, tokens[tasks[0]], tokens.values())
    else:
        task |= {f"{side}_lang": language for side, language in languages.items()}
        task |= {"_name": "translation", "left_pad_source": False}
    content = {
        "args": None,
        "cfg": {
            "model": fairseq_settings(plain.model, plain.active, positions),
            # The task's own settings point into these two.
            "dataset": {
                "train_subset": "train",
                "dataset_impl": None,
                "required_seq_len_multiple": 1,
            },
            "generation": {"replace_unk": None, "print_alignment": None},
            "tokenizer": None,
            "bpe": None,
            "task": task,
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
    write_checkpoint(path, content)
    encoded = run.paths.tensors(run.spec.data)
    for side, language in languages.items():
        with replacing(path.parent / f"dict.{language}.txt", "wb") as stream:
            stream.write(tensors.dictionary_path(encoded, side).read_bytes())


def fairseq_settings(model: Model, active: Active, positions: int) -> dict[str, Any]:
    """Return the settings with which fairseq builds a network of which the active layers stay.

    `positions` is the longest source and target (pieces, with the end symbol).
    """
    settings = {
        "_name": "transformer",
        "arch": "transformer",
        "activation_fn": model.activation,
        **{name: getattr(model, name) for name in DROPOUTS},
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


def _starting_with_a_token(
    folder: Path, languages: Mapping[str, str], language: str, tokens: Iterable[str]
) -> dict[str, Any]:
    """Return the settings of fairseq's task that starts hypotheses with a token.

    Both sides have the target's name: the task adds a token of each language that it knows to the
    dictionaries, and they have none of the source's.
    """
    names = list(dict.fromkeys(tokens))
    absent = ("lang_dict", "extra_data", "extra_lang_pairs", "fixed_dictionary", "encoder_langtok")
    return dict.fromkeys(absent) | {
        "task": "translation_multi_simple_epoch",
        "langs": names,
        "lang_pairs": [f"{names[0]}-{names[0]}"],
        "source_lang": language,
        "target_lang": language,
        **{
            f"{side}_dict": str((folder / f"dict.{name}.txt").absolute())
            for side, name in languages.items()
        },
        "decoder_langtok": True,
        "lang_tok_replacing_bos_eos": True,
        "lang_tok_style": "multilingual",
        "langtoks": {"main": [None, "tgt"]},
        "langtoks_specs": ["main"],
        "keep_inference_langtok": False,
        "enable_lang_ids": False,
        # As text: the task evaluates them.
        "left_pad_source": "False",
        "left_pad_target": "False",
        "sampling_method": "concat",
        "shuffle_instance": False,
        "seed": 1,
    }
