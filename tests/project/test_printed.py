"""`supports` of a claim is compared with what the paper's own cells answer."""

import subprocess
import sys

import pytest

from fathom.io.errors import Findings
from tests.support.checked import checked
from tests.support.refused import prose, refused, says
from tests.support.small_project import write_config

PAPER = "config/papers/sample"
# The gated run diverged.
CLAIM = """\
better:
  sentence: Gated is better than a number.
  section: §6
  for: {row: [Static, Gated]}
  guard: trained(table1["<row>"])
  claim: table1["<row>", "avg"] > 20
  supports: {Static: holds, Gated: undecided}
"""


@pytest.fixture
def small(tmp_path):
    """A function that writes claims of a small project, and returns its folder."""

    def write(claims):
        (tmp_path / PAPER / "claims.yaml").write_text(claims, encoding="utf-8")
        return tmp_path

    write_config(tmp_path)
    return write


def test_a_right_answer_for_each_part_is_no_finding(small):
    (claim,) = checked(small(CLAIM)).claims["sample"].values()
    assert [part.supports for part in claim.parts] == ["holds", "undecided"]


def test_each_part_with_another_answer_is_a_finding_with_its_line(small):
    wrong = CLAIM.replace("{Static: holds, Gated: undecided}", "{Static: fails, Gated: holds}")
    with pytest.raises(Findings) as caught:
        checked(small(wrong))
    remedy = f"holds, {prose('correct the claim')}"
    where = f"{PAPER}/claims.yaml:7: better.supports.Static"
    says("other answer", "holds", "fails", where=where, remedy=remedy).check(caught.value)
    where = f"{PAPER}/claims.yaml:7: better.supports.Gated"
    says("other answer", "undecided", "holds", where=where).check(caught.value)
    assert len(caught.value.findings) == 2


def test_one_word_for_all_parts_has_the_line_of_the_word(small):
    wrong = CLAIM.replace("{Static: holds, Gated: undecided}", "holds")
    where = f"{PAPER}/claims.yaml:7: better.supports"
    with refused("other answer", "undecided", "holds", where=where, error=Findings):
        checked(small(wrong))


def test_cells_of_other_lengths_are_a_finding_before_anything_is_trained(small):
    claim = 'table1["Static", tasks] > table1["Gated", ["avg", "bos", "kor"]]'
    wrong = CLAIM.replace('table1["<row>", "avg"] > 20', claim)
    with refused("claim lengths", 2, 3, where="better.claim", error=Findings):
        checked(small(wrong))


def test_where_something_else_is_wrong_answers_are_not_looked_for(small):
    folder = small(CLAIM.replace("Static: holds", "Static: fails"))
    path = folder / PAPER / "reported/table1.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("20.5", "2O.5"), encoding="utf-8")
    with pytest.raises(Findings) as caught:
        checked(folder)
    (finding,) = caught.value.findings
    says("no digits", "2O.5").check(finding)


def test_a_curve_needs_no_pandas_to_be_not_printed(small):
    """`fathom validate` and each start of Snakemake would load it."""
    with (small(CLAIM) / PAPER / "figures.yaml").open("a", encoding="utf-8") as figures:
        figures.write(
            "\nfigure2:\n  kind: lines\n  title: Curves\n  section: §6\n  series: gradient_norm\n"
            "  x: update\n  lines: {gated: gated_2_2}\n"
        )
    claim = 'mean(abs(0.5 * figure2["gated"] - 1)) > 0'
    text = CLAIM.replace('table1["<row>", "avg"] > 20', claim).replace(
        "Static: holds", "Static: not printed"
    )
    code = "import sys; from pathlib import Path; from tests.support.checked import checked\n"
    code += "checked(Path(sys.argv[1])); assert not {'pandas', 'torch'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code, small(text)], check=True)
