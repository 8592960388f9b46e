"""From hypotheses to scores: every metric with its interval, from one count, always equal bytes."""

import gzip
import hashlib
import os

import numpy as np
import pytest
import sacrebleu

from fathom.io.errors import FathomError
from fathom.io.files import read_lines, sha256, write_lines
from fathom.io.records import hashes, read_record, write_record
from fathom.results import measurements
from fathom.results.recipe import RECIPE
from fathom.results.training_record import MeasurementFile
from fathom.results.verify import verify
from fathom.scoring import sentences
from fathom.scoring.metrics import HeldOut, bleu, chrf, measure, metrics_of, named
from fathom.scoring.score import COLUMNS, score
from tests.scoring.conftest import ENGLISH, OTHER
from tests.support import run_files
from tests.support.refused import refused, says

METRICS = ["13a", "intl", "char", "none", "chrF"]
# SHA-256, 16 digits, of scores.tsv and the counts of both tasks, as text.
FROZEN = ["9a2bcecc99c8004c", "e758a0101dcd8ea8", "af6844e97d4bbac4"]
LABELS = {metric.label: metric for metric in metrics_of("eng", ["by-language"])}


def silent(line):
    """Take a line and print nothing."""


def scores_file(spec, paths):
    return MeasurementFile(spec, 1, paths, "scores", "test", "plain").path


def scored(paths, spec, gates="plain", split="test", report=silent):
    """Score a decoding; return its folder, the lines of scores.tsv and the measurements."""
    score(spec, 1, split, gates, paths, report)
    folder = paths.decoding(spec, 1, split, gates)
    file = measurements.read(MeasurementFile(spec, 1, paths, "scores", split, gates).path)
    return folder, run_files.scores(folder / "scores.tsv"), file


def test_a_korean_target_gets_ko_mecab_and_a_korean_source_does_not(paths, decoded):
    _, scores, file = scored(paths, decoded("one_to_many"))
    by_task = {task: [line.metric for line in scores if line.task == task] for task in OTHER}
    assert by_task["kor"] == ["13a", "intl", "char", "none", "ko-mecab", "by-language", "chrF"]
    assert by_task["bos"] == ["13a", "intl", "char", "none", "by-language", "chrF"]
    record = file.measurements["bleu.test.plain.ko-mecab"]
    assert list(record.tasks) == ["kor"]
    assert "tok:ko-mecab" in record.how
    # Hypotheses in the right languages are without doubt.
    assert {record.doubt for record in file.measurements.values()} == {""}
    shares = file.measurements["right_language.test.plain"].tasks
    assert {task: share.value for task, share in shares.items()} == {"bos": 1.0, "kor": 1.0}


def test_a_metric_that_is_asked_for_has_files_of_its_own_and_changes_no_other(paths, decoded):
    spec = decoded(tokenizers=("moses",))
    folder, before, _ = scored(paths, spec)
    files = {path: path.read_bytes() for path in (scores_file(spec, paths), *folder.glob("s*"))}
    score(spec, 1, "test", "plain", paths, silent, "ter")
    assert {path: path.read_bytes() for path in files} == files
    assert "moses" in {line.metric for line in before}
    lines = run_files.scores(folder / "ter" / "scores.tsv")
    file = measurements.read(MeasurementFile(spec, 1, paths, "ter", "test", "plain").path)
    assert (file.rule, file.recipe, [*file.measurements]) == ("ter", RECIPE, ["ter.test.plain"])
    numbers = file.measurements["ter.test.plain"].tasks
    for line in lines:
        counted = sentences.read(folder / "ter", line.task)
        assert f"{counted.statistics(named('ter')).value:.6f}" == line.value
        assert float(line.low) < numbers[line.task].value == float(line.value) < float(line.high)
        # Equal test sets are found without the other scores.
        assert np.array_equal(counted.references, sentences.read(folder, line.task).references)
    assert verify([folder]).findings == {}
    write_record(folder / "decoding.json", read_record(folder / "decoding.json") | {"reason": "x"})
    found = verify([folder]).findings[folder / "ter" / "scoring.json"]
    assert found.what == "older than ../decoding.json"
    assert "--split test --gates plain --metric ter" in found.remedy


def test_scores_and_counts_are_the_frozen_ones_to_the_byte(paths, decoded):
    folder, _, _ = scored(paths, decoded("one_to_many", tokenizers=("moses",)))
    contents = [(folder / "scores.tsv").read_bytes()]
    contents += [gzip.decompress(sentences.path_of(folder, task).read_bytes()) for task in OTHER]
    assert [hashlib.sha256(content).hexdigest()[:16] for content in contents] == FROZEN


