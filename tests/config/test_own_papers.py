"""What the project's own papers and data sets say: numbers as printed, choices explained."""

import pytest
from sacrebleu.dataset import DATASETS

from fathom.config.files import ConfigFiles
from fathom.config.reported import read
from fathom.config.schema.run import Outcome
from fathom.data.prepare import count_matches
from tests.support.own_project import PAPERS
from tests.support.refused import says
from tests.support.specs import ROOT

# What sacreBLEU calls the source of a test set.
SACREBLEU = {f"wmt{year}_test": f"wmt{year}" for year in (12, 13, 15)}
SACREBLEU |= {"wmt14_test": "wmt14/full", "wmt14_test_filtered": "wmt14"}


@pytest.fixture(scope="module")
def printed(own_project):
    """All reported cells of the three papers."""
    return [
        cell
        for paper in map(own_project.papers.get, PAPERS)
        for table in paper.tables.values()
        for cell in read(paper.reported(table.name), own_project.cells(table), ROOT)
    ]


def test_printed_averages_fit_their_cells(printed):
    """A cell is rounded by up to 0.05, an average by up to 0.05 more where it has one digit."""
    rows = {}
    for cell in printed:
        rows.setdefault((cell.where.rpartition(":")[0], cell.row), {})[cell.column] = cell.number
    fitting = 0
    for row, cells in rows.items():
        tasks = [cells[name] for name in cells if name not in ("avg", "params", "sharing_rate")]
        if cells.get("avg") is not None and tasks:
            assert cells["avg"] == pytest.approx(sum(tasks) / len(tasks), abs=0.1), row
            fitting += 1
    assert fitting == 48


def test_misprints_are_compared_as_corrected(printed):
    misprints = [(cell.value, cell.number) for cell in printed if cell.right]
    expected = [("224", 287.0), ("314", 31.4), ("195", 185.0), ("5.64", 5.66)]
    assert misprints == [*expected, ("5.64", 5.66), ("151", 176.0)]


def test_expected_counts_are_the_published_ones(own_project):
    expected = own_project.datasets["ted8_related"].expected
    assert expected["por"].given() == {"train": "185k", "valid": 4035, "test": 4855}
    assert expected["glg"].train == "10.0k"
    diverse = own_project.datasets["ted8_diverse"].expected
    # Both papers print 5.64k of bos; its text has 5,664 pairs.
    assert count_matches(5664, diverse["bos"].train)
    for name in ("ted8_related", "ted8_diverse"):
        rebuilt = own_project.datasets[f"{name}_rebuilt"]
        assert rebuilt.expected == own_project.datasets[name].expected


def test_test_sets_of_wmt_have_the_checksums_and_members_of_sacrebleu(own_project):
    """Neither moves an identity, so that a slip would be noticed by a download alone."""
    for source, name in SACREBLEU.items():
        assert own_project.sources[source].md5 == DATASETS[name].md5[0]
    members = DATASETS["wmt14"].langpairs["en-de"]
    card = own_project.datasets["wmt14_en_de"]
    codes = [card.sources["wmt14_test_filtered"][side] for side in ("eng", "deu")]
    assert [(member,) for member in members] == codes


def test_files_of_talks_are_not_refused_for_their_estimated_size(own_project):
    """As the other revision of the parquet files has them, in MB."""
    about = own_project.sources["ted_multi"].about_bytes
    for megabytes in (334, 164, 12.9, 15.4):
        assert about / 10 < megabytes * 1e6 < about * 10


def test_nothing_but_the_text_is_another_where_the_archive_is_made_again(own_project):
    names = [
        name for name in own_project.entries if own_project.run(name).data.dataset == "wmt16_en_de"
    ]
    assert len(names) == 10
    assert all(own_project.comparable(name, "paper_rebuilt", "wmt16_en_de") for name in names)
    assert not any(own_project.comparable(name, "tiny", "wmt16_en_de") for name in names)
    assert not own_project.comparable(names[0], "paper_rebuilt", "wmt14_en_de")


# Choices that no value of runs.yaml and no setting of a card shows, by paper and entry.
CHOICES = {
    "latent_depth": "gate_sample layer_drop_draw tokens_of_an_update resting_parameters divergence "
    "hidden_pieces norm_of_masked_language_models dlcl_form rezero_form adam_and_warmup one_logit",
    "transparent_attention": "recurrent_dropout adam failed tokens_of_an_update tokenisation",
    "lamgd": "noise smoothing_and_adam tokens_of_an_update significance",
}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_choice_that_is_no_value_of_a_run_has_an_entry(own_project, paper):
    entries = {entry.name: entry for entry in own_project.papers[paper].deviations}
    assert all(entries[name].ours and entries[name].why for name in CHOICES[paper].split())


@pytest.mark.parametrize(
    ("paper", "name"), [("latent_depth", "divergence"), ("transparent_attention", "failed")]
)
def test_the_entries_on_divergence_have_the_limits_of_the_settings(own_project, paper, name):
    (entry,) = [entry for entry in own_project.papers[paper].deviations if entry.name == name]
    limits = Outcome()
    assert f"{limits.exploded_above:g} nats " in entry.ours
    assert f" {limits.exploded_for} updates in a row" in entry.ours
    assert entry.settings == ("outcome",)


def test_first_weights_of_masked_language_models_keep_berts_share_of_their_width(own_project):
    names = [name for name in own_project.entries if "/masked_" in name]
    for scale in own_project.scales:
        for name in names:
            model = own_project.spec(name, scale).model
            wanted = 0.02 * (768 / model.width) ** 0.5
            assert model.initial_deviation == pytest.approx(wanted, rel=0.01), (scale, name)
    assert len(names) == 12


def test_a_paper_is_not_called_as_a_folder_of_every_scale(tmp_path):
    (tmp_path / "config" / "papers" / "logs").mkdir(parents=True)
    found = [*ConfigFiles(tmp_path).faults()]
    says("every scale has a folder of this name", where="config/papers/logs").check(found)
