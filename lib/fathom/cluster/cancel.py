"""Cancel the jobs that Snakemake knows by a number; a successor has another one."""

import sys

from fathom.cluster.jobs import folders, top
from fathom.cluster.schedulers import scheduler_of


def main() -> None:
    """Cancel jobs, for `<profile>/cancel`."""
    profile, *numbers = sys.argv[1:]
    records = [folder.record() for folder in folders(top())]
    now = {record["id"]: record["now"] for record in records if record}
    scheduler_of(profile).cancel([now.get(number, number) for number in numbers])


if __name__ == "__main__":
    main()
