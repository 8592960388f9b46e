import pytest

from tests.support.planned import DATASET, planned
from tests.support.refused import prose, refused
from tests.support.targets import own_project, targets


def folders(made):
    """Return the data of a run with pieces of its own, and of one with another data set's."""
    specs = [made.runs.spec(name).data for name in made.runs.built]
    own = next(data for data in specs if not data.settings.pieces_of)
    other = next((data for data in specs if data.settings.pieces_of), None)
    return own, other


@pytest.mark.slow
def test_subword_models_are_trained_on_the_corpus_whose_folder_they_name(tmp_path):
    made = targets(tmp_path)
    own, _ = folders(made)
    expected = made.paths.corpus(own) / "corpus.json"
    assert made.corpora.corpus(own.subwords_folder) == expected
    assert made.corpora.text(own.folder) == expected
    assert made.corpora.subwords(own.folder).parent.name == own.subwords_folder


def test_pieces_of_another_data_set_come_from_its_corpus(tmp_path):
    made = targets(tmp_path)
    _, other = folders(made)
    if other is None:
        pytest.skip("no run of another data set's pieces is built at this scale")
    pieces = made.corpora.folder(other.settings.pieces_of)
    assert made.corpora.corpus(other.folder).parent.name == pieces
    assert made.corpora.text(other.folder).parent.name == other.corpus_folder != pieces


def test_a_corpus_names_its_sources(tmp_path):
    made = targets(tmp_path)
    own, _ = folders(made)
    names = [path.parent.name for path in made.corpora.sources(own.corpus_folder)]
    assert names == list(made.project.datasets[own.dataset].sources)


@pytest.mark.parametrize("look_up", ["corpus", "subwords", "text", "sources"])
def test_a_folder_of_other_settings_is_refused_with_the_nearest_name(tmp_path, look_up):
    made = targets(tmp_path)
    own, _ = folders(made)
    with refused(remedy=prose("nearest")):
        getattr(made.corpora, look_up)(f"{own.dataset}-00000000")


def test_a_corpus_that_cannot_be_made_yet_is_refused_with_the_reason(tmp_path):
    made = targets(tmp_path, "paper", planned(own_project()))
    with refused("not made yet", where=f"data set {DATASET}"):
        made.corpora.sources(made.corpora.folder(DATASET))


def test_a_scale_measures_the_data_set_that_stands_for_another(tmp_path):
    made = targets(tmp_path)
    name, other = next(iter(made.project.scale("tiny").datasets.items()))
    assert made.corpora.statistics(name) == made.corpora.statistics(other)
