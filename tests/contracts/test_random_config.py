"""Configs at random around a valid one: each loads, or every finding names its file and line."""

import re
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fathom.config.load import load
from fathom.io.errors import FathomError, Findings
from tests.support.small_project import write_config

SECONDS = 5.0
# A file of the reported cells has no line for a cell that is not there.
PLACE = re.compile(r"config/[\w./-]+(\.yaml:[1-9]\d*(: .*)?|\.csv(:\d+)?|/runs\.yaml)", re.S)
# The same draws each time, so that a failure comes again; what it looks for is found in any order.
FIXED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
ODD = (
    *("", "\n", "a\nb", "<x>", "<run>", "../..", "{x}", "~", "no", "1e400", "²/3", "a/b"),
    *("9" * 30 + "/1", "9" * 5000, "75 epochs", f"{'9' * 5000} epochs", "1/0", "x" * 300, "1-2,4"),
    "😀\u2028",
)
RAW = (
    *("&a [*a]", "<<: {a: 1}", "!!set {a}", "!x y", "[" * 5000, "{a: " * 5000, "? [a]\n: b", "|"),
    *(".nan", "-.inf", "1.0e+400", "0x_", "1:30", "190:20:30.15", "2001-13-45", "9" * 5000, "="),
    *("\t", "<<", "\0", "\ufeff", "'", '"\\ud800"', "%YAML 9", "---", "...", "#", "- a", "a: b: c"),
    *("@", "`"),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from((0, -1, 1, 2**31, 2**53 + 1, 2**64, 10**400, 4.0)),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(ODD),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=6) | st.sampled_from(ODD), inner, max_size=3)
    ),
    max_leaves=5,
)
numbers = st.integers(min_value=0, max_value=10**6)
edits = st.tuples(
    numbers,
    numbers,
    st.sampled_from(("value", "raw", "copy", "line")),
    values,
    st.sampled_from(RAW),
)


def parts(text: str) -> list[tuple[int, int]]:
    """Return where each key and each value of a file begins and ends."""
    waiting, places = [yaml.compose(text, yaml.CSafeLoader)], []
    while waiting:
        node = waiting.pop()
        places.append((node.start_mark.index, node.end_mark.index))
        if isinstance(node, yaml.MappingNode):
            waiting += [item for pair in node.value for item in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
    return sorted(places)


def lines(text: str) -> list[tuple[int, int]]:
    """Return where each line of a file begins and ends."""
    return [match.span() for match in re.finditer(r".*\n", text)]


def edited(text: str, changes: list[tuple]) -> str:
    places, begin = parts(text), len(text)
    replaced = []
    for place, other, kind, value, raw in changes:
        if kind == "line":
            replaced.append((lines(text)[place % len(lines(text))], ""))
            continue
        if kind == "value":
            dumped = yaml.safe_dump(value, default_flow_style=True, width=10**9)
            raw = dumped.removesuffix("\n").removesuffix("\n...")
        if kind == "copy":
            raw = text[slice(*places[other % len(places)])]
        replaced.append((places[place % len(places)], raw))
    for (start, end), raw in sorted(replaced, reverse=True):
        if end <= begin:
            text, begin = f"{text[:start]}{raw}{text[end:]}", start
    return text


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """The small project's folder, and the text of each of its files."""
    folder = write_config(tmp_path_factory.mktemp("small"))
    files = sorted(folder.glob("config/**/*.yaml"))
    return folder, {path: path.read_text(encoding="utf-8") for path in files}


def loaded(folder: Path, path: Path, text: str) -> list[FathomError]:
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    began = time.monotonic()
    try:
        load(folder)
    except Findings as error:
        return list(error.findings)
    finally:
        assert time.monotonic() - began < SECONDS
    return []


@pytest.mark.slow
@FIXED
@given(file=numbers, changes=st.lists(edits, min_size=1, max_size=2))
def test_a_random_config_loads_or_every_finding_names_its_file_and_line(originals, file, changes):
    folder, files = originals
    path = list(files)[file % len(files)]
    try:
        findings = loaded(folder, path, edited(files[path], changes))
    finally:
        path.write_text(files[path], encoding="utf-8")
    for finding in findings:
        assert PLACE.fullmatch(str(finding.where)), str(finding)
        assert "\n" not in str(finding)
