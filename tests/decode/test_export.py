"""What other programs get: a whole run for fairseq or CTranslate2, or one task of it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import sentencepiece
import torch
from fairseq import options
from fairseq.checkpoint_utils import load_model_ensemble, load_model_ensemble_and_task
from fairseq.data.indexed_dataset import MMapIndexedDatasetBuilder, data_file_path, index_file_path
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.models.transformer import TransformerModel
from fairseq.tasks import setup_task

from fathom.config.paths import Paths
from fathom.data.sides import sides
from fathom.data.subwords import join
from fathom.decode.export.comparison import CHECKED, require_equal
from fathom.decode.export.export import export
from fathom.decode.ready import require_decoder
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import translate_lines
from fathom.io.records import hashes, read_record
from fathom.nn.network import count_parameters
from tests.reference.padded.networks import padded_logits
from tests.support.refused import refused
from tests.support.small_corpus import LANGUAGES, TASKS, silent, small_data
from tests.support.trained import (
    CPU,
    save,
    trained_spec,
    write_text,
    write_trained,
)

# fairseq's own network masks padding and the future with unlike types.
pytestmark = pytest.mark.filterwarnings("ignore:Support for mismatched key_padding_mask")
# One cap for all sentences, since fairseq's grows with the longest of a batch.
SEARCH = {"beam": 5, "cap_ratio": 0.0, "cap_constant": 15}
IN_FAIRSEQ = SimpleNamespace(beam=5, max_len_a=0.0, max_len_b=15, print_alignment=None)
PLAIN = trained_spec({"decoding": SEARCH})
LATENT = trained_spec(
    {"decoding": SEARCH, "method": {"name": "latent_layers", "stacks": ["decoder"]}}, run="latent"
)
LAYERS = {"decoder": {"bos": (0,), "bel": (1,), "kor": (1,)}}
NAN = float("nan")


@pytest.fixture(scope="module")
def static(paths):
    return write_trained(PLAIN, paths)


def write_mild(spec, paths):
    """Return a run with smaller weights, whose rounding does not exceed the check's tolerance."""
    run = write_trained(spec, paths)
    state = run.network("plain").state_dict()
    save(run, {name: value / 3 for name, value in state.items()})
    return TrainedRun(run.spec, 1, paths, CPU)


@pytest.fixture(scope="module")
def mild(paths):
    return write_mild(replace(PLAIN, run="mild"), paths)


@pytest.fixture(scope="module")
def latent(paths):
    return write_trained(LATENT, paths, layers=LAYERS)


def text_of(run, task):
    """Return a task's test sentences but for the odd ones.

    fairseq would split pieces at some signs, and a long sentence is cut.
    """
    lines = sides(run.spec.data)[0].sentences(run.paths.corpus(run.spec.data), task, "test")
    pieces = run.source_encoder.pieces(task, lines)
    longest = run.spec.data.settings.max_pieces
    return [
        line
        for line, own in zip(lines, pieces, strict=True)
        if line.isprintable() and len(own) <= longest
    ]


def by_stock_fairseq(folder, lines):
    """Return the translations of a user of stock fairseq, with text in binary form.

    `fairseq-generate` does the same, but makes its batches in a compiled part of fairseq.
    """
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.model"))
    (model,), _, task = load_model_ensemble_and_task([str(folder / "checkpoint.pt")])
    assert type(model) is TransformerModel
    for side, dictionary in (("source", task.src_dict), ("target", task.tgt_dict)):
        path = str(folder / f"test.source-target.{side}")
        builder = MMapIndexedDatasetBuilder(data_file_path(path))
        for line in lines:
            pieces = " ".join(processor.encode(line, out_type=str))
            builder.add_item(dictionary.encode_line(pieces, add_if_not_exist=False))
        builder.finalize(index_file_path(path))
    task.load_dataset("test")
    generator = task.build_generator([model.eval()], IN_FAIRSEQ)
    return best_of(task, generator, [model], task.dataset("test"), len(lines))


