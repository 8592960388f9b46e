from pathlib import Path

import pytest

from fathom.catalog.start import begin
from fathom.records.errors import FathomError, Findings

ROOT = Path(__file__).parents[2]
CONFIG = {
    "scale": "tiny", "results": "results", "device": "auto", "tokens_per_device": 9, "log_every": 1,
}  # fmt: skip


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
