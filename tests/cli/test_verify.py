"""`fathom verify`: what does not fit, and the command that makes it again."""

import json

import pytest

from tests.support.refused import says
from tests.support.small_project import GATED, RUN


@pytest.fixture
def place(own, summarised):
    """The results of a project with two runs."""
    return own(summarised) / "results"


def test_results_that_fit_are_counted(place, call):
    answer = call("verify")
    assert (answer.code, answer.err) == (0, "")
    says("compared", ..., 0).check(answer.out)
    assert call("verify", RUN).code == 0


def test_each_change_is_a_line_and_its_command_makes_the_results_fit_again(place, call):
    (tensors,) = place.glob("tensors/*/kor/train.target.bin")
    (scores,) = place.glob(f"runs/sample/{RUN}-*/1/decodings/*/scores.tsv")
    (weights,) = place.glob(f"runs/sample/{GATED}-*/1/checkpoints/last.pt")
    for path in (tensors, scores, weights):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    answer = call("verify")
    assert answer.code == 1
    *lines, last = answer.lines
    assert len(lines) == 3
    says("compared", ..., 3).check(last)
    for path in (tensors, scores, weights):
        says("changed file", where=path.relative_to(place.parent)).check(lines)
    # One run alone, and its text.
    assert len(call("verify", RUN).lines) == 3
    found = json.loads(call("verify", "--json").out)
    assert [set(one) for one in found["unfit"]] == [{"path", "what", "command"}] * 3
    for one in found["unfit"]:
        for command in one["command"].split(" && "):
            program, *words = command.split()
            if program == "rm":
                (place.parent / words[0]).unlink()
            else:
                assert call(*words).code == 0
    assert call("verify").code == 0


def test_a_run_that_was_not_trained_is_refused(own, text, call):
    own(text)
    says("no training", remedy=f"fathom train {RUN}").check(call("verify", RUN).one_line)
    says(nearest=RUN).check(call("verify", "static_2_3").one_line)


def test_a_folder_that_is_not_there_is_refused(project, call):
    says("no folder", where="elsewhere").check(call("verify", "--results", "elsewhere").one_line)
