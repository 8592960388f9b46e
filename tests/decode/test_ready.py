"""Refusals that need no torch."""

import os
import subprocess
import sys
from hashlib import sha256

from fathom.config.paths import Paths
from fathom.decode import ready
from fathom.io.files import write_lines
from fathom.results import decoding_record, recipe
from tests.support.refused import refused
from tests.support.run_files import write_training
from tests.support.specs import small_spec

SPEC = small_spec()


def test_the_checks_load_no_torch():
    probe = "import sys, fathom.decode.ready; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_device_has_a_valid_name():
    for name in ("auto", "cpu", "cuda", "cuda:3"):
        ready.require_device(name)
    for name in ("gpu", "cuda:", "CPU", ""):
        with refused(where="device", remedy="write auto, cpu, cuda or cuda:<n>"):
            ready.require_device(name)


def test_an_unknown_name_gets_the_nearest():
    ready.require_name("test", ready.SPLITS, "split", "--split")
    with refused("no split 'tset'", where="--split", nearest="test"):
        ready.require_name("tset", ready.SPLITS, "split", "--split")


def test_a_network_without_a_decoder_is_refused_with_the_command_that_measures_it():
    ready.require_decoder(SPEC)
    changes = {"model": {"architecture": "masked_lm", "decoder_layers": 0, "block": 64}}
    with refused(remedy="fathom likelihood paper/small"):
        ready.require_decoder(small_spec(changes))


def test_the_weights_that_are_decoded_must_be_there(tmp_path):
    paths = Paths(tmp_path, "tiny")
    with refused("no such file", where="training.json"):
        ready.require_weights(SPEC, 1, paths)
    paths.training(SPEC, 1).mkdir(parents=True)
    with refused("a folder, not a file", where="training.json", remedy="move the folder away"):
        ready.require_weights(SPEC, 1, paths)
    paths.training(SPEC, 1).rmdir()
    write_training(SPEC, paths)
    with refused("no such file", where="last.pt"):
        ready.require_weights(SPEC, 1, paths)
    folder = paths.run(SPEC, 1) / "checkpoints"
    folder.mkdir()
    (folder / "last.pt").touch()
    assert ready.require_weights(SPEC, 1, paths).outcome.finished
    averaged = small_spec({"decoding": {"average_of": 2}})
    saved = {f"checkpoints/update_{n}.pt": "0" * 64 for n in (2, 4)}
    write_training(SPEC, paths, files={"checkpoints/update_2.pt": "0" * 64})
    with refused("weights of 1 updates where the mean of 2 is decoded"):
        ready.require_weights(averaged, 1, paths)
    write_training(SPEC, paths, files=saved)
    ready.require_weights(averaged, 1, paths)
    write_training(SPEC, paths, "diverged")
    (folder / "last.pt").unlink()
    assert not ready.require_weights(SPEC, 1, paths).outcome.finished


def test_decodings_are_missing_that_are_lost_stale_or_older_than_the_training(
    tmp_path, monkeypatch
):
    paths, pair = Paths(tmp_path, "tiny"), ("test", "plain")
    write_training(SPEC, paths)
    assert ready.missing_decodings(SPEC, 1, paths, [pair]) == [pair]
    folder = paths.decoding(SPEC, 1, *pair)
    content = {
        "identity": SPEC.decoding_identity("plain"),
        "split": "test",
        "gates": "plain",
        "recipe": 1,
        "settings": {},
        "weights": [5],
        "outcome": "finished",
        "reason": "",
        "tasks": {"aaa": 1},
        "files": {"aaa.txt": sha256(b"a\n").hexdigest()},
        "no_layer": [],
        "versions": {},
    }
    decoding_record.write(folder, content)
    assert ready.missing_decodings(SPEC, 1, paths, [pair]) == [pair]
    write_lines(folder / "aaa.txt", ["b"])
    assert ready.missing_decodings(SPEC, 1, paths, [pair]) == [pair]
    write_lines(folder / "aaa.txt", ["a"])
    assert ready.missing_decodings(SPEC, 1, paths, [pair]) == []
    with monkeypatch.context() as patched:
        patched.setitem(recipe.RECIPE, "decoding", 2)
        assert ready.missing_decodings(SPEC, 1, paths, [pair]) == [pair]
    later = (folder / "decoding.json").stat().st_mtime_ns + 1
    os.utime(paths.training(SPEC, 1), ns=(later, later))
    assert ready.missing_decodings(SPEC, 1, paths, [pair]) == [pair]