@pytest.mark.slow
def test_stock_fairseq_gives_the_same_hypotheses_of_a_static_run(static, tmp_path):
    export(static, "fairseq", tmp_path / "exported", None, silent)
    for task in TASKS:
        lines = text_of(static, task)
        expected = translate_lines(static, "plain", task, lines, silent)
        assert by_stock_fairseq(tmp_path / "exported", lines) == expected
        assert len(set(expected)) > len(lines) // 2


@pytest.mark.slow
def test_stock_fairseq_gives_the_same_hypotheses_of_the_layers_of_a_task(latent, tmp_path):
    export(latent, "fairseq", tmp_path / "exported", "kor", silent)
    lines = text_of(latent, "kor")
    expected = translate_lines(latent, "hard", "kor", lines, silent)
    assert by_stock_fairseq(tmp_path / "exported", lines) == expected


def test_the_folder_for_fairseq_has_checkpoint_dictionaries_pieces_and_a_record(static, tmp_path):
    reported = []
    export(static, "fairseq", tmp_path / "new" / "folder", None, reported.append)
    folder = tmp_path / "new" / "folder"
    names = {"checkpoint.pt", "dict.source.txt", "dict.target.txt", "source.model"}
    assert {path.name for path in folder.iterdir()} == {*names, "export.json"}
    record = read_record(folder / "export.json")
    assert record["files"] == {name: hashes(folder, name)[name] for name in names}
    assert (record["program"], record["gates"], record["weights"]) == ("fairseq", "plain", [5])
    assert (record["run"], record["identity"]) == (PLAIN.name, PLAIN.identity)
    assert record["tasks"] == list(TASKS)
    size = count_parameters(static.network("plain"))["total"]
    layers = "2 of 2 encoder and 2 of 2 decoder layers"
    assert reported == [f"fairseq: {folder}: {layers}, {size:,} parameters"]


def test_the_folder_for_ctranslate2_is_loaded_by_it_and_was_checked(mild, tmp_path, monkeypatch):
    ctranslate2 = pytest.importorskip("ctranslate2", reason="run `make ctranslate2`")
    export(mild, "ctranslate2", tmp_path / "exported", None, silent)
    translator = ctranslate2.Translator(str(tmp_path / "exported"), device="cpu")
    (result,) = translator.translate_batch([["▁ta"]], max_decoding_length=5)
    assert len(result.hypotheses[0]) <= 5
    assert "export.json" in {path.name for path in (tmp_path / "exported").iterdir()}
    monkeypatch.setattr("fathom.decode.export.comparison.TOLERANCE", -1.0)
    with refused("the log-probabilities of CTranslate2 differ by", where="bos"):
        export(mild, "ctranslate2", tmp_path / "refused", None, silent)
    assert not (tmp_path / "refused").exists()


@pytest.mark.parametrize("program", ["fairseq", "ctranslate2"])
def test_a_length_penalty_that_a_program_lacks_is_reported(mild, tmp_path, program):
    if program != "fairseq":
        pytest.importorskip(program, reason=f"run `make {program}`")
    search = require_decoder(mild.spec).model_copy(update={"length_penalty_form": "gnmt"})
    run = TrainedRun(replace(mild.spec, decoding=search), 1, mild.paths, CPU)
    reported = []
    export(run, program, tmp_path / "exported", "bos", reported.append)
    what = f"the search of {program} has no form but power"
    assert [line for line in reported if what in line and "fathom translate" in line]
    reported.clear()
    export(mild, program, tmp_path / "power", "bos", reported.append)
    assert not [line for line in reported if what in line]


class WrongFromPiece:
    """A program with our network, whose numbers are off from a piece of a target on."""

    name, remedy = "another program", "do without it"

    def __init__(self, network, first, by):
        self._network, self.first, self.by = network, first, by

    @torch.no_grad()
    def log_probabilities(self, source, target, start):
        previous = target.roll(1)
        previous[0] = start
        logits = padded_logits(self._network, source[None], previous[None], torch.tensor([0]))
        right = logits[0].log_softmax(1).gather(1, target[:, None])[:, 0]
        right[self.first :] -= self.by
        return right


