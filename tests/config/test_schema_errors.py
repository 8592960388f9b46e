import pytest

from fathom.config.schema_errors import Schemas
from fathom.config.yaml_files import read

SCHEMA = """
type: object
additionalProperties: false
required: [rate]
properties:
  rate: {type: number, minimum: 0, description: d}
  code: {type: string, description: d}
  norm: {enum: [pre, post, none], description: d}
  updates: {type: integer, description: d}
  share: {type: number, exclusiveMinimum: 0, description: d}
"""


@pytest.fixture
def said(tmp_path):
    def check(text):
        (tmp_path / "thing.schema.yaml").write_text(SCHEMA)
        (tmp_path / "a.yaml").write_text(text)
        file = read(tmp_path / "a.yaml", tmp_path)
        return [str(each) for each in Schemas(tmp_path, tmp_path).findings("thing", file)]

    return check


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate: 1e-3\n", "a.yaml:1: rate: YAML reads 1e-3 as text; write 1.0e-3"),
        ("rate: 1e5\n", "a.yaml:1: rate: YAML reads 1e5 as text; write 1.0e+5"),
        (
            "rate: 1.0\ncode: no\n",
            "a.yaml:2: code: YAML reads no, on, yes and off as true or false; put it in quotes",
        ),
        ("rate: 1.0\ncode: 001\n", "a.yaml:2: code: YAML reads 1 as a number; put it in quotes"),
        ("rate: -1\n", "a.yaml:1: rate: -1 is too small; write 0 or more"),
        (
            "rate: 1\nnorm: prre\n",
            "a.yaml:2: norm: 'prre' is not possible here; nearest valid name: 'pre'",
        ),
        (
            "rate: 1\nupdate: 3\n",
            "a.yaml:2: update: unknown key 'update'; nearest valid name: 'updates'",
        ),
        ("code: a\n", "a.yaml: the key 'rate' is missing; add it; the schema describes it"),
        (
            "rate: 1\nupdates: many\n",
            "a.yaml:2: updates: 'many' is not a whole number; write a whole number",
        ),
        ("rate: 1\nshare: 0\n", "a.yaml:2: share: 0 is too small; write more than 0"),
        (
            "rate: 1\nupdates: no\n",
            "a.yaml:2: updates: YAML reads no, on, yes and off as true or false; "
            "write a whole number",
        ),
    ],
)
def test_a_mistake_is_one_line_with_file_line_key_cause_and_remedy(said, text, message):
    assert said(text) == [message]


def test_all_mistakes_are_reported_and_not_the_first_alone(said):
    assert len(said("rate: 1e-3\nnorm: x\ncodes: b\n")) == 3


def test_a_right_file_has_no_findings(said):
    assert said("rate: 1.0e-3\nnorm: none\n") == []
