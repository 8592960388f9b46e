from fathom.cluster.schedulers import SCHEDULERS, is_live, scheduler_of
from tests.support.refused import refused
from tests.support.targets import ROOT


def test_every_scheduler_has_a_profile_of_its_name_with_four_commands():
    for name, kind in SCHEDULERS.items():
        assert kind.name == name
        folder = ROOT / name
        files = {path.name for path in folder.iterdir()}
        assert files == {"config.yaml", "submit", "status", "cancel", "runner"}
        assert all((folder / file).stat().st_mode & 0o111 for file in files - {"config.yaml"})


def test_an_unknown_scheduler_is_refused_with_the_nearest_name():
    assert scheduler_of("slurm").title == "Slurm"
    with refused("unknown", "scheduler", "slrum", nearest="slurm"):
        scheduler_of("slrum")


def test_nobody_knows_of_a_job_where_no_scheduler_is(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert is_live("7") is None


def test_the_scheduler_that_is_here_is_asked(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in SCHEDULERS["slurm"].commands:
        command = tmp_path / name
        command.write_text(
            "#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2\nexit 1\n"
        )
        command.chmod(0o755)
    assert is_live("7") is False
    (tmp_path / "scontrol").write_text("#!/bin/sh\necho JobId=7 JobState=RUNNING\n")
    assert is_live("7") is True
