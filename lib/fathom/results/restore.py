"""What `fathom train` does about damaged files of a training that has ended.

Its weights and its record are whole, so nothing is trained. A series cannot be made again.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path

from fathom.config.spec import Spec
from fathom.io.files import set_aside, write_text
from fathom.results import training_record
from fathom.results.run_state import STATE_FILE
from fathom.results.training_record import LOST, SETTINGS, restore_measured, settings_text
from fathom.results.verify import verify


def restore(record: Path, spec: Spec, seed: int, report: Callable[[str], None]) -> None:
    """Rename what is damaged beside a training.json, and write again what follows from config.

    Args:
        report: gets a line for each file.
    """
    restore_measured(record, spec, seed)
    text = settings_text(spec)
    recorded = training_record.read(record).files.get(SETTINGS)
    has_settings = hashlib.sha256(text.encode()).hexdigest() == recorded
    for path, finding in verify([record.parent]).findings.items():
        if path.name == SETTINGS and not has_settings:
            report(f"{path}: {finding.what}; config no longer has what was recorded")
        elif path.name in (SETTINGS, STATE_FILE, LOST) or path.suffix == ".pt":
            renamed = f"; renamed to {set_aside(path)}" if path.exists() else ""
            report(f"{path}: {finding.what}{renamed}")
            if path.name == SETTINGS:
                write_text(path, text)
