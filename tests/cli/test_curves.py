"""`fathom curves`: of runs and of a table, and what is refused."""

import csv
import json

import pytest

from tests.support.refused import says
from tests.support.small_project import GATED, RUN


def test_a_run_that_was_not_trained_is_refused_with_the_command(project, call):
    answer = call("curves", RUN)
    says(remedy=f"`fathom train sample/{RUN} --scale small`").check(answer.one_line)
    assert not (project / "results").exists()


def test_a_misspelled_run_gets_the_nearest_name(project, call):
    says(nearest=RUN).check(call("curves", "static_2_3").one_line)


def test_a_table_of_text_alone_has_no_curves(project, edit, call):
    """It ended in a traceback."""
    text = """\
table2:
  title: Text
  section: §2
  corpus: small
  columns: [tasks]
  rows: {pairs: pairs.train}
"""
    edit("papers/sample/tables.yaml", "table1:", f"{text}table1:")
    printed = project / "config/papers/sample/reported/table2.csv"
    printed.write_text(
        "row,column,value,stderr,mark,right,note\npairs,bos,9,,,,\npairs,kor,9,,,,\n"
    )
    line = call("curves", "sample_table2").one_line
    remedy = "`fathom table sample_table2 --scale small`"
    says("no runs in table", where="sample_table2", remedy=remedy).check(line)


def test_json_has_the_last_validation_of_each_seed(own, summarised, call):
    own(summarised)
    static, gated = json.loads(call("curves", RUN, GATED, "--json").out)
    assert (static["label"], gated["run"]) == (RUN, f"sample/{GATED}")
    (seed,) = static["seeds"]
    assert (seed["seed"], seed["update"], seed["reason"]) == (1, 4, "")
    assert seed["last_validation"] == static["last_validation"] > 0


def test_runs_are_drawn_with_all_their_points(own, summarised, call):
    folder = own(summarised)
    answer = call("curves", RUN, GATED)
    assert answer.code == 0
    assert [line.partition(":")[0] for line in answer.lines] == [RUN, GATED]
    (path,) = folder.glob("results/small/curves/*.csv")
    with open(path, encoding="utf-8", newline="") as stream:
        points = list(csv.DictReader(stream))
    assert {point["series"] for point in points} == {"nll.train", "nll.valid", "unigram"}
    assert len([point for point in points if point["series"] == "nll.train"]) == 8
    drawn = path.with_suffix(".svg").read_text(encoding="utf-8")
    assert all(f">{name}</text>" in drawn for name in (RUN, GATED))


def test_other_runs_have_other_files(own, summarised, call):
    folder = own(summarised)
    for names in ((RUN, GATED), (GATED, RUN), (RUN,), (RUN, RUN)):
        assert call("curves", *names).code == 0
    assert len(list(folder.glob("results/small/curves/*.svg"))) == 3


def test_rows_of_a_table_have_their_printed_names(own, summarised, call):
    folder = own(summarised)
    answer = call("curves", "sample_table1")
    assert [line.partition(":")[0] for line in answer.lines] == ["Static", "Gated"]
    assert (folder / "results/small/curves/sample_table1.svg").is_file()


def test_metrics_go_to_tensorboard_where_a_folder_is_named(own, summarised, call):
    pytest.importorskip("tensorboardX")
    folder = own(summarised)
    answer = call("curves", RUN, "--tensorboard", "events")
    assert answer.code == 0
    [path] = folder.glob("events/sample/*/1/events.out.tfevents.*")
    assert path.parent.parent.name == RUN
    assert path.stat().st_size > 0
