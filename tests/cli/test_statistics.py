"""`fathom statistics`: sentences, tokens and types of a corpus."""

from fathom.config.load import load
from fathom.io.hashes import identity
from fathom.results import measurements
from tests.support.small_project import RUN, TEST_SENTENCES, paths


def test_a_corpus_is_counted_by_name_and_by_folder_with_the_same_bytes(own, text, call):
    folder = own(text)
    data = load(folder).spec(f"sample/{RUN}", "small").data
    assert call("statistics", "small").code == 0
    path = paths(folder).statistics(data)
    before = path.read_bytes()
    assert call("statistics", data.corpus_folder).code == 0
    assert path.read_bytes() == before
    file = measurements.read(path)
    assert (file.rule, file.corpus, file.identity) == (
        "statistics",
        "small",
        identity(data.definition),
    )
    pairs = file.measurements["pairs.test"].tasks
    assert {task: number.value for task, number in pairs.items()} == dict.fromkeys(
        ("bos", "kor"), TEST_SENTENCES
    )
    assert set(file.measurements["tokens.train.bs"].tasks) == {"bos"}
    assert set(file.measurements["tokens.train.en"].tasks) == {"bos", "kor"}


def test_text_that_is_not_prepared_is_named_with_its_command(own, text, call):
    folder = own(text)
    (path,) = folder.glob("results/corpora/*/corpus.json")
    path.unlink()
    line = call("statistics", "small").one_line
    assert "corpus.json" in line
    assert "fathom prepare small" in line
