"""Hugging Face's transformers gets the same network, pieces and hypotheses, or says why not."""

import sys
from dataclasses import replace

import pytest
import torch
from sentencepiece import SentencePieceProcessor

from fathom.config.paths import Paths
from fathom.data.sides import sides
from fathom.data.tensors import EOS
from fathom.decode.export.export import export
from fathom.decode.export.transformers import UNLIKELY
from fathom.decode.ready import require_decoder
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import decode, texts
from fathom.io.records import read_record
from tests.support.refused import refused
from tests.support.small_corpus import TASKS, silent, small_data
from tests.support.trained import CPU, save, trained_spec, write_text, write_trained

transformers = pytest.importorskip("transformers", reason="run `make transformers`")

CAP = 20
SEARCH = {"beam": 5, "cap_ratio": 0.0, "cap_constant": CAP, "length_penalty": 0.6}
STACKS = {"stacks": ["encoder", "decoder"]}
PLAIN = trained_spec({"decoding": SEARCH})
DROPPED, LATENT = (
    trained_spec({"decoding": SEARCH, "method": {"name": name, **STACKS}}, run=name)
    for name in ("layerdrop", "latent_layers")
)
# What hard gates keep.
LAYERS = {
    "encoder": {"bos": (0, 1), "bel": (0,), "kor": (1,)},
    "decoder": {"bos": (0,), "bel": (0, 1), "kor": (1,)},
}


def write_ending(spec, paths, layers=None):
    """Return a run whose hypotheses differ and mostly end, and whose weights round little."""
    run = write_trained(spec, paths, layers=layers)
    state = run.network("hard" if layers else "plain").state_dict()
    for name, value in state.items():
        if ".method." not in name and ".encoder_attn." not in name:
            state[name] = value / 3
    end = state["decoder.output_projection.weight"][EOS]
    state["decoder.layer_norm.bias"] = end / end.norm() ** 2
    save(run, state)
    return TrainedRun(run.spec, 1, paths, CPU)


def exported(run, folder, task=None):
    export(run, "transformers", folder, task, silent)
    return folder


@pytest.fixture(scope="module")
def static(paths):
    return write_ending(PLAIN, paths)


@pytest.fixture(scope="module")
def folder(static, tmp_path_factory):
    return exported(static, tmp_path_factory.mktemp("exported") / "static")


def by_four_lines(folder, lines):
    """Return what docs/export.md translates: the ids of hypotheses, and their text."""
    source, target = map(transformers.AutoTokenizer.from_pretrained, (folder, folder / "target"))
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    ids = model.generate(**source(lines, return_tensors="pt", padding=True, truncation=True))
    return ids.tolist(), target.batch_decode(ids, skip_special_tokens=True)


def require_our_hypotheses(run, gates, task, folder, distinct):
    """Compare the hypotheses of a task's test text of which none reaches the cap."""
    pairs, (source, _) = run.tensors.split(task, "test"), sides(run.spec.data)
    sources = [pairs.source(number) for number in range(len(pairs))]
    ours = decode(run, gates, sources, [run.task(task)] * len(sources))
    lines = source.sentences(run.paths.corpus(run.spec.data), task, "test")
    rows, theirs = by_four_lines(folder, lines)
    symbols = {*range(EOS + 1), *map(run.tensors.target_dictionary.index, run.tensors.tokens)}
    compared = set()
    for pieces, (start, *row), text in zip(ours, rows, theirs, strict=True):
        assert start == pairs.start
        if len(pieces) < CAP and EOS in row:
            assert row[: row.index(EOS)] == pieces
            compared.add(tuple(pieces))
            # Symbols are no text there.
            assert symbols & {*pieces} or [text] == texts(run, [pieces])
    assert len(compared) >= distinct


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "layers", "gates"),
    [(PLAIN, None, "plain"), (DROPPED, None, "plain"), (LATENT, LAYERS, "hard")],
    ids=["static", "layerdrop", "hard gates"],
)
def test_four_lines_give_our_hypotheses(spec, layers, gates, paths, tmp_path):
    run = write_ending(spec, paths, layers)
    for task in ("bel", "kor"):
        folder = exported(run, tmp_path / task, task if layers else None)
        require_our_hypotheses(run, gates, task, folder, distinct=8)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["decoder", "source"])
def test_the_token_of_a_language_is_read_first(place, tmp_path):
    paths, data = Paths(tmp_path, "tiny"), small_data(direction="one_to_many", target_token=place)
    write_text(paths, data)
    run = write_ending(replace(PLAIN, data=data), paths)
    with refused("the tasks have different tokens of target languages", remedy="--task bos"):
        exported(run, tmp_path / "all")
    for task in ("bel", "kor"):
        require_our_hypotheses(run, "plain", task, exported(run, tmp_path / task, task), distinct=3)


def test_pieces_of_a_unigram_model_and_tied_embeddings_are_ours(tmp_path):
    """The export compares pieces, text and log-probabilities, and would refuse."""
    data = small_data(algorithm="unigram", joint=150)
    changes = {"decoding": SEARCH, "model": {"tie_embeddings": "all", "activation": "gelu"}}
    paths, spec = Paths(tmp_path, "tiny"), replace(trained_spec(changes), data=data)
    write_text(paths, data)
    exported(write_ending(spec, paths), tmp_path / "exported")


