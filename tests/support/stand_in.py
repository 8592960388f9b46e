"""A stand-in for the `fathom` command: it makes the files that a rule waits for, and nothing else.

So tests of the workflow run its rules in seconds. `made.txt` lists each call.
"""

import json
from pathlib import Path

from fathom.config.measurement_keys import file_name
from fathom.workflow.targets import Targets

SCRIPT = """#!/bin/sh
# A stand-in of the tests for the fathom command.
here=$(dirname "$0")
echo "$*" >> "$here/../../made.txt"
exec {python} -S "$here/write.py" "$*"
"""

WRITE = """
import hashlib, json, re, sys
from pathlib import Path

here = Path(__file__).parent
project = here.parents[1]
files = json.loads((here / "files.json").read_text())
text = (project / "lib/fathom/results/recipe.py").read_text()
recipe = int(re.search(r'"training": (\\d+)', text)[1])
content = {"recipe": recipe}
digest = hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()
for name in files[sys.argv[1]]:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content | {"record_sha256": digest}))
    if path.name == "training.json":
        (path.parent / "checkpoints").mkdir(exist_ok=True)
        (path.parent / "checkpoints" / "last.pt").touch()
"""


def outputs(targets: Targets, target: str) -> dict[str, list[str]]:
    """Return the files that each command for a table leaves, by its arguments."""
    paths = targets.paths
    files: dict[str, list[Path]] = {}
    artefact = targets.artefact(target)
    for name in artefact.runs:
        spec = targets.spec(name)
        folder, data = f"{spec.paper}/{spec.folder}", spec.data
        for source in targets.sources(data.corpus_folder):
            files[f"fetch {source.parent.name}"] = [source]
        files[f"prepare {data.corpus_folder}"] = [paths.corpus(data) / "corpus.json"]
        files[f"subwords {data.subwords_folder}"] = [paths.subwords(data) / "subwords.json"]
        files[f"encode {data.folder}"] = [paths.tensors(data) / "tensors.json"]
        for seed in targets.seeds(name):
            of_run = f"{folder} --seed {seed}"
            files[f"train {of_run}"] = [paths.training(spec, seed)]
            files[f"translate {of_run}"] = [targets.decodings_done(spec, seed)]
            files[f"gates {of_run}"] = [paths.measurements(spec, seed, "gates")]
            for split, gates in targets.decodings(name):
                path = paths.measurements(spec, seed, file_name("scores", spec, split, gates))
                command = f"score {of_run} --split {split} --gates {gates} --metric"
                files[f"{command} bleu"] = [path]
                path = paths.measurements(spec, seed, file_name("ter", spec, split, gates))
                files[f"{command} ter"] = [path]
                path = paths.measurements(spec, seed, file_name("likelihood", spec, "valid", gates))
                files[f"likelihood {of_run} --split valid --gates {gates}"] = [path]
    verb = f"{artefact.verb} {target} --scale {targets.scale}"
    files[verb] = targets.artefact_files(artefact)
    files[f"compare --scale {targets.scale}"] = [paths.compare]
    return {call: [str(path) for path in paths] for call, paths in files.items()}


def install(project: Path, python: str, files: dict[str, list[str]]) -> None:
    """Make the stand-in the command of a project's environment."""
    folder = project / ".venv" / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fathom").write_text(SCRIPT.format(python=python), encoding="utf-8")
    (folder / "fathom").chmod(0o755)
    (folder / "write.py").write_text(WRITE, encoding="utf-8")
    (folder / "files.json").write_text(json.dumps(files), encoding="utf-8")
