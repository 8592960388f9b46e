import pytest

from fathom.errors import Findings
from fathom.project.load import load


def test_all_findings_of_all_files_stand_in_one_message(project, edit):
    edit("config/scales/tiny.yaml", "layers: 0.25", "layer: 0.25")
    edit("config/papers/latent_depth/runs.yaml", "learning_rate: 1.5e-3", "learning_rate: 1e-3")
    edit("config/config.yaml", "device: auto", "device: gpu")
    with pytest.raises(Findings) as caught:
        load(project)
    lines = str(caught.value).split("\n")
    assert any("config/scales/tiny.yaml:4: layer: unknown key 'layer'" in line for line in lines)
    assert any("YAML reads 1e-3 as text; write 1.0e-3" in line for line in lines)
    assert any("config/config.yaml:" in line and "device" in line for line in lines)


def test_a_changed_comment_changes_no_identity(project, edit, catalog):
    edit("config/scales/tiny.yaml", "# Two cores", "# Other words. Two cores")
    again = load(project).spec("static_12_12", "tiny")
    assert again.identity == catalog.spec("static_12_12", "tiny").identity


def test_a_changed_setting_is_another_folder(project, edit, catalog):
    edit("config/scales/tiny.yaml", "warmup: 100", "warmup: 101")
    again = load(project).spec("static_12_12", "tiny")
    assert again.folder != catalog.spec("static_12_12", "tiny").folder


def test_a_job_of_a_start_that_has_checked_does_not_check_again(project, edit):
    edit("config/config.yaml", "device: auto", "device: gpu")
    assert load(project, check=False).config["device"] == "gpu"


def test_every_file_that_cannot_be_read_is_told(project):
    for name in ("config/config.yaml", "config/scales/tiny.yaml"):
        (project / name).write_text("a: [\n", encoding="utf-8")
    with pytest.raises(Findings) as caught:
        load(project)
    assert [line.split(":")[0] for line in str(caught.value).split("\n")] == [
        "config/config.yaml",
        "config/scales/tiny.yaml",
    ]


def test_a_file_that_cannot_be_read_hides_no_other_finding(project, edit):
    (project / "config/scales/tiny.yaml").write_text("a: [\n", encoding="utf-8")
    edit("config/config.yaml", "device: auto", "device: gpu")
    with pytest.raises(Findings) as caught:
        load(project)
    assert [line.split(":")[0] for line in str(caught.value).split("\n")] == [
        "config/scales/tiny.yaml",
        "config/config.yaml",
    ]


def test_a_paper_without_its_own_file_is_told(project):
    """It was left out without a word."""
    (project / "config" / "papers" / "latent_depth" / "paper.yaml").unlink()
    with pytest.raises(Findings, match=r"latent_depth/paper\.yaml: cannot be read"):
        load(project)


def test_a_paper_whose_tables_have_lost_their_runs_is_told(project):
    (project / "config" / "papers" / "latent_depth" / "runs.yaml").unlink()
    with pytest.raises(Findings, match="no run 'static_6_6'"):
        load(project)


@pytest.mark.parametrize(
    "place", ["scales/Small.yaml", "datasets/my-data.yaml", "sources/x y.yaml", "papers/a-b"]
)
def test_a_name_that_no_path_could_carry_is_refused(project, place):
    path = project / "config" / place
    if path.suffix:
        path.write_text("title: x\n", encoding="utf-8")
    else:
        path.mkdir()
    with pytest.raises(Findings, match="small letters, digits and underscores"):
        load(project)


def test_a_run_of_such_a_name_is_refused(project, edit):
    edit("config/papers/latent_depth/runs.yaml", "  static_12_12: {}", "  Static-12: {}")
    with pytest.raises(Findings, match="'Static-12' has another form"):
        load(project)
