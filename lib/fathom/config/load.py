"""config/ read and, where it is asked for, checked whole."""

from collections.abc import Callable, Iterable
from pathlib import Path

from fathom.config.check import check as check_values
from fathom.config.files import ConfigFiles
from fathom.config.project import Project
from fathom.config.switches import Switches, merged
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, refuse, unknown

# Returns what is to be added to the findings of config/.
Check = Callable[[Project, list[FathomError]], Iterable[FathomError]]


def load(root: Path, check: bool | Check = True, layers: Iterable[Value] = ()) -> Project:
    """Read config/ under a folder.

    With `check`, what is wrong in each file alone is found first, or else what is wrong between
    files. Without it, a part is checked when it is first asked for.

    Args:
        root: the project's folder.
        check: whether to check everything: all papers, and all runs at all scales; or what checks
            even more, `artefacts.check.beyond_config`.
        layers: switches that come after config.yaml's (config/switches.py).

    Raises:
        Findings: If the switches are wrong, or with `check` anything else.
    """
    files = ConfigFiles(root)
    findings = [*files.all("config").faults()]
    values = merged([*([] if findings else files.all("config").values()), *layers])
    switches, wrong = check_values(Switches, values)
    findings += wrong if not findings else []
    if switches is not None:
        folders = (Path(folder).resolve() for folder in switches.papers)
        findings += files.include(folders, values.place("papers"))
        if switches.scale not in files.names("scale"):
            where = values.place("scale")
            findings.append(unknown("scale", switches.scale, where, files.names("scale")))
    if findings and not check:
        refuse(findings)
    # What is missing here is a finding already.
    project = Project(root, files, switches or Switches.model_construct())
    if check:
        from fathom.config import consistency

        findings += consistency.file_faults(project)
        findings = findings or consistency.conflicts(project)
        refuse([*findings, *(check(project, findings) if callable(check) else ())])
    return project
