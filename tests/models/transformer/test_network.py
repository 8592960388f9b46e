"""The network against fairseq's own, its generator, and against itself one position at a time."""

import pytest
import torch
from fairseq.models.transformer import TransformerDecoderBase, TransformerEncoderBase
from fairseq.models.transformer.transformer_base import Embedding, TransformerModelBase
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from fathom.methods.build import build
from fathom.nn.transformer.layers import fairseq_config
from fathom.nn.transformer.network import Transformer
from tests.support.small_networks import (
    ENTRIES,
    PAD,
    Dictionary,
    batch,
    gradients,
    method,
    network,
    nll,
    shape,
)

LENGTHS = [(5, 4), (3, 6), (7, 2), (1, 1)]
TASKS = torch.tensor([0, 1, 1, 0])
# fairseq computes its cross-attention's softmax in float32, in float64 networks too.
TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-5}


def fairseq_twin(ours: Transformer, model) -> TransformerModelBase:
    """Return fairseq's own Transformer with the weights of ours."""
    config = fairseq_config(model)
    config.encoder.layers, config.decoder.layers = model.encoder_layers, model.decoder_layers
    config.decoder.output_dim = config.decoder.input_dim = model.width
    config.share_decoder_input_output_embed = model.tie_embeddings == "decoder"
    sides = [Embedding(ENTRIES, model.width, PAD) for _ in range(2)]
    dictionary = Dictionary(ENTRIES)
    twin = TransformerModelBase(
        config,
        TransformerEncoderBase(config, dictionary, sides[0]),
        TransformerDecoderBase(config, dictionary, sides[1]),
    )
    # Without a version, fairseq takes the weights for old ones and drops the final norms.
    version = {f"{side}.version": torch.tensor([3.0]) for side in ("encoder", "decoder")}
    missing, unexpected = twin.load_state_dict(ours.state_dict() | version, strict=False)
    assert not missing
    assert all(".method." in name or name == "encoder.version" for name in unexpected)
    return twin


@pytest.mark.parametrize("tied", ["none", "decoder", "all"])
def test_the_encoders_table_is_the_decoders_where_all_are_tied(tied):
    model = network(method("static", ()), shape(tie_embeddings=tied))
    one = model.encoder.embed_tokens.weight is model.decoder.embed_tokens.weight
    assert one is (tied == "all")


