"""A Slurm on this machine: munge, slurmctld, two slurmd with stand-ins for GPUs.

It needs root, and Debian's slurm-wlm and munge. Everything is in one folder, found by SLURM_CONF.
Whoever starts jobs is an ordinary user of Debian, whose home has a blank and a percent sign.
The daemons are ended by the process numbers that they leave.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NODES = ("n1", "n2")
USER = "games"
GPUS = 4
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch")
# Seconds after which a command, or a wait for a state, is given up.
COMMAND, LONGEST = 60, 300
WITHOUT_ACCOUNTING = "AccountingStorageType=accounting_storage/none"
CONF = """
ClusterName=toy
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/%n.pid
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=20
MinJobAge={min_job_age}
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=5,batch_sched_delay=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
JobAcctGatherType=jobacct_gather/none
JobSubmitPlugins=lua
{accounting}
NodeName=DEFAULT CPUs=32 RealMemory=8000 Gres=gpu:h200:{gpus}
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]}
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[3]}
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=1-0 State=UP PriorityTier=10 DefMemPerCPU=200
PartitionName=high Nodes=n1,n2 MaxTime=INFINITE State=UP PriorityTier=100 DefMemPerCPU=200
PartitionName=long Nodes=n1,n2 MaxTime=7-0 State=UP PriorityTier=10 DefMemPerCPU=200
PartitionName=scavenge Nodes=n1,n2 State=UP PriorityTier=1 PreemptMode=CANCEL DefMemPerCPU=200
PartitionName=cpu Nodes=n1,n2 State=UP PriorityTier=10 DefMemPerCPU=200
PartitionName=gpu Nodes=n1,n2 State=UP PriorityTier=10 DefMemPerCPU=200
"""
# As sites keep jobs without a GPU away from those who wait for it.
SUBMIT = """
function slurm_job_submit(job, partitions, user)
   local has = string.find(job.tres_per_node or "", "gpu") ~= nil
   if (job.partition == "gpu" and not has) or (job.partition == "cpu" and has) then
      slurm.log_user("the partition " .. job.partition .. " is for other jobs")
      return slurm.ERROR
   end
   return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, user)
   return slurm.SUCCESS
