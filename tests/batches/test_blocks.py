"""Blocks of complete sentences, and the blocks of each update."""

import numpy as np
import pytest

from fathom.train.batches.masking import BOS, BlockSampler, blocks, split_evenly, texts
from fathom.train.batches.update_tasks import AllTasks, OneTask
from tests.support.refused import prose, refused

LONGEST = 122


def lengths(sentences=400, longest=40, seed=1):
    return np.random.default_rng(seed).integers(1, longest + 1, sentences)


def test_blocks_cover_the_text_with_whole_sentences_and_are_full():
    sizes = lengths()
    ends = set(np.cumsum(sizes).tolist())
    found = blocks(sizes, 100)
    assert found[0, 0] == 0
    assert found[-1, 1] == sizes.sum()
    assert (found[1:, 0] == found[:-1, 1]).all()
    assert set(found[:, 1].tolist()) <= ends
    tokens = found[:, 1] - found[:, 0]
    assert tokens.max() <= 100
    following = dict(zip(np.cumsum(sizes)[:-1].tolist(), sizes[1:].tolist(), strict=True))
    assert all(n + following[end] > 100 for n, end in zip(tokens, found[:-1, 1], strict=False))


def test_blocks_are_those_of_a_loop_over_sentences():
    """fairseq's loop for its break mode "complete", which needs a compiler there."""
    sizes, tokens = lengths(), [0]
    for size in sizes.tolist():
        if tokens[-1] and tokens[-1] + size > 100:
            tokens.append(0)
        tokens[-1] += size
    found = blocks(sizes, 100)
    assert (found[:, 1] - found[:, 0]).tolist() == tokens


def test_a_block_that_fits_to_the_token_is_one():
    assert blocks(np.array([3, 4, 3]), 10).tolist() == [[0, 10]]
    assert blocks(np.array([3, 4, 4]), 10).tolist() == [[0, 7], [7, 11]]
    assert blocks(np.array([10, 10]), 10).tolist() == [[0, 10], [10, 20]]
    assert blocks(np.array([], dtype=int), 10).shape == (0, 2)


def test_a_sentence_longer_than_a_block_is_an_error_that_names_the_setting():
    with refused("long sentence", 11) as caught:
        blocks(np.array([3, 11, 4]), 10)
    assert caught.value.where == "data.max_pieces"
    assert prose("or less", 9) in caught.value.remedy


def test_a_text_is_the_source_side_in_blocks_with_the_start_symbol(tensors):
    for text, pairs in zip(texts(tensors, "train", LONGEST), tensors.splits("train"), strict=True):
        assert text.lines == len(pairs)
        whole = np.concatenate([pairs.source(i).numpy() for i in range(len(pairs))])
        found = [text.block(number) for number in range(len(text))]
        assert all(block[0] == BOS == tensors.source_dictionary.bos() for block in found)
        assert (np.concatenate([block[1:] for block in found]) == whole).all()
        assert text.lengths.tolist() == [len(block) for block in found]
        assert 100 < np.median(text.lengths) <= text.lengths.max() <= LONGEST


def test_a_text_whose_sentences_are_too_long_says_so(tensors):
    with refused("long sentence", ..., 99):
        texts(tensors, "valid", 100)


def order(seed=1, tokens=(300, 120, 30)):
    sizes = [lengths(60, 100, seed=1), lengths(25, 100, seed=2), lengths(90, 100, seed=3)]
    return BlockSampler(sizes, AllTasks(tokens), seed), sizes


def test_each_task_has_its_share_of_tokens():
    drawn, sizes = order()
    counts = np.zeros(3)
    for update in range(1, 401):
        for task, block in drawn.update(update):
            counts[task] += sizes[task][block]
    assert counts / 400 == pytest.approx([300, 120, 30], rel=0.01)


def test_no_block_comes_again_before_all_have_come():
    drawn, sizes = order()
    updates = int(sizes[0].sum()) // 300
    seen = [block for n in range(1, updates + 1) for task, block in drawn.update(n) if task == 0]
    assert len(seen) == len(set(seen)) >= len(sizes[0]) - 300 // 10


def test_an_update_follows_from_seed_and_number_alone():
    first, again = order()[0], order()[0]
    first.update(3)
    assert first.update(50) == again.update(50)
    assert first.update(50) != first.update(51)
    assert first.update(50) != order(seed=2)[0].update(50)


def test_an_update_is_sorted_by_length_and_cut_into_equal_parts():
    drawn, sizes = order(tokens=(3000, 1200, 300))
    members = drawn.update(2)
    tokens = [sizes[task][block] for task, block in members]
    assert tokens == sorted(tokens) == [drawn.length(member) for member in members]
    parts = split_evenly(tokens, 4)
    assert [i for part in parts for i in part] == list(range(len(members)))
    assert max(abs(sum(tokens[i] for i in part) - sum(tokens) / 4) for part in parts) <= 100


def test_empty_parts_come_last():
    assert split_evenly([10], 3) == [[0], [], []]
    assert [bool(part) for part in split_evenly([5, 90], 4)] == [True, True, False, False]


def test_passes_count_over_the_task_with_the_most_tokens():
    drawn, sizes = order()
    largest = max(range(3), key=lambda task: sizes[task].sum())
    expected = 10 * (300, 120, 30)[largest] / sizes[largest].sum()
    assert drawn.passes(10) == pytest.approx(expected)


def test_updates_that_might_be_empty_and_an_update_before_the_first_are_errors():
    lengths = [np.array([100, 90, 100]), np.array([60, 50, 70])]
    with refused("no block") as caught:
        BlockSampler(lengths, AllTasks([99, 69]), 1)
    assert prose("block tokens", 70) in caught.value.remedy
    drawn = BlockSampler(lengths, AllTasks([10, 70]), 1)
    assert all(drawn.update(number) for number in range(1, 200))
    with pytest.raises(IndexError):
        drawn.update(0)


def test_an_update_of_one_task_holds_the_next_blocks_of_that_task():
    sizes = [lengths(60, 100, seed=1), lengths(25, 100, seed=2)]
    tasks = OneTask(300, [0.7, 0.3], seed=1)
    drawn, seen = BlockSampler(sizes, tasks, 1), [[], []]
    for update in range(1, 12):
        members = drawn.update(update)
        [task] = {task for task, _ in members}
        assert (task,) == tasks.at(update)[0]
        seen[task] += [block for _, block in members]
    for own, of_task in zip(seen, sizes, strict=True):
        assert len(set(own)) == min(len(own), len(of_task))
    assert drawn.passes(11) == tasks.times(0, 11) * 300 / sizes[0].sum()


def test_every_task_alone_must_fill_an_update_of_one_task():
    lengths = [np.array([100, 90, 100]), np.array([60, 50, 70])]
    with refused("no block") as caught:
        BlockSampler(lengths, OneTask(99, [1, 1], 1), 1)
    assert prose("block tokens", 100) in caught.value.remedy
    drawn = BlockSampler(lengths, OneTask(100, [1, 1], 1), 1)
    assert all(drawn.update(number) for number in range(1, 200))


def test_epochs_become_the_updates_that_read_the_largest_task_as_often():
    drawn, _ = order()
    assert drawn.updates_until(70) == 70
    updates = drawn.updates_until("3 epochs")
    assert drawn.passes(updates) >= 3 > drawn.passes(updates - 1)
