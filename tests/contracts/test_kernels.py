"""Packed states against fairseq's layers: every method on every network, with equal weights."""

from collections.abc import Iterator

import pytest
import torch
from fairseq import utils
from torch import Tensor

from fathom.config import plugins
from fathom.decode import contracts
from fathom.decode.contracts import LENGTHS, update
from fathom.nn.cpu import ONEDNN_ROWS, MatmulPrecision
from fathom.nn.loss import smoothed_loss
from fathom.nn.network import Batch, Network, Predicted
from tests.contracts import test_networks
from tests.contracts.test_methods import choices, example
from tests.reference.padded.networks import padded_predict
from tests.support.layer_hooks import deep_norm
from tests.support.small_networks import PAD, batch, card, gradients

pytestmark = pytest.mark.slow

TASKS = torch.tensor([0, 1, 1, 0])
KINDS = ("transformer", "masked_lm")


class RoundedUp(MatmulPrecision):
    """Rows are rounded up as for oneDNN, which on some machines would round values too."""

    multiple = ONEDNN_ROWS


HIGHEST, ROUNDED = (kind("highest", {}) for kind in (MatmulPrecision, RoundedUp))
# The reference, in the place of a precision.
FAIRSEQ = None


def cases(every_norm: bool) -> Iterator[object]:
    """Yield each kind of network with each method and named value of a setting, and norms.

    Without `every_norm` each method has its first norm, and the static one all of them.
    """
    for name in plugins.names("methods"):
        norms = card(name).about.norms
        for kind in KINDS:
            for norm in norms if every_norm or name == "static" else norms[:1]:
                yield pytest.param(kind, name, norm, {}, id=f"{kind}-{name}-{norm}")
    for choice in choices():
        name, changes = choice.values
        norm = card(name).about.norms[0]
        yield pytest.param("transformer", name, norm, changes, id=choice.id)


CASE = ("kind", "name", "norm", "changes")


def built(kind: str, name: str, norm: str, changes: dict, **model: object) -> Network:
    """Return a network of which no part is at rest."""
    tied = {"tie_embeddings": "all"} if kind == "masked_lm" else {}
    made = test_networks.built(kind, name, norm, changes, **(tied | model))
    stream = torch.Generator().manual_seed(4)
    for part, parameter in made.named_parameters():
        # Gates and new adapters start where they change nothing, and biases at zero.
        size = 0.1 if ".method." in part else 0.02
        parameter.data += size * torch.randn(parameter.shape, generator=stream)
    return made


def texts(kind: str) -> Batch:
    """Return texts of two tasks; of a masked language model some pieces are hidden."""
    source, previous, target = batch(LENGTHS)
    if kind == "masked_lm":
        hidden = torch.rand(source.shape, generator=torch.Generator().manual_seed(5)) < 0.4
        target = source.where(hidden & source.ne(PAD), PAD)
    rows = torch.arange(len(LENGTHS))
    return Batch(source, previous, target, TASKS, rows, int(target.ne(PAD).sum()))


def predict(model: Network, matmul: MatmulPrecision | None, these: Batch) -> Predicted:
    if matmul is FAIRSEQ:
        return padded_predict(model, these)
    return model.set_matmul(matmul).predict(these)


def outcome(
    model: Network, matmul: MatmulPrecision | None, kind: str
) -> tuple[Tensor, Tensor, Tensor]:
    """Return logits and targets of the texts, and their loss, with gradients in the network."""
    model.start_update(1, 1)
    logits, target, _ = predict(model, matmul, texts(kind))
    loss, _ = smoothed_loss(logits, target, 0.1)
    loss.backward()
    return logits[: len(target)], target, loss


def compare(models: list[Network], kind: str, fast: MatmulPrecision, tolerance: float) -> None:
    expected = outcome(models[0], FAIRSEQ, kind)
    got = outcome(models[1], fast, kind)
    assert torch.equal(expected[1], got[1])
    torch.testing.assert_close(got[0], expected[0], atol=tolerance, rtol=tolerance)
    torch.testing.assert_close(got[2], expected[2], atol=tolerance, rtol=tolerance)
    reached = gradients(models[1])
    for name, gradient in gradients(models[0]).items():
        if gradient is None:
            assert reached[name] is None, name
        else:
            atol = tolerance * max(1.0, gradient.abs().max().item())
            torch.testing.assert_close(reached[name], gradient, atol=atol, rtol=0, msg=name)


@pytest.fixture
def exact(monkeypatch):
    """Let fairseq's cross-attention keep float64, where it rounds its softmax to float32."""
    monkeypatch.setattr(utils, "softmax", lambda x, dim, onnx_trace=False: torch.softmax(x, dim))


@pytest.mark.parametrize(CASE, [*cases(every_norm=True)])
def test_in_float64_they_are_equal_but_for_fairseqs_one_softmax(kind, name, norm, changes, exact):
    models = [built(kind, name, norm, changes).double() for _ in range(2)]
    compare(models, kind, HIGHEST, 1e-11)


