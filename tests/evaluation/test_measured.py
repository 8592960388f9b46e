"""A measurement file is of a training, and says so where there is nothing to measure."""

import pytest

from fathom.io.errors import FathomError
from fathom.results import measurements
from fathom.results.measurements import Number, Record
from fathom.scoring.measured import measure, path_of, write
from tests.evaluation.conftest import spec_of
from tests.support.refused import refused
from tests.support.run_files import write_training

SPEC = spec_of()
NLL = {"nll.valid.plain": Record(unit="nats", tasks={"bos": Number(value=4.0)},
                                 missing={"kor": "no layer"})}  # fmt: skip


def likelihood(paths, records, lines):
    return measure(
        SPEC, 1, paths, "likelihood", records, lines.append, split="valid", gates="plain"
    )


def test_a_finished_training_is_measured(paths):
    write_training(SPEC, paths)
    lines = []
    file = likelihood(paths, lambda: NLL, lines)
    path = path_of(SPEC, 1, paths, "likelihood", "valid", "plain")
    assert path.name.startswith("likelihood.valid.plain-")
    assert measurements.read(path) == file
    assert (file.run, file.seed, file.identity) == (SPEC.name, 1, SPEC.identity)
    assert (file.outcome, file.measurements) == ("finished", NLL)
    assert lines == ["kor: no layer", str(path)]


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_training_without_a_result_passes_its_outcome_on_unmeasured(paths, kind):
    write_training(SPEC, paths, kind)
    lines = []
    file = likelihood(paths, lambda: pytest.fail("measured"), lines)
    assert (file.outcome, file.update, file.measurements) == (kind, 5, {})
    assert lines[0] == f"{kind.replace('_', ' ')} (it has {kind})"


def test_a_measurement_that_fails_leaves_no_older_file(paths):
    write_training(SPEC, paths)
    likelihood(paths, lambda: NLL, [])

    def broken():
        raise FathomError("broken", "here", "repair it")

    with refused(where="here"):
        likelihood(paths, broken, [])
    assert not path_of(SPEC, 1, paths, "likelihood", "valid", "plain").exists()


def test_settings_of_the_rule_are_kept(paths):
    write_training(SPEC, paths)
    path = write(SPEC, 1, paths, "window", {}, None, "plain", {"size": 21})
    assert measurements.read(path).settings == {"size": 21}


def test_a_training_that_has_not_ended_is_refused(paths):
    with refused("no such file", where="training.json"):
        likelihood(paths, dict, [])
