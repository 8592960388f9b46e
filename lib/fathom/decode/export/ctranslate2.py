"""A training in CTranslate2 (https://opennmt.net/CTranslate2), an optional package.

One model for each selection of layers, filled from weights under fairseq's names, and checked: the
log-probabilities of real targets are those of our network. CTranslate2 searches on the CPU, in
single precision. At a sentence's cap it returns the hypothesis without scoring an end symbol, which
fathom does, and a source without pieces has an empty hypothesis; all other hypotheses are equal but
for rounding.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from fathom.config.rules import NOT_PLAIN
from fathom.config.schema.run import Decoding
from fathom.data.tensors import EOS, PAD, Tensors
from fathom.decode.export.comparison import require_package
from fathom.decode.export.plain import Plain
from fathom.decode.ready import require_decoder
from fathom.decode.trained_run import TrainedRun
from fathom.io.errors import FathomError
from fathom.io.fairseq_files import fairseq_files

with fairseq_files():
    from fairseq.data.dictionary import Dictionary
    from fairseq.modules.sinusoidal_positional_embedding import SinusoidalPositionalEmbedding

# What CTranslate2 calls padding.
BLANK = "<blank>"
# In the order in which it joins the projections of attention.
_JOINED = {"self_attn": (("q", "k", "v"),), "encoder_attn": (("q",), ("k", "v"))}
Weights = Mapping[str, Tensor]


def installed() -> ModuleType:
    """Return the package, or refuse where it is not installed or cannot be loaded."""
    return require_package("ctranslate2", "CTranslate2")


def symbols(dictionary: Dictionary) -> list[str]:
    """Return the pieces of a dictionary by id, as CTranslate2 names them."""
    pieces = [dictionary[number] for number in range(len(dictionary))]
    pieces[PAD] = BLANK
    return pieces


def write(folder: Path, plain: Plain, text: Tensors, positions: int) -> None:
    """Write a model in single precision to an empty folder.

    CTranslate2 adds the end symbol to a source, and starts a hypothesis with it, as fairseq does.
    Where the text's hypotheses start with tokens, whoever translates gives them, as CTranslate2's
    `target_prefix`. `positions` is the longest source or target (pieces, with the end symbol).
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
    spec.register_source_vocabulary(symbols(text.source_dictionary))
    spec.register_target_vocabulary(symbols(text.target_dictionary))
    spec.config.add_source_eos = True
    with_end = set(text.starts) == {EOS}
    spec.config.decoder_start_token = spec.config.eos_token if with_end else None
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


# Sentences of a batch.
SENTENCES = 64


class CTranslate2Search:
    """CTranslate2 with one model."""

    name, remedy = "CTranslate2", NOT_PLAIN

    def __init__(self, folder: Path, text: Tensors):
        """Load what `write` wrote of a text; no file is needed after that."""
        self.source = symbols(text.source_dictionary)
        self.target = symbols(text.target_dictionary)
        self.ids = {piece: number for number, piece in enumerate(self.target)}
        self.translator = installed().Translator(
            str(folder),
            device="cpu",
            compute_type="float32",
            inter_threads=1,
            intra_threads=torch.get_num_threads(),
        )

    def best(
        self, sources: Sequence[Tensor], settings: Decoding, starts: Sequence[int] | None = None
    ) -> list[list[int]]:
        """Return the best hypothesis of each sentence, without the end symbol.

        Sources (S,) have their end symbols. `starts` are what the decoder reads first for each;
        None is the end symbol for all. A length penalty that CTranslate2 lacks is refused.
        """
        if settings.length_penalty_form != "power":
            what = f"CTranslate2 has no length penalty of the form {settings.length_penalty_form}"
            raise FathomError(what, "decoding.length_penalty_form", "choose power")
        prefixes = [self.prefix(start) for start in starts or [EOS] * len(sources)]
        by_cap: dict[int, list[int]] = defaultdict(list)
        for number, source in enumerate(sources):
            by_cap[settings.cap(len(source) - 1)].append(number)
        hypotheses: dict[int, list[int]] = {}
        # A call has one cap for all of its sentences.
        for cap, numbers in by_cap.items():
            results = self.translator.translate_batch(
                [_pieces(sources[number], self.source) for number in numbers],
                target_prefix=[prefixes[number] for number in numbers],
                max_batch_size=SENTENCES,
                beam_size=settings.beam,
                length_penalty=settings.length_penalty,
                max_decoding_length=cap,
                max_input_length=0,
            )
            for number, result in zip(numbers, results, strict=True):
                hypotheses[number] = [self.ids[piece] for piece in result.hypotheses[0]]
        return [hypotheses[number] for number in range(len(sources))]

    def log_probabilities(self, source: Tensor, target: Tensor, start: int = EOS) -> Tensor:
        """Return the log-probability of each piece of a target, (T,), as `Program` says."""
        pieces = [*self.prefix(start), *_pieces(target, self.target)]
        sentences = [_pieces(source, self.source)], [pieces]
        (result,) = self.translator.score_batch(*sentences, max_input_length=0)
        return torch.tensor(result.log_probs)

    def prefix(self, start: int) -> list[str]:
        """Return what CTranslate2 is given to start with: a token; it has the end symbol itself."""
        return [] if start == EOS else [self.target[start]]


def _pieces(sentence: Tensor, vocabulary: Sequence[str]) -> list[str]:
    """Return a sentence's pieces without the end symbol, which CTranslate2 adds."""
    numbers: list[int] = sentence[:-1].tolist()
    return [vocabulary[number] for number in numbers]


def export(folder: Path, run: TrainedRun, transformer: Plain) -> CTranslate2Search:
    """Write the model of a plain Transformer to an empty folder, and load it."""
    text, longest = run.tensors, run.longest_source
    # Held-out targets, of which some are scored, are not cut.
    targets = [int(pairs.target_lengths.max(initial=0)) for pairs in text.splits("valid")]
    positions = max(longest, require_decoder(run.spec).cap(longest), *targets) + 1
    write(folder, transformer, text, positions)
    return CTranslate2Search(folder, text)
