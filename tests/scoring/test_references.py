"""Which references and which lines BLEU is of: joined pieces, a part of the test set, languages."""

from dataclasses import replace

import numpy as np
import pytest
from sacrebleu import corpus_bleu

from fathom.config import tokenizers
from fathom.data.subwords import train
from fathom.io.files import write_lines
from fathom.results import measurements
from fathom.results.training_record import MeasurementFile
from fathom.scoring.metrics import HeldOut, bleu, measure
from fathom.scoring.score import score
from tests.scoring.conftest import write_decoding
from tests.support.run_files import scores, write_training
from tests.support.small_corpus import record_corpus, silent
from tests.support.specs import small_spec

# With a precomposed letter, which NFKC takes apart, and signs that it replaces.
HINDI = ["यह लड़का बड़ा है और बहुत लंबा है।", "उसने ½ सेब खाया … और सो गया।", "गाड़ी बड़े पेड़ के पास खड़ी है।"]
PRECOMPOSED = [line.replace("ड\u093c", "\u095c") for line in HINDI]
ENGLISH = ["The tall boy is there.", "He ate half of it and slept.", "The car is near the tree."]
MODELS = {"subwords": {"algorithm": "unigram", "foreign": 60, "english": 50}}


@pytest.fixture
def hindi(paths):
    """A function that scores hypotheses in Hindi; it returns scores by label and measurements."""

    def scored(hypotheses, asked, split=None, parts=()):
        definition = {"pivot": "eng", "tasks": [["hin", "hin"]], "split": split or {}}
        data, scoring = MODELS | {"direction": "one_to_many"}, {"tokenizers": asked}
        changes = {"data": data, "scoring": scoring | {"bootstrap_samples": 100}}
        spec = small_spec(changes, tasks=("hin",), definition=definition)
        write_training(spec, paths, "finished")
        corpus = paths.corpus(spec.data)
        for each in ("train", "valid", "test"):
            write_lines(corpus / "hin" / f"{each}.hin", PRECOMPOSED)
            write_lines(corpus / "hin" / f"{each}.eng", ENGLISH)
        for part, numbers in dict(parts).items():
            write_lines(corpus / "hin" / f"test.{part}.lines", map(str, numbers))
        record_corpus(corpus)
        train(spec.data, corpus, paths.subwords(spec.data), silent)
        write_decoding(spec, paths, "test", "plain", (), {"hin": hypotheses})
        score(spec, 1, "test", "plain", paths, silent)
        lines = scores(paths.decoding(spec, 1, "test", "plain") / "scores.tsv")
        file = MeasurementFile(spec, 1, paths, "scores", "test", "plain").path
        return {line.metric: line for line in lines}, measurements.read(file).measurements

    return scored


def test_a_perfect_hypothesis_has_100_against_joined_pieces_and_less_against_raw_lines(hindi):
    normal = [line.replace("½", "1\N{FRACTION SLASH}2").replace("…", "...") for line in HINDI]
    by_label, records = hindi(normal, ["13a_pieces"])
    assert float(by_label["13a_pieces"].value) == 100
    assert float(by_label["13a"].value) == pytest.approx(
        corpus_bleu(normal, [PRECOMPOSED]).score, abs=1e-6
    )
    assert float(by_label["13a"].value) < 60
    assert records["bleu.test.plain.13a_pieces"].how.endswith("|refs:pieces")
    assert "refs:pieces" not in records["bleu.test.plain.13a"].how


def test_a_part_of_the_test_set_is_scored_alone_from_the_same_hypotheses(hindi):
    hypotheses = [PRECOMPOSED[0], "और", PRECOMPOSED[2][:-4]]
    split = {"parts": {"filtered": ["hin.part"]}}
    by_label, records = hindi(hypotheses, [], split, {"filtered": [1, 3]})
    part, whole = by_label["13a_filtered"], by_label["13a"]
    kept = [hypotheses[0], hypotheses[2]]
    expected = corpus_bleu(kept, [[PRECOMPOSED[0], PRECOMPOSED[2]]])
    assert float(part.value) == pytest.approx(expected.score, abs=1e-6)
    assert (part.sentences, whole.sentences) == ("2", "3")
    # Drawn from the part alone: its interval is that of two sentences.
    counted = bleu.metric("13a").statistics(kept, [PRECOMPOSED[0], PRECOMPOSED[2]])
    alone = [counted.metric.score(counts) for counts in counted.counts]
    assert float(part.low) >= min(alone) - 1e-6
    assert records["bleu.test.plain.13a_filtered"].how.endswith("|part:filtered")


def test_validation_text_has_no_parts_and_joined_pieces_have_none():
    definition = {"pivot": "eng", "tasks": [["deu", "deu"]], "split": {"parts": {"filtered": []}}}
    asked = {"data": {"direction": "one_to_many"}, "scoring": {"tokenizers": ["moses"]}}
    spec = small_spec(asked, tasks=("deu",), definition=definition)
    assert tokenizers.counted(spec, "test") == ("moses", "13a", "13a_filtered", "moses_filtered")
    assert tokenizers.counted(spec, "valid") == ("moses", "13a")
    of_pieces = replace(
        spec, scoring=spec.scoring.model_copy(update={"tokenizers": ["13a_pieces"]})
    )
    assert tokenizers.counted(of_pieces, "test") == ("13a_pieces", "13a", "13a_filtered")


@pytest.mark.parametrize(
    ("languages", "expected"),
    [
        (["deu", "bel"], "13a"),
        (["zho", "zh", "yue"], "zh"),
        (["kor", "ko"], "ko-mecab"),
        (["tha", "jpn", "km"], "char"),
        (["kor", "bel"], "by-language"),
    ],
)
def test_target_languages_choose_the_tokenizer_of_a_study(languages, expected):
    assert tokenizers.of_languages(languages) == expected


@pytest.mark.parametrize(
    ("language", "sentence"),
    [("zho", "我们去学校"), ("jpn", "学校へ行く"), ("tha", "เราไปโรงเรียน"), ("kor", "학교에 갔다")],
)
def test_a_sentence_of_few_words_for_13a_has_100_by_the_tokenizer_of_its_language(
    language, sentence
):
    """13a finds fewer than four words in it, so that even the reference has no 4-gram."""
    text = HeldOut(language, [sentence])
    of_13a, of_language = measure(
        [sentence], text, [bleu.metric("13a"), bleu.metric("by-language")], "here"
    )
    assert of_13a.value == 0
    assert of_language.value == pytest.approx(100)
    alone = bleu.metric(tokenizers.of_language(language)).statistics([sentence], [sentence])
    assert np.array_equal(of_language.counts, alone.counts)
    assert "tok:by-language" in of_language.metric.signature()
