"""The masked language model against torch's functions, fairseq's RoBERTa and printed counts."""

import math
from argparse import Namespace
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from fairseq.data import Dictionary
from fairseq.models.roberta import RobertaEncoder
from fairseq.models.roberta.model import base_architecture, roberta_prenorm_architecture

from fathom.methods.build import count
from fathom.nn.hooks import Method
from fathom.nn.masked_lm.network import DEVIATION, MaskedLm
from fathom.nn.network import Entries, count_parameters
from tests.support.small_networks import (
    ENTRIES,
    PAD,
    batch,
    gradients,
    method,
    network,
    nll,
    shape,
)

# fairseq computes gelu and, in attention, softmax in float32.
EXACT = 1e-6
MASK = ENTRIES
TASK = torch.zeros(1, dtype=torch.long)


def size(**changes):
    """Return a tiny masked language model's shape."""
    values = {
        "architecture": "masked_lm",
        "decoder_layers": 0,
        "activation": "gelu",
        "output_bias": True,
        "block": 12,
    }
    return shape(**(values | changes))


def masked_lm(name="static", sides=(), dtype=torch.float64, tasks=2, **changes):
    """Return a tiny model with weights that are not at rest: norms and biases differ from start."""
    model = network(method(name, sides), size(**changes), tasks).to(dtype).eval()
    stream = torch.Generator().manual_seed(5)
    for key, each in model.named_parameters():
        if ".method." not in key:
            noise = torch.randn(each.shape, generator=stream, dtype=dtype)
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


def attention(x, layer, heads):
    """Self-attention of one sentence, (T, D), written out."""
    width = x.size(-1) // heads
    query, key, value = (
        F.linear(x, each.weight, each.bias).view(len(x), heads, width).transpose(0, 1)
        for each in (layer.q_proj, layer.k_proj, layer.v_proj)
    )  # (H, T, D / H)
    weights = torch.softmax(query @ key.transpose(1, 2) / math.sqrt(width), dim=-1)
    joined = (weights @ value).transpose(0, 1).flatten(1)
    return F.linear(joined, layer.out_proj.weight, layer.out_proj.bias)


def norm(x, layer):
    return F.layer_norm(x, x.shape[-1:], layer.weight, layer.bias)


def written_out(model, tokens, heads=4, kind="pre"):
    """The model for one sentence, (T,), in plain functions of torch."""
    stack = model.encoder
    positions = stack.embed_positions.weight[PAD + 1 : PAD + 1 + len(tokens)]
    x = stack.embed_tokens.weight[tokens] + positions
    if kind == "post":
        x = norm(x, stack.embedding_norm)
    for layer in stack.layers:
        if kind == "pre":
            x = x + attention(norm(x, layer.self_attn_layer_norm), layer.self_attn, heads)
            y = F.linear(norm(x, layer.final_layer_norm), layer.fc1.weight, layer.fc1.bias)
            x = x + F.linear(F.gelu(y), layer.fc2.weight, layer.fc2.bias)
        else:
            x = norm(x + attention(x, layer.self_attn, heads), layer.self_attn_layer_norm)
            y = F.gelu(F.linear(x, layer.fc1.weight, layer.fc1.bias))
            x = norm(x + F.linear(y, layer.fc2.weight, layer.fc2.bias), layer.final_layer_norm)
    if kind == "pre":
        x = norm(x, stack.layer_norm)
    head = stack.head
    x = norm(F.gelu(F.linear(x, head.dense.weight, head.dense.bias)), head.layer_norm)
    return x @ stack.embed_tokens.weight.t() + head.output_projection.bias


@pytest.mark.parametrize("kind", ["pre", "post"])
def test_one_sentence_equals_plain_torch_with_its_gradients(kind):
    model, tokens = masked_lm(norm=kind), sentence()
    logits = model(tokens, None, TASK)
    expected = written_out(model, tokens[0], kind=kind)
    assert logits.shape == (1, 7, ENTRIES + 1)
    assert logits.dtype == torch.float64
    torch.testing.assert_close(logits[0], expected, atol=EXACT, rtol=0)
    target = torch.full_like(tokens, PAD)
    target[0, [2, 4]] = torch.tensor([9, 17])
    nll(logits, target).backward()
    found = {key: each.clone() for key, each in gradients(model).items() if each is not None}
    model.zero_grad()
    nll(expected[None], target).backward()
    wanted = gradients(model)
    assert set(found) == {key for key, each in wanted.items() if each is not None}
    for key, each in found.items():
        torch.testing.assert_close(each, wanted[key], atol=EXACT, rtol=0, msg=key)


