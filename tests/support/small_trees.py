"""Small trees of results: two runs, a table, a figure, claims and a comparison."""

from fathom.io.files import write_text
from fathom.io.records import hashes, identity, write_record
from fathom.results import measurements
from fathom.results.measurements import Measurements
from tests.support.run_files import training

CSV = {
    "small/sample/table1": """\
block,row,column,value,stderr,words,note,interval,seeds,mark,run,scale
,6/6,avg,20.5,0.2,,a note,0.4,1,,sample/a,small
,24/24,avg,,,diverged at update 80,,,1,,sample/b,small
""",
    "small/sample/figure1": """\
panel,label,run,seed,update,value,words,note
,A,sample/a,1,1,5.0,,
,A,sample/a,1,2,4.5,,
""",
    "small/claims": """\
paper,claim,part,section,sentence,expression,guard,answer,numbers,basis,reported_answer,\
reported_numbers,reported_basis,comparable,scale
sample,deeper,36/36,§4,deeper is better,a > b,,holds,1 > 0,one seed,holds,2 > 0,,False,small
sample,wider,,§4,wider is better,a > c,,fails,0 > 1,one seed,not printed,,,False,small
sample,closer,,§4,d is close,a > d,,holds,"a 20.5 - d 19.25 = 1.25 [0.4, 2.1] > 0; \
a 20.5 - e 19.15 = 1.35 [0.5, 2.2] > 0",one seed,holds,,,False,small
""",
    "small/compare": """\
paper,table,row,column,reported,reported_stderr,mark,reproduced,stderr,seeds,delta,verdict,\
cause,run,scale
sample,table1,6/6,avg,21.0,,,20.5,0.2,1,-0.5,reproduced,,sample/a,small
sample,table1,24/24,avg,20.0,,,,,1,,no result (paper has one),diverged at update 80,sample/b,small
""",
}
SPEC = "data: {dataset: small}\ntraining: {updates: 300, betas: [0.9, 0.98]}\n"
BLEU = {"bleu.test.plain.13a": {"tasks": {"bos": {"value": 20.0}, "fra": {"value": 21.0}}}}


def write_run(folder, name="a", seed=1, spec=SPEC, kind="finished", scores=BLEU, **changes):
    """Write a run with its scores; `changes` are of the keys of training.json."""
    digits = identity(spec)
    place = folder / "runs" / "sample" / f"{name}-{digits[:8]}" / str(seed)
    write_text(place / "spec.yaml", spec)
    record = training(kind, **{"files": hashes(place, "spec.yaml")} | changes)
    write_record(place / "training.json", record)
    path = place / "measurements" / "scores.test.plain-00000000.json"
    file = Measurements(
        rule="scores",
        recipe={"training": record["recipe"], "decoding": 1, "scoring": 1},
        run=f"sample/{name}",
        identity=digits,
        seed=seed,
        measurements=scores,
    )
    measurements.write(path, file)
    return place


def write_tree(folder):
    """Write a tree of results, and return its folder."""
    for name, text in CSV.items():
        write_text(folder / f"{name}.csv", text)
    for run in ("a", "b"):
        write_run(folder, run)
    return folder


def edit(path, old, new):
    """Replace a text that a file has."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    write_text(path, text.replace(old, new))
