"""What the verbs on one run open: the run, its gates and its decodings."""

import pytest

from fathom.cli.run_options import one_split, open_run
from tests.support.refused import refused
from tests.support.small_project import GATED, RUN

pytestmark = pytest.mark.usefixtures("project")


def test_a_run_is_opened_with_its_paths():
    opened = open_run(RUN, None, None)
    assert opened.spec.name == f"sample/{RUN}"
    assert opened.paths.scale == "small"


def test_without_gates_those_of_validation_are_taken():
    plain, gated = (open_run(run, None, None) for run in (RUN, GATED))
    assert (plain.one_gates(None), gated.one_gates(None)) == ("plain", "soft")
    assert gated.one_gates("hard") == "hard"
    with refused(nearest="hard"):
        gated.one_gates("hrad")


def test_the_decodings_are_those_that_tables_show_or_the_one_that_is_named():
    gated = open_run(GATED, None, None)
    assert set(gated.decodings(None, None)) == {("test", "soft"), ("test", "hard")}
    assert gated.decodings("valid", None) == [("valid", "soft")]
    assert gated.decodings(None, "hard") == [("test", "hard")]
    with refused(nearest="valid"):
        gated.decodings("vaild", None)


def test_a_window_has_the_size_that_is_named_or_the_runs():
    opened = open_run(RUN, None, None)
    assert opened.with_window(5).spec.decoding.window == 5
    assert opened.with_window(5).spec.identity == opened.spec.identity
    assert opened.with_window(5).with_window(None).spec.decoding.window == 5
    with refused("no window"):
        opened.with_window(None)


def test_an_unknown_device_is_refused_at_once():
    with refused("unknown", "device", "gpu"):
        open_run(RUN, None, None, "gpu")


def test_training_text_is_no_held_out_split():
    assert one_split("test") == "test"
    with refused("unknown", "held-out split", "train"):
        one_split("train")
