"""The kinds of figures, and every figure of the papers."""

from importlib import import_module

import pytest
from pandas import read_csv

from fathom.artefacts.figures import drawing, kinds
from tests.support.own_project import own_project
from tests.support.papers import PAPERS
from tests.support.small_figures import end, figure, inputs, run, write_metrics


@pytest.fixture(scope="module")
def project():
    return own_project()


def test_all_figures_of_the_papers_fit_their_kinds(project):
    figures = [
        (paper, drawn)
        for paper in map(project.papers.get, PAPERS)
        for drawn in paper.figures.values()
    ]
    assert len(figures) == 15
    wrong = [
        finding
        for paper, drawn in figures
        for finding in kinds.findings(drawn, project, paper.tables)
    ]
    assert not wrong, "\n".join(map(str, wrong))


def test_a_figure_of_runs_that_were_not_trained_can_be_drawn(project, tmp_path):
    for paper in project.papers.values():
        for drawn in paper.figures.values():
            if drawn.settings.tables:
                continue
            runs = [run(tmp_path, name) for name in drawn.settings.runs]
            module = import_module(f"fathom.artefacts.figures.{drawn.kind}")
            frame = module.rows(drawn.settings, inputs(runs))
            assert set(frame["words"]) == {"not run"}
            assert module.draw(drawn.settings, frame).axes


def test_the_notes_of_a_figure_are_in_its_csv_and_under_it(tmp_path, monkeypatch):
    text = "kind: lines, series: nll.train, x: update, smooth: 21, lines: {a: small, b: deep}"
    small, deep = run(tmp_path), run(tmp_path, "deep")
    for files, outcome in ((small, "diverged"), (deep, "finished")):
        write_metrics(files, [(1, 0.1, 4.0, None, None), (2, 0.2, 3.0, None, None)])
        end(files, outcome)
    signed = []
    monkeypatch.setattr(drawing, "sign", lambda *arguments: signed.append(arguments[-1]))
    kinds.draw(figure(tmp_path, text), inputs([small, deep]), tmp_path / "figure")
    few = "2 points, too few for the moving median over 21"
    assert signed == [["a: diverged at update 80", f"a: {few}", f"b: {few}"]]
    written = read_csv(tmp_path / "figure.csv")
    assert written["note"].unique().tolist() == [f"a: diverged at update 80; a: {few}", f"b: {few}"]


def test_a_figure_is_written_as_csv_png_and_pdf_and_twice_the_same(tmp_path):
    drawn = figure(tmp_path, "kind: lines, series: nll.train, x: update, lines: {a: small}")
    small = run(tmp_path)
    write_metrics(small, [(1, 0.1, 4.0, None, None), (2, 0.2, 3.0, None, None)])
    for name in ("one", "two"):
        kinds.draw(drawn, inputs([small]), tmp_path / "out" / name)
    for suffix in ("csv", "png", "pdf"):
        first, second = (tmp_path / "out" / f"{name}.{suffix}" for name in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()