def test_the_measurements_are_the_numbers_of_the_table(paths, decoded):
    spec = decoded(splits=("valid", "test"))
    for split in ("valid", "test"):
        _, scores, file = scored(paths, spec, split=split)
        assert (file.run, file.identity, file.seed) == (spec.name, spec.identity, 1)
        assert (file.rule, file.outcome) == ("scores", "finished")
        assert file.recipe == RECIPE
        assert set(file.measurements) == {
            metric.key(split, "plain") for metric in metrics_of("eng")
        }
        for line in scores:
            record = file.measurements[LABELS[line.metric].key(split, "plain")]
            number = record.tasks[line.task]
            assert float(line.low) <= float(line.value) <= float(line.high)
            assert number.stderr == float(line.stderr) > 0
            assert number.value == float(line.value)
            assert (number.low, number.high, number.n) == (float(line.low), float(line.high), 6)
            assert record.unit == ("chrF" if line.metric == "chrF" else "BLEU")


def test_scoring_twice_writes_the_same_bytes(paths, decoded):
    spec = decoded("one_to_many")
    folder, _, _ = scored(paths, spec)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert {"scores.tsv", "scoring.json", "sentences.bos.tsv.gz"} <= set(before)
    # Bytes 4 to 7 of a gzip file are its time, and byte 3 says whether it has a name.
    assert before["sentences.bos.tsv.gz"][3:8] == bytes(5)
    scored(paths, spec)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_counts_of_the_sentences_give_every_score_again(paths, decoded):
    folder, scores, _ = scored(paths, decoded("one_to_many"))
    with gzip.open(folder / "sentences.kor.tsv.gz", "rt", encoding="utf-8", newline="") as stream:
        header, *rows = (line.split("\t") for line in stream.read().split("\n")[:-1])
    assert [row[0] for row in rows] == [str(number) for number in range(1, 7)]
    sums = np.array(rows, dtype=int).sum(axis=0)
    for line in (line for line in scores if line.task == "kor"):
        own = [
            sums[place] for place, name in enumerate(header) if name.startswith(f"{line.metric}.")
        ]
        cut = "ko-mecab" if line.metric == "by-language" else line.metric
        peer = sacrebleu.CHRF() if line.metric == "chrF" else sacrebleu.BLEU(tokenize=cut)
        again = peer._compute_score_from_stats([int(count) for count in own]).score
        assert f"{again:.6f}" == line.value


def test_scores_record_recipe_draws_and_what_was_scored(paths, decoded):
    folder, _, _ = scored(paths, decoded(samples=150))
    content = read_record(folder / "scoring.json")
    assert content["interval"] == {"samples": 150, "seed": 12345}
    assert content["files"]["decoding.json"] == sha256(folder / "decoding.json")
    assert content["files"]["sentences.kor.tsv.gz"] == sha256(folder / "sentences.kor.tsv.gz")
    assert content["recipe"] == RECIPE["scoring"]
    assert content["versions"]["sacrebleu"] == "2.6.0"


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_training_without_a_result_passes_its_outcome_on(paths, decoded, kind):
    scored(paths, decoded())
    folder, scores, file = scored(paths, decoded(kind=kind))
    assert scores == []
    assert not list(folder.glob("sentences.*"))
    assert read_lines(folder / "scores.tsv") == ["\t".join(COLUMNS)]
    assert (file.outcome, file.update, file.reason) == (kind, 5, f"it has {kind}")
    assert file.measurements == {}


@pytest.mark.parametrize("without", [("kor",), ("bos", "kor")])
def test_a_task_without_a_layer_has_a_reason_instead_of_a_score(paths, decoded, without):
    spec = decoded(gates=("soft", "hard"), no_layer=without)
    assert {line.task for line in scored(paths, spec, "soft")[1]} == {"bos", "kor"}
    _, scores, file = scored(paths, spec, "hard")
    assert {line.task for line in scores} == {"bos", "kor"} - {*without}
    assert set(file.measurements) == {metric.key("test", "hard") for metric in metrics_of("eng")}
    for record in file.measurements.values():
        assert {*record.tasks} == {"bos", "kor"} - {*without}
        assert record.missing == dict.fromkeys(without, "no layer is left with hard gates")