def fairseqs(model, kind, layers=3):
    """Return fairseq's own encoder with this one's weights."""
    dictionary = Dictionary()
    for piece in range(ENTRIES - 4):
        dictionary.add_symbol(str(piece))
    assert dictionary.add_symbol("<mask>") == MASK
    settings = Namespace(
        encoder_layers=layers,
        encoder_embed_dim=16,
        encoder_ffn_embed_dim=24,
        encoder_attention_heads=4,
        max_positions=12,
    )
    {"pre": roberta_prenorm_architecture, "post": base_architecture}[kind](settings)
    theirs = RobertaEncoder(settings, dictionary).double().eval()
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
    state["sentence_encoder.version"] = theirs.sentence_encoder.version
    theirs.load_state_dict(state, strict=True)
    return theirs


@pytest.mark.parametrize("kind", ["pre", "post"])
def test_it_equals_fairseqs_roberta_with_copied_weights(kind):
    """Every weight of theirs is one of ours, and none is left."""
    model = masked_lm(norm=kind)
    theirs = fairseqs(model, kind)
    source, _, _ = batch([(5, 1), (9, 1), (2, 1)])
    source[1, 3] = MASK
    logits = model(source, None, torch.tensor([0, 1, 0]))
    expected, _ = theirs(source)
    real = source != PAD
    torch.testing.assert_close(logits[real], expected[real], atol=EXACT, rtol=0)
    assert count_parameters(model)["total"] == sum(p.numel() for p in set(theirs.parameters()))


def test_padding_and_neighbours_change_nothing():
    model = masked_lm()
    source, _, _ = batch([(5, 1), (9, 1), (2, 1)])
    logits = model(source, None, torch.tensor([0, 1, 0]))
    for row, length in enumerate((5, 9, 2)):
        alone = model(source[row : row + 1, :length], None, TASK)
        torch.testing.assert_close(logits[row, :length], alone[0], atol=1e-12, rtol=0)


def test_every_position_sees_both_sides_and_itself():
    model, tokens = masked_lm(), sentence()
    logits = model(tokens, None, TASK)
    for changed in range(7):
        other = tokens.clone()
        other[0, changed] = 11 if tokens[0, changed] != 11 else 12
        moved = (model(other, None, TASK) - logits).abs().amax(dim=-1)[0]
        assert (moved > 1e-9).all(), changed


def test_positions_are_learned_and_order_matters():
    model, tokens = masked_lm(), sentence()
    order = torch.tensor([0, 3, 2, 1, 4, 5, 6])
    same = model(tokens[:, order], None, TASK)[:, order]
    assert not torch.allclose(same, model(tokens, None, TASK), atol=1e-3)
    assert model.encoder.embed_positions.weight.shape == (14, 16)
    assert model.encoder.max_positions() == 12
    nll(model(tokens, None, TASK), tokens).backward()
    read = model.encoder.embed_positions.weight.grad.abs().sum(dim=1) > 0
    assert read.tolist() == [False] * 2 + [True] * 7 + [False] * 5


def test_the_longest_block_has_positions_and_a_longer_one_has_not():
    model = masked_lm()
    assert model(sentence(12), None, TASK).isfinite().all()
    with pytest.raises(IndexError):
        model(sentence(13), None, TASK)


def test_without_learned_positions_there_are_sinusoids():
    model = masked_lm(block=None)
    assert not [key for key, _ in model.named_parameters() if "embed_positions" in key]
    assert model(sentence(40), None, TASK).isfinite().all()


@pytest.mark.parametrize("sharing", ["decoder", "all", "none"])
def test_the_output_is_the_embedding_unless_it_is_not_shared(sharing):
    model = masked_lm(tie_embeddings=sharing)
    tied = model.encoder.head.output_projection.weight is model.encoder.embed_tokens.weight
    assert tied is (sharing != "none")
    assert count_parameters(model)["embeddings"] == (ENTRIES + 1) * 16
    assert model.encoder.head.output_projection.bias.shape == (ENTRIES + 1,)


