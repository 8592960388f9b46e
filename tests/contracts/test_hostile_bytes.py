"""Bytes from elsewhere, at random: each is read or refused in one message, never a traceback."""

import csv
import io
import json
import os
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fathom.artefacts.claims import language
from fathom.artefacts.claims.numbers import Unfit
from fathom.config.reported import read as read_reported
from fathom.data import archives
from fathom.io.errors import FathomError
from fathom.io.records import read_record, write_record
from fathom.results import measurements, training_record, tree
from tests.support.run_files import training

# The same draws each time, so that a failure comes again; FATHOM_EXAMPLES=10000 looks further.
FIXED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=int(os.environ.get("FATHOM_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# Where bytes are changed, and into what; or bytes of nobody.
CHANGES = st.lists(st.tuples(st.integers(0, 4000), st.binary(max_size=4)), min_size=1, max_size=4)


def changed(content, changes):
    """Return bytes with others at some places; what is empty cuts the rest off."""
    for at, new in changes:
        at %= len(content) + 1
        content = content[:at] + new + content[at + len(new) :] if new else content[:at]
    return content


def read_or_refused(read, path, content):
    path.write_bytes(content)
    with suppress(FathomError):
        return read(path)


def packed(kind):
    stream = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("a.txt", "text\n" * 40)
            made.writestr("folder/b.txt", "text\n")
    else:
        with tarfile.open(fileobj=stream, mode=kind) as made:
            for name in ("a.txt", "folder/b.txt"):
                entry = tarfile.TarInfo(name)
                entry.size = 200
                made.addfile(entry, io.BytesIO(b"{" * 200))
    return stream.getvalue()


def read_members(path):
    return [[*lines] for _, lines in archives.members(path, lambda _: True)]


@FIXED
@given(changes=CHANGES, noise=st.none() | st.binary(max_size=600))
@example(changes=[(5, b"")], noise=None)
@pytest.mark.parametrize("kind", ["zip", "w", "w:gz", "w:bz2", "w:xz"])
def test_an_archive_is_read_or_refused(tmp_path, kind, changes, noise):
    """A damaged directory of a zip, and a header of gzip that is cut off, ended in a traceback."""
    content = changed(packed(kind), changes) if noise is None else noise
    for read in (read_members, archives.check):
        read_or_refused(read, tmp_path / "a.tar.gz", content)


@FIXED
@given(changes=CHANGES)
@example(changes=[(0, b"[" * 4)])
@pytest.mark.parametrize("read", [read_record, training_record.read, measurements.read])
def test_a_record_is_read_or_refused(tmp_path, read, changes):
    path = tmp_path / "training.json"
    write_record(path, training())
    read_or_refused(read, path, changed(path.read_bytes(), changes))


@pytest.mark.parametrize("depth", [1_000, 100_000])
def test_a_record_of_many_brackets_is_refused(tmp_path, depth):
    content = b'{"a": ' + b"[" * depth + b"]" * depth + b', "record_sha256": "0"}'
    assert read_or_refused(read_record, tmp_path / "training.json", content) is None


@FIXED
@given(value=st.floats(allow_nan=False, allow_infinity=False))
@example(value=1e308)
@example(value=-1.7e308)
def test_a_measured_number_is_so_small_that_means_are_finite(tmp_path, value):
    """Two tasks with 1e308 ended tables, claims and figures in a traceback."""
    path = tmp_path / "scores.json"
    record = {"tasks": {"a": {"value": value}, "b": {"value": value}}}
    content = {"schema": 2, "rule": "scores", "recipe": {}, "identity": "0"}
    write_record(path, content | {"measurements": {"bleu": record}})
    file = read_or_refused(measurements.read, path, path.read_bytes())
    assert (file is not None) == (abs(value) <= 1e300)


@FIXED
@given(text=st.text(max_size=200), changes=CHANGES)
def test_a_csv_is_read_or_refused(tmp_path, text, changes):
    rows = io.StringIO()
    csv.writer(rows).writerows([["row", "column", "value", "note"], ["a", "b", "1.5", text]])
    content = changed(rows.getvalue().encode("utf-8", "surrogatepass"), changes)
    read_or_refused(tree.rows, tmp_path / "table1.csv", content)
    read_or_refused(lambda path: read_reported(path, (), Path()), tmp_path / "t.csv", content)


NAMES = st.sampled_from(
    ["t", "f", "trained", "rising", "near", "mean", "None", "True", "__import__"]
)
ATOMS = st.one_of(
    st.integers().map(str), st.floats().map(repr), NAMES, st.just('t["a", "b"]'),
    st.text(max_size=6).map(json.dumps), st.just("t[:, tasks]"), st.text(max_size=8),
)  # fmt: skip
CLAIMS = st.recursive(
    ATOMS,
    lambda part: st.one_of(
        st.tuples(part, st.sampled_from("+-*/<>,%@"), part).map(" ".join),
        st.tuples(NAMES, part, part).map(lambda of: f"{of[0]}({of[1]}, {of[2]})"),
        st.tuples(part, part).map(lambda of: f"{of[0]}[{of[1]}]"),
        part.map(lambda of: f"not ({of})"),
    ),
    max_leaves=12,
)


class Nowhere:
    """A paper in which nothing is printed."""

    def shown(self, reference):
        raise Unfit(f"no {reference.table}", "write another")

    def interval(self, weights):
        raise AssertionError(weights)


@FIXED
@given(text=CLAIMS)
@example(text=" + ".join(['t["a", "b"]'] * 20_000) + " > 1")
@example(text="(" * 900 + "1" + ")" * 900)
@example(text="-" * 1900 + "1 > 0")
@example(text="\0")
def test_a_claim_is_answered_or_refused(text):
    """20,000 terms ended in a traceback."""
    with suppress(FathomError):
        language.truth(text, "claims.yaml:1", Nowhere())