def close(left: Tensor, right: Tensor, dtype: torch.dtype) -> bool:
    return torch.allclose(left, right, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


# The twin mixes kinds of masks, of which torch warns.
@pytest.mark.filterwarnings("ignore:Support for mismatched")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(
    "changes",
    [{}, {"norm": "post"}, {"tie_embeddings": "none"}, {"encoder_layers": 2, "heads": 2}],
)
@pytest.mark.parametrize("name", ["static", "latent_layers"])
def test_all_gates_open_equal_fairseqs_own_transformer(name, changes, dtype):
    model = shape(**changes)
    ours = network(method(name, () if name == "static" else ("encoder", "decoder")), model)
    theirs = fairseq_twin(ours, model).to(dtype)
    ours = ours.to(dtype)
    for each in ours.methods.values():
        if name != "static":
            each.alpha.data.fill_(200.0)
    ours.start_update(1, 1)
    source, previous, target = batch(LENGTHS)
    logits = ours(source, previous, TASKS)
    expected, _ = theirs(source, None, previous)
    assert close(logits, expected, dtype)
    memories = ours.encoder(source, tasks=TASKS), theirs.encoder(source)
    assert close(*(each["encoder_out"][0] for each in memories), dtype)
    nll(logits, target).backward()
    nll(expected, target).backward()
    found = gradients(ours)
    for parameter, gradient in gradients(theirs).items():
        # An absolute tolerance serves k_proj.bias, whose true gradient is zero: both are noise.
        assert close(found[parameter], gradient, dtype), parameter


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("gates", ["soft", "hard"])
def test_incremental_decoding_equals_the_whole_pass(norm, gates):
    model = network(method("latent_layers"), shape(norm=norm)).eval().use_gates(gates)
    for each in model.methods.values():
        each.alpha.data = torch.tensor([[0.4, -0.3, 0.2], [-0.1, 0.5, 0.9]])
    source, previous, _ = batch([(5, 6), (3, 6), (7, 6)])
    with torch.no_grad():
        whole = model(source, previous, torch.ones(3, dtype=torch.long))
        memory = model.for_task(1).encoder(source)
        state = {}
        steps = [
            model.decoder(previous[:, :length], memory, incremental_state=state)[0]
            for length in range(1, 7)
        ]
    # The two ways use different kernels, which agree to a few units of float32.
    assert torch.allclose(torch.cat(steps, dim=1), whole, atol=1e-5)


def test_padding_changes_nothing():
    model = network(method("static", ())).eval()
    source, previous, _ = batch(LENGTHS)
    together = model(source, previous, TASKS)
    for row, (pieces, positions) in enumerate(LENGTHS):
        alone = model(
            source[row : row + 1, :pieces], previous[row : row + 1, :positions], TASKS[:1]
        )
        assert torch.allclose(alone[0], together[row, :positions], atol=1e-5)


def test_no_position_sees_a_later_one():
    model = network(method("static", ())).eval()
    source, previous, _ = batch([(5, 6)])
    other = previous.clone()
    other[0, 4:] = 9
    left, right = (model(source, each, TASKS[:1])[0] for each in (previous, other))
    assert torch.equal(left[:4], right[:4])
    assert not torch.equal(left[4], right[4])


def test_without_norms_there_are_none():
    names = [
        name for name, _ in network(method("static", ()), shape(norm="none")).named_parameters()
    ]
    assert not [name for name in names if "norm" in name]
    last = "decoder.layer_norm.weight"
    assert last in dict(network(method("static", ())).named_parameters())
    assert last not in dict(network(method("static", ()), shape(norm="post")).named_parameters())


def test_without_residuals_a_layer_forgets_its_input():
    model = network(method("static", ()), shape(residuals=())).eval()
    layer = model.encoder.layers[0]
    layer.fc2.weight.data.zero_()
    layer.fc2.bias.data.fill_(0.5)
    x = torch.randn(3, 2, 16)
    y = layer(x, torch.zeros(2, 3, dtype=torch.bool))
    assert torch.equal(y, torch.full_like(y, 0.5))


def test_configurations_share_nothing():
    """fairseq's own defaults are classes; changing one would change every other model's."""
    narrow, wide = fairseq_config(shape()), fairseq_config(shape(width=32))
    assert (narrow.encoder.embed_dim, wide.encoder.embed_dim) == (16, 32)
    assert narrow.quant_noise is not wide.quant_noise


def test_the_weights_do_not_depend_on_the_method():
    static, latent = network(method("static", ())), network(method("latent_layers"))
    for name, tensor in static.state_dict().items():
        assert torch.equal(tensor, latent.state_dict()[name]), name


def test_the_task_must_be_known():
    model = network(method("static", ()))
    source, _, _ = batch(LENGTHS)
    with pytest.raises(RuntimeError, match="for_task"):
        model.encoder(source)


def generate(model: Transformer, source: Tensor, task: int) -> list[list[int]]:
    """Return the best hypothesis of fairseq's beam search for each sentence."""
    generator = SequenceGenerator(
        [model.for_task(task)], Dictionary(ENTRIES), beam_size=3, max_len_a=0, max_len_b=8
    )
    sample = {"net_input": {"src_tokens": source, "src_lengths": source.ne(PAD).sum(dim=1)}}
    return [beam[0]["tokens"].tolist() for beam in generator.generate([model], sample)]


@pytest.mark.parametrize("gates", ["soft", "hard"])
def test_fairseqs_generator_decodes_each_task_with_its_own_gates(gates):
    torch.manual_seed(7)
    dictionary = Dictionary(ENTRIES)
    model = build(shape(), method("latent_layers"), 2, dictionary, dictionary).eval()
    model.use_gates(gates)
    for each in model.methods.values():
        each.alpha.data = torch.tensor([[3.0, -3.0, 3.0], [-3.0, 3.0, -3.0]])
    source, _, _ = batch([(5, 4), (3, 6), (7, 2), (2, 2)])
    first, second = (generate(model, source, task) for task in (0, 1))
    assert len(first) == len(second) == 4
    assert first != second
    order = torch.tensor([2, 0, 3, 1])
    assert generate(model, source[order], 0) == [first[row] for row in order]
