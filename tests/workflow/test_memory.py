"""What a job asks for grows with its network, and is never less than the network needs."""

import pytest

from fathom.methods.build import count
from fathom.workflow.memory import memory, stream_memory, text_memory, vocabulary
from tests.support.targets import own_project

SMALL, LARGE = "latent_depth/m2o_diverse_6_6", "latent_depth/masked_lm_96"


def test_a_small_run_fits_where_a_large_one_does_not():
    tiny, paper = (own_project().spec(SMALL, scale) for scale in ("tiny", "paper"))
    assert memory(tiny) < 4_000 < memory(paper) < 32_000 < memory(own_project().spec(LARGE))


@pytest.mark.parametrize(
    "name",
    [
        SMALL,
        LARGE,
        "latent_depth/en_de_big",
        "lamgd/domains_adapters",
        "transparent_attention/en_de_rnmt_plain_big6",
    ],
)
def test_it_is_enough_for_weights_gradients_moments_and_the_copy_that_is_saved(name):
    spec = own_project().spec(name)
    entries = vocabulary(spec.data.subwords, len(spec.data.tasks))
    parameters = count(spec.model, spec.method, len(spec.data.tasks), entries, entries)["total"]
    assert 28 * parameters / 1e6 < memory(spec) - 3_000 < 6 * 28 * parameters / 1e6


def test_a_job_on_text_asks_for_more_where_the_text_is_longer(tmp_path):
    record = tmp_path / "corpus" / "corpus.json"
    assert text_memory([str(record)]) == text_memory([]) < 4_000
    (record.parent / "task").mkdir(parents=True)
    with open(record.parent / "task" / "train.en", "wb") as stream:
        stream.truncate(1_000_000_000)
    assert 10_000 < text_memory([str(record)]) < 20_000
    assert text_memory([str(record)]) > text_memory([str(record)], 1_000_000) > 5_000
    assert stream_memory([str(record)]) < 4_000
