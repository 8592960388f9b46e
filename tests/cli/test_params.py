"""`fathom params`: printed parameter counts next to ours."""

import json

import pytest

from tests.support.refused import prose, says

# Two tables, 2 + 2 layers of width 16 and 32 inside, two final norms: by hand.
COUNT = 200 * 16 + 2 * 2224 + 2 * 3344 + 64


@pytest.fixture
def printed(project):
    """The small project, whose table prints parameter counts."""
    paper = project / "config/papers/sample"
    tables = (paper / "tables.yaml").read_text(encoding="utf-8")
    tables = tables.replace("columns: [avg, tasks]", "columns: [params, avg, tasks]")
    tables = tables.replace("columns: [params, avg_hard", "columns: [avg_hard")
    (paper / "tables.yaml").write_text(tables, encoding="utf-8")
    with open(paper / "reported/table1.csv", "a", encoding="utf-8") as stream:
        stream.write("Static,params,0.0144,,,,\nGated,params,0.02,,,,\n")
    (paper / "parameters.yaml").write_text(
        "vocabularies: [{like: base, source: 120, target: 80, origin: chosen}]\n"
    )
    return paper


def test_a_printed_count_is_next_to_ours(printed, call):
    answer = call("params", "--json")
    assert answer.code == 0
    static, gated = json.loads(answer.out)
    assert (static["row"], static["column"], static["verdict"]) == ("Static", "params", "agrees")
    assert static["ours"] == COUNT
    assert (gated["verdict"], gated["printed_millions"]) == ("differs", 0.02)


def test_a_table_of_counts_ends_with_how_many_agree(printed, call):
    answer = call("params", "sample")
    assert answer.lines[0].split("\t")[:3] == ["paper", "table", "cell"]
    assert len(answer.lines) == 3
    assert prose("printed counts", 2, 1, 1) in answer.err


def test_one_table_can_be_printed_alone(printed, call):
    whole = call("params").out
    assert call("params", "--table", "sample_table1").out == whole
    line = call("params", "--table", "sample_tabel1").one_line
    says("unknown", "table", "sample_tabel1", nearest="sample_table1").check(line)


def test_a_paper_without_the_sizes_of_its_dictionaries_is_one_line(printed, call):
    (printed / "parameters.yaml").unlink()
    says("dictionary sizes").check(call("params").one_line)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("like: base", "like: bas", says("unknown", "family", "bas", nearest="base")),
        (
            "source: 120",
            "source: 0",
            says("limit", 0, prose("too small"), remedy=prose("or more", 1)),
        ),
        ("origin", "orign", says("unknown key", "orign")),
    ],
)
def test_a_wrong_parameters_file_is_found_by_validate(printed, call, old, new, what):
    path = printed / "parameters.yaml"
    path.write_text(path.read_text().replace(old, new))
    answer = call("validate")
    assert answer.code == 1
    what.check(answer.err)