def test_the_folder_has_model_tokenizers_search_and_a_record(folder):
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    tokenizer = {"tokenizer.json", "tokenizer_config.json"}
    model = {"config.json", "generation_config.json", "model.safetensors"}
    files = {*model, *tokenizer, *(f"target/{name}" for name in tokenizer), "source.model"}
    assert names == files | {"export.json"}
    record = read_record(folder / "export.json")
    assert (record["program"], {*record["files"]}) == ("transformers", files)
    search = transformers.GenerationConfig.from_pretrained(folder)
    assert (search.num_beams, search.length_penalty, search.max_new_tokens) == (5, 0.6, CAP + 1)


def test_a_search_for_one_hypothesis_has_no_rules_that_put_several_in_order(static, tmp_path):
    search = require_decoder(static.spec).model_copy(update={"beam": 1})
    run = TrainedRun(replace(static.spec, decoding=search), 1, static.paths, CPU)
    exported(run, tmp_path / "exported")
    rules = transformers.GenerationConfig.from_pretrained(tmp_path / "exported")
    assert (rules.num_beams or 1) == 1
    assert not rules.early_stopping


def test_a_length_penalty_that_transformers_lacks_is_reported(static, tmp_path):
    search = require_decoder(static.spec).model_copy(update={"length_penalty_form": "gnmt"})
    run = TrainedRun(replace(static.spec, decoding=search), 1, static.paths, CPU)
    lines: list[str] = []
    export(run, "transformers", tmp_path / "exported", None, lines.append)
    assert "search of transformers has no form but power" in "\n".join(lines)


def test_entries_of_the_source_alone_have_no_probability(folder, static):
    """The dictionary of the target is smaller, and transformers has one size."""
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    entries = len(static.tensors.target_dictionary)
    ids = torch.arange(4, 40)[None]
    with torch.no_grad():
        surplus = model(input_ids=ids, decoder_input_ids=ids).logits[..., entries:]
    assert surplus.size(2) == len(static.tensors.source_dictionary) - entries > 0
    torch.testing.assert_close(surplus, torch.full_like(surplus, UNLIKELY), atol=1e-3, rtol=0)


ODD = {
    "decomposed Hangul": "\u1112\u1161\u11ab",
    "decomposed Latin": "e\u0301 u\u0308",
    "joiner and non-joiner": "\u0915\u094d\u200d\u0937 \u0645\u06cc\u200c\u062e",
    "wide forms": "\uff21\uff5e\uff76\uff9e",
    "control characters": "a\u0007b\tc\u200bd\u2028e",
    "blanks": "  a \u3000 b\u00a0 ",
    "ligature and fraction": "\ufb01 \u00bd \u2122",
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_text_is_normalised_as_by_sentencepiece(odd, folder):
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder).backend_tokenizer
    processor = SentencePieceProcessor(model_file=str(folder / "source.model"))
    expected = processor.normalize(odd).replace("▁", " ").strip()
    assert tokenizer.normalizer.normalize_str(odd) == expected


def test_other_log_probabilities_are_refused_and_leave_nothing(static, tmp_path, monkeypatch):
    monkeypatch.setattr("fathom.decode.export.comparison.TOLERANCE", -1.0)
    with refused("the log-probabilities of transformers differ by", where="bos"):
        exported(static, tmp_path / "refused")
    assert not (tmp_path / "refused").exists()


def test_other_pieces_are_refused_and_a_few_are_reported(static, tmp_path, monkeypatch):
    module, lines = "fathom.decode.export.transformers", []
    monkeypatch.setattr(f"{module}._merges", lambda scores: [])
    with refused("validation sentences differ", where="bos"):
        exported(static, tmp_path / "refused")
    monkeypatch.setattr(f"{module}.DIFFERENT", 1.0)
    export(static, "transformers", tmp_path / "exported", None, lines.append)
    assert [line.split(":")[0] for line in lines[:-1]] == [f"run small, {task}" for task in TASKS]
    assert lines[0].endswith("of 24 validation sentences differ in transformers")


REFUSALS = {
    "norm": (
        {"model": {"norm": "post"}},
        {},
        "transformers has no such network with the norm post",
        "--format fairseq",
    ),
    "models": (
        {},
        {"per_task": 60, "english": 80},
        "the source has 3 SentencePiece models",
        "--format fairseq",
    ),
    "dictionaries": (
        {},
        {},
        "the target's dictionary is smaller, and its final norm has no constant logit",
        "data.subwords.joint",
    ),
}


@pytest.mark.parametrize(("changes", "data", "what", "remedy"), REFUSALS.values(), ids=REFUSALS)
def test_what_transformers_lacks_is_refused_by_name(changes, data, what, remedy, tmp_path):
    paths, spec = Paths(tmp_path, "tiny"), trained_spec({"decoding": SEARCH, **changes})
    spec = replace(spec, data=small_data(**data))
    write_text(paths, spec.data)
    with refused(what, where="run small", remedy=remedy):
        exported(write_trained(spec, paths), tmp_path / "exported")


def test_the_package_that_is_missing_is_named(static, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with refused("not installed", where="transformers", remedy="make transformers"):
        exported(static, tmp_path / "exported")
