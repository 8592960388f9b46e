import os
import sys
from pathlib import Path

import pytest

from fathom.errors import FathomError, Findings
from fathom.project.load import load
from fathom.workflow.setup import begin, use_own_tools

ROOT = Path(__file__).parents[2]
CONFIG = load(ROOT).config


def test_a_scale_of_the_command_line_is_taken():
    assert begin(ROOT, CONFIG | {"scale": "paper"}, [], check=True).scale == "paper"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"scal": "paper"}, "unknown key 'scal'; nearest valid name: 'scale'"),
        ({"scale": "papr"}, "no scale 'papr'; nearest valid name: 'paper'"),
        ({"device": "gpu"}, "'gpu' has another form"),
        ({"log_every": "1"}, "'1' is not a whole number"),
    ],
)
def test_a_mistake_after_config_is_one_line_with_the_nearest_name(config, message):
    with pytest.raises(FathomError) as caught:
        begin(ROOT, CONFIG | config, [], check=True)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_job_of_a_start_checks_nothing_again():
    with pytest.raises(Findings):
        begin(ROOT, CONFIG | {"unknown": 1}, ["nothing"], check=True)
    begin(ROOT, CONFIG | {"unknown": 1}, ["nothing"], check=False)


def test_a_row_is_text_also_where_it_looks_like_a_number():
    assert (
        begin(
            ROOT,
            CONFIG | {"row": 12},
            [],
            check=True,
        ).row
        == "12"
    )


def test_rules_find_the_commands_of_the_interpreter_that_runs_them(monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin")
    use_own_tools()
    assert os.environ["PATH"].split(os.pathsep) == [str(Path(sys.executable).parent), "/usr/bin"]


@pytest.mark.parametrize("switch", [{"results": "/elsewhere"}, {"log_every": 5}])
def test_a_switch_that_the_commands_behind_the_rules_cannot_hear_is_refused(switch):
    """Snakemake waited in the other folder for files that the commands wrote to config.yaml's."""
    [key] = switch
    with pytest.raises(FathomError) as caught:
        begin(ROOT, CONFIG | switch, [], check=True)
    assert str(caught.value) == (
        f"--config: '{key}' stays as config/config.yaml has it; change it there"
    )
