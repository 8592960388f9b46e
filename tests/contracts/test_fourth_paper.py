"""A paper is added in config alone: its files are checked, and no other run changes."""

import re
import shutil
from pathlib import Path

import pytest

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.check import beyond_config
from fathom.artefacts.claims.judged import judged
from fathom.artefacts.needs import Needs
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.io.errors import Findings
from tests.support.refused import says
from tests.support.small_figures import end

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FILES = ROOT / "tests" / "support" / "fourth_paper"
PAGE = ROOT / "docs" / "adding_a_paper.md"
PAPER = "fourth_paper"
RUNS = {f"{PAPER}/{norm}_{layers}" for norm in ("pre", "post") for layers in (6, 12)}


def identities(project):
    """Return the identity of each run at each scale, and those of its decodings."""
    identities = {}
    for run in project.entries:
        for scale in (None, *project.scales):
            spec = project.spec(run, scale)
            decodings = () if spec.decoding is None else map(spec.decoding_identity, spec.gates)
            identities[run, scale] = (spec.identity, spec.folder, *decodings)
    return identities


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A copy of the project's config with the paper of docs/adding_a_paper.md."""
    root = tmp_path_factory.mktemp("project")
    # A reader of the page may have copied the paper to where it says.
    shutil.copytree(ROOT / "config", root / "config", ignore=shutil.ignore_patterns(PAPER))
    return root


@pytest.fixture(scope="module")
def before(root):
    project = load(root, check=False)
    assert PAPER not in project.papers
    return project


@pytest.fixture(scope="module")
def grown(root, before):
    shutil.copytree(FILES, root / "config" / "papers" / PAPER)
    return load(root)


def test_the_paper_has_its_runs_and_they_can_be_trained(grown, before):
    assert set(grown.entries) - set(before.entries) == RUNS
    assert not any(grown.not_built(run, scale) for run in RUNS for scale in ("tiny", "paper"))
    cells = grown.cells(grown.papers[PAPER].tables["table1"])
    assert sorted(cell.source for cell in cells) == sorted(RUNS)
    demands = Needs(grown, "tiny")
    for name in (f"{PAPER}_table1", f"{PAPER}_figure1"):
        assert demands.not_built(demands.artefacts[name]) == ""


def test_a_scale_gives_its_group_its_updates_and_trains_none_of_a_paper_that_leaves_it_out(grown):
    assert {grown.spec(run, "tiny").training.updates for run in RUNS} == {150}
    for run in RUNS:
        says("scale mini gives its group 'main' no updates").check([grown.not_built(run, "mini")])


@pytest.mark.parametrize(
    ("file", "old", "new", "finding"),
    [
        ("runs", "label_smoothing: ", "label_smothing: ", says("unknown key 'label_smothing'")),
        ("tables", "post_<column>", "post_<colum>", says("`with` gives no <colum>")),
        ("claims", "[figure1]", "[figrue1]", says("no figure 'figrue1'", nearest="figure1")),
        (
            "claims",
            "Post-norm: undecided",
            "Post-norm: holds",
            says("answer 'undecided', not '"),
        ),
    ],
)
@pytest.mark.usefixtures("grown")
def test_one_mistake_is_one_finding(root, tmp_path, file, old, new, finding):
    shutil.copytree(root / "config", tmp_path / "config")
    path = tmp_path / "config" / "papers" / PAPER / f"{file}.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(Findings) as caught:
        load(tmp_path, beyond_config)
    assert finding.check(caught.value) == list(caught.value.findings)
    assert len({each.where for each in caught.value.findings}) == 1


def test_no_other_run_has_another_identity(grown, before):
    own, after = identities(before), identities(grown)
    assert {key: after[key] for key in own} == own


@pytest.fixture
def answers(grown, tmp_path):
    """A function that ends trainings and returns the answers of the claims, ours and printed."""

    def judge(**trainings):
        artefacts = Artefacts(grown, Paths(tmp_path, "tiny"))
        for run, outcome in trainings.items():
            files = artefacts.run(f"{PAPER}/{run}")
            end(files, outcome, grown.spec(f"{PAPER}/{run}", "tiny").identity)
        claims = judged(artefacts, grown.papers[PAPER])
        return [(one.name, one.part, one.answer, one.reported_answer) for one in claims]

    return judge


def test_its_claims_are_answered_on_its_own_cells_before_anything_is_trained(answers):
    assert answers() == [
        ("depth_helps", "Pre-norm", "not run", "holds"),
        ("depth_helps", "Post-norm", "not run", "undecided"),
    ]


def test_its_claims_are_answered_on_results(answers):
    ours = [one[2] for one in answers(pre_12="finished", post_12="finished")]
    assert ours == ["not run", "not run"]
    ours = [one[2] for one in answers(post_12="diverged")]
    assert ours == ["not run", "undecided"]


def test_the_page_shows_the_files_as_they_are():
    blocks = re.findall(r"^```\w+\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    files = [path.read_text(encoding="utf-8") for path in FILES.rglob("*.*")]
    assert sorted(files) == sorted(block for block in blocks if not block.startswith("  "))
