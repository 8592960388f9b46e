"""What hard gates keep of a network is a plain Transformer, which fairseq's own can be."""

import re
import shutil
from dataclasses import replace

import pytest
import torch
from fairseq.checkpoint_utils import load_model_ensemble_and_task
from fairseq.models.transformer import TransformerModel
from torch.serialization import get_unsafe_globals_in_checkpoint

from fathom.config.paths import Paths
from fathom.decode.export.plain import active_layers, beyond_keeping, parameters, plain_state
from fathom.decode.trained_run import TrainedRun
from fathom.io.errors import FathomError
from fathom.nn.hooks import Method
from tests.reference.padded.networks import padded_logits
from tests.support.refused import refused, says
from tests.support.small_corpus import TASKS, small_data
from tests.support.small_networks import batch, stack
from tests.support.specs import ROOT, card
from tests.support.trained import (
    ACTIVE,
    CPU,
    ENTRIES,
    built,
    gated,
    in_fairseq,
    pruned,
    set_gates,
    write_run,
    write_tensors,
)

# fairseq's own network masks padding and the future with unlike types.
pytestmark = pytest.mark.filterwarnings("ignore:Support for mismatched key_padding_mask")
SPEC = gated()
LENGTHS = [(5, 4), (9, 6), (2, 8)]
CARDS = [card(path.stem) for path in sorted((ROOT / "config" / "methods").glob("*.yaml"))]
# Each method with gates, as its card's defaults and as each of its presets have it.
GATED = [
    pytest.param(each.name, settings, norm, id=f"{each.name}-{preset}-{norm}")
    for each in CARDS
    for preset, settings in ({"default": {}} | dict(each.about.presets)).items()
    for norm in ("pre", "post")
    if each.about.gates and norm in each.about.norms
]


@pytest.fixture
def paths(tmp_path):
    """Return the places of a run's files, with dictionaries and without sentences."""
    paths = Paths(tmp_path, "tiny")
    write_tensors(paths)
    return paths


@pytest.fixture
def network(paths):
    return with_gates(SPEC, paths)


@pytest.fixture
def run(paths, network):
    return write_run(SPEC, paths, network)


def with_gates(spec, paths, layers=ACTIVE):
    """Return a run's network, whose hard gates keep these layers of each task."""
    network = built(spec, paths)
    set_gates(network, layers)
    return network


def with_random_method(spec, paths):
    """Return a run's network, whose method has random parameters."""
    network = built(spec, paths)
    stream = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for method in network.methods.values():
            for parameter in method.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=stream))
    return network


def with_hard_gates(network, task):
    """Return a network's logits for a batch of one task, and its own padding."""
    source, previous, _ = batch(LENGTHS)
    tasks = torch.full((len(LENGTHS),), TASKS.index(task))
    with torch.no_grad():
        return padded_logits(network.use_gates("hard"), source, previous, tasks)


def by_fairseq(model):
    source, previous, _ = batch(LENGTHS)
    lengths = torch.tensor([pair[0] for pair in LENGTHS])
    with torch.no_grad():
        return model(source, lengths, previous)[0]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "post"},
        {"norm": "post", "tie_embeddings": "none", "activation": "gelu"},
        {"tie_embeddings": "all", "encoder_layers": 3, "heads": 2, "ffn": 40},
    ],
)
def test_fairseqs_own_network_computes_what_ours_does_with_hard_gates(changes, paths):
    spec = gated(changes)
    network = with_gates(spec, paths)
    run = write_run(spec, paths, network)
    logits = {}
    for task in TASKS:
        folder, content = pruned(run, task)
        model, logits[task] = in_fairseq(folder), with_hard_gates(network, task)
        assert torch.allclose(by_fairseq(model), logits[task], atol=1e-5)
        for name in ("encoder", "decoder"):
            assert content["active"][name] == list(ACTIVE[name][task])
            assert len(model.get_submodule(f"{name}.layers")) == len(ACTIVE[name][task])
    assert not torch.allclose(logits["bos"], logits["bel"], atol=1e-2)
    assert not torch.allclose(logits["bos"], logits["kor"], atol=1e-2)


def test_a_stack_without_the_method_keeps_all_of_its_layers(paths):
    spec = gated(stacks=("decoder",))
    network = with_gates(spec, paths)
    folder, content = pruned(write_run(spec, paths, network), "bos")
    assert content["active"] == {"encoder": [0, 1, 2], "decoder": [1, 2]}
    logits = with_hard_gates(network, "bos")
    assert torch.allclose(by_fairseq(in_fairseq(folder)), logits, atol=1e-5)


