"""decoding.json: a decoding that does not fit its run is refused."""

from dataclasses import replace

from fathom.results import decoding_file
from fathom.results.training_file import Ended
from tests.support.refused import refused
from tests.support.specs import small_spec

SPEC = replace(small_spec(), gates=("soft", "hard"))
FINISHED = Ended(kind="finished", update=5, reason="")


def content(**differences):
    return {
        "identity": SPEC.decoding_identity("soft"),
        "split": "test",
        "gates": "soft",
        "recipe": 1,
        "settings": SPEC.decoding.model_dump(),
        "weights": (5,),
        "outcome": "finished",
        "reason": "",
        "tasks": {"aaa": 3},
        "files": {"aaa.txt": "a" * 64},
        "no_layer": ("bbb",),
        "versions": {"torch": "2.13.0"},
        **differences,
    }


def test_what_is_written_is_read_again(tmp_path):
    decoding_file.write(tmp_path, content())
    file = decoding_file.read(tmp_path, SPEC, "soft", FINISHED)
    assert (file.weights, file.no_layer, file.tasks["aaa"]) == ((5,), ("bbb",), 3)


def test_other_settings_gates_or_weights_are_refused(tmp_path):
    folder = tmp_path / "runs/paper/small-12345678/2/decodings/test.soft-87654321"
    again = "fathom translate paper/small-12345678 --seed 2 --split test --gates soft"
    decoding_file.write(folder, content())
    wider = SPEC.decoding.model_copy(update={"beam": 9})
    averaged = SPEC.decoding.model_copy(update={"average_of": 3})
    for spec, gates in (
        (SPEC, "hard"),
        (replace(SPEC, decoding=wider), "soft"),
        (replace(SPEC, decoding=averaged), "soft"),
    ):
        with refused("other settings or weights", remedy=again):
            decoding_file.read(folder, spec, gates, FINISHED)


def test_another_ending_of_the_training_is_refused(tmp_path):
    decoding_file.write(tmp_path, content())
    ended = Ended(kind="diverged", update=5, reason="")
    with refused("other outcome", "finished", "diverged"):
        decoding_file.read(tmp_path, SPEC, "soft", ended)


def test_what_is_no_decoding_is_never_written(tmp_path):
    with refused(where="recipe"):
        decoding_file.write(tmp_path, content(recipe="1"))
    assert not list(tmp_path.iterdir())