@pytest.mark.parametrize(
    ("first", "by", "off"), [(20, 1, "1"), (0, 1e-3, "0.001"), (0, NAN, "inf")]
)
def test_an_error_far_into_a_sentence_is_found(mild, first, by, off):
    """So is a small one, and no number at all."""
    pairs, network = mild.tensors.split("kor", "valid"), mild.network("plain")
    short = sorted(pairs.target_lengths)[:CHECKED]
    assert short[-1] < 20 < max(pairs.target_lengths)
    require_equal(WrongFromPiece(network, first, 0), network, 0, pairs, "here")
    what = f"the log-probabilities of another program differ by {off} nats"
    with refused(what, where="here", remedy="do without it"):
        require_equal(WrongFromPiece(network, first, by), network, 0, pairs, "here")
    nothing = SimpleNamespace(source_lengths=np.ones(3), target_lengths=np.full(3, 4))
    with refused("no validation text to check another program with", where="here"):
        require_equal(WrongFromPiece(network, 0, 0), network, 0, nothing, "here")


def test_tasks_that_keep_different_layers_need_one_to_be_named(latent, tmp_path):
    with refused("bos and bel keep different layers", remedy="--task bos"):
        export(latent, "fairseq", tmp_path / "exported", None, silent)
    export(latent, "fairseq", tmp_path / "exported", "bel", silent)
    record = read_record(tmp_path / "exported" / "export.json")
    assert record["active"] == {"encoder": [0, 1], "decoder": [1]}
    assert (record["gates"], record["tasks"]) == ("hard", ["bel"])


def test_each_task_has_its_own_pieces_where_models_are_its_own(tmp_path):
    paths = Paths(tmp_path, "tiny")
    spec = replace(PLAIN, data=small_data(per_task=60, english=80))
    write_text(paths, spec.data)
    export(write_trained(spec, paths), "fairseq", tmp_path / "exported", None, silent)
    names = {path.name for path in (tmp_path / "exported").glob("*.model")}
    assert names == {f"source.{task}.model" for task in TASKS}


def test_a_training_without_a_result_is_refused(paths, tmp_path):
    with refused("diverged ("):
        export(write_trained(PLAIN, paths, "diverged"), "fairseq", tmp_path / "x", None, silent)


def one_to_many(folder, place):
    """Return a run from English with a token of the target language."""
    paths, data = Paths(folder, "tiny"), small_data(direction="one_to_many", target_token=place)
    write_text(paths, data)
    return write_mild(replace(PLAIN, data=data), paths)


@pytest.mark.slow
def test_whoever_gives_ctranslate2_the_token_first_gets_our_hypotheses(tmp_path):
    ctranslate2 = pytest.importorskip("ctranslate2", reason="run `make ctranslate2`")
    run, folder = one_to_many(tmp_path, "decoder"), tmp_path / "exported"
    export(run, "ctranslate2", folder, None, silent)
    tokens = read_record(folder / "export.json")["target_tokens"]["decoder"]
    assert tokens == {"bos": "__bos__", "bel": "__bel__", "kor": "__hangul__"}
    translator = ctranslate2.Translator(str(folder), device="cpu")
    pieces = list(run.source_encoder.pieces("bos", ["ta lo mi"]))
    for task in TASKS:
        given = {"target_prefix": [[tokens[task]]], "max_decoding_length": 15, "beam_size": 5}
        (result,) = translator.translate_batch(pieces, **given)
        expected = translate_lines(run, "plain", task, ["ta lo mi"], silent)
        assert [join(result.hypotheses[0])] == expected


