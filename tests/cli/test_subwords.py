"""`fathom subwords`: pieces and dictionaries of prepared text."""

from fathom.project.load import load
from tests.cli.small_project import RUN, paths


def test_the_text_is_learnt_from_by_name_and_by_folder_with_the_same_bytes(own, text, call):
    folder = own(text)
    data = load(folder).spec(RUN, "small").data
    assert call("subwords", "small").code == 0
    places = sorted(each for each in paths(folder).subwords(data).iterdir())
    assert "subwords.json" in [place.name for place in places]
    before = [place.read_bytes() for place in places]
    answer = call("subwords", data.folder)
    assert (answer.code, answer.out) == (0, "")
    assert "bpe, 120 pieces" in answer.err
    assert [place.read_bytes() for place in places] == before


def test_text_that_is_not_prepared_is_told_and_leaves_nothing(own, text, call):
    folder = own(text)
    data = load(folder).spec(RUN, "small").data
    (paths(folder).corpus(data) / "corpus.json").unlink()
    assert "corpus.json: no such file" in call("subwords", "small").one_line
    assert not paths(folder).subwords(data).exists()


def test_a_vocabulary_that_the_text_cannot_give_is_told(own, text, call):
    folder = own(text)
    scale = folder / "config" / "scales" / "small.yaml"
    large = scale.read_text("utf-8").replace("target_vocabulary: 80", "target_vocabulary: 80000")
    scale.write_text(large, encoding="utf-8")
    answer = call("subwords", "small")
    assert answer.code == 1
    line = answer.err.removesuffix("\n").split("\n")[-1]
    assert "data.subwords.target_vocabulary" in line
    assert "80000 pieces are more than the text allows" in line
    assert not list((folder / "results").glob("small/subwords/*/subwords.json"))
