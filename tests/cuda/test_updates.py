"""What an update at the papers' own sizes asks of a CUDA device, counted on a fake one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    # Where there shall be a compiler, tests without one fail.
    pytest.mark.skipif(
        not (shutil.which("g++") or os.environ.get("CI")), reason="no C++ compiler (g++)"
    ),
]
PLAIN, LATENT = (40, 70), (45, 70)
# One run of each kind, and the kernels per layer of the encoder and the decoder at most.
KINDS = {
    "latent_depth/m2o_diverse_24_24": PLAIN,
    "latent_depth/m2o_diverse_ll_both_24_24": LATENT,
    "latent_depth/o2m_diverse_layerdrop_24_24": PLAIN,
    "latent_depth/o2m_diverse_rezero": (43, 71),
    "latent_depth/en_de_dlcl_36_36": (67, 91),  # a layer reads all layers below
    "latent_depth/masked_lm_24": PLAIN,
    "latent_depth/masked_ll_24": LATENT,
    "latent_depth/masked_lm_96_layerdrop": PLAIN,
    "lamgd/domains_lamgd": (46, 70),
    "lamgd/domains_hmgd": PLAIN,
    # Start from another run, which stays as it is. Seven tasks in the update, and three.
    "lamgd/m2o_diverse_adapters": (66, 84),
    "lamgd/domains_adapters": (95, 113),  # wide, so in a loop; 18 make the state of a new task
    "transparent_attention/en_de_transformer_plain_12": PLAIN,
    "transparent_attention/en_de_transformer_no_residuals_12": PLAIN,
    "transparent_attention/en_de_transformer_transparent_12": PLAIN,
    "transparent_attention/en_de_rnmt_plain_12": None,  # kernels per layer and token
    "transparent_attention/en_de_rnmt_transparent_12": None,
}


def asked(run, *options):
    """Return what two updates of a run ask of a device, counted in a process of its own."""
    # A block of a masked model is longer than a sentence; RNMT+ has kernels per token.
    sizes = {"masked": ("20000", "60"), "rnmt": ("100", "6")}
    tokens, longest = next((sizes[kind] for kind in sizes if kind in run), ("2048", "60"))
    command = [sys.executable, "-m", "tests.cuda.updates", run, "--tokens", tokens]
    done = subprocess.run(
        [*command, "--longest", longest, *options], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("run", KINDS)
def test_the_host_never_waits_logits_fit_tensor_cores_and_a_layer_has_few_kernels(run):
    update = asked(run)
    assert update["waits"] == []
    assert update["without_kernel"] == []
    assert update["logits"] == [32_064]  # the vocabulary's entries, to a multiple of 64
    if KINDS[run]:
        counts = [stack["kernels"] for stack in update["per_layer"].values()]
        assert all(count <= most for count, most in zip(counts, KINDS[run], strict=False)), counts
        # The decoder's layers come second; an update without kernels counted nothing.
        assert counts[0] > 30


@pytest.mark.parametrize("run", ["latent_depth/m2o_diverse_ll_both_24_24", "lamgd/domains_lamgd"])
def test_the_host_of_two_ranks_never_waits_for_the_device(run):
    assert asked(run, "--ranks", "2")["waits"] == []


@pytest.mark.parametrize(
    "run",
    [
        "latent_depth/m2o_diverse_24_24",
        "latent_depth/m2o_diverse_ll_both_24_24",
        "latent_depth/masked_lm_24",
        "lamgd/domains_lamgd",
        "transparent_attention/en_de_transformer_transparent_12",
    ],
)
def test_a_layer_in_bfloat16_casts_what_sub_layers_read_and_no_weights(run):
    update = asked(run, "--precision", "bf16")
    assert update["waits"] == []
    assert update["without_kernel"] == []
    stacks = update["per_layer"].values()
    assert all(
        0 < stack["casts"] <= most and stack["kernels"] <= kernels
        for stack, most, kernels in zip(stacks, (8, 12), (56, 83), strict=False)
    ), stacks
