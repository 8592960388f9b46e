"""The masked language model: an encoder that predicts the pieces that its input hides.

The shape is that of XLM-R as fairseq builds it. With norm "pre" it is fairseq's roberta_prenorm:
nothing normalises the embeddings, and a layer norm ends the stack. With "post" it is roberta_base:
the embeddings are normalised, and nothing ends the stack. The counts are equal.
"""

from dataclasses import dataclass

import torch
from fairseq.models import FairseqEncoderModel
from fairseq.modules import LearnedPositionalEmbedding
from fairseq.utils import get_activation_fn
from torch import Tensor, nn

from fathom.models.encoder import Encoder
from fathom.models.hooks import Method, Stack
from fathom.models.layers import Vocabulary, output_table
from fathom.models.network import Network
from fathom.runs.spec import Model

# The deviation of BERT's first weights, whatever the width.
DEVIATION = 0.02


@dataclass(frozen=True)
class WithMask:
    """A dictionary's entries, and the mask symbol after the last, where fairseq's task puts it."""

    dictionary: Vocabulary

    def __len__(self) -> int:
        """Return V, the mask symbol included."""
        return len(self.dictionary) + 1

    def pad(self) -> int:
        """Return the padding symbol's index."""
        return self.dictionary.pad()


class Head(nn.Module):
    """From hidden states to logits: dense, activation, layer norm, projection."""

    def __init__(self, model: Model, embeddings: nn.Embedding):
        """Build the head.

        Args:
            model: the network's shape; it says whether the projection has the embeddings' own
                weights, and a bias.
            embeddings: the input's, (V, D).
        """
        super().__init__()
        self.dense = nn.Linear(model.width, model.width)
        self.activation = get_activation_fn(model.activation)
        self.layer_norm = nn.LayerNorm(model.width)
        self.output_projection = output_table(model, embeddings)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (…, V) of hidden states (…, D)."""
        return self.output_projection(self.layer_norm(self.activation(self.dense(x))))


class MaskedEncoder(Encoder):
    """The encoder of a masked language model, with its head; the loop over layers is Encoder's."""

    def __init__(self, model: Model, dictionary: Vocabulary, method: Method):
        """Build the stack.

        Args:
            model: the network's shape.
            dictionary: of the text, without the mask symbol.
            method: what is done to the layers.
        """
        super().__init__(model, WithMask(dictionary), method)
        # One output, which the head reads; embeddings are as long as they are.
        self.memories, self.embed_scale = 1, 1.0
        if model.learned_positions is not None:
            self.embed_positions = learned_table(self.dictionary, model)
        post = model.norm == "post"
        self.embedding_norm = nn.LayerNorm(model.width) if post else nn.Identity()
        for part in (self.embed_tokens, self.embed_positions, self.layers):
            part.apply(initialise)
        self.head = Head(model, self.embed_tokens)

    def embed(self, src_tokens: Tensor) -> Tensor:
        """Return what enters the stack before dropout, (B, S, D), of tokens (B, S)."""
        return self.embedding_norm(super().embed(src_tokens))


class MaskedLm(Network, FairseqEncoderModel):
    """A masked language model in the shape of XLM-R."""

    def __init__(
        self,
        model: Model,
        source_dictionary: Vocabulary,
        target_dictionary: Vocabulary,
        methods: dict[str, Method],
    ):
        """Build the network.

        Args:
            model: its shape; it has no decoder.
            source_dictionary: of the text, without the mask symbol.
            target_dictionary: not used, since the text is predicted from itself.
            methods: what is done to the layers of the one side.
        """
        super().__init__(MaskedEncoder(model, source_dictionary, methods["encoder"]))

    @staticmethod
    def stacks(model: Model, tasks: int) -> dict[str, Stack]:
        """Return what a method is told of the one stack, by side; `tasks` is N."""
        return {
            "encoder": Stack(
                side="encoder",
                layers=model.encoder_layers,
                tasks=tasks,
                width=model.width,
                norm=model.norm,
                sources=model.encoder_layers + 1,
                readers=1,
                residuals="encoder" in model.residuals,
            )
        }

    def forward(self, source: Tensor, previous_target: Tensor | None, tasks: Tensor) -> Tensor:
        """Return the logits of every position, (B, S, V), V with the mask symbol.

        Args:
            source: (B, S) right-padded, some of its pieces hidden.
            previous_target: not used.
            tasks: (B,) the task of each sentence.
        """
        (x,) = self.encoder(source, tasks=tasks)["encoder_out"]  # (S, B, D)
        return self.encoder.head(x.transpose(0, 1))


def learned_table(vocabulary: Vocabulary, model: Model) -> LearnedPositionalEmbedding:
    """Return fairseq's table of learned positions, which count from padding's index on.

    Padding has a row that stays zero, and the rows before it are never read: 514 for 512 positions.

    Args:
        vocabulary: the text's.
        model: the network's shape, with the positions that there are.
    """
    rows = model.learned_positions + vocabulary.pad() + 1
    return LearnedPositionalEmbedding(rows, model.width, vocabulary.pad())


@torch.no_grad()
def initialise(module: nn.Module) -> None:
    """Give a module of the stack BERT's first weights, as fairseq's init_bert_params does."""
    if isinstance(module, nn.Linear):
        module.weight.normal_(0.0, DEVIATION)
        nn.init.zeros_(module.bias)
    if isinstance(module, nn.Embedding):
        module.weight.normal_(0.0, DEVIATION)
        module.weight[module.padding_idx].zero_()
