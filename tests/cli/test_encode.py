"""`fathom encode`: text to ids."""

import shutil

from fathom.io.files import read_json
from fathom.project.load import load
from tests.cli.small_project import RUN, TEST_SENTENCES, paths


def test_every_task_and_split_is_encoded_and_the_yardstick_measured(own, encoded, call):
    folder = own(encoded)
    data = load(folder).spec(RUN, "small").data
    tensors = paths(folder).tensors(data)
    before = read_json(tensors / "tensors.json")
    shutil.rmtree(tensors)
    answer = call("encode", data.folder)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == "encode: bos\nencode: kor\n"
    assert read_json(tensors / "tensors.json") == before

    from fathom.batches import tensors as room

    loaded = room.load(tensors)
    assert [*loaded.tasks] == ["bos", "kor"]
    assert all(len(loaded.split(task, "test")) == TEST_SENTENCES for task in loaded.tasks)
    assert loaded.unigram_nll > 0


def test_without_subwords_the_stage_before_is_named(own, text, call):
    folder = own(text)
    assert "subwords.json: no such file" in call("encode", "small").one_line
    assert not (folder / "results" / "small" / "tensors").exists()
