"""`fathom subwords`: pieces and dictionaries of prepared text."""

from fathom.config.load import load
from tests.support.refused import says
from tests.support.small_project import RUN, paths


def data_of(folder):
    return load(folder).spec(f"sample/{RUN}", "small").data


def test_text_is_learned_from_by_name_and_by_folder_with_the_same_bytes(own, text, call):
    folder = own(text)
    data = data_of(folder)
    assert call("subwords", "small").code == 0
    files = sorted(paths(folder).subwords(data).iterdir())
    assert "subwords.json" in [file.name for file in files]
    before = [file.read_bytes() for file in files]
    answer = call("subwords", data.subwords_folder)
    assert (answer.code, answer.out) == (0, "")
    assert "bpe, 120 pieces" in answer.err
    assert [file.read_bytes() for file in files] == before


def test_text_that_is_not_prepared_is_named_with_its_command(own, text, call):
    folder = own(text)
    data = data_of(folder)
    (paths(folder).corpus(data) / "corpus.json").unlink()
    line = call("subwords", "small").one_line
    assert "corpus.json" in line
    assert f"fathom prepare {data.corpus_folder}" in line
    assert not paths(folder).subwords(data).exists()


def test_a_vocabulary_that_the_text_cannot_give_is_named_with_its_key(own, text, call):
    folder = own(text)
    runs = folder / "config" / "papers" / "sample" / "runs.yaml"
    runs.write_text(runs.read_text("utf-8").replace("english: 80", "english: 80000"), "utf-8")
    for path in (folder / "results" / "corpora").iterdir():
        assert path.is_dir()
    answer = call("subwords", "small")
    assert answer.code == 1
    line = answer.err.removesuffix("\n").split("\n")[-1]
    assert "data.subwords.english" in line
    assert "80000" in line
    assert not list((folder / "results").glob("subwords/*/subwords.json"))


def test_an_unknown_data_set_gets_the_nearest_name(own, text, call):
    own(text)
    says(nearest="small").check(call("subwords", "smal").one_line)
    assert "small-" in call("subwords", "small-00000000").one_line
