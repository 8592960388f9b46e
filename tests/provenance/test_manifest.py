"""The manifest's form, and what is refused."""

import pytest

from fathom.io.integrity import read_record, write_record
from fathom.results import manifest
from fathom.results.measurements import Number, Record
from fathom.results.recipe import RECIPE
from tests.support.refused import prose, refused
from tests.support.run_files import attempt

REAL = Record(unit="BLEU", tasks={"bos": Number(value=1.5, low=1.0, high=2.0, n=68)}, how="nrefs:1")


def content(attempts=1):
    """Return what a manifest is written from."""
    return {
        "run": "paper/run",
        "identity": "b" * 64,
        "seed": 1,
        "outcome": {"kind": "finished", "update": 300, "reason": "validation NLL 4.500"},
        "measurements": {"bleu.test.soft.13a": REAL.model_dump()},
        "data": {
            "dataset": "data",
            "direction": "many_to_one",
            "corpus_sha256": "c" * 64,
            "tensors_sha256": "d" * 64,
        },
        "recipe": dict(RECIPE),
        "commit": None,
        "sources_sha256": "5" * 64,
        "versions": {"python": "3.11.7"},
        "device": {"type": "cpu", "name": "x86_64", "threads": 1},
        "attempts": [attempt(number) for number in range(attempts)],
        "totals": {"updates": 300, "target_tokens": 307200, "seconds": 61.5},
        "files": {"training.json": "e" * 64},
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "manifest.json"


def test_what_is_written_is_read_again(path):
    manifest.write(path, content())
    found = manifest.read(path)
    assert found.measurements["bleu.test.soft.13a"] == REAL
    assert found.outcome.finished
    assert found.attempts_in_all == 1
    assert found.stale == {}
    # What has its default value is left out of the records.
    assert set(read_record(path)["measurements"]["bleu.test.soft.13a"]) == {"unit", "tasks", "how"}


@pytest.mark.parametrize(
    ("old", "new"), [(b'"finished"', b"null"), (b"1.5", b"7.5"), (b'"tasks"', b'"tasts"')]
)
def test_a_manifest_that_was_edited_by_hand_is_refused(path, old, new):
    """Field fault 18."""
    manifest.write(path, content())
    text = path.read_bytes()
    assert old in text
    path.write_bytes(text.replace(old, new))
    with refused("changed record", where=path):
        manifest.read(path)


def test_equal_manifests_are_equal_bytes(tmp_path):
    for name in ("one", "two"):
        manifest.write(tmp_path / name, dict(sorted(content().items(), reverse=name == "two")))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_last_fifty_attempts_are_kept_and_all_are_counted(path):
    manifest.write(path, content(attempts=400))
    found = manifest.read(path)
    assert found.attempts_in_all == 400
    assert [one["pid"] for one in found.attempts] == list(range(1350, 1400))


@pytest.mark.parametrize(
    ("change", "where", "remedy"),
    [
        (lambda value: value.pop("recipe"), "recipe", prose("add the key")),
        (lambda value: value.update(measurments={}), "measurments", "'measurements'"),
        (lambda value: value["outcome"].update(kind="divergd"), "outcome.kind", "'diverged'"),
        (lambda value: value["totals"].update(seconds=float("nan")), "totals.seconds", "finite"),
        (lambda value: value.update(seed="1"), "seed", prose("without quotes", 1)),
    ],
    ids=["missing", "unknown", "outcome", "not finite", "type"],
)
def test_what_is_no_manifest_is_refused_in_writing_and_reading(path, change, where, remedy):
    manifest.write(path, content())
    value = read_record(path)
    change(value)
    written = {key: value[key] for key in value if key not in ("schema", "attempts_in_all")}
    path.unlink()
    with refused(where=where, remedy=remedy):
        manifest.write(path, written)
    assert not path.exists()
    if where != "totals.seconds":
        write_record(path, value)
        with refused(where=where):
            manifest.read(path)


def test_an_older_schema_is_refused_in_one_line_that_names_the_command(path):
    """Field fault 18."""
    path = path.parent / "runs/paper/small-12345678/1/manifest.json"
    write_record(path, {"schema": 1, "scores": {}})
    with refused("schema", 1, 2, where=path, remedy="fathom summarise paper/small-12345678"):
        manifest.read(path)