def test_the_final_norms_stay_which_fairseq_takes_from_weights_without_a_version(run):
    folder, _ = pruned(run, "bos")
    assert by_fairseq(in_fairseq(folder)).isfinite().all()
    saved = torch.load(folder / "model.pt", weights_only=True)
    for side in ("encoder", "decoder"):
        assert in_fairseq(folder).get_submodule(side).layer_norm is not None
        del saved["model"][f"{side}.version"]
        del saved["model"][f"{side}.layer_norm.weight"]
        del saved["model"][f"{side}.layer_norm.bias"]
    torch.save(saved, folder / "model.pt")
    assert in_fairseq(folder).encoder.layer_norm is None


def test_a_folder_that_was_moved_is_loaded_as_any_model_of_fairseq(run, network, tmp_path):
    folder, _ = pruned(run, "bos")
    shutil.move(folder, tmp_path / "elsewhere")
    hub = TransformerModel.from_pretrained(str(tmp_path / "elsewhere"), "model.pt")
    assert len(hub.src_dict) == len(hub.tgt_dict) == ENTRIES
    assert torch.allclose(by_fairseq(hub.models[0]), with_hard_gates(network, "bos"), atol=1e-5)
    where = {"data": str(tmp_path / "elsewhere")}
    (model,), settings, _ = load_model_ensemble_and_task(
        [str(tmp_path / "elsewhere" / "model.pt")], arg_overrides=where
    )
    assert settings.task.data == where["data"]
    assert not settings.task.left_pad_source
    assert len(model.encoder.layers) == 2


def test_a_network_that_fairseqs_transformer_cannot_be_is_refused(run):
    """Config refuses CTranslate2 for the same; tests/config has what a network may not have."""
    for changes, what in (({"architecture": "rnmt_plus"}, "the arch"), ({"block": 9}, "learned")):
        spec = replace(SPEC, model=SPEC.model.model_copy(update=changes))
        other = write_run(spec, run.paths, built(SPEC, run.paths))
        with refused(re.compile(f"not a plain Transformer: {what}")):
            pruned(other, "bos")


@pytest.mark.parametrize("name", ["encoder", "decoder"])
def test_a_task_of_which_a_stack_has_no_layer_left_is_refused(name, paths):
    network = with_gates(SPEC, paths, ACTIVE | {name: ACTIVE[name] | {"bel": ()}})
    run = write_run(SPEC, paths, network)
    with refused(f"no {name} layer is left", where="bel", remedy="choose another run"):
        pruned(run, "bel")
    assert pruned(run, "bos")[1]["active"][name] == [*ACTIVE[name]["bos"]]


@pytest.mark.parametrize(("name", "settings", "norm"), GATED)
def test_what_is_written_of_any_gated_method_is_what_its_hard_gates_compute(
    name, settings, norm, paths
):
    spec = gated({"norm": norm}, card(name).about.stacks, name, **settings)
    network = with_random_method(spec, paths)
    run = write_run(spec, paths, network)
    for task in TASKS:
        try:
            folder, _ = pruned(run, task)
        except FathomError as error:
            expected = (
                says("layer is left"),
                says("'s method does more than keep or skip layers ('"),
            )
            if not any(message.matches(error) for message in expected):
                raise
            continue
        logits = with_hard_gates(network, task)
        assert torch.allclose(by_fairseq(in_fairseq(folder)), logits, atol=1e-5)


@pytest.mark.parametrize(
    ("place", "kind"),
    [("source", "TranslationTask"), ("decoder", "TranslationMultiSimpleEpochTask")],
)
def test_a_token_is_named_and_fairseqs_own_network_computes_what_ours_does(tmp_path, place, kind):
    spec, paths = gated(), Paths(tmp_path, "tiny")
    spec = replace(spec, data=small_data(direction="one_to_many", target_token=place))
    write_tensors(paths, spec.data)
    network = with_gates(spec, paths)
    folder, _ = pruned(write_run(spec, paths, network), "kor")
    assert {path.name for path in folder.glob("dict.*")} == {"dict.eng.txt", "dict.hangul.txt"}
    logits = with_hard_gates(network, "kor")
    assert torch.allclose(by_fairseq(in_fairseq(folder, kind)), logits, atol=1e-5)