def best_of(task, generator, models, dataset, count):
    """Return the translations of fairseq's generator for the first texts of a data set."""
    batch = dataset.collater([dataset[number] for number in range(count)])
    answers = task.inference_step(generator, models, batch)
    by_number = dict(zip(batch["id"].tolist(), answers, strict=True))
    best = [by_number[number][0]["tokens"].tolist() for number in range(count)]
    return [join([task.target_dictionary[piece] for piece in pieces[:-1]]) for pieces in best]


def by_the_task_with_tokens(task, models, settings, lines, processor):
    """Return the translations of fairseq's task with tokens, made as by `fairseq-interactive`."""
    source = task.source_dictionary
    cut = [" ".join(processor.encode(line, out_type=str)) for line in lines]
    tokens = [source.encode_line(pieces, add_if_not_exist=False).long() for pieces in cut]
    dataset = task.build_dataset_for_inference(tokens, [len(ids) for ids in tokens])
    generator = task.build_generator(models, settings)
    return best_of(task, generator, models, dataset, len(lines))


def by_the_documented_command(folder, language, lines, processor):
    """Return what the command of docs/export.md translates; its batches need compiled parts."""
    words = [str(folder), "--path", str(folder / "checkpoint.pt"), "--langs", language]
    words += ["--task", "translation_multi_simple_epoch", "--lang-pairs", f"{language}-{language}"]
    words += ["--source-lang", language, "--target-lang", language]
    for side in ("source", "target"):
        words += [f"--{side}-dict", str(folder / f"dict.{side}.txt")]
    words += ["--decoder-langtok", "--lang-tok-replacing-bos-eos"]
    words += ["--beam", "5", "--max-len-a", "0", "--max-len-b", "15"]
    parser = options.get_interactive_generation_parser()
    cfg = convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, input_args=words))
    task = setup_task(cfg.task)
    models, _ = load_model_ensemble([cfg.common_eval.path], task=task)
    for model in models:
        model.prepare_for_inference_(cfg)
    return by_the_task_with_tokens(task, models, cfg.generation, lines, processor)


@pytest.mark.slow
def test_stock_fairseq_starts_with_the_token_of_a_language_and_gives_our_hypotheses(tmp_path):
    run, folder = one_to_many(tmp_path, "decoder"), tmp_path / "exported"
    export(run, "fairseq", folder, None, silent)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.model"))
    texts = set()
    for task in TASKS:
        lines, language = text_of(run, task), LANGUAGES[task]
        expected = translate_lines(run, "plain", task, lines, silent)
        sides_of = {"source_lang": language, "target_lang": language}
        (model,), _, stock = load_model_ensemble_and_task(
            [str(folder / "checkpoint.pt")], arg_overrides=sides_of
        )
        assert type(model) is TransformerModel
        assert (len(stock.source_dictionary), len(stock.target_dictionary)) == (
            len(run.tensors.source_dictionary),
            len(run.tensors.target_dictionary),
        )
        answers = by_the_task_with_tokens(stock, [model.eval()], IN_FAIRSEQ, lines, processor)
        assert answers == expected
        assert by_the_documented_command(folder, language, lines, processor) == expected
        texts.add(tuple(translate_lines(run, "plain", task, ["ta lo mi"], silent)))
    assert len(texts) > 1


def test_a_checkpoint_starts_with_the_token_of_the_task_that_was_asked_for(tmp_path):
    export(one_to_many(tmp_path / "d", "decoder"), "fairseq", tmp_path / "x", "kor", silent)
    _, settings, task = load_model_ensemble_and_task([str(tmp_path / "x" / "checkpoint.pt")])
    assert settings.task.target_lang == "hangul"
    token = task.data_manager.get_decoder_langtok("hangul", "tgt")
    assert task.target_dictionary[token] == "__hangul__"
    export(one_to_many(tmp_path / "s", "source"), "fairseq", tmp_path / "y", "kor", silent)
    record = read_record(tmp_path / "y" / "export.json")
    assert record["target_tokens"] == {"source": {"kor": "__hangul__"}}