def test_weights_start_as_berts_and_the_method_is_left_alone():
    model = network(method("latent_layers", ("encoder",)), size(width=64, ffn=96), tasks=3)
    stack = model.encoder
    for weight in (stack.embed_tokens.weight[4:], stack.layers[1].self_attn.k_proj.weight,
                   stack.layers[2].fc2.weight, stack.embed_positions.weight[2:]):  # fmt: skip
        assert weight.std().item() == pytest.approx(DEVIATION, rel=0.15)
    assert not stack.layers[0].fc1.bias.any()
    assert not stack.embed_tokens.weight[PAD].any()
    assert not stack.embed_positions.weight[PAD].any()
    assert not stack.head.output_projection.bias.any()
    assert not stack.method.alpha.any()
    # The head's own layer is fairseq's ordinary one.
    assert stack.head.dense.weight.std().item() == pytest.approx(64**-0.5 / math.sqrt(3), rel=0.1)


def test_weights_of_a_method_stay_as_it_made_them():
    model = size()
    own = Method(MaskedLm.describe_stacks(model, 2)["encoder"])
    own.dense = torch.nn.Linear(16, 16)
    before = own.dense.bias.detach().clone()
    MaskedLm(model, Entries(ENTRIES), Entries(ENTRIES), {"encoder": own})
    assert before.any()
    assert torch.equal(own.dense.bias, before)


def test_embeddings_are_not_scaled():
    model = masked_lm()
    encoder, positions = model.encoder, model.encoder.embed_positions.weight[2:9]
    x = encoder.embed(sentence(), encoder.embed_positions(sentence()))
    expected = encoder.embed_tokens(sentence()) + positions
    torch.testing.assert_close(x, expected)


def test_dropout_acts_on_the_embeddings_and_in_training_alone():
    model = masked_lm(dropout=0.5, encoder_layers=1)
    assert torch.equal(model(sentence(), None, TASK), model(sentence(), None, TASK))
    seen = []
    model.train().encoder.observer = lambda outputs: seen.append(outputs[0])
    model(sentence(), None, TASK)
    assert 0.3 < (seen[0] == 0).double().mean() < 0.7


def test_gates_of_a_sentences_task_scale_its_layers():
    model = masked_lm("latent_layers", ("encoder",)).use_gates("hard")
    model.encoder.method.alpha.data[1] = torch.tensor([-9.0, -9.0, -9.0])
    tokens = sentence().expand(2, -1)
    logits = model(tokens, None, torch.tensor([0, 1]))
    whole = masked_lm()
    torch.testing.assert_close(logits[:1], whole(tokens[:1], None, TASK), atol=1e-9, rtol=0)
    whole.encoder.layers = torch.nn.ModuleList()
    torch.testing.assert_close(logits[1:], whole(tokens[1:], None, TASK), atol=1e-9, rtol=0)


PAPER = {
    "encoder_layers": 24,
    "width": 768,
    "ffn": 3072,
    "heads": 12,
    "block": 512,
}
VOCABULARY = 40_000 + 4


@cache
def counted(layers, name="static", norm="pre", **settings):
    """Return the parameters of the paper's network for 25 languages, by part."""
    model = size(**(PAPER | {"encoder_layers": layers, "norm": norm}))
    stacks = () if name == "static" else ("encoder",)
    return count(model, method(name, stacks, **settings), 25, VOCABULARY, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("layers", "printed"), [(24, 202), (48, 372), (96, 712)])
@pytest.mark.parametrize("kind", ["pre", "post"])
def test_counts_are_the_papers_within_a_thousandth(layers, printed, kind):
    found = counted(layers, norm=kind)
    width, rows = 768, VOCABULARY + 1
    layer = 4 * (width**2 + width) + 2 * width * 3072 + 3072 + width + 4 * width
    tables = rows * width + 514 * width
    head = width**2 + width + 2 * width + rows
    assert found["total"] == layers * layer + tables + 2 * width + head
    assert found["total"] / 1e6 == pytest.approx(printed, rel=1e-3)
    assert found["decoder"] == 0
