"""CTranslate2 gets the same network and finds the same hypotheses, or says why not."""

import builtins
import sys

import pytest
import torch
from fairseq.data import Dictionary

from fathom.config.paths import Paths
from fathom.config.schema.run import Decoding
from fathom.data.tensors import EOS
from fathom.decode.export.comparison import require_equal
from fathom.decode.export.ctranslate2 import BLANK, export, installed, symbols
from fathom.decode.export.plain import plain
from fathom.decode.ready import require_decoder
from tests.support.refused import refused
from tests.support.taught import sentences, write_sentences
from tests.support.trained import (
    built,
    gated,
    in_ctranslate2,
    set_gates,
    write_run,
    write_tensors,
)

pytest.importorskip("ctranslate2", reason="run `make ctranslate2`")


def checked(spec, paths, gates):
    """Export a network, of hard gates what they keep, and compare; raise an error if it differs."""
    folder = write_tensors(paths, spec.data)
    write_sentences(folder, dict.fromkeys(spec.data.tasks, 0), amount=8)
    network = built(spec, paths)
    if gates == "hard":
        layers = {side: dict.fromkeys(spec.data.tasks, kept) for side, kept in KEPT.items()}
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
    checked(gated(changes), Paths(tmp_path, "tiny"), "hard")


@pytest.mark.parametrize(
    ("name", "stacks"), [("static", ()), ("layerdrop", ("encoder", "decoder"))]
)
def test_every_layer_is_written_of_a_method_without_gates(tmp_path, name, stacks):
    folder = checked(gated({}, stacks, name), Paths(tmp_path, "tiny"), "plain")
    # Both sides of these runs have one vocabulary.
    names = {path.name for path in folder.iterdir()}
    assert names == {"model.bin", "config.json", "shared_vocabulary.json"}


def test_padding_has_ctranslate2s_name_and_all_else_its_own():
    dictionary = Dictionary()
    dictionary.add_symbol("▁ta")
    assert symbols(dictionary) == ["<s>", BLANK, "</s>", "<unk>", "▁ta"]


def test_a_package_that_is_missing_or_broken_says_how_to_install_it(monkeypatch):
    assert installed().__name__ == "ctranslate2"
    honest = builtins.__import__

    def broken(name, *rest):
        if name == "ctranslate2":
            raise ImportError("libgomp.so.1: no such file")
        return honest(name, *rest)

    with (
        monkeypatch.context() as patched,
        refused("it cannot be loaded (libgomp.so.1: no such file)", remedy="make ctranslate2"),
    ):
        patched.setattr(builtins, "__import__", broken)
        installed()
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with refused("not installed", where="CTranslate2", remedy="make ctranslate2"):
        installed()


# What hard gates keep in every task.
KEPT = {"encoder": (0, 2), "decoder": (1,)}
SENTENCES, DISTINCT, EQUAL = 400, 30, 0.995
SEARCHES = {
    "beam 5": {},
    "beam 1": {"beam": 1},
    "short hypotheses": {"length_penalty": 0.6},
    "a constant cap": {"cap_ratio": 0.0, "cap_constant": 12},
    "a cap that many reach": {"cap_ratio": 0.5, "cap_constant": 2},
}


def below_the_cap(settings, sources, *answers):
    """Return pairs of hypotheses of which neither reaches its sentence's cap."""
    caps = [settings.cap(len(source) - 1) for source in sources]
    rows = zip(caps, *answers, strict=True)
    return [(own, other) for cap, own, other in rows if max(len(own), len(other)) < cap]


@pytest.mark.parametrize("changes", SEARCHES.values(), ids=SEARCHES)
def test_hypotheses_below_the_cap_are_those_of_our_own_search(taught, search, changes):
    settings = Decoding.model_validate({"beam": 5, "cap_ratio": 1.5, "cap_constant": 4} | changes)
    sources = sentences(SENTENCES, seed=99)
    own = search(taught.network("plain"), sources, settings=settings)
    other = in_ctranslate2(taught, "plain", "bos").best(sources, settings)
    caps = [settings.cap(len(source) - 1) for source in sources]
    assert all(len(each) <= cap for each, cap in zip(other, caps, strict=True))
    compared = below_the_cap(settings, sources, own, other)
    assert len({tuple(each) for each, _ in compared}) >= DISTINCT
    assert sum(each == its for each, its in compared) >= EQUAL * len(compared)


def test_a_length_penalty_that_ctranslate2_lacks_is_refused(taught):
    settings = require_decoder(taught.spec).model_copy(update={"length_penalty_form": "gnmt"})
    translator = in_ctranslate2(taught, "plain", "bos")
    with refused("no length penalty of the form gnmt", remedy="choose power"):
        translator.best(sentences(3, seed=1), settings)


def test_a_source_without_pieces_has_an_empty_hypothesis(taught):
    """CTranslate2 does not search it; ours does."""
    sources = [torch.tensor([EOS]), *sentences(3, seed=1)]
    best = in_ctranslate2(taught, "plain", "bos").best(sources, require_decoder(taught.spec))
    assert [bool(pieces) for pieces in best] == [False, True, True, True]
