"""The page's tables come from the files of the benchmarks; a part that was not run stays."""

import json

from benchmarks import page
from benchmarks.peer.goals import GOALS

FACTS = {
    "processor": "A processor", "cores": 2, "threads": 1, "device": "cpu", "load": 0.1,
    "busy": False,
    "python": "3.11.7", "packages": {"torch": "2.13.0"}, "commit": "abc1234", "date": "2026-01-02",
}  # fmt: skip


def bench(folder, goal):
    table = {"name": "t", "title": "A title", "columns": ["", "a"], "rows": [["x", 1.5]]}
    table |= {"numbers": {goal.number: goal.required}}
    old = {"name": "goals", "title": "Old", "columns": [], "rows": [], "numbers": {}}
    content = {"facts": FACTS, "tables": [table, old]}
    (folder / "cpu.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_a_part_has_the_machine_and_its_tables(tmp_path):
    parts = dict(page.parts(bench(tmp_path, GOALS[0])))
    assert set(parts) == {"cpu", "goals"}
    for text in ("A processor", "abc1234", "A title", "| x | 1.50 |"):
        assert text in parts["cpu"]
    assert "Old" not in parts["cpu"]


def test_nothing_is_written_of_what_was_not_measured(tmp_path):
    assert dict(page.parts(tmp_path)) == {}


def test_the_page_has_a_place_for_every_part():
    text = page.PAGE.read_text(encoding="utf-8")
    for part in (*page.FILES, "goals"):
        assert text.count(f"<!-- begin: {part} -->\n") == 1
        assert text.count(f"<!-- end: {part} -->") == 1
