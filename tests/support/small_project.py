"""A project of its own with two languages of invented words, and seconds of training.

Paper `sample` has a static run, one with latent layers, a table and a figure; the scale `small`
is the only one. The methods' cards and columns.yaml are the real ones.
"""

import random
import shutil
from pathlib import Path

from fathom.config.load import load
from fathom.config.paths import Paths
from tests.support.small_corpus import record_corpus, words, write_corpus

ROOT = Path(__file__).resolve().parents[2]
RUN, GATED = "static_2_2", "gated_2_2"
TEST_SENTENCES = 4
FILES = {
    "config.yaml": """\
scale: small
device: cpu
log_every: 1
""",
    "scales/small.yaml": """\
title: "small: for tests"
seeds: 1
check_learning: {run: sample/static_2_2, nats_below_unigram: 0.7}
""",
    "datasets/small.yaml": """\
title: Invented words
citation: Of the tests.
licence: BSD-3-Clause
format: packages
pivot: eng
tasks: [bos, kor]
sources:
  django: {bos: [bs], kor: [ko]}
cleaning: {equal_plurals: both, max_characters: 500, max_ratio: 4.0, min_ratio: 0.2, ratio_from: 20}
split: {by: key_hash, salt: test, test_per_mille: 150, valid_per_mille: 50}
max_shared: 0.2
expected:
  bos: {train: 1, valid: 1, test: 1}
  kor: {train: 1, valid: 1, test: 1}
""",
    "papers/sample/paper.yaml": """\
title: A Sample Paper
authors: [A. Author, B. Author]
url: https://example.org/sample
citation: {type: inproceedings, key: author2020sample, booktitle: Samples, year: "2020"}
metric: {tokenize: 13a}  # §3
equations: {}
""",
    "papers/sample/runs.yaml": """\
families:
  base:
    layers: 2/2  # §1
    group: main
    data: {dataset: small, direction: many_to_one, max_pieces: 64,
           subwords: {algorithm: bpe, foreign: 120, english: 80}}  # §2
    model: {architecture: transformer, width: 16, ffn: 32, heads: 4, norm: pre, dropout: 0.3,
            attention_dropout: 0.3, tie_embeddings: decoder}  # §3
    method: static
    training:
      updates: 4  # §4
      batch: {tokens: 60, per: task, pool: 2}  # §4
      shares: equal  # §4
      label_smoothing: 0.1  # §4
      schedule: {name: inverse_sqrt, learning_rate: 1.5e-3, warmup: 2}  # §4
      adam: {betas: [0.9, 0.98], eps: 1.0e-6}  # §4
      clip: 1.0  # §4
      validate_every: 4  # §4
    # Four updates teach little; the run shall count as finished all the same.
    outcome: {failed_margin: -20.0}  # tests
    decoding: {beam: 2, cap_ratio: 0.5, cap_constant: 3}  # §5
    scoring: {bootstrap_samples: 100}  # tests
runs:
  static_2_2: {like: base}
  gated_2_2: {like: base, method: {name: latent_layers, stacks: [decoder], target_depth: 1}}  # §3
""",
    "papers/sample/deviations.yaml": """\
defaults:
  title: What runs.yaml leaves out
  paper: Silent.
  ours: The defaults.
  why: Tests need no others.
  applies: [paper]
  settings: [seeds, data, model, masking, training, decoding]
""",
    "papers/sample/tables.yaml": """\
table1:
  title: A sample table
  section: §6
  columns: [avg, tasks]
  rows: {Static: static_2_2, Gated: gated_2_2}
  ours: {columns: [params, avg_hard, depth_decoder]}
""",
    "papers/sample/figures.yaml": """\
figure1:
  kind: grouped_bars
  title: A sample figure
  section: §6
  table: table1
  columns: [tasks]
  less: Static
  bars: {gated: Gated}
""",
    "papers/sample/reported/table1.csv": """\
row,column,value,stderr,mark,right,note
Static,avg,20.5,,,,
Static,bos,20.0,,,,
Static,kor,21.0,,,,
Gated,avg,,,,,diverged
Gated,bos,,,,,diverged
Gated,kor,,,,,diverged
""",
}


