"""Accounting for the tests' Slurm: mariadb and slurmdbd, an account and a QOS for root."""

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.slurm.cluster import USER, Cluster, end, free_ports, wait

NEEDED = ("mariadbd", "mariadb-install-db", "slurmdbd", "sacctmgr")
ACCOUNT = "good"
# Three jobs of a user in the queue, of which two run, with a GPU in all, for an hour at most. Slurm
# accepts a longer one, with which it waits for ever.
QOS = "few"
LIMITS = ("MaxSubmitJobsPerUser=3", "MaxJobsPerUser=2", "MaxTRESPerUser=gres/gpu=1", "MaxWall=60")
CONF = """
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
DbdHost=localhost
DbdPort={port}
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=accounting
PidFile={folder}/run/slurmdbd.pid
LogFile={folder}/log/slurmdbd
"""
OF_THE_CONTROLLER = """AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort={port}
AccountingStoragePass={folder}/munge/socket
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations,limits,qos"""


def missing() -> str | None:
    """Return why there can be no accounting here, or nothing."""
    absent = [name for name in NEEDED if shutil.which(name) is None]
    return f"no {absent[0]}: apt-get install mariadb-server slurmdbd" if absent else None


@dataclass
class Accounting:
    """The daemons of accounting, next to a cluster's."""

    cluster: Cluster
    database: subprocess.Popen | None = field(default=None, init=False)
    port: int = field(default=0, init=False)

    @property
    def _data(self) -> Path:
        return self.cluster.folder / "database"

    def start(self) -> None:
        """Start both daemons, then slurmctld with them, and make the account."""
        folder, call = self.cluster.folder, self.cluster.call
        where = ("--no-defaults", "--user=root", f"--datadir={self._data}")
        call(
            *("mariadb-install-db", *where, "--skip-test-db"),
            "--auth-root-authentication-method=normal",
        )
        socket = self._data / "socket"
        with open(folder / "log" / "mariadbd", "w") as log:
            self.database = subprocess.Popen(
                ["mariadbd", *where, f"--socket={socket}", "--skip-networking"],
                stdout=log,
                stderr=log,
            )
        wait(socket.exists, "the database answers")
        [self.port] = free_ports(1)
        conf = folder / "slurmdbd.conf"
        conf.write_text(CONF.format(folder=folder, port=self.port))
        conf.chmod(0o600)
        self.start_accounting()
        self.cluster.configure(accounting=OF_THE_CONTROLLER.format(folder=folder, port=self.port))
        wait(lambda: call("sacctmgr", "-i", "add", "cluster", "toy", check=False), "a cluster")
        # The controller tells which resources are counted.
        self.cluster.restart()
        add = ("sacctmgr", "-i", "add", "qos", QOS, *LIMITS)
        wait(lambda: call(*add, check=False), "the limits of users")
        call("sacctmgr", "-i", "add", "account", ACCOUNT, "Description=x", "Organization=x")
        for user in ("root", USER):
            call("sacctmgr", "-i", "add", "user", user, f"Account={ACCOUNT}")
            call("sacctmgr", "-i", "modify", "user", user, "set", f"qos+={QOS}")

    def start_accounting(self) -> None:
        """Start slurmdbd."""
        variables = self.cluster.environment | {"MYSQL_UNIX_PORT": str(self._data / "socket")}
        subprocess.run(["slurmdbd"], env=variables, check=True, timeout=60)

    def end_accounting(self) -> None:
        """End slurmdbd, as a failure does."""
        end(self.cluster.folder / "run" / "slurmdbd.pid")

    def stop(self) -> None:
        """Start slurmctld without accounting, and end the daemons."""
        self.cluster.configure()
        self.cluster.restart()
        self.end_accounting()
        if self.database:
            self.database.terminate()
            self.database.wait(60)