@pytest.mark.parametrize(CASE, [*cases(every_norm=False)])
def test_in_float32_they_agree_also_with_rounded_up_rows(kind, name, norm, changes):
    models = [built(kind, name, norm, changes) for _ in range(2)]
    compare(models, kind, ROUNDED, 1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gates", ["soft", "hard"])
@pytest.mark.parametrize("gate_on", ["block", "sub_layer"])
def test_at_inference_they_are_equal_with_layers_left_out(kind, gates, gate_on, exact):
    model = built(kind, "latent_layers", "pre", {"gate_on": gate_on}).double().eval()
    for each in model.methods.values():
        each.alpha.data = torch.tensor([[5.0, -3.0, -2.0], [4.0, -4.0, 3.0]], dtype=torch.float64)
        assert each.stack.layers == 3
    model.use_gates(gates)
    with torch.no_grad():
        slow, fast = (predict(model, each, texts(kind)) for each in (FAIRSEQ, HIGHEST))
    for one, other in zip(slow, fast, strict=True):
        torch.testing.assert_close(one, other, atol=1e-11, rtol=0)


@pytest.mark.parametrize("changes", [{"residuals": ()}, {"tie_embeddings": "none"}, {"heads": 2}])
@pytest.mark.parametrize("output_bias", [False, True])
def test_they_are_equal_in_other_shapes(changes, output_bias, exact):
    size = {"output_bias": output_bias} | changes
    models = [built("transformer", "static", "pre", {}, **size).double() for _ in range(2)]
    compare(models, "transformer", HIGHEST, 1e-11)


def test_they_are_equal_with_the_first_weights_and_residuals_of_deep_norm(exact):
    compare([deep_norm().double() for _ in range(2)], "transformer", HIGHEST, 1e-11)


@pytest.mark.parametrize("kind", [*KINDS, "rnmt_plus"])
def test_targets_and_tasks_come_sentence_after_sentence(kind):
    model, these = test_networks.built(kind, "static"), texts(kind)
    for matmul in (FAIRSEQ, HIGHEST, ROUNDED):
        logits, target, tasks = predict(model, matmul, these)
        assert len(logits) >= len(target) == len(tasks) == these.tokens
        assert torch.equal(target, these.target[these.target != PAD])
        assert torch.equal(tasks, TASKS[(these.target != PAD).nonzero()[:, 0]])


@pytest.mark.parametrize("norm", ["pre", "post", "lingvo", "none"])
def test_gates_at_zero_and_one_leave_a_layer_out_or_in_to_the_bit(norm):
    model = built("transformer", "latent_layers", norm, {})
    static = built("transformer", "static", norm, {})
    static.load_state_dict(
        {name: value for name, value in model.state_dict().items() if ".method." not in name}
    )
    for each in model.methods.values():
        each.alpha.data.fill_(200.0)
    both = [outcome(each, ROUNDED, "transformer") for each in (model, static)]
    assert torch.equal(both[0][0], both[1][0])
    found = gradients(model)
    for name, gradient in gradients(static).items():
        assert torch.equal(gradient, found[name]), name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("residuals", [("encoder", "decoder"), ()])
def test_in_bfloat16_they_agree_within_its_rounding(kind, residuals):
    models = [
        built(kind, "latent_layers", "pre", {}, dropout=0.0, residuals=residuals) for _ in range(2)
    ]
    with torch.autocast("cpu", torch.bfloat16):
        slow, fast = (
            outcome(model, matmul, kind)[2].item()
            for model, matmul in zip(models, (FAIRSEQ, HIGHEST), strict=True)
        )
    assert fast == pytest.approx(slow, rel=2e-2)
    assert all(gradient.isfinite().all() for gradient in gradients(models[1]).values())


@pytest.mark.parametrize("p", ["dropout", "attention_dropout", "activation_dropout"])
def test_each_kind_of_dropout_is_drawn_in_training_alone(p):
    model = built("transformer", "static", "pre", {}, **{p: 0.5})
    for matmul in (FAIRSEQ, HIGHEST):
        for training in (True, False):
            model.train(training)
            one, other = (predict(model, matmul, texts("transformer")).logits for _ in range(2))
            assert torch.equal(one, other) is not training


@pytest.mark.slow
@pytest.mark.parametrize("name", ["static", "latent_layers"])
def test_compiled_layers_learn_the_same(name):
    """The compiler itself needs a device; here it only traces the layers."""
    plain, compiled = (example(name).training() for _ in range(2))
    compiled.network.compile_layers(backend="eager")
    for number in (1, 2):
        for run in (plain, compiled):
            update(run, number, contracts.sentences(seed=number))
    expected = dict(plain.network.named_parameters())
    for part, parameter in compiled.network.named_parameters():
        assert torch.equal(parameter, expected[part]), part
