from fathom.cluster.schedulers import SCHEDULERS, scheduler_of
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
