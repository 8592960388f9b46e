"""The Transformer and the masked language model against fairseq's, their layers and tables."""

from argparse import Namespace

import pytest
import torch
from fairseq.data import Dictionary as FairseqDictionary
from fairseq.models.roberta import RobertaEncoder, RobertaModel
from fairseq.models.roberta.model import base_architecture, roberta_prenorm_architecture
from fairseq.models.transformer import TransformerDecoderBase, TransformerEncoderBase
from fairseq.models.transformer.transformer_base import Embedding, TransformerModelBase
from fairseq.modules import LearnedPositionalEmbedding
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from fathom.methods.build import build
from fathom.nn.hooks import Method
from fathom.nn.network import Entries, count_parameters
from fathom.nn.packing import Packing
from fathom.nn.stack import residual
from fathom.nn.transformer.layers import EncoderLayer, fairseq_config
from fathom.nn.transformer.network import Transformer
from fathom.nn.transformer.stacks import embedding_table, packed_positions, position_table
from tests.reference.padded.networks import padded, padded_logits
from tests.reference.padded.transformer import encoder_layer
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
    stack,
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


def close(left: Tensor, right: Tensor, dtype: torch.dtype) -> bool:
    return torch.allclose(left, right, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


# The twin mixes kinds of masks, of which torch warns.
@pytest.mark.filterwarnings("ignore:Support for mismatched")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(
    "changes", [{}, {"norm": "post"}, {"tie_embeddings": "none"}, {"encoder_layers": 2, "heads": 2}]
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
    logits = padded_logits(ours, source, previous, TASKS)
    expected, _ = theirs(source, None, previous)
    assert close(logits, expected, dtype)
    memories = padded(ours).encoder(source, tasks=TASKS), theirs.encoder(source)
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
        whole = padded_logits(model, source, previous, torch.ones(3, dtype=torch.long))
        state, reference = {}, padded(model, task=1)
        memory = reference.encoder(source)
        steps = [
            reference.decoder(previous[:, :length], memory, incremental_state=state)[0]
            for length in range(1, 7)
        ]
    # The two ways use different kernels, which agree to a few units of float32.
    assert torch.allclose(torch.cat(steps, dim=1), whole, atol=1e-5)


def test_the_weights_do_not_depend_on_the_method():
    static, latent = network(method("static", ())), network(method("latent_layers"))
    for name, tensor in static.state_dict().items():
        assert torch.equal(tensor, latent.state_dict()[name]), name


def generate(model: Transformer, source: Tensor, task: int) -> list[list[int]]:
    """Return the best hypothesis of fairseq's beam search for each sentence."""
    generator = SequenceGenerator(
        [padded(model, task)], Dictionary(ENTRIES), beam_size=3, max_len_a=0, max_len_b=8
    )
    sample = {"net_input": {"src_tokens": source, "src_lengths": source.ne(PAD).sum(dim=1)}}
    return [beam[0]["tokens"].tolist() for beam in generator.generate([], sample)]


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


def test_sentences_of_an_encoded_batch_can_be_chosen():
    encoder = padded(network(method("static", ())), task=0).encoder
    source, _, _ = batch([(5, 4), (3, 6)])
    encoded = encoder(source)
    order = torch.tensor([1, 1, 0])
    chosen = encoder.reorder_encoder_out(encoded, order)
    assert torch.equal(chosen["encoder_out"][0], encoded["encoder_out"][0][:, order])
    assert torch.equal(chosen["encoder_padding_mask"][0], source.eq(PAD)[order])
    assert len({id(memory) for memory in chosen["encoder_out"]}) == 1


def test_a_sub_layer_is_added_to_its_input_after_or_before_the_norm():
    """[latent_depth Eq. 1] and, for post-norm, its sentence below."""
    x, padding = torch.randn(4, 2, 16), torch.zeros(2, 4, dtype=torch.bool)
    static = Method(stack(layers=1))
    for norm in ("pre", "post", "lingvo", "none"):
        layer = EncoderLayer(shape(norm=norm), lambda part, x, fx: static.residual(0, part, x, fx))

        def attention(x, layer=layer):
            return layer.self_attn(x, x, x, need_weights=False)[0]

        def ffn(x, layer=layer):
            return layer.fc2(torch.relu(layer.fc1(x)))

        expected = x
        for sub_layer, name in ((attention, "self_attn_layer_norm"), (ffn, "final_layer_norm")):
            normalise = layer.get_submodule(name)
            if norm == "post":
                expected = normalise(expected + sub_layer(expected))
            elif norm == "lingvo" and sub_layer is attention:
                expected = normalise(expected) + sub_layer(normalise(expected))
            else:
                expected = expected + sub_layer(normalise(expected))
        assert torch.allclose(encoder_layer(layer, x, padding), expected, atol=1e-6)


def test_without_residuals_a_sub_layer_is_what_it_computes():
    x, padding = torch.randn(4, 2, 16), torch.zeros(2, 4, dtype=torch.bool)
    static = Method(stack(layers=1))
    model = shape(residuals=("decoder",))
    layer = EncoderLayer(model, residual(model, static, 0))
    y = layer.self_attn_layer_norm(x)
    y = layer.self_attn(y, y, y, need_weights=False)[0]
    expected = layer.fc2(torch.relu(layer.fc1(layer.final_layer_norm(y))))
    assert torch.allclose(encoder_layer(layer, x, padding), expected, atol=1e-6)


def test_the_feed_forward_activation_is_the_one_that_is_named():
    x, padding = torch.randn(4, 2, 16), torch.zeros(2, 4, dtype=torch.bool)
    for activation, function in (("relu", torch.relu), ("gelu", torch.nn.functional.gelu)):
        layer = EncoderLayer(shape(activation=activation), lambda part, x, fx: fx)
        y = layer.self_attn_layer_norm(x)
        y = layer.final_layer_norm(layer.self_attn(y, y, y, need_weights=False)[0])
        assert torch.allclose(
            encoder_layer(layer, x, padding), layer.fc2(function(layer.fc1(y))), atol=1e-6
        )


def test_every_decoder_layer_gets_a_memory_and_equal_ones_are_one_tensor():
    model = network(method("static", ()), shape(encoder_layers=2, decoder_layers=4))
    source, _, _ = batch([(5, 4), (3, 6)])
    encoded = padded(model, task=0).encoder(source)
    memories = encoded["encoder_out"]
    assert len(memories) == 4
    assert len({id(memory) for memory in memories}) == 1
    assert memories[0].shape == (5, 2, 16)
    assert torch.equal(encoded["encoder_padding_mask"][0], source.eq(PAD))


def test_embeddings_are_scaled_by_the_root_of_the_width_and_positions_are_not():
    model, outputs = network(method("static", ())), []
    decoder = model.decoder
    decoder.observer = outputs.extend
    source, previous, _ = batch([(5, 4), (3, 6)])
    padded_logits(model, source, previous, torch.zeros(2, dtype=torch.long))
    expected = 4 * decoder.embed_tokens.weight[previous] + decoder.embed_positions(previous)
    assert torch.allclose(outputs[0], expected.transpose(0, 1))


def test_tables_are_one_where_they_are_shared():
    def tables(share, bias):
        model = network(method("static", ()), shape(tie_embeddings=share, output_bias=bias))
        ends = model.encoder.embed_tokens, model.decoder.embed_tokens
        return [each.weight for each in ends] + [model.decoder.output_projection]

    for share, distinct in (("none", 3), ("decoder", 2), ("all", 1)):
        for bias in (True, False):
            source, target, output = tables(share, bias)
            assert len({id(source), id(target), id(output.weight)}) == distinct
            assert (output.bias is not None) is bias
            assert not bias or not output.bias.any()


def test_embeddings_start_normal_with_deviation_of_one_over_the_root_of_the_width():
    torch.manual_seed(1)
    table = embedding_table(Entries(4000), 64).weight
    assert torch.equal(table[1], torch.zeros(64))
    # 256,000 draws: the deviation's own deviation is 0.14 %.
    assert abs(table.std().item() * 8 - 1) < 0.01


def test_positions_have_no_parameters_and_are_not_saved():
    table = position_table(Entries(10), 16)
    assert not list(table.parameters())
    assert not table.state_dict()


def test_rows_have_the_positions_of_their_tokens():
    source, _, _ = batch([(5, 4), (3, 6)])
    packing = Packing.of(source.eq(PAD))
    for table in (position_table(Entries(10), 16), LearnedPositionalEmbedding(10, 16, PAD)):
        expected = packing.pack(table(source))[0]
        assert torch.equal(packed_positions(table, packing), expected)
    # More than are made at once.
    longer = Packing.of(torch.zeros(1, 1500, dtype=torch.bool))
    assert packed_positions(position_table(Entries(10), 16), longer).shape == (1500, 16)


# fairseq computes gelu and, in attention, softmax in float32.
EXACT = 1e-6
MASK = ENTRIES
TASK = torch.zeros(1, dtype=torch.long)


def size(**changes):
    """Return a tiny masked language model's shape."""
    values = {"architecture": "masked_lm", "decoder_layers": 0, "activation": "gelu"}
    return shape(**(values | {"output_bias": True, "block": 12} | changes))


def masked_lm(name="static", sides=(), **changes):
    """Return a tiny model with weights that are not at rest: norms and biases differ from start."""
    model = network(method(name, sides), size(**changes)).double().eval()
    stream = torch.Generator().manual_seed(5)
    for key, each in model.named_parameters():
        if ".method." not in key:
            noise = torch.randn(each.shape, generator=stream, dtype=torch.float64)
            each.data.add_(noise, alpha=0.1)
    for table in (model.encoder.embed_tokens, model.encoder.embed_positions):
        if hasattr(table, "weight"):
            table.weight.data[PAD] = 0
    return model


def sentence(length=7, seed=3):
    """Return one sentence with two hidden pieces, (1, T)."""
    tokens = torch.randint(4, ENTRIES, (1, length), generator=torch.Generator().manual_seed(seed))
    tokens[0, 0], tokens[0, [2, 4]], tokens[0, -1] = 0, MASK, 2
    return tokens


def roberta(kind, width=16, ffn=24):
    """Return fairseq's own model, with the weights that it starts from."""
    dictionary = FairseqDictionary()
    for piece in range(ENTRIES - 4):
        dictionary.add_symbol(str(piece))
    assert dictionary.add_symbol("<mask>") == MASK
    settings = Namespace(
        encoder_layers=3,
        encoder_embed_dim=width,
        encoder_ffn_embed_dim=ffn,
        encoder_attention_heads=4,
        max_positions=12,
    )
    {"pre": roberta_prenorm_architecture, "post": base_architecture}[kind](settings)
    return RobertaModel(settings, RobertaEncoder(settings, dictionary))


def in_fairseqs_names(model):
    """Return the weights of a model of ours as fairseq names those of its encoder."""
    names = {
        "head.output_projection": "lm_head",
        "head": "lm_head",
        "embedding_norm": "sentence_encoder.layernorm_embedding",
    }
    state = {}
    for key, value in model.encoder.state_dict().items():
        first = next((each for each in names if key.startswith(each)), None)
        name = key.replace(first, names[first], 1) if first else f"sentence_encoder.{key}"
        state[name] = value
    return state


def fairseqs(model, kind):
    """Return fairseq's own encoder with this one's weights."""
    theirs = roberta(kind).encoder.double().eval()
    version = {"sentence_encoder.version": theirs.sentence_encoder.version}
    theirs.load_state_dict(in_fairseqs_names(model) | version, strict=True)
    return theirs


@pytest.mark.parametrize("kind", ["pre", "post"])
def test_it_equals_fairseqs_roberta_with_copied_weights(kind):
    """Every weight of theirs is one of ours, and none is left."""
    model = masked_lm(norm=kind)
    theirs = fairseqs(model, kind)
    source, _, _ = batch([(5, 1), (9, 1), (2, 1)])
    source[1, 3] = MASK
    logits = padded_logits(model, source, None, torch.tensor([0, 1, 0]))
    expected, _ = theirs(source)
    real = source != PAD
    torch.testing.assert_close(logits[real], expected[real], atol=EXACT, rtol=0)
    assert count_parameters(model)["total"] == sum(p.numel() for p in set(theirs.parameters()))


def test_padding_and_neighbours_change_nothing():
    model = masked_lm()
    source, _, _ = batch([(5, 1), (9, 1), (2, 1)])
    logits = padded_logits(model, source, None, torch.tensor([0, 1, 0]))
    for row, length in enumerate((5, 9, 2)):
        alone = padded_logits(model, source[row : row + 1, :length], None, TASK)
        torch.testing.assert_close(logits[row, :length], alone[0], atol=1e-12, rtol=0)


def test_the_longest_block_has_positions_and_a_longer_one_has_not_unless_they_are_sinusoids():
    model = masked_lm()
    assert padded_logits(model, sentence(12), None, TASK).isfinite().all()
    with pytest.raises(IndexError):
        padded_logits(model, sentence(13), None, TASK)
    sinusoids = masked_lm(block=None)
    assert not [key for key, _ in sinusoids.named_parameters() if "embed_positions" in key]
    assert padded_logits(sinusoids, sentence(40), None, TASK).isfinite().all()


@pytest.mark.parametrize("sharing", ["decoder", "all", "none"])
def test_the_output_is_the_embedding_unless_it_is_not_shared(sharing):
    model = masked_lm(tie_embeddings=sharing)
    tied = model.encoder.head.output_projection.weight is model.encoder.embed_tokens.weight
    assert tied is (sharing != "none")
    assert count_parameters(model)["embeddings"] == (ENTRIES + 1) * 16
    assert model.encoder.head.output_projection.bias.shape == (ENTRIES + 1,)


@pytest.mark.parametrize("kind", ["pre", "post"])
def test_every_weight_starts_as_in_fairseqs_roberta(kind):
    """The head's too, which fairseq gives BERT's rule with all of the model."""
    model = network(method("static", ()), size(width=64, ffn=96, norm=kind))
    theirs = dict(roberta(kind, width=64, ffn=96).encoder.named_parameters())
    ours = in_fairseqs_names(model)
    assert {*theirs} <= {*ours}
    for name, value in theirs.items():
        found, expected = ours[name].std().item(), value.std().item()
        assert found == pytest.approx(expected, rel=0.1), name
        assert ours[name].mean().item() == pytest.approx(value.mean().item(), abs=5e-3), name


@pytest.mark.parametrize("deviation", [0.02, 0.0566])
def test_weights_start_as_berts_and_the_method_is_left_alone(deviation):
    shape = size(width=64, ffn=96, initial_deviation=deviation)
    model = network(method("latent_layers", ("encoder",)), shape, tasks=3)
    stack = model.encoder
    for weight in (stack.embed_tokens.weight[4:], stack.layers[1].self_attn.k_proj.weight,
                   stack.layers[2].fc2.weight, stack.embed_positions.weight[2:],
                   stack.head.dense.weight):  # fmt: skip
        assert weight.std().item() == pytest.approx(deviation, rel=0.15)
    assert not stack.layers[0].fc1.bias.any()
    assert not stack.head.dense.bias.any()
    assert not stack.embed_tokens.weight[PAD].any()
    assert not stack.embed_positions.weight[PAD].any()
    assert not stack.head.output_projection.bias.any()
    assert not stack.method.alpha.any()


def test_gates_of_a_sentences_task_scale_its_layers():
    model = masked_lm("latent_layers", ("encoder",)).use_gates("hard")
    model.encoder.method.alpha.data[1] = torch.tensor([-9.0, -9.0, -9.0])
    tokens = sentence().expand(2, -1)
    logits = padded_logits(model, tokens, None, torch.tensor([0, 1]))
    whole = masked_lm()
    torch.testing.assert_close(
        logits[:1], padded_logits(whole, tokens[:1], None, TASK), atol=1e-9, rtol=0
    )
    whole.encoder.layers = torch.nn.ModuleList()
    torch.testing.assert_close(
        logits[1:], padded_logits(whole, tokens[1:], None, TASK), atol=1e-9, rtol=0
    )
