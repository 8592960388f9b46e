"""The manifest's form: what is refused, and that it stays small."""

from pathlib import Path

import jsonschema
import pytest
import yaml

from fathom.errors import FathomError
from fathom.io.files import read_json, write_json
from fathom.provenance import manifest

SCHEMA = Path(__file__).parents[2] / "workflow" / "schemas" / "manifest.schema.yaml"


TASKS = [f"t{number:02d}" for number in range(8)]
CODE = {
    "hash": "a" * 64,
    "python": "3.11",
    "modules": [f"fathom.room.module_{number:02d}" for number in range(40)],
}


def scores() -> dict:
    """Return the scores of one decoding."""
    signature = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
    spread = {"low": 11.123456, "high": 13.123456, "stderr": 0.612345}
    metrics = {
        name: {"value": 12.123456, "signature": signature}
        for name in ("13a", "intl", "char", "chrF")
    }
    metrics["13a"] |= spread
    return {task: {"sentences": 300, "metrics": metrics} for task in TASKS}


def attempt(number: int) -> dict:
    """Return what one attempt leaves behind."""
    return {
        "host": "a-node-with-a-long-name.cluster.example.org",
        "pid": number,
        "job": "1234567",
        "command": "/home/someone/fathom/.venv/bin/fathom",
        "start": "2026-01-01T00:00:00+00:00",
        "end": "2026-01-01T01:00:00+00:00",
        "from_update": number,
        "to_update": number + 1,
        "ended_as": "finished",
    }


def example(attempts: int = 1) -> dict:
    """Return a manifest with the size of a real one: two gates, eight tasks, four metrics."""
    return {
        "schema": 1,
        "run": "run",
        "identity": "b" * 64,
        "seed": 1,
        "scale": "tiny",
        "outcome": {
            "kind": "finished",
            "update": 300,
            "reason": "validation NLL 4.500, unigram 6.060 nats",
            "schedule": {"name": "inverse_sqrt", "learning_rate": 0.005, "warmup": 2},
            "clip": 1.0,
            "norm": "pre",
            "precision": "fp32",
        },
        "parameters": dict.fromkeys(
            ("total", "trainable", "encoder", "decoder", "embeddings"), 123456
        ),
        "data": {
            "dataset": "data",
            "direction": "many_to_one",
            "corpus_sha256": "c" * 64,
            "tensors_sha256": "d" * 64,
        },
        "code": {"training": CODE, "decoding": CODE, "scoring": CODE},
        "versions": dict.fromkeys(("python", "torch", "fairseq-fixed", "sacrebleu"), "1.2.3"),
        "device": {"type": "cpu", "name": "x86_64", "threads": 1},
        "attempts": [attempt(number) for number in range(attempts)],
        "attempts_in_all": attempts,
        "totals": {"updates": 300, "target_tokens": 307200, "seconds": 61.5},
        "validation": {"nll": 4.5, "unigram_nll": 6.06, "by_task": dict.fromkeys(TASKS, 4.5)},
        "depth": {
            "decoder": {
                "effective_depth": 3.5,
                "by_task": dict.fromkeys(TASKS, 3),
                "sum_p": 3.1,
                "mean_abs_alpha": 0.2,
                "undecided_share": 0.25,
                "layers": 6,
            }
        },
        "compared": {"gates": "soft", "metric": "13a"},
        "scores": {"soft": scores(), "hard": scores()},
        "no_layer": {"soft": [], "hard": []},
        "files": [
            {"path": f"decodings/soft/file_{number}.tsv", "bytes": 12345, "sha256": "e" * 64}
            for number in range(11)
        ],
    }


@pytest.fixture(scope="module")
def schema():
    return yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))


def test_what_is_written_is_read_again(tmp_path, schema):
    path = tmp_path / "manifest.json"
    manifest.write(path, example())
    assert manifest.read(path) == example()
    jsonschema.Draft202012Validator(schema).validate(manifest.read(path))


def test_equal_manifests_are_equal_bytes(tmp_path):
    for name in ("one", "two"):
        manifest.write(tmp_path / name, dict(sorted(example().items(), reverse=name == "two")))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_keys_are_those_of_the_schema(schema):
    assert set(manifest.KEYS) == set(schema["properties"]) == set(schema["required"])
    assert list(manifest.OUTCOMES) == schema["properties"]["outcome"]["properties"]["kind"]["enum"]


def test_every_key_of_the_schema_is_described(schema):
    jsonschema.Draft202012Validator.check_schema(schema)

    def undescribed(node, path=""):
        if isinstance(node, dict):
            for name, each in node.get("properties", {}).items():
                if not each.get("description"):
                    yield f"{path}.{name}"
            for name, each in node.items():
                yield from undescribed(each, f"{path}.{name}")
        elif isinstance(node, list):
            for each in node:
                yield from undescribed(each, path)

    assert list(undescribed(schema)) == []


def test_a_manifest_with_hundreds_of_attempts_stays_small_and_knows_their_number(tmp_path, schema):
    path = tmp_path / "manifest.json"
    manifest.write(path, example(attempts=400))
    found = manifest.read(path)
    assert path.stat().st_size <= manifest.BYTES_ALLOWED
    assert found["attempts_in_all"] == 400
    assert 1 <= len(found["attempts"]) <= manifest.ATTEMPTS_KEPT
    assert found["attempts"][-1]["pid"] == 399
    jsonschema.Draft202012Validator(schema).validate(found)


def test_fifty_attempts_are_kept_where_there_is_room(tmp_path):
    small = example(attempts=60) | {"scores": {}, "files": []}
    small["attempts"] = [{"from_update": number} for number in range(60)]
    manifest.write(tmp_path / "manifest.json", small)
    found = manifest.read(tmp_path / "manifest.json")["attempts"]
    assert [each["from_update"] for each in found] == list(range(10, 60))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda value: value.pop("depth"), "a manifest without depth"),
        (lambda value: value.update(scorse={}), "nearest valid name: 'scores'"),
        (lambda value: value["outcome"].update(kind="divergd"), "nearest valid name: 'diverged'"),
    ],
    ids=["missing", "unknown", "outcome"],
)
def test_what_is_no_manifest_is_refused_in_writing_and_reading(tmp_path, change, message):
    value = example()
    change(value)
    path = tmp_path / "manifest.json"
    with pytest.raises(FathomError, match=message):
        manifest.write(path, value)
    assert not path.exists()
    write_json(path, value)
    with pytest.raises(FathomError, match=message):
        manifest.read(path)


def test_another_schema_is_refused(tmp_path):
    path = tmp_path / "manifest.json"
    write_json(path, example() | {"schema": 2})
    with pytest.raises(FathomError, match="schema 2, but 1 is read here"):
        manifest.read(path)
    assert read_json(path)["schema"] == 2


def test_a_loss_that_is_no_number_is_never_written(tmp_path):
    value = example()
    value["validation"]["nll"] = float("nan")
    with pytest.raises(ValueError, match="JSON compliant"):
        manifest.write(tmp_path / "manifest.json", value)
    assert not list(tmp_path.iterdir())
