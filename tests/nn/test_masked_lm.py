"""The masked language model against fairseq's RoBERTa, its starting weights and its positions."""

from argparse import Namespace

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models.roberta import RobertaEncoder, RobertaModel
from fairseq.models.roberta.model import base_architecture, roberta_prenorm_architecture

from fathom.nn.network import count_parameters
from tests.reference.padded.networks import padded_logits
from tests.support.small_networks import ENTRIES, PAD, batch, method, network, shape

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
    dictionary = Dictionary()
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


def test_the_longest_block_has_positions_and_a_longer_one_has_not():
    model = masked_lm()
    assert padded_logits(model, sentence(12), None, TASK).isfinite().all()
    with pytest.raises(IndexError):
        padded_logits(model, sentence(13), None, TASK)


def test_without_learned_positions_there_are_sinusoids():
    model = masked_lm(block=None)
    assert not [key for key, _ in model.named_parameters() if "embed_positions" in key]
    assert padded_logits(model, sentence(40), None, TASK).isfinite().all()


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
