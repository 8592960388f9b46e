"""A plain Transformer in CTranslate2's format: every shape computes what ours does."""

import builtins
import sys
from pathlib import Path

import pytest
from fairseq.data import Dictionary

from fathom.config.paths import Paths
from fathom.decode.export.ctranslate2_exports import export
from fathom.decode.export.ctranslate2_model import BLANK, installed, symbols
from fathom.decode.export.ctranslate2_search import require_equal
from fathom.decode.export.plain import plain
from tests.inference.pruned_runs import built, gated, write_run, write_tensors
from tests.support.refused import refused
from tests.support.taught import write_sentences
from tests.support.trained import set_gates

ACTIVE = {"encoder": (0, 2), "decoder": (1,)}


def checked(changes, paths, name="latent_layers", **settings):
    """Export what hard gates keep of a network, and compare; raise an error if it differs."""
    stacks = ("encoder", "decoder") if name == "latent_layers" else settings.pop("stacks", ())
    spec = gated(changes, stacks, name, **settings)
    folder = write_tensors(paths, spec.data)
    write_sentences(folder, dict.fromkeys(spec.data.tasks, 0), amount=8)
    network = built(spec, paths)
    gates = "plain"
    if name == "latent_layers":
        gates = "hard"
        layers = {side: dict.fromkeys(spec.data.tasks, kept) for side, kept in ACTIVE.items()}
        set_gates(network, layers)
    run = write_run(spec, paths, network)
    network = run.network(gates)
    transformer = plain(network, spec.model, 0, "here")
    folder = paths.top / "exported"
    folder.mkdir(parents=True)
    search = export(folder, run, transformer)
    require_equal(search, network, 0, run.tensors.split("bos", "valid"), "here")
    return folder


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "post"},
        {"norm": "post", "tie_embeddings": "none", "activation": "gelu"},
        {"tie_embeddings": "all", "heads": 2, "ffn": 40},
    ],
)
def test_the_layers_that_hard_gates_keep_are_exact_in_every_shape(changes, tmp_path):
    checked(changes, Paths(tmp_path, "tiny"))


def test_layerdrop_computes_every_layer(tmp_path):
    checked({}, Paths(tmp_path, "tiny"), "layerdrop", stacks=("encoder", "decoder"))


def test_a_folder_has_the_weights_the_vocabularies_and_the_settings(tmp_path):
    folder = checked({}, Paths(tmp_path, "tiny"), "static")
    names = {path.name for path in Path(folder).iterdir()}
    # Both sides of these runs have one vocabulary.
    assert names == {"model.bin", "config.json", "shared_vocabulary.json"}


def test_padding_has_ctranslate2s_name_and_all_else_its_own():
    dictionary = Dictionary()
    dictionary.add_symbol("▁ta")
    assert symbols(dictionary) == ["<s>", BLANK, "</s>", "<unk>", "▁ta"]


def test_a_missing_package_says_how_to_install_it(monkeypatch):
    assert installed().__name__ == "ctranslate2"
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with refused("not installed", where="CTranslate2", remedy="make ctranslate2"):
        installed()


def test_a_package_that_does_not_load_says_why(monkeypatch):
    honest = builtins.__import__

    def broken(name, *rest):
        if name == "ctranslate2":
            raise ImportError("libgomp.so.1: no such file")
        return honest(name, *rest)

    monkeypatch.setattr(builtins, "__import__", broken)
    with refused("does not load", "libgomp.so.1: no such file", remedy="make ctranslate2"):
        installed()
