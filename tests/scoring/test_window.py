"""The window of checkpoints that the development set chooses, and what is measured of it."""

import random
from dataclasses import replace
from statistics import fmean, stdev

import pytest
from sacrebleu import corpus_bleu, corpus_chrf

from fathom.io.errors import FathomError
from fathom.io.files import read_lines, write_lines
from fathom.results import measurements
from fathom.results.recipe import RECIPE
from fathom.results.training_record import MeasurementFile
from fathom.scoring.right_language import check
from fathom.scoring.window import (
    best_updates,
    best_window,
    checkpoint_scores,
    common_metrics,
    doubts_of,
    mean_of,
    means,
    texts_of,
)
from tests.scoring.conftest import ENGLISH, OTHER
from tests.support.refused import refused

EVERY = 1_000
UPDATES = (1, 2, 3, 4, 5, 6)
COPIED = dict.fromkeys(OTHER, ENGLISH)


def curve(scores):
    """Return scores by update, a checkpoint each thousand."""
    return {EVERY * number: score for number, score in enumerate(scores, 1)}


def by_search(development, size):
    """Return the window by looking at the mean of each."""
    updates = sorted(development)
    windows = [updates[start : start + size] for start in range(len(updates) - size + 1)]
    means = [fmean(development[update] for update in window) for window in windows]
    best = max(range(len(windows)), key=lambda place: (means[place], place))
    return windows[best]


@pytest.mark.parametrize("size", [1, 2, 21, 59, 60])
@pytest.mark.parametrize("seed", range(5))
def test_the_window_is_the_one_that_a_search_finds_whatever_the_order_of_scores(seed, size):
    dice = random.Random(seed)
    # Rises, has its top at about two thirds, and falls a little, as a run that overfits.
    development = curve(27 - ((n - 40) / 20) ** 2 + dice.gauss(0, 0.3) for n in range(60))
    turned = dict(reversed(development.items()))
    assert best_updates(turned, size) == by_search(development, size)


@pytest.mark.parametrize(
    ("scores", "size", "window"),
    [
        # Of equal means the latest is taken.
        ([25.0] * 40, 21, range(20, 41)),
        ([2.0, 1.0, 2.0, 0.0], 2, [2, 3]),
        # In binary 25.0 + 25.1 is more than 24.9 + 25.2, rounded or not.
        ([25.0, 25.1, 20.0, 24.9, 25.2], 2, [4, 5]),
        # Of fewer checkpoints all are taken.
        ([24.0, 25.0, 23.0], 21, [1, 2, 3]),
    ],
)
def test_scores_tie_as_they_are_written_and_of_few_checkpoints_all_are_taken(scores, size, window):
    assert best_updates(curve(scores), size) == [EVERY * number for number in window]


def test_a_mean_has_a_spread_of_two_or_more():
    number = mean_of([26.0, 27.0, 25.0])
    assert (number.value, number.n) == (pytest.approx(26.0), 3)
    assert number.spread == pytest.approx(stdev([26.0, 27.0, 25.0]))
    assert mean_of([26.0, 27.0]).spread == pytest.approx(stdev([26.0, 27.0]))
    number = mean_of([26.5])
    assert (number.value, number.spread, number.n) == (26.5, None, 1)


class Spoilt:
    """Hypotheses of six checkpoints: the references with more words replaced in the outer ones."""

    def __init__(self, folder, right=COPIED):
        self.folder, self.asked, self.right = folder, [], right

    def of(self, split, updates):
        self.asked.append((split, tuple(updates)))
        files = {}
        for update in updates:
            files[update] = {}
            for task in OTHER:
                dice = random.Random(f"{split} {update} {task}")
                share = 0.1 + 0.1 * abs(update - 3)
                lines = [
                    " ".join("no" if dice.random() < share else word for word in line.split(" "))
                    for line in self.right[task]
                ]
                files[update][task] = self.folder / f"{task}.{split}.{update}.txt"
                write_lines(files[update][task], lines)
        return files


def windowed(spec, size):
    return replace(spec, decoding=spec.decoding.model_copy(update={"window": size}))


def chosen(paths, spec, *options, right=COPIED):
    """Choose the windows of a run; return its stand-in, the measurements and what is reported."""
    made, lines = Spoilt(paths.window(spec, 1, "plain"), right), []
    path = best_window(spec, 1, "plain", paths, UPDATES, made.of, lines.append, *options)
    assert path == MeasurementFile(spec, 1, paths, "window", gates="plain").path
    return made, measurements.read(path), lines


def bleu(path):
    return corpus_bleu(read_lines(path), [ENGLISH], tokenize="char").score


