from fathom.data.texts import Pair, TaskText


def test_a_pair_is_the_tasks_own_sentence_then_the_pivots():
    assert Pair("bonjour", "hello")[:] == ("bonjour", "hello")


def test_a_tasks_text_starts_with_nothing_read_and_nothing_dropped():
    text = TaskText({"train": []})
    text.dropped["empty"] += 1
    assert (text.read, text.dropped["empty"], TaskText({}).dropped) == (0, 1, {})
