"""`python -m benchmarks.sizes` counts lines, code and docstrings."""

from benchmarks import sizes


def test_a_room_has_its_lines_and_code_is_neither_blank_nor_comment_nor_docstring(tmp_path):
    files = {
        "lib/fathom/__init__.py": '"""A package."""\n',
        "lib/fathom/one/a.py": '"""Text.\n\nMore.\n"""\n\nimport os\n\n\nclass A:  # a comment\n'
        '    """A class."""\n\n    # Another comment.\n    x = """no\n    docstring"""\n',
        "tests/one/test_a.py": "def test():\n    assert True\n",
        "tests/conftest.py": "x = 1\n\n\n# A comment.\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert [row.split() for row in sizes.report(tmp_path).split("\n")] == [
        ["files", "lines", "code", "docstrings"],
        ["lib/__init__", "1", "1", "0", "1"],
        ["lib/one", "1", "14", "4", "5"],
        ["lib", "2", "15", "4", "6"],
        ["executor", "0", "0", "0", "0"],
        ["logger", "0", "0", "0", "0"],
        ["tests/conftest", "1", "4", "1", "0"],
        ["tests/one", "1", "2", "2", "0"],
        ["tests", "2", "6", "3", "0"],
        ["benchmarks", "0", "0", "0", "0"],
    ]
