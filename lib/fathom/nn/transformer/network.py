"""The Transformer: an encoder and a decoder, each with its method."""

from torch import Tensor

from fathom.config.schema.run import Model
from fathom.io.errors import FathomError
from fathom.nn.hooks import Method
from fathom.nn.network import Batch, Network, Predicted
from fathom.nn.packing import Packing
from fathom.nn.stack import DictionaryLike, apply_once
from fathom.nn.transformer.layers import PackedPass
from fathom.nn.transformer.stacks import TransformerDecoder, TransformerEncoder
from fathom.nn.transformer.steps import TransformerSteps


class Transformer(Network):
    """A Transformer as fairseq builds it; if all embeddings are tied, with one dictionary."""

    encoder: TransformerEncoder
    decoder: TransformerDecoder

    def __init__(
        self,
        model: Model,
        source_dictionary: DictionaryLike,
        target_dictionary: DictionaryLike,
        methods: dict[str, Method],
    ):
        if model.tie_embeddings == "all" and source_dictionary != target_dictionary:
            what = "source and target have different dictionaries"
            remedy = "write data.subwords.joint, or tie_embeddings: decoder"
            raise FathomError(what, "model.tie_embeddings: all", remedy)
        super().__init__()
        self.encoder = TransformerEncoder(model, source_dictionary, methods["encoder"])
        self.decoder = TransformerDecoder(model, target_dictionary, methods["decoder"])
        if model.tie_embeddings == "all":
            self.encoder.embed_tokens = self.decoder.embed_tokens

    def steps(self, source: Tensor, tasks: Tensor) -> TransformerSteps:
        """Encode a batch, and return its decoder position by position."""
        packing = Packing.of(source.eq(self.padding))
        this = PackedPass(packing, self.matmul.precision)
        memories = apply_once(packing.pad, self.encoder(source, tasks, this))
        return TransformerSteps(self.decoder, memories, packing.padding, tasks)

    def predict(self, batch: Batch) -> Predicted:
        """Return the logits of a batch's targets."""
        precision, multiple = self.matmul.precision, self.matmul.multiple
        sides = [batch.source.eq(self.padding), batch.target.eq(self.padding)]
        lengths = [batch.source_lengths, batch.target_lengths]
        source, rows = Packing.together(sides, multiple, lengths)
        counts = [packing.rows_by_task(batch.task_of_each) for packing in (source, rows)]
        this = PackedPass(source, precision, rows_by_task=counts[0])
        memories = self.encoder(batch.source, batch.tasks, this)
        this = PackedPass(rows, precision, causal=True, memory=source, rows_by_task=counts[1])
        logits = self.decoder(batch.previous_target, memories, batch.tasks, this)
        return Predicted.of(logits, batch, rows)
