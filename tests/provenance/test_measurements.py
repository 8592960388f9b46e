"""Keys of measurements, the file of each key, and what a measurement file must hold."""

from itertools import product

import pytest

from fathom.config.vocabulary import NAMES, QUALIFIERS
from fathom.io.errors import FathomError
from fathom.io.integrity import read_record, write_record
from fathom.results import measurements
from fathom.results.measurements import (
    Measurements,
    Number,
    Record,
    file_of,
    rule_of,
    words_of,
)
from tests.support.refused import refused, says


class Spec:
    """A run whose decodings have an identity."""

    def decoding_identity(self, gates, window=False):
        return {"soft": "5" * 64, "hard": "a" * 64, "plain": "0" * 64}[gates]


def likelihood(**records):
    return Measurements(
        rule="likelihood",
        recipe={"training": 1, "scoring": 1},
        run="paper/run",
        identity="b" * 64,
        seed=1,
        outcome="finished",
        measurements={key.replace("_", "."): record for key, record in records.items()},
    )


NLL = Record(
    unit="nats",
    tasks={"bos": Number(value=4.0, n=10), "kor": Number(value=5.0, n=30)},
    all=Number(value=4.75, n=40),
)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("parameters", "training"),
        ("bleu.test.soft.13a", "scores.test.soft-55555555"),
        ("bleu.valid.hard.ko-mecab", "scores.valid.hard-aaaaaaaa"),
        ("chrf.test.plain", "scores.test.plain-00000000"),
        ("bleu.test.soft.window.13a", "window.soft-55555555"),
        ("nll.valid.soft", "likelihood.valid.soft-55555555"),
        ("perplexity.valid.plain", "likelihood.valid.plain-00000000"),
        ("depth.decoder", "gates"),
        ("gates.encoder", "gates"),
        ("sharing", "sharing"),
        ("similarity", "sharing"),
    ],
)
def test_a_key_has_one_file(key, name):
    assert file_of(key, Spec()) == name


def test_measurements_of_a_corpus_are_its_statistics():
    assert file_of("tokens.train.en", None) == "statistics"
    assert words_of("tokens.train.en") == ("tokens", {"split": "train", "language": "en"})


def test_every_name_has_keys_of_its_rule():
    for name, (rule, kinds) in NAMES.items():
        words = [QUALIFIERS[kind] or ("word",) for kind in kinds if kind != "window"]
        for chosen in product(*words):
            assert rule_of(".".join([name, *chosen])) == rule


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("belu.test.soft.13a", says("unknown", "measurement", "belu", nearest="bleu")),
        ("nll.vaild.soft", says("no word", "vaild", "split", nearest="valid")),
        ("nll.valid.sotf", says("no word", "sotf", "gates", nearest="soft")),
        ("depth", says("needs a word", "stack")),
        ("bleu.test.soft", says("needs a word", "tokenizer")),
        ("nll.valid.soft.13a", says("one word too many", remedy="nll.<split>.<gates>")),
    ],
)
def test_a_wrong_key_gets_the_nearest_word(key, message):
    with refused(where=key) as raised:
        rule_of(key)
    message.check(raised.value)


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "likelihood.json"
    gates = Record(
        axes=("task", "layer"),
        labels={"task": ["bos", "kor"], "layer": ["1", "2", "3"]},
        values=[[0.5, 0.25, 1.0], [0.5, 0.75, 0.0]],
    )
    file = likelihood(nll_valid_soft=NLL)
    measurements.write(path, file)
    assert measurements.read(path) == file
    content = read_record(path)
    assert content["schema"] == 2
    assert content["measurements"]["nll.valid.soft"]["tasks"]["bos"] == {"n": 10, "value": 4.0}
    other = file.model_copy(update={"rule": "gates", "measurements": {"gates.decoder": gates}})
    measurements.write(path, other)
    assert measurements.read(path) == other


def test_a_run_without_a_result_has_its_outcome_and_no_numbers(tmp_path):
    file = likelihood().model_copy(update={"outcome": "diverged", "update": 7, "reason": "why"})
    measurements.write(tmp_path / "x.json", file)
    again = measurements.read(tmp_path / "x.json")
    assert (again.outcome, again.update, again.reason) == ("diverged", 7, "why")
    assert again.measurements == {}


@pytest.mark.parametrize(
    ("records", "where", "message"),
    [
        (
            {"nll.valid.soft": {"unti": "nats"}},
            "measurements.nll.valid.soft.unti",
            says(nearest="unit"),
        ),
        ({"nll.vaild.soft": {}}, "nll.vaild.soft", says(nearest="valid")),
        ({"bleu.test.soft.13a": {}}, "bleu.test.soft.13a", says("other rule", ..., "likelihood")),
        (
            {"nll.valid.soft": {"all": {"value": None}}},
            "soft.all.value",
            says("no value", remedy="a number"),
        ),
        (
            {"nll.valid.soft": {"axes": ["task"], "labels": {"task": ["bos"]}, "values": [1, 2]}},
            "measurements.nll.valid.soft",
            says("shape"),
        ),
        ({"nll.valid.soft": {"axes": ["task"], "values": [1.0]}}, "nll.valid.soft", says("shape")),
    ],
)
def test_what_does_not_fit_is_refused_with_file_and_key(tmp_path, records, where, message):
    path = tmp_path / "likelihood.json"
    measurements.write(path, likelihood())
    write_record(path, read_record(path) | {"measurements": records})
    with pytest.raises(FathomError) as raised:
        measurements.read(path)
    for part in (str(path), where):
        assert part in str(raised.value)
    message.check(raised.value)


def test_another_schema_is_refused_in_one_line(tmp_path):
    path = tmp_path / "runs/paper/small-12345678/1/measurements/gates.json"
    write_record(path, {"schema": 1, "scores": {}})
    with refused("schema", 1, 2, remedy=f"rm {path} && fathom gates paper/small-12345678"):
        measurements.read(path)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused(number):
    with pytest.raises(ValueError, match="finite"):
        Number(value=number)
