"""`fathom encode`: text to ids."""

import shutil

from fathom.config.load import load
from fathom.io.files import read_json
from tests.support.small_project import RUN, TEST_SENTENCES, paths


def test_every_task_and_split_is_encoded_and_the_baseline_measured(own, encoded, call):
    folder = own(encoded)
    data = load(folder).spec(f"sample/{RUN}", "small").data
    tensors = paths(folder).tensors(data)
    before = read_json(tensors / "tensors.json")
    shutil.rmtree(tensors)
    answer = call("encode", data.folder)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == "encode: bos\nencode: kor\nnext: fathom list runs\n"
    assert read_json(tensors / "tensors.json") == before

    from fathom.data import tensors as room

    loaded = room.load(tensors)
    assert [*loaded.tasks] == ["bos", "kor"]
    assert all(len(loaded.split(task, "test")) == TEST_SENTENCES for task in loaded.tasks)
    assert loaded.unigram_nll > 0


def test_without_subwords_their_command_is_named(own, text, call):
    folder = own(text)
    line = call("encode", "small").one_line
    assert "subwords.json" in line
    assert "fathom subwords small-" in line
    assert not (folder / "results" / "tensors").exists()