def test_the_file_holds_nothing_that_could_run(run):
    folder, _ = pruned(run, "bos")
    assert get_unsafe_globals_in_checkpoint(folder / "model.pt") == []


@pytest.mark.parametrize(("ratio", "constant"), [(0.5, 3), (1.5, 10)])
def test_fairseqs_bound_on_lengths_stays_above_every_cap(run, ratio, constant):
    changes = {"cap_ratio": ratio, "cap_constant": constant}
    spec = replace(SPEC, decoding=SPEC.decoding.model_copy(update=changes))
    folder, _ = pruned(TrainedRun(spec, 1, run.paths, CPU), "bos")
    source, target = in_fairseq(folder).max_positions()
    longest = spec.data.settings.max_pieces
    assert source >= longest + 1
    # fairseq's generator leaves one position to the end symbol.
    assert target - 1 >= int(ratio * longest) + constant


# Whether a network is a plain Transformer


def test_layers_are_numbered_from_0_and_the_methods_parameters_left_out():
    names = ["encoder.embed_tokens.weight", "encoder.method.alpha", "encoder.layer_norm.bias"]
    names += [f"encoder.layers.{layer}.self_attn.k_proj.bias" for layer in range(12)]
    names += ["decoder.layers.0.fc1.bias", "decoder.layers.1.fc1.bias", "decoder.method.scale.bias"]
    state = {name: torch.tensor([float(place)]) for place, name in enumerate(names)}
    found = plain_state(state, {"encoder": (1, 10, 11), "decoder": (1,)})
    assert {name: tensor.item() for name, tensor in found.items()} == {
        "encoder.version": 3,
        "decoder.version": 3,
        "encoder.embed_tokens.weight": 0,
        "encoder.layer_norm.bias": 2,
        "encoder.layers.0.self_attn.k_proj.bias": 4,
        "encoder.layers.1.self_attn.k_proj.bias": 13,
        "encoder.layers.2.self_attn.k_proj.bias": 14,
        "decoder.layers.0.fc1.bias": 16,
    }


def test_a_shared_tensor_counts_once_and_the_number_of_the_format_not_at_all():
    shared, own = torch.zeros(3, 2), torch.zeros(5)
    state = {"decoder.embed_tokens.weight": shared, "decoder.output_projection.weight": shared}
    active = {"encoder": (0,), "decoder": (0,)}
    assert parameters(plain_state(state | {"encoder.layers.0.fc1.bias": own}, active)) == 11


class Skipping(Method):
    """Keeps the middle layer alone."""

    def keep(self, layer):
        return layer == 1


def leaving(self, layer, outputs):
    return outputs[-1 if layer < self.stack.layers else 0]


def scaling(self, layer, part, x, fx):
    return x + 0.999 * fx if part == "ffn" else x + fx


def remembering(self, outputs, count):
    return [*[outputs[-1]] * (count - 1), outputs[0]]


@pytest.mark.parametrize(
    ("hook", "function"),
    [
        (None, None),
        ("block", lambda self, layer, x, y: 0.5 * x + 0.5 * y),
        ("source", lambda self, layer, outputs: sum(outputs) / len(outputs)),
        ("source", leaving),
        ("after", lambda self, layer, y: y + 1e-3),
        ("residual", scaling),
        ("memory", remembering),
    ],
)
def test_a_method_that_does_more_than_skip_layers_is_found_out(hook, function):
    each = type("Made", (Skipping,), {hook: function} if hook else {})(stack("encoder"))
    assert active_layers(each, 0) == (1,)
    assert beyond_keeping(each, 0) == hook
    assert active_layers(Method(stack("encoder")), 0) == (0, 1, 2)
    assert beyond_keeping(Method(stack("encoder")), 0) is None


@pytest.mark.parametrize("method", CARDS, ids=lambda method: method.name)
def test_a_card_names_the_gates_with_which_nothing_is_added(method, paths):
    """Config refuses CTranslate2 by the card; the network decides."""
    norm = "pre" if "pre" in method.about.norms else method.about.norms[0]
    spec = gated({"norm": norm}, method.about.stacks, method.name)
    network = with_random_method(spec, paths)
    for gates in ("soft", "hard") if method.about.gates else ("plain",):
        network.use_gates(gates)
        hooks = [beyond_keeping(each, 0) for each in network.methods.values()]
        assert (hooks == [None, None]) is (gates in method.about.plain_with)
