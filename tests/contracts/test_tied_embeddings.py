"""One table for both sides: a piece has one row, and two dictionaries never share a table."""

import pytest
import torch

from fathom.config.paths import Paths
from fathom.data.tensors import load
from fathom.methods.build import build
from tests.support.refused import refused
from tests.support.small_corpus import small_data
from tests.support.small_runs import train_run
from tests.support.specs import merged, small_spec
from tests.support.trained import write_text

TIED = {"model": {"tie_embeddings": "all"}}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return Paths(tmp_path_factory.mktemp("tied"), "tiny")


def encoded(paths, **subwords):
    """Return the data with these subwords, after writing its text as ids."""
    data = small_data(**subwords)
    write_text(paths, data)
    return data


def test_with_one_model_for_all_text_a_piece_has_one_row_on_both_sides(paths):
    text = load(paths.tensors(encoded(paths, joint=150)))
    source, target = text.source_dictionary, text.target_dictionary
    assert source.symbols == target.symbols
    assert all(source.index(piece) == target.index(piece) for piece in target.symbols)
    spec = small_spec(TIED)
    network = build(spec.model, spec.method, len(text.tasks), source, target)
    ids = torch.arange(len(target))
    rows = network.encoder.embed_tokens(ids), network.decoder.embed_tokens(ids)
    assert torch.equal(*rows)
    assert torch.equal(network.decoder.output_projection.weight, rows[1])


def test_a_tied_run_with_two_dictionaries_never_starts(paths):
    data = encoded(paths)
    text = load(paths.tensors(data))
    assert text.source_dictionary.symbols != text.target_dictionary.symbols
    spec = small_spec(merged(TIED, {"data": data.settings.model_dump()}))
    with refused(
        "source and target have different dictionaries",
        where="model.tie_embeddings: all",
        remedy="joint",
    ):
        train_run(spec, paths.tensors(data), paths.results / "run")
    assert not list((paths.results / "run").rglob("*.pt"))
