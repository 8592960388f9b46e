"""A run on the small corpus, as files: what the stages before scoring leave behind."""

from dataclasses import replace
from pathlib import Path

from fathom.io.files import sha256, write_json, write_lines
from fathom.provenance.manifest import DECODED
from fathom.runs import spec
from fathom.runs.paths import Paths
from fathom.runs.spec import Spec
from fathom.subwords.sides import sides
from tests.subwords.small_corpus import small_data

MODEL = spec.Model(
    architecture="transformer",
    encoder_layers=1,
    decoder_layers=2,
    width=16,
    ffn=24,
    heads=4,
    norm="pre",
    residuals=("encoder", "decoder"),
    activation="relu",
    dropout=0.1,
    attention_dropout=0.0,
    activation_dropout=0.0,
    share_embeddings="target",
    output_bias=False,
    learned_positions=None,
)
TRAINING = spec.Training(
    updates=5,
    batches=spec.Batches(64, "task", "equal", "pool", 2),
    label_smoothing=0.1,
    schedule=spec.Schedule("inverse_sqrt", {"learning_rate": 0.005, "warmup": 2}),
    adam_betas=(0.9, 0.98),
    adam_eps=1e-6,
    weight_decay=0.0,
    clip=1.0,
    precision="fp32",
    validate_every=5,
    keep_weights=0,
    masking=None,
    start=None,
)
CODE = {"hash": "0" * 64, "python": "3.11", "modules": ["fathom"]}


def small_spec(
    method: spec.Method,
    direction: str = "many_to_one",
    gates: str = "plain",
    metric: str = "13a",
    samples: int = 200,
) -> Spec:
    """Return a run on the small corpus."""
    evaluation = spec.Evaluation(
        decoding=spec.Decoding(
            average_of=1, beam=3, length_penalty=1.0, cap_ratio=0.3, cap_constant=3
        ),
        scoring=spec.Scoring(metric, samples),
        compared_gates=gates,
    )
    data = replace(small_data(), direction=direction)
    outcome = spec.Outcome(20.0, 20, 0.0)
    return Spec("small_run", "tiny", data, MODEL, method, TRAINING, outcome, evaluation)


def training(kind: str = "finished", **differences: object) -> dict:
    """Return what training.json says of a run that has ended so."""
    validation = {"nll": 4.5, "by_task": {"bos": 4.4, "bel": 4.5, "kor": 4.6}}
    return {
        "outcome": {"kind": kind, "update": 5, "reason": f"it has {kind}"},
        "parameters": {
            "total": 90,
            "trainable": 90,
            "encoder": 30,
            "decoder": 40,
            "embeddings": 20,
        },
        "validation": validation if kind == "finished" else None,
        "unigram_nll": 6.06,
        "totals": {"updates": 5, "target_tokens": 960, "seconds": 1.5},
        "depth": None,
        "device": {"type": "cpu", "name": "x86_64", "threads": 1},
        "versions": {"python": "3.11.7", "torch": "2.13.0", "fairseq-fixed": "0.12.3.1"},
        "attempts": [attempt(0)],
        "code": CODE,
    } | differences


def attempt(number: int) -> dict:
    """Return what one attempt leaves behind."""
    return {
        "host": "node",
        "pid": 1000 + number,
        "job": None,
        "command": "fathom",
        "start": "2026-01-01T00:00:00+00:00",
        "end": "2026-01-01T00:00:02+00:00",
        "from_update": 0,
        "to_update": 5,
        "ended_as": "finished",
    }


def write_decoding(
    run: Spec, corpus: Path, folder: Path, outcome: str = DECODED, without: tuple[str, ...] = ()
) -> None:
    """Write hypotheses that are the references with every fourth word replaced."""
    tasks = {}
    target = sides(run.data)[1]
    for task in run.data.tasks if outcome == DECODED else ():
        if task in without:
            continue
        references = target.lines(corpus, task, "test")
        path = folder / f"{task}.test.txt"
        write_lines(path, [_spoilt(line) for line in references])
        tasks[task] = {"split": "test", "sentences": len(references), "sha256": sha256(path)}
    described = {
        "gates": folder.name,
        "outcome": outcome,
        "reason": "",
        "tasks": tasks,
        "no_layer": list(without),
        "settings": vars(run.evaluation.decoding),
        "code": CODE,
        "versions": {"torch": "2.13.0"},
    }
    write_json(folder / "decoding.json", described)


def _spoilt(line: str) -> str:
    words = line.split(" ")
    return " ".join("wrong" if place % 4 == 2 else word for place, word in enumerate(words))


def write_before(run: Spec, paths: Paths, ended: dict) -> None:
    """Write what data and training leave behind, without text and weights."""
    write_json(paths.corpus(run.data) / "corpus.json", {"tasks": list(run.data.tasks)})
    write_json(paths.tensors(run.data) / "tensors.json", {"tasks": list(run.data.tasks)})
    write_json(paths.training(run, 1), ended)
    for name in ("spec.yaml", "metrics.tsv"):
        write_lines(paths.run(run, 1) / name, [name])