end
"""


def missing() -> str | None:
    """Return why no Slurm can be started here, or nothing."""
    if os.geteuid() != 0:
        return "tests of Slurm start its daemons and need root"
    absent = [name for name in NEEDED if shutil.which(name) is None]
    if absent:
        return f"no {absent[0]}: apt-get install slurm-wlm munge"
    return None if python() else f"the user {USER} can run no Python {sys.version_info[:2]}"


@cache
def python() -> str | None:
    """Return a Python like this one that the user can run, which pyenv of root is not."""
    for path in (sys.executable, f"/usr/bin/python3.{sys.version_info[1]}"):
        words = ("timeout", str(COMMAND), path, "-c", "")
        if (
            subprocess.run(words, user=USER, group=USER, extra_groups=[], check=False).returncode
            == 0
        ):
            return path
    return None


def wait(condition: Callable[[], object], what: str, seconds: float = LONGEST) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds:g} s"
        time.sleep(0.2)


@dataclass
class Cluster:
    """The daemons and their folder."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a command of Slurm needs, and its user's Python."""
        packages = ":".join(path for path in sys.path if path.endswith("site-packages"))
        given = {"SLURM_CONF": str(self.folder / "slurm.conf"), "HOME": str(self.home)}
        return os.environ | given | {"PYTHONPATH": packages, "USER": USER}

    @property
    def home(self) -> Path:
        """The folder of the user."""
        return self.folder / "al ice" / "50% off"

    def give(self, folder: Path) -> None:
        """Give a folder, and all in it, to the user."""
        subprocess.run(["chown", "-hR", f"{USER}:{USER}", str(folder)], check=True)

    def call(self, *words: str, check: bool = True, user: str | None = None) -> str:
        """Run a command of Slurm as root, or as a user; return what it printed."""
        done = subprocess.run(
            ["timeout", "-s", "KILL", str(COMMAND), *words],
            env=self.environment,
            user=user,
            group=user,
            extra_groups=[] if user else None,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 or not check, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def start(self) -> None:
        """Start all daemons and wait until both nodes are idle."""
        for name in ("state", "log", "run", "munge", *(f"spool.{node}" for node in NODES)):
            (self.folder / name).mkdir(mode=0o755)
        self.folder.chmod(0o755)
        self.home.mkdir(parents=True)
        self.give(self.home)
        self._ports = free_ports(4)
        self.configure()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        place = self.folder / "munge"
        self.call(
            *("munged", f"--key-file={key}", f"--socket={place}/socket", "--num-threads=2"),
            *(f"--pid-file={place}/pid", f"--log-file={place}/log", f"--seed-file={place}/seed"),
        )
        for number in range(GPUS * len(NODES)):
            os.mknod(
                self.folder / f"gpu{number}", stat.S_IFCHR | 0o600, os.makedev(195, 200 + number)
            )
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        wait(self._all_idle, "both nodes idle")

    def configure(self, min_job_age: int = 300, accounting: str = WITHOUT_ACCOUNTING) -> None:
        """Write the settings, which count after a restart.

        Args:
            min_job_age: seconds after which Slurm forgets a job that has ended.
            accounting: the settings of accounting.
        """
        text = CONF.format(
            folder=self.folder,
            ports=self._ports,
            host=socket.gethostname().partition(".")[0],
            gpus=GPUS,
            min_job_age=min_job_age,
            accounting=accounting,
        )
        (self.folder / "slurm.conf").write_text(text, encoding="utf-8")
        (self.folder / "job_submit.lua").write_text(SUBMIT, encoding="utf-8")
        lines = [
            f"NodeName={node} Name=gpu Type=h200 File={self.folder}/gpu[{first}-{first + GPUS - 1}]"
            for first, node in zip(range(0, GPUS * len(NODES), GPUS), NODES, strict=True)
        ]
        gres = "\n".join(["AutoDetect=off", *lines, ""])
        (self.folder / "gres.conf").write_text(gres, encoding="utf-8")

    def _all_idle(self) -> bool:
        states = self.call("sinfo", "-h", "-N", "-p", "main", "-o", "%T", check=False).split()
        return states == ["idle"] * len(NODES)

    def start_controller(self) -> None:
        """Start slurmctld."""
        self.call("slurmctld", "-f", f"{self.folder}/slurm.conf", "-L", f"{self.folder}/log/ctld")

    def start_node(self, node: str) -> None:
        """Start the slurmd of a node."""
        conf = f"{self.folder}/slurm.conf"
        self.call("slurmd", "-f", conf, "-N", node, "-L", f"{self.folder}/log/{node}")

    def end_controller(self) -> None:
        """End slurmctld, as a restart or a failure does."""
        end(self.folder / "run" / "slurmctld.pid")

    def restart(self) -> None:
        """End slurmctld and start it with the settings of now."""
        self.end_controller()
        self.start_controller()
        wait(lambda: self.call("sinfo", "-h", check=False), "slurmctld answers")

    def stop(self) -> None:
        """Cancel all jobs and end all daemons."""
        for user in ("root", USER):
            self.call("scancel", f"--user={user}", check=False)
        wait(lambda: not self.jobs(), "no job left", 60)
        for name in ("slurmctld", *NODES):
            end(self.folder / "run" / f"{name}.pid")
        end(self.folder / "munge" / "pid")

    def jobs(self, *words: str) -> list[list[str]]:
        """Return number, state, reason and name of each job that waits or runs."""
        text = self.call("squeue", "-h", "-o", "%i|%T|%r|%j", *words, check=False)
        return [line.split("|") for line in text.split("\n") if line]

    def warn(self, number: str) -> None:
        """Send a job the warning that comes before its limit."""
        self.call("scancel", "--batch", "--signal=USR1", number)

    def hurry(self, number: str, restarts: int = 1) -> None:
        """Let a requeued job start now, in place of in two minutes, and wait until it runs.

        Only after its attempt has gone: before that, Slurm drains the node for a duplicate number.
        """
        wait(lambda: self._state(number, restarts) in (["RUNNING"], ["PENDING"]), "requeued")
        if self._state(number, restarts) == ["PENDING"]:
            spool = [self.folder / f"spool.{node}" / f"job{int(number):05}" for node in NODES]
            wait(lambda: not any(path.exists() for path in spool), "the first attempt has gone")
            time.sleep(6)
            self.call("scontrol", "update", f"jobid={number}", "starttime=now")
        wait(lambda: self._state(number, restarts) == ["RUNNING"], "running again")

    def _state(self, number: str, restarts: int) -> list[str]:
        """Return the state of a job that has been requeued so often, empty before that."""
        job = self.call("scontrol", "--oneliner", "show", "job", number, check=False)
        count = re.search(r" Restarts=(\d+)", job)
        is_again = count and int(count[1]) >= restarts
        return re.findall(r"JobState=(\w+)", job) if is_again else []


def free_ports(count: int) -> list[int]:
    """Return ports that nobody uses now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def end(pid_file: Path) -> None:
    """End a daemon and wait until it has gone."""
    try:
        pid = int(pid_file.read_text())
        os.kill(pid, signal.SIGTERM)
    except (OSError, ValueError):
        return
    wait(lambda: not _lives(pid), f"{pid_file.name} has ended", 30)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False
