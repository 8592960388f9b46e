"""What is handed on of a scale's results: everything for readers, no text and no weights."""

from fathom.config.paths import Paths
from fathom.results.results_files import results_files
from tests.support.own_project import own_project

RUN = "latent_depth/m2o_diverse_12_12"
READ = (
    "training.json", "manifest.json", "metrics.tsv", "diagnostics/a.tsv.gz",
    "measurements/scores.json",
    "decodings/test.plain-00000000/bos.txt", "window/plain-00000000/scores.tsv",
)  # fmt: skip
LEFT_OUT = (
    "checkpoints/last.pt", "train.log", "state.json", "lock", "pruned/bos/checkpoint.pt",
    "decodings/test.plain-00000000/lock", "diagnostics/.a.tsv.gz.7.part",
)  # fmt: skip


def write(folder, names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_series_measurements_hypotheses_and_artefacts_are_packed(tmp_path):
    project, paths = own_project(), Paths(tmp_path, "tiny")
    spec = project.spec(RUN, "tiny")
    for seed in (1, 2):
        write(paths.run(spec, seed), (*READ, *LEFT_OUT))
    write(paths.run(spec, 3), ("metrics.tsv", "times.tsv", "attempts.json", "spec.yaml"))
    write(paths.corpus(spec.data), ("corpus.json", "statistics.json", "bos/train.bos"))
    write(paths.tensors(spec.data), ("tensors.json", "train.bin"))
    write(paths.top, ("claims.csv", "lamgd/table1.html", "logs/claims.log", "lamgd.html"))
    write(tmp_path / "runs/latent_depth/m2o_diverse_12_12-00000000/1", READ)
    run, corpus = (
        folder.relative_to(tmp_path).as_posix()
        for folder in (paths.run(spec, 1).parent, paths.corpus(spec.data))
    )
    names, not_ended = results_files(project, paths)
    assert not_ended == [f"{run}/3"]
    assert {*names} == {
        *(f"{run}/{seed}/{name}" for seed in (1, 2) for name in READ),
        f"{corpus}/corpus.json",
        f"{corpus}/statistics.json",
        *(f"tiny/{name}" for name in ("claims.csv", "lamgd/table1.html", "lamgd.html")),
    }
