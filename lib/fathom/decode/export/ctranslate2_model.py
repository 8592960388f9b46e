"""A plain Transformer as a model of CTranslate2: a folder of weights, vocabularies and settings.

CTranslate2 is an optional package (https://opennmt.net/CTranslate2). Its own converter reads
fairseq checkpoints of known architectures; here its description of a Transformer is filled from
weights under fairseq's names.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.modules import SinusoidalPositionalEmbedding
from torch import Tensor

from fathom.data.tensors import PAD
from fathom.decode.export.plain import Plain
from fathom.io.errors import FathomError

# What CTranslate2 calls padding.
BLANK = "<blank>"
# In the order in which it joins the projections of attention.
_JOINED = {"self_attn": (("q", "k", "v"),), "encoder_attn": (("q",), ("k", "v"))}
Weights = Mapping[str, Tensor]


def installed() -> ModuleType:
    """Return the package.

    Raises:
        FathomError: it is not installed, or cannot be loaded.
    """
    try:
        import ctranslate2
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "ctranslate2"
        what = "not installed" if missing else f"it cannot be loaded ({error})"
        raise FathomError(what, "CTranslate2", "run `make ctranslate2`") from None
    return ctranslate2


def symbols(dictionary: Dictionary) -> list[str]:
    """Return the pieces of a dictionary by id, as CTranslate2 names them."""
    pieces = [dictionary[number] for number in range(len(dictionary))]
    pieces[PAD] = BLANK
    return pieces


def write(
    folder: Path,
    plain: Plain,
    source: Sequence[str],
    target: Sequence[str],
    positions: int,
    start: bool = True,
) -> None:
    """Write a model in single precision.

    CTranslate2 adds the end symbol to a source, and starts a hypothesis with it, as fairseq does.

    Args:
        folder: an empty folder.
        plain: the Transformer.
        source: the source's vocabulary by id.
        target: the target's.
        positions: the longest source or target (pieces, with the end symbol).
        start: whether each hypothesis starts with the end symbol; else whoever translates gives
            what it starts with, as CTranslate2's `target_prefix`.

    Raises:
        FathomError: the package is not installed.
    """
    installed()
    from ctranslate2.specs import common_spec, transformer_spec

    model = plain.model
    spec: Any = transformer_spec.TransformerSpec.from_config(
        (len(plain.active["encoder"]), len(plain.active["decoder"])),
        model.heads,
        pre_norm=model.norm == "pre",
        activation=common_spec.Activation[model.activation.upper()],
    )
    weights = {name: value.detach().cpu() for name, value in plain.state.items()}
    encodings = _sinusoids(positions, model.width)
    for stack, layers in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        _stack(layers, weights, stack, encodings)
    spec.encoder.embeddings[0].weight = weights["encoder.embed_tokens.weight"]
    spec.decoder.embeddings.weight = weights["decoder.embed_tokens.weight"]
    _linear(spec.decoder.projection, weights, "decoder.output_projection")
    spec.register_source_vocabulary(list(source))
    spec.register_target_vocabulary(list(target))
    spec.config.add_source_eos = True
    spec.config.decoder_start_token = spec.config.eos_token if start else None
    spec.validate()
    spec.save(str(folder))


def _sinusoids(positions: int, width: int) -> Tensor:
    """Return fairseq's positions, (positions, D); its first one is after the padding's number."""
    table = SinusoidalPositionalEmbedding.get_embedding(positions + PAD + 1, width, PAD)
    return table[PAD + 1 :]


def _stack(spec: Any, weights: Weights, stack: str, encodings: Tensor) -> None:
    spec.position_encodings.encodings = encodings
    for number, layer in enumerate(spec.layer):
        name = f"{stack}.layers.{number}"
        _attention(layer.self_attention, weights, name, "self_attn")
        if stack == "decoder":
            _attention(layer.attention, weights, name, "encoder_attn")
        _norm(layer.ffn.layer_norm, weights, f"{name}.final_layer_norm")
        _linear(layer.ffn.linear_0, weights, f"{name}.fc1")
        _linear(layer.ffn.linear_1, weights, f"{name}.fc2")
    if f"{stack}.layer_norm.weight" in weights:
        _norm(spec.layer_norm, weights, f"{stack}.layer_norm")


def _attention(spec: Any, weights: Weights, layer: str, part: str) -> None:
    _norm(spec.layer_norm, weights, f"{layer}.{part}_layer_norm")
    groups = (*_JOINED[part], ("out",))
    for linear, group in zip(spec.linear, groups, strict=True):
        _linear(linear, weights, *(f"{layer}.{part}.{name}_proj" for name in group))


def _linear(spec: Any, weights: Weights, *names: str) -> None:
    """Fill a linear function from one, or from several that have the same input."""
    spec.weight = torch.cat([weights[f"{name}.weight"] for name in names])
    if f"{names[0]}.bias" in weights:
        spec.bias = torch.cat([weights[f"{name}.bias"] for name in names])


def _norm(spec: Any, weights: Weights, name: str) -> None:
    spec.gamma, spec.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]
