"""Counts of an update on a fake CUDA device against the formulas of plans and of speed."""

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
    pytest.mark.skipif(
        not (shutil.which("g++") or os.environ.get("CI")), reason="no C++ compiler (g++)"
    ),
]
# In a process of its own: the hooks of the fake device must come before torch.
COUNT = """
from tests.cuda import fake_device
import json, sys, tempfile
from dataclasses import replace
from pathlib import Path
from benchmarks import fake_cuda
from fathom.config import demand
from fathom.config.load import load
from fathom.train.ranks import Ranks
from benchmarks.made_up_text import made_up_text
from tests.cuda.updates import ENTRIES, update, with_layers

spec = load(Path("."), check=False).spec(sys.argv[1], "paper")
with tempfile.TemporaryDirectory() as folder:
    tensors = made_up_text(Path(folder), spec, ENTRIES, 400, int(sys.argv[2]))
    shapes = (2, 2), (3, 2), (2, 3), (5, 4)
    made = {s: update(with_layers(spec, *s), tensors, Ranks(0, 1), 16_384) for s in shapes}
deep, record = with_layers(spec, 5, 4), made[5, 4]
counts = {shape: fake_cuda.counts(each) for shape, each in made.items()}
attention = 12 * (5 + 2 * deep.model.decoder_layers) * spec.model.width
attention *= (spec.model.block or demand.SENTENCE) if spec.model.ffn else 0
tokens = record.tokens
print(json.dumps({
    "counted": counts[5, 4],
    "extrapolated": fake_cuda.of_layers(deep, counts),
    "operations": tokens * (demand.operations_per_token(deep, ENTRIES) - attention),
    "seconds": demand.seconds_per_update(deep, ENTRIES, tokens, demand.DEVICES["h200"]),
}))
"""


def counts(run, longest="60"):
    command = [sys.executable, "-c", COUNT, run, longest]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("run", "within"),
    [
        ("latent_depth/m2o_diverse_24_24", 0.01),
        ("latent_depth/masked_lm_24", 0.03),
        # Adapters themselves are left out.
        ("lamgd/m2o_diverse_adapters", 0.12),
    ],
)
def test_the_operations_of_the_formula_are_those_of_an_update(run, within):
    update = counts(run)
    assert update["operations"] == pytest.approx(update["counted"][1], rel=within)


def test_the_cost_of_an_update_is_linear_in_its_layers_and_near_the_plans_estimate():
    update = counts("latent_depth/m2o_diverse_24_24")
    assert update["extrapolated"] == pytest.approx(update["counted"], rel=0.001)
    assert update["seconds"] == pytest.approx(update["counted"][3], rel=0.25)


def test_the_operations_of_a_recurrent_network_are_those_of_an_update():
    update = counts("transparent_attention/en_de_rnmt_plain_12", "6")
    assert update["operations"] == pytest.approx(update["counted"][1], rel=0.05)
