"""The Transformer's encoder and decoder."""

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.io.fairseq_files import fairseq_files
from fathom.nn.hooks import Method
from fathom.nn.network import project
from fathom.nn.packing import Packing
from fathom.nn.stack import DictionaryLike, Observer, apply_once, residual, run_layers
from fathom.nn.transformer.layers import DecoderLayer, EncoderLayer, PackedPass

with fairseq_files():
    from fairseq.modules.sinusoidal_positional_embedding import SinusoidalPositionalEmbedding

# Sinusoids are made for this many positions at first, and for more when a sentence needs them.
POSITIONS = 1024


def embedding_table(vocabulary: DictionaryLike, width: int) -> nn.Embedding:
    """Return embeddings (V, D), normal with deviation D^-½ and zero at padding, as in fairseq."""
    table = nn.Embedding(len(vocabulary), width, padding_idx=vocabulary.pad())
    nn.init.normal_(table.weight, mean=0, std=width**-0.5)
    nn.init.zeros_(table.weight[vocabulary.pad()])
    return table


def output_table(model: Model, embeddings: nn.Embedding) -> nn.Linear:
    """Return the projection to the vocabulary; `model` may tie it to the embeddings, (V, D)."""
    entries, width = embeddings.weight.shape
    projection = nn.Linear(width, entries, bias=model.output_bias)
    if model.tie_embeddings == "none":
        nn.init.normal_(projection.weight, mean=0, std=width**-0.5)
    else:
        projection.weight = embeddings.weight
    if model.output_bias:
        nn.init.zeros_(projection.bias)
    return projection


def position_table(vocabulary: DictionaryLike, width: int) -> SinusoidalPositionalEmbedding:
    """Return fairseq's sinusoids, which have no parameters; positions skip padding."""
    first = vocabulary.pad() + 1
    return SinusoidalPositionalEmbedding(width, vocabulary.pad(), init_size=POSITIONS + first)


def packed_positions(table: Any, packing: Packing) -> Tensor:
    """Return the position embedding of each row, (rows, D)."""
    # A sentence without padding has every position once.
    whole = packing.positions.new_full((1, packing.width), table.padding_idx + 1)
    return table(whole)[0].index_select(0, packing.positions)


class _Stack(nn.Module):
    """Embeddings, positions, layers and last norm."""

    def __init__(
        self,
        model: Model,
        dictionary: DictionaryLike,
        method: Method,
        layer_class: type,
        layers: int,
    ):
        super().__init__()
        self.dictionary, self.method = dictionary, method
        # Called with the embeddings and each layer's output, (1, rows, D).
        self.observer: Observer | None = None
        self.embed_scale = math.sqrt(model.width)
        self.embed_tokens = embedding_table(self.dictionary, model.width)
        self.embed_positions = position_table(self.dictionary, model.width)
        self.dropout = nn.Dropout(model.dropout)
        self.layers = nn.ModuleList(
            layer_class(model, residual(model, method, number)) for number in range(layers)
        )
        self.layer_norm = nn.LayerNorm(model.width) if model.norm == "pre" else nn.Identity()

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Return what enters the stack before dropout, (…, D), of tokens (…) at positions."""
        return self.embed_scale * self.embed_tokens(tokens) + positions

    def embed_packed(self, tokens: Tensor, this: PackedPass) -> Tensor:
        """Return what enters the first layer, (1, rows, D), of tokens (B, T)."""
        rows = this.packing.of_ids(tokens, self.dictionary.pad())
        x = self.embed(rows, packed_positions(self.embed_positions, this.packing))
        return this.dropout(self.dropout, x.unsqueeze(0))

    def outputs(self, x: Tensor, call: Callable[[int, Any, Tensor], Tensor]) -> list[Tensor]:
        """Return x, (1, rows, D), and each layer's output: `call` of number, layer and input."""
        outputs = [x]
        run_layers(self.method, self.layers, outputs, call)
        if self.observer:
            self.observer(outputs)
        return outputs

    def max_positions(self) -> int:
        """Return the longest text that has positions (pieces)."""
        return self.embed_positions.max_positions


class TransformerEncoder(_Stack):
    """A stack of encoder layers."""

    def __init__(self, model: Model, dictionary: DictionaryLike, method: Method):
        super().__init__(model, dictionary, method, EncoderLayer, model.encoder_layers)
        self.memories = model.decoder_layers  # that the decoder attends to, M

    def forward(self, source: Tensor, tasks: Tensor, this: PackedPass) -> list[Tensor]:
        """Return what each decoder layer attends to, (1, rows, D) each, of tokens (B, S)."""
        self.method.begin(this.packing.of_tokens(tasks), this.rows_by_task)
        x = self.embed_packed(source, this)
        return self.run(x, lambda _, layer, x: layer(x, this))

    def run(self, x: Tensor, call: Callable[[int, Any, Tensor], Tensor]) -> list[Tensor]:
        """Return what each decoder layer attends to; arguments as for `outputs`."""
        outputs = self.outputs(x, call)
        return apply_once(self.layer_norm, self.method.memory(outputs, self.memories))


class TransformerDecoder(_Stack):
    """A stack of decoder layers, and the projection to the target vocabulary."""

    def __init__(self, model: Model, dictionary: DictionaryLike, method: Method):
        super().__init__(model, dictionary, method, DecoderLayer, model.decoder_layers)
        self.output_projection = output_table(model, self.embed_tokens)

    def forward(
        self, previous_target: Tensor, memories: list[Tensor], tasks: Tensor, this: PackedPass
    ) -> Tensor:
        """Return the logits of the real targets in the order of the batch, with teacher forcing.

        They are (n, V'), both numbers rounded up; entries from V on have no probability. The
        previous target, (B, T), is right-padded; a layer's memory is (1, source rows, D).
        """
        self.method.begin(this.packing.of_tokens(tasks), this.rows_by_task)
        x = self.embed_packed(previous_target, this)
        x = self.run(x, lambda number, layer, x: layer(x, memories[number], this))
        rows = this.packing.unpadded(x)
        return project(self.output_projection, rows, this.precision).squeeze(0)

    def run(self, x: Tensor, call: Callable[[int, Any, Tensor], Tensor]) -> Tensor:
        """Return the stack's output, of the shape of x; arguments as for `outputs`."""
        return self.layer_norm(self.method.source(len(self.layers), self.outputs(x, call)))
