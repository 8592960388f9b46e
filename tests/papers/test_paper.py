"""Papers as data: what stands in config/, and what is said of a mistake in it."""

import csv
import math

import pytest

from fathom.config.yaml_files import YamlFile, read
from fathom.errors import FathomError
from fathom.papers.paper import Paper, find_artefact, findings

# An average of printed cells may be off by their rounding (0.05) and its own (0.005).
TRANSCRIPTION = 0.06


@pytest.fixture(params=["latent_depth"])
def checked(request, project):
    """A function that builds a paper of the copied config and returns it with its findings."""
    folder = project / "config" / "papers" / request.param

    def build():
        file = read(folder / "paper.yaml", project)
        runs = read(folder / "runs.yaml", project).value["runs"]
        paper = Paper.from_mapping(request.param, file.value)
        return paper, [str(each) for each in findings(paper, runs, file)]

    return build


def reported(catalog):
    """Yield each table of the project with its reported lines."""
    for paper in catalog.papers.values():
        for artefact in paper.artefacts.values():
            if artefact.reported:
                folder = catalog.root / "config" / "papers" / paper.name
                text = (folder / artefact.reported).read_text(encoding="utf-8")
                yield artefact, list(csv.DictReader(text.split("\n")[:-1]))


def test_the_papers_of_the_project_are_right(checked):
    paper, found = checked()
    assert found == []
    assert [each.verb for each in paper.artefacts.values()] == ["table", "figure"]


def test_every_row_and_column_is_reported_once(catalog):
    for artefact, lines in reported(catalog):
        columns = dict.fromkeys(line["column"] for line in lines)
        cells = [(line["row"], line["column"]) for line in lines]
        assert cells == [(row, column) for row in artefact.rows for column in columns]


def test_reported_averages_are_those_of_the_reported_cells(catalog):
    for artefact, lines in reported(catalog):
        for row in artefact.rows:
            cells = {line["column"]: line["value"] for line in lines if line["row"] == row}
            values = [float(text) for name, text in cells.items() if text and name != "avg"]
            if values:
                mean = math.fsum(values) / len(values)
                assert float(cells["avg"]) == pytest.approx(mean, abs=TRANSCRIPTION)


def test_every_reported_score_has_a_tolerance(catalog):
    for artefact, lines in reported(catalog):
        for line in lines:
            assert artefact.column(line["column"]).tolerance is not None


def test_equations_are_named_as_tags_name_them(catalog):
    for paper in catalog.papers.values():
        assert all(len(each.title.split()) <= 8 for each in paper.equations.values())
        assert any(each.computed for each in paper.equations.values())


def test_a_figure_takes_rows_and_columns_from_its_table(checked):
    paper, _ = checked()
    figure = next(each for each in paper.artefacts.values() if each.bars)
    table = paper.artefacts[figure.bars.table]
    assert tuple(figure.rows) == figure.bars.rows
    assert all(table.rows[row] == run for row, run in figure.rows.items())
    assert tuple(column.name for column in figure.columns) == figure.bars.columns
    assert figure.metric == table.metric


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "static_12_12\n",
            "static_12_13\n",
            "no run 'static_12_13'; nearest valid name: 'static_1",
        ),
        ("value: scores.bos", "value: max(scores.bos)", "is no column expression; write `path` or"),
        ("group: Latent layers", "group: Latent layer", "no group 'Latent layer'; nearest valid"),
        ("unknown_for: []", "unknown_for: [koor]", "no column 'koor'; nearest valid name: 'kor'"),
        ("table: table5", "table: table50", "no table 'table50'; nearest valid name: 'table5'"),
        ("baseline: 12/12", "baseline: 12/13", "has no row '12/13'; nearest valid name: '12/12'"),
        ("columns: [bos, mar", "columns: [bosn, mar", "has no column 'bosn'; nearest valid name"),
    ],
)
def test_a_name_that_exists_nowhere_is_found_with_its_line(checked, edit, old, new, message):
    edit("config/papers/latent_depth/paper.yaml", old, new)
    _, found = checked()
    assert len(found) == 1
    assert found[0].startswith("config/papers/latent_depth/paper.yaml:")
    assert message in found[0]


def test_an_unknown_artefact_is_told_the_nearest(catalog):
    with pytest.raises(FathomError, match=r"no table .*tabel5'; nearest valid name: .*table5'"):
        find_artefact(catalog.papers, "latent_depth_tabel5", "table")


def test_a_figure_asked_for_as_a_table_is_told_the_other_verb(catalog):
    with pytest.raises(FathomError, match="a figure, not a table; draw it with `fathom figure`"):
        find_artefact(catalog.papers, "latent_depth_figure4", "table")
    paper, artefact = find_artefact(catalog.papers, "latent_depth_figure4", "figure")
    assert (paper.name, artefact.name) == ("latent_depth", "figure4")


def test_an_unknown_column_is_told_the_nearest(catalog):
    _, table = find_artefact(catalog.papers, "latent_depth_table5", "table")
    with pytest.raises(FathomError, match="nearest valid name: 'kor'"):
        table.column("korr")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("artefacts", "main", "kind"), "tabel", "'tabel' is not possible here; nearest valid"),
        (
            ("artefacts", "main", "colums"),
            {},
            "unknown key 'colums'; nearest valid name: 'columns'",
        ),
        (("artefacts", "main", "columns", "bos", "decimals"), "1", "'1' is not a whole number"),
        (
            ("artefacts", "main", "columns", "bos", "tolerance"),
            {"absolute": "5e-1"},
            "write 5.0e-1",
        ),
        (("equations", "Equation 1"), {"title": "One"}, "has another form than"),
    ],
)
def test_the_schema_names_the_key_of_a_mistake(catalog, path, value, message):
    minimal = {
        "title": "A",
        "authors": ["B"],
        "url": "c",
        "citation": {"type": "misc", "key": "d", "year": "2020"},
        "equations": {},
        "artefacts": {
            "main": {
                "kind": "table",
                "title": "T",
                "caption": "C",
                "section": "§1",
                "metric": {"name": "13a", "known": True},
                "rows": {"6/6": "run"},
                "columns": {"bos": {"title": "bos", "value": "scores.bos", "decimals": 1}},
            }
        },
    }
    place = minimal
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    file = YamlFile("paper.yaml", minimal, {})
    assert any(message in str(each) for each in catalog.schemas.findings("paper", file))


def test_every_key_of_the_schemas_is_described(catalog):
    def undescribed(schema, above):
        for key, each in schema.get("properties", {}).items():
            if "description" not in each:
                yield (*above, key)
            yield from undescribed(each, (*above, key))
        for name in ("additionalProperties", "items"):
            if isinstance(schema.get(name), dict):
                yield from undescribed(schema[name], (*above, name))

    for kind in ("paper", "deviations"):
        schema = catalog.schemas.schema(kind)
        parts = [schema, *schema.get("$defs", {}).values()]
        assert [path for part in parts for path in undescribed(part, ())] == []
