"""What fairseq builds from a checkpoint: the same shape, and room for every hypothesis."""

from dataclasses import replace

import pytest
from torch.serialization import get_unsafe_globals_in_checkpoint

from fathom.config.paths import Paths
from fathom.decode.export.fairseq_checkpoint import fairseq_settings
from fathom.decode.trained_run import TrainedRun
from tests.inference.pruned_runs import (
    ACTIVE,
    built,
    gated,
    in_fairseq,
    pruned,
    write_run,
    write_tensors,
)
from tests.support.trained import CPU, set_gates

SPEC = gated()


@pytest.fixture
def run(tmp_path):
    paths = Paths(tmp_path, "tiny")
    write_tensors(paths)
    network = built(SPEC, paths)
    set_gates(network, ACTIVE)
    return write_run(SPEC, paths, network)


def test_the_file_holds_nothing_that_could_run(run):
    folder, _ = pruned(run, "bos")
    assert get_unsafe_globals_in_checkpoint(folder / "model.pt") == []


@pytest.mark.parametrize(("ratio", "constant"), [(0.5, 3), (1.5, 10)])
def test_fairseqs_bound_on_lengths_stays_above_every_cap(run, ratio, constant):
    changes = {"cap_ratio": ratio, "cap_constant": constant}
    spec = replace(SPEC, decoding=SPEC.decoding.model_copy(update=changes))
    folder, _ = pruned(TrainedRun(spec, 1, run.paths, CPU), "bos")
    source, target = in_fairseq(folder).max_positions()
    longest = spec.data.max_pieces
    assert source >= longest + 1
    # fairseq's generator leaves one position to the end symbol.
    assert target - 1 >= int(ratio * longest) + constant


def test_the_settings_name_each_sides_own_layers():
    active = {"encoder": (0, 2, 5), "decoder": (1,)}
    found = fairseq_settings(gated({"norm": "post"}).model, active, 90)
    assert (found["encoder_layers"], found["decoder_layers"]) == (3, 1)
    assert not found["encoder_normalize_before"]
    assert found["max_source_positions"] == 90
