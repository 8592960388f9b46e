"""The masked language model: an encoder that predicts the hidden pieces of its input.

The shape is that of XLM-R as fairseq builds it. With norm "pre" it is fairseq's roberta_prenorm:
the embeddings are not normalised, and a layer norm ends the stack. With "post" it is roberta_base:
the embeddings are normalised, and there is no last norm. Both have equally many parameters.
"""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.io.fairseq_files import fairseq_files
from fathom.nn.hooks import Method
from fathom.nn.network import Batch, Network, Predicted, project
from fathom.nn.packing import Packing
from fathom.nn.stack import DictionaryLike
from fathom.nn.transformer.layers import PackedPass
from fathom.nn.transformer.stacks import TransformerEncoder, output_table

with fairseq_files():
    from fairseq.modules.learned_positional_embedding import LearnedPositionalEmbedding
    from fairseq.utils import get_activation_fn


@dataclass(frozen=True)
class WithMask:
    """A dictionary with the mask symbol after its last entry, where fairseq's task puts it."""

    dictionary: DictionaryLike

    def __len__(self) -> int:
        return len(self.dictionary) + 1

    def pad(self) -> int:
        """Return the padding symbol's index."""
        return self.dictionary.pad()


class PredictionHead(nn.Module):
    """From hidden states to logits: dense, activation, layer norm, projection."""

    def __init__(self, model: Model, embeddings: nn.Embedding):
        super().__init__()
        self.dense = nn.Linear(model.width, model.width)
        with fairseq_files():
            self.activation = get_activation_fn(model.activation)
        self.layer_norm = nn.LayerNorm(model.width)
        self.output_projection = output_table(model, embeddings)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (…, V') of hidden states (…, D)."""
        hidden = self.layer_norm(self.activation(self.dense(x)))
        return project(self.output_projection, hidden)


class MaskedEncoder(TransformerEncoder):
    """The Transformer's encoder with a head that predicts pieces."""

    def __init__(self, model: Model, dictionary: DictionaryLike, method: Method):
        super().__init__(model, WithMask(dictionary), method)
        # The head reads the one output; the embeddings are not scaled.
        self.memories, self.embed_scale = 1, 1.0
        if model.block is not None:
            # fairseq's positions count from padding's index + 1: 514 rows for 512 positions.
            padding = self.dictionary.pad()
            rows = model.block + padding + 1
            self.embed_positions = LearnedPositionalEmbedding(rows, model.width, padding)
        post = model.norm == "post"
        self.embedding_norm = nn.LayerNorm(model.width) if post else nn.Identity()
        self.head = PredictionHead(model, self.embed_tokens)
        # The head's projection is the embeddings again, or keeps the start of its own.
        for part in (self.embed_tokens, self.embed_positions, self.layers, self.head.dense):
            part.apply(partial(initialise, deviation=model.initial_deviation))

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Return what enters the stack before dropout, (…, D), of tokens (…) at positions."""
        return self.embedding_norm(super().embed(tokens, positions))


class MaskedLm(Network):
    """A masked language model in the shape of XLM-R; it has one dictionary and no decoder."""

    encoder: MaskedEncoder

    def __init__(
        self,
        model: Model,
        source_dictionary: DictionaryLike,
        target_dictionary: DictionaryLike,
        methods: dict[str, Method],
    ):
        super().__init__()
        self.encoder = MaskedEncoder(model, source_dictionary, methods["encoder"])

    def predict(self, batch: Batch) -> Predicted:
        """Return the logits of a batch's hidden pieces; no others reach the head."""
        precision, multiple = self.matmul.precision, self.matmul.multiple
        packing = Packing.of(batch.source.eq(self.padding), multiple, batch.source_lengths)
        counts = packing.rows_by_task(batch.task_of_each)
        this = PackedPass(packing, precision, rows_by_task=counts)
        (x,) = self.encoder(batch.source, batch.tasks, this)  # (1, rows, D)
        real = Predicted.of(x[0], batch, packing)
        predicted = real.target.ne(self.padding)
        hidden = predicted.nonzero_static(size=batch.tokens).squeeze(1)
        logits = self.encoder.head(x[0].index_select(0, packing.places[hidden]))
        return Predicted(logits, real.target[hidden], real.tasks[hidden])


@torch.no_grad()
def initialise(module: nn.Module, deviation: float) -> None:
    """Give a module BERT's first weights, as fairseq's init_bert_params gives all of RoBERTa."""
    if isinstance(module, nn.Linear):
        module.weight.normal_(0.0, deviation)
        nn.init.zeros_(module.bias)
    if isinstance(module, nn.Embedding):
        module.weight.normal_(0.0, deviation)
        module.weight[module.padding_idx].zero_()