def write_config(folder: Path) -> Path:
    """Write the project's config/ and return the project's folder."""
    for name, text in FILES.items():
        path = folder / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    config = folder / "config"
    shutil.copytree(ROOT / "config" / "methods", config / "methods")
    for name in ("columns.yaml", "sources/django.yaml"):
        (config / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "config" / name, config / name)
    # The papers of the real cards are not here.
    for path in (config / "methods").glob("*.yaml"):
        lines = path.read_text(encoding="utf-8").split("\n")
        changes = {"paper: ": "paper: null", "equations: ": "equations: []"}
        for number, line in enumerate(lines):
            for start, new in changes.items():
                lines[number] = new if line.startswith(start) else lines[number]
        path.write_text("\n".join(lines), encoding="utf-8")
    return folder


# Text of two files is adopted as this study, whose run is small and saves weights for a window.
STUDY, OWN = "mine", "mine/static_2_2"
_STUDY = {
    "{algorithm: unigram, joint: 2000}": "{algorithm: bpe, joint: 80}",
    "seeds: 3": "seeds: 1",
    "{like: sample/static_2_2}": (
        "{like: sample/static_2_2, training: {updates: 6, validate_every: 1, keep_weights: 3},"
        " decoding: {window: 2}}"
    ),
}


def adopting(folder: Path) -> tuple[str, ...]:
    """Write two files of parallel text and return the verb that makes them a study."""
    dice, names = random.Random(3), []
    for code in ("bos", "eng"):
        lines = (f"{words(code, 1 + n % 7, dice)} {n}\n" for n in range(120))
        (folder / f"my.{code}").write_text("".join(lines), encoding="utf-8")
        names.append(f"my.{code}")
    options = ("--languages", "bos-eng", "--hold-out", "9+9", "--like", f"sample/{RUN}")
    return ("adopt", STUDY, "--text", *names, *options)


def use_study(folder: Path) -> None:
    """Name the adopted study in config, and make its run small."""
    replace_all(folder / STUDY / "study.yaml", _STUDY)
    with open(folder / "config" / "config.yaml", "a", encoding="utf-8") as config:
        config.write(f"papers: [{STUDY}]\n")


def in_pieces(folder: Path, dataset: str) -> None:
    """Give the runs a data set of German that comes in pieces."""
    changes = {
        "papers/sample/runs.yaml": {
            "dataset: small, direction: many_to_one, ": f"dataset: {dataset}, ",
            "{algorithm: bpe, foreign: 120, english: 80}": (
                "{algorithm: published, dictionary: joint, threshold: 5}"
            ),
        },
        "papers/sample/reported/table1.csv": {
            "bos": "deu",
            "Static,kor,21.0,,,,\n": "",
            "Gated,kor,,,,,diverged\n": "",
        },
    }
    for name, texts in changes.items():
        replace_all(folder / "config" / name, texts)


def replace_all(path: Path, texts: dict[str, str]) -> None:
    """Replace texts of a file, each of which it must have."""
    content = path.read_text(encoding="utf-8")
    for old, new in texts.items():
        assert old in content, (path, old)
        content = content.replace(old, new)
    path.write_text(content, encoding="utf-8")


def write_project(folder: Path) -> Path:
    """Write the project with its prepared text and return its folder."""
    write_config(folder)
    data = load(folder).spec(f"sample/{RUN}", "small").data
    corpus = write_corpus(paths(folder).corpus(data))
    for path in corpus.glob("kor/*.hangul"):
        path.rename(path.with_suffix(".kor"))
    for path in corpus.glob("*/test.*"):
        lines = path.read_text(encoding="utf-8").split("\n")[:TEST_SENTENCES]
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    record_corpus(corpus)
    return folder


def paths(folder: Path) -> Paths:
    """Return the places of the scale's files."""
    return Paths(folder / "results", "small")
