"""`fathom diff`: equal trees end with 0, others with 1 and a line for each difference."""

import json

from tests.support.refused import says
from tests.support.small_trees import edit, write_tree


def test_equal_trees_end_with_0_and_others_with_1(tmp_path, call):
    first, second = (str(write_tree(tmp_path / name)) for name in "ab")
    answer = call("diff", first, second)
    assert (answer.code, len(answer.lines)) == (0, 1)
    edit(tmp_path / "b/small/sample/table1.csv", "20.5", "20.75")
    answer = call("diff", first, second)
    assert answer.code == 1
    assert "sample/table1 “6/6” avg: value 20.5 in A, 20.75 in B" in answer.out
    assert call("diff", first, second, "--tolerance", "0.5").code == 0
    assert call("diff", first, second, "--table", "sample_figure1").code == 0
    answer = call("diff", first, second, "--json")
    assert (answer.code, json.loads(answer.out)["equal"]) == (1, False)


def test_a_folder_without_results_and_a_wrong_tolerance_are_refused(tmp_path, call):
    first = str(write_tree(tmp_path / "a"))
    says("no folder", where="b").check(call("diff", first, str(tmp_path / "b")).one_line)
    assert call("diff", first, first, "--tolerance", "-1").code == 2
    assert call("diff", first, first, "--tolerance", "nan").code == 2