def test_window_mean_and_spread_are_those_found_by_hand(decoded, paths):
    spec = windowed(decoded(), 3)
    made, file, lines = chosen(paths, spec)
    assert file.recipe == RECIPE
    updates = file.settings["updates"]["char"]
    valid = made.of("valid", UPDATES)
    means = {update: fmean(map(bleu, files.values())) for update, files in valid.items()}
    assert updates == by_search(means, 3)
    tested = made.of("test", updates)
    record = file.measurements["bleu.test.plain.window.char"]
    by_update = [fmean(map(bleu, files.values())) for files in tested.values()]
    assert record.all.value == pytest.approx(fmean(by_update), abs=1e-5)
    assert record.all.spread == pytest.approx(stdev(by_update), abs=1e-5)
    assert record.all.n == 3
    for task in OTHER:
        own = [bleu(tested[update][task]) for update in updates]
        assert record.tasks[task].value == pytest.approx(fmean(own), abs=1e-5)
        assert record.tasks[task].spread == pytest.approx(stdev(own), abs=1e-5)
    assert "tok:char" in record.how
    assert file.settings["size"] == 3
    assert any(line.startswith(f"char: {record.all.value:.2f} ± ") for line in lines)
    # Into one language nothing is checked.
    assert {record.doubt for record in file.measurements.values()} == {""}
    assert not any("languages" in line or "fewer" in line for line in lines)


def test_every_metric_has_its_window_and_test_text_is_read_only_there(decoded, paths):
    spec = windowed(decoded(), 2)
    made, file, _ = chosen(paths, spec)
    assert set(file.measurements) == {
        *(f"bleu.test.plain.window.{name}" for name in ("13a", "intl", "char", "none")),
        "chrf.test.plain.window",
    }
    inside = {update for window in file.settings["updates"].values() for update in window}
    assert made.asked == [("valid", UPDATES), ("test", tuple(sorted(inside)))]
    header, *rows = read_lines(paths.window(spec, 1, "plain") / "scores.tsv")
    assert header == "split\tmetric\tupdate\ttask\tscore"
    assert len(rows) == 5 * len(OTHER) * (len(UPDATES) + len(inside))


def test_of_a_metric_whose_low_end_is_good_the_lowest_mean_chooses(decoded, paths):
    _, file, _ = chosen(paths, windowed(decoded(), 2), ["ter"])
    record = file.measurements["ter.test.plain.window"]
    assert 3 in file.settings["updates"]["TER"]
    assert record.all.value < 50
    assert record.unit == "TER"


def test_fewer_checkpoints_than_a_window_has_are_reported(decoded, paths):
    _, _, lines = chosen(paths, windowed(decoded(), 21))
    assert lines[-1] == "6 checkpoints were saved, fewer than 21: all are taken"


def test_a_part_of_the_test_set_is_measured_in_the_window_that_all_lines_choose(decoded, paths):
    spec = windowed(decoded(parts={"half": [1, 4, 6]}), 3)
    made, file, _ = chosen(paths, spec)
    updates = file.settings["updates"]
    assert updates["13a_half"] == updates["13a"]
    rows = [0, 3, 5]
    tested = made.of("test", updates["13a"])
    by_update = [
        fmean(
            corpus_bleu(
                [read_lines(path)[row] for row in rows], [[ENGLISH[row] for row in rows]]
            ).score
            for path in files.values()
        )
        for files in tested.values()
    ]
    record = file.measurements["bleu.test.plain.window.13a_half"]
    assert record.all.value == pytest.approx(fmean(by_update), abs=1e-5)
    assert record.all.value != pytest.approx(
        file.measurements["bleu.test.plain.window.13a"].all.value
    )


@pytest.mark.parametrize(("hypotheses", "right"), [(OTHER, True), (COPIED, False)])
def test_hypotheses_in_another_language_put_every_mean_in_doubt(decoded, paths, hypotheses, right):
    spec = windowed(decoded("one_to_many"), 2)
    made, file, lines = chosen(paths, spec, right=hypotheses)
    every = common_metrics(spec, "test")
    for metric, window in file.settings["updates"].items():
        texts = {
            task: read_lines(path) for task, path in made.of("test", window)[window[0]].items()
        }
        doubt = check(spec.data, paths.corpus(spec.data), "test", texts).doubt
        key = next(own.key("test", "plain", "window") for own in every if own.label == metric)
        assert file.measurements[key].doubt == ("" if right else f"update {window[0]}: {doubt}")
        assert right == (not doubt)
    assert any("languages" in line for line in lines)