def test_altered_text_is_refused_and_leaves_no_scores(paths, decoded):
    spec = decoded()
    folder, _, _ = scored(paths, spec)
    corpus, hypotheses = paths.corpus(spec.data), read_lines(folder / "bos.txt")
    translate = f"fathom translate paper/{spec.folder} --seed 1 --split test --gates plain"
    prepare = f"fathom prepare {corpus.name} --results {paths.results}"
    for path, again in ((folder / "bos.txt", translate), (corpus / "kor/test.eng", prepare)):
        write_lines(path, ["Edited.", *read_lines(path)[1:]])
        with refused("not the file that was recorded", where=path, remedy=again):
            scored(paths, spec)
        assert not (folder / "scores.tsv").exists()
        assert not scores_file(spec, paths).exists()
        write_lines(folder / "bos.txt", hypotheses)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"identity": "0" * 64}, says("decoded with other settings or weights")),
        ({"outcome": "diverged"}, says("'diverged', but the training is 'finished'")),
        ({"schema": 1}, says("schema 1, but 2 is needed", remedy="fathom translate")),
        ({"tasks": {"bos": "6"}}, says(where="tasks.bos")),
    ],
)
def test_a_decoding_that_does_not_fit_is_refused(paths, decoded, change, message):
    spec = decoded()
    path = paths.decoding(spec, 1, "test", "plain") / "decoding.json"
    write_record(path, read_record(path) | change)
    with pytest.raises(FathomError) as raised:
        scored(paths, spec)
    message.check(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(("hypotheses", "references"), [(ENGLISH[1:], ENGLISH), ([], [])])
def test_every_reference_needs_one_hypothesis(hypotheses, references):
    with refused(f"{len(hypotheses)} hypotheses for {len(references)} references", where="bos"):
        measure(hypotheses, HeldOut("eng", references), metrics_of("eng"), "bos")


def test_hypotheses_in_other_languages_put_a_doubt_on_every_score(paths, decoded):
    spec, lines = decoded("one_to_many"), []
    folder = paths.decoding(spec, 1, "test", "plain")
    record = read_record(folder / "decoding.json")
    for task, other in (("bos", "kor"), ("kor", "bos")):
        write_lines(folder / f"{task}.txt", OTHER[other])
        record["files"][f"{task}.txt"] = sha256(folder / f"{task}.txt")
    write_record(folder / "decoding.json", record)
    _, _, file = scored(paths, spec, report=lines.append)
    doubt = file.measurements["right_language.test.plain"].doubt
    assert doubt
    assert doubt in lines[-1]
    for key, found in file.measurements.items():
        assert found.doubt == (doubt if key.startswith(("bleu", "chrf", "right")) else "")
    assert {"bos", "kor"} <= {*file.measurements["bleu.test.plain.13a"].doubts}


# Counts of sentences

HYPOTHESES = {"bos": [line[3:] for line in ENGLISH], "kor": [line[:-4] for line in ENGLISH]}


def count(hypotheses, references):
    return [
        metric.statistics(hypotheses, references)
        for metric in (bleu.metric("13a"), bleu.metric("char"), chrf.METRIC)
    ]


@pytest.fixture
def folder(tmp_path):
    """The folder of a decoding that was scored."""
    folder = tmp_path / "runs/paper/small-12345678/1/decodings/test.plain-87654321"
    counts = {task: count(hypotheses, ENGLISH) for task, hypotheses in HYPOTHESES.items()}
    counts["eng"] = count(["a b c"], ["a b d"])
    for task, statistics in counts.items():
        sentences.write(sentences.path_of(folder, task), statistics)
    write_record(folder / "scoring.json", {"files": hashes(folder, "*.gz")})
    return folder


def test_what_was_counted_is_read_again(folder):
    back = sentences.read(folder, "bos")
    for metric in count(HYPOTHESES["bos"], ENGLISH):
        read = back.statistics(metric.metric)
        assert np.array_equal(read.counts, metric.counts)
        assert read.value == metric.value
    # One sentence is a table, too, and a decoding without counts has none.
    assert sentences.read(folder, "eng").counts.shape[0] == 1
    assert sentences.read(folder, "deu") is None


def test_equal_references_have_equal_counts_whatever_was_translated(folder):
    bos, kor = (sentences.read(folder, task) for task in HYPOTHESES)
    assert np.array_equal(bos.references, kor.references)
    assert not np.array_equal(bos.counts, kor.counts)
    assert bos.references.shape == (6, 6)
    assert not np.array_equal(bos.references[:-1], bos.references[1:])


def edited(path, content):
    path.write_bytes(gzip.compress(gzip.decompress(content).replace(b"\t1\t", b"\t2\t", 1)))


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (edited, "not the file that was recorded"),
        (lambda path, _: os.mkfifo(path), "not a file"),
        (lambda path, _: path.symlink_to("gone"), "a link to"),
    ],
    ids=["edited", "fifo", "link to nothing"],
)
def test_counts_that_scoring_did_not_write_are_refused(folder, damage, what):
    path = sentences.path_of(folder, "bos")
    content = path.read_bytes()
    path.unlink()
    damage(path, content)
    with refused(what, where=path.name, remedy="fathom score paper/small-12345678"):
        sentences.read(folder, "bos")
