from fathom.cluster.scheduler import ask
from fathom.cluster.slurm import Slurm


def test_a_command_that_hangs_is_ended(answers):
    answers("squeue", script="sleep 60")
    assert ask("squeue", seconds=0.2).code == 124


def test_a_command_that_is_not_there_is_an_answer_too():
    assert ask("no-such-command").code == 127


def test_bytes_that_are_no_text_are_an_answer_too(answers):
    answers("squeue", script=r"printf '\377\376'")
    assert ask("squeue").code == 0


def test_a_program_that_is_missing_is_named(answers):
    for name in Slurm.commands:
        answers(name)
    assert Slurm().missing() is None
    assert type("Other", (Slurm,), {"commands": ("sbatch", "nosuch")})().missing() == "nosuch"


def test_a_refusal_that_stays_is_known_by_its_words():
    slurm = Slurm()
    assert slurm.is_permanent("sbatch: error: invalid partition specified: x")
    assert not slurm.is_permanent("sbatch: error: Socket timed out on send/recv operation")
