"""Sentences on disk: which are held out, and which articles are drawn for training."""

import os
import random
import re

import pytest

from fathom.config.schema.dataset import HeldOut
from fathom.data.clean import key
from fathom.data.draw import Draw
from fathom.data.texts import Line
from tests.support.small_disk import small_disk

TEXT = {f"Title {n}": [f"Sentence {n} of part {part}." for part in range(n % 7)] for n in range(90)}


def drawn(folder, articles, salt="s", held_out=10, most=None):
    """Return the held-out and the training sentences of some articles."""
    split = HeldOut(by="held_out", salt=salt, valid=held_out - 1, test=1)
    draw = Draw(folder, split)
    for title, sentences in articles.items():
        draw.add(title, sentences)
    return draw.held_out(), draw.training(most)


def keys(lines):
    return [key(line.text) for line in lines]


def test_every_sentence_is_either_held_out_or_for_training(tmp_path):
    held, training = drawn(tmp_path, TEXT)
    rows = list(training)
    assert (len(held), len(rows)) == (10, len(training))
    assert sorted([*held, *rows]) == sorted(Line(text) for own in TEXT.values() for text in own)


def test_training_keeps_the_order_of_the_text_at_every_pass(tmp_path):
    held, training = drawn(tmp_path, TEXT, most=60)
    kept = [Line(text) for own in TEXT.values() for text in own if Line(text) not in held]
    places = [kept.index(row) for row in training]
    assert places == sorted(places)
    assert list(training) == list(training)
    assert kept[places[0]] in training
    assert Line("Nothing.") not in training


def test_the_order_of_the_articles_changes_no_choice(tmp_path):
    other = dict(random.Random(1).sample([*TEXT.items()], len(TEXT)))
    first, again = drawn(tmp_path, TEXT, most=60), drawn(tmp_path, other, most=60)
    assert first[0] == again[0]
    assert sorted(first[1]) == sorted(again[1])
    assert drawn(tmp_path, TEXT, salt="t")[0] != first[0]


def test_what_repeats_a_held_out_sentence_is_not_for_training(tmp_path):
    articles = TEXT | {
        "Copy": [text.upper().replace(".", "!") for own in TEXT.values() for text in own]
    }
    held, training = drawn(tmp_path, articles)
    assert not {*keys(held)} & {*keys(training)}
    assert len({*keys(held)}) == 10
    assert training.left == len(training) == 2 * sum(map(len, TEXT.values())) - 20


@pytest.mark.parametrize("most", [0, 1, 25, 100, 10_000])
def test_whole_articles_are_drawn_up_to_the_most(tmp_path, most):
    held, training = drawn(tmp_path, TEXT, most=most)
    rows = list(training)
    left = {
        title: [Line(text) for text in own if Line(text) not in held] for title, own in TEXT.items()
    }
    total = sum(map(len, left.values()))
    assert len(rows) <= most
    assert len(rows) > min(most, total) - 7
    for own in left.values():
        assert not own or (own[0] in rows) == all(row in rows for row in own)
    assert training.left == total


def test_articles_are_drawn_evenly(tmp_path):
    """Half of the text comes from both halves of the dump."""
    _, training = drawn(tmp_path, TEXT, most=len([*drawn(tmp_path, TEXT)[1]]) // 2)
    numbers = [int(re.findall(r"\d+", row.text)[0]) for row in training]
    early = sum(number < 45 for number in numbers)
    assert 0.25 < early / len(numbers) < 0.75


def test_too_few_sentences_are_all_held_out(tmp_path):
    held, training = drawn(tmp_path, {"One": ["A.", "B.", "a!"]})
    assert (len(held), list(training), len(training)) == (2, [], 0)


def test_nothing_is_left_on_the_disk(tmp_path):
    held, training = drawn(tmp_path, TEXT)
    assert list(tmp_path.iterdir()) == []
    assert (len(held), len(training)) == (10, len([*training]))


def test_only_the_drawn_sentences_stay_on_the_disk_for_the_next_dump(tmp_path):
    """The sentences of 25 dumps were there until all were written."""
    _, training = drawn(tmp_path, TEXT, most=60)
    links = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    sizes = [os.stat(link).st_size for link in links if own_file(link, tmp_path)]
    assert sizes == [sum(len(row.text.encode()) + 1 for row in training)]


def own_file(link, folder):
    """Return whether an open file is in a folder."""
    return os.path.lexists(link) and os.readlink(link).startswith(str(folder))


def test_a_full_disk_is_an_error_with_the_folder(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        with pytest.raises(OSError, match=r"No space|too large") as caught:
            drawn(disk.folder, {"Long": [f"{n} {'word ' * 200}" for n in range(8000)]})
        disk.free()
    assert caught.value.filename == str(disk.folder)