def test_later_checkpoints_in_another_language_put_a_mean_in_doubt_too(decoded, paths):
    spec = windowed(decoded("one_to_many"), 3)
    made = Spoilt(paths.window(spec, 1, "plain"), OTHER)

    def translated(split, updates):
        files = made.of(split, updates)
        for update in updates[1:] if split == "test" else ():
            for path in files[update].values():
                write_lines(path, ENGLISH)
        return files

    file = measurements.read(best_window(spec, 1, "plain", paths, UPDATES, translated, print))
    _, updates = made.asked[-1]
    for metric in common_metrics(spec, "test"):
        first = next(each for each in file.settings["updates"][metric.label] if each in updates[1:])
        record = file.measurements[metric.key("test", "plain", "window")]
        assert record.doubt.startswith(f"update {first}: ")


def test_what_fails_leaves_no_measurement_of_before(decoded, paths):
    spec = windowed(decoded(), 2)
    chosen(paths, spec)

    def broken(split, updates):
        raise FathomError("broken", "here", "mend")

    with refused(where="here"):
        best_window(spec, 1, "plain", paths, UPDATES, broken, print)
    assert not MeasurementFile(spec, 1, paths, "window", gates="plain").path.exists()


# Scores of single checkpoints


def scores_of(run, paths, files):
    """Return the scores of test hypotheses."""
    references = texts_of(run, paths, "test")
    return checkpoint_scores(run, "test", references, files)


@pytest.fixture
def spoilt(tmp_path):
    """A function that writes test hypotheses of three checkpoints, not in the order of updates."""
    return lambda right=COPIED: Spoilt(tmp_path / "window", right).of("test", (2, 5, 3))


@pytest.mark.parametrize("metric", ["13a", "intl", "char", "none", "chrF"])
def test_the_score_of_each_file_is_sacrebleus(decoded, paths, spoilt, metric):
    run, files = decoded(), spoilt()
    scores = scores_of(run, paths, files)[metric]
    assert list(scores) == [2, 5, 3]
    for update, tasks in scores.items():
        assert list(tasks) == ["bos", "kor"]
        for task, value in tasks.items():
            texts = [read_lines(files[update][task]), [ENGLISH]]
            expected = (
                corpus_chrf(*texts) if metric == "chrF" else corpus_bleu(*texts, tokenize=metric)
            )
            assert value == round(expected.score, 6)
    assert len({value for tasks in scores.values() for value in tasks.values()}) > 3


def test_a_task_is_scored_against_its_language_by_the_metrics_of_all_tasks(decoded, paths, spoilt):
    run = decoded("one_to_many", tokenizers=("moses",))
    found = scores_of(run, paths, spoilt(OTHER))
    # Not ko-mecab, which Korean alone has.
    assert [*found] == ["13a", "intl", "char", "none", "moses", "by-language", "chrF"]
    assert all(value > 50 for tasks in found["char"].values() for value in tasks.values())
    assert all(0 < value <= 100 for tasks in found["moses"].values() for value in tasks.values())


def test_the_mean_gives_each_task_the_same_weight():
    assert means({7: {"bos": 10.0, "kor": 20.5}, 9: {"bos": 1.0}}) == {7: 15.25, 9: 1.0}
    # As it is written, so that equal means are a tie.
    assert means({1: {"a": 0.1, "b": 0.2, "c": 0.3}}) == means({1: {"a": 0.2}})


def test_a_corpus_without_the_split_or_its_lines_is_refused(decoded, paths):
    run = decoded()
    corpus = paths.corpus(run.data)
    (corpus / "bos" / "valid.eng").unlink()
    with refused("no such file", where="valid.eng"):
        texts_of(run, paths, "valid")
    decoded()
    write_lines(corpus / "kor" / "test.eng", [])
    with refused("not the file that was recorded", where="test.eng"):
        texts_of(run, paths, "test")


def test_hypotheses_that_do_not_answer_the_references_are_refused(decoded, paths, spoilt):
    run, files = decoded(), spoilt()
    write_lines(files[3]["kor"], ENGLISH[:4])
    with refused("4 hypotheses for 6 references", where="kor.test.3.txt"):
        scores_of(run, paths, files)


def test_the_doubts_are_those_of_each_updates_decoding(decoded, paths, spoilt):
    run = decoded("one_to_many")
    files, corpus = spoilt(OTHER), paths.corpus(run.data)
    for path in files[5].values():
        write_lines(path, ENGLISH)
    doubts = doubts_of(run, corpus, "test", files)
    assert (doubts[2], doubts[3]) == ("", "")
    assert doubts[5] == check(run.data, corpus, "test", COPIED).doubt != ""
    other = decoded()
    assert doubts_of(other, paths.corpus(other.data), "test", files) == {}
