from fathom.training.attempts import Attempts


def test_an_attempt_without_an_end_was_killed_and_stays_in_the_list(tmp_path):
    path = tmp_path / "attempts.json"
    Attempts(path).begin(0)
    second = Attempts(path)
    second.begin(40)
    second.end(100, "finished")
    first, last = Attempts(path).all
    assert (first["from_update"], first["end"], first["ended_as"]) == (0, None, None)
    assert (last["from_update"], last["to_update"], last["ended_as"]) == (40, 100, "finished")
    assert last["pid"]
