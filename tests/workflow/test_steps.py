"""The jobs of a target by the files that they make."""

from collections import Counter

from fathom.workflow.steps import steps
from tests.support.targets import TABLE, targets

ROW = f"{TABLE}_row"


def test_a_static_row_goes_from_its_sources_to_its_scores(tmp_path):
    made = targets(tmp_path, row="12/12")
    stages = Counter(steps(made, ROW).values())
    sources = stages.pop("source")
    data = made.runs.spec(*made.names_of(ROW)).data
    assert sources == len(made.corpora.sources(data.corpus_folder))
    once = ("corpus", "subwords", "tensors", "training", "decoding", "scores")
    assert stages == dict.fromkeys(once, 1)


def test_a_table_is_drawn_from_all_its_rows_once_for_each_seed(tmp_path):
    one, two = (Counter(steps(targets(tmp_path, seeds=n), TABLE).values()) for n in (1, 2))
    assert one["table"] == two["table"] == 1
    assert two["training"] == 2 * one["training"] > 0
    assert two["corpus"] == one["corpus"]


def test_all_ends_in_the_comparison(tmp_path):
    made = targets(tmp_path)
    stages = Counter(steps(made, "all").values())
    assert stages["compare"] == stages["claims"] == 1
    assert stages["page"] == len(made.project.papers)
    assert stages["table"] + stages["figure"] == len(made.artefacts)
    assert stages["statistics"] > 0


def test_the_text_and_training_that_a_run_starts_from_are_there(tmp_path):
    made = targets(tmp_path)
    name = next(name for name in made.runs.built if made.project.start_name(name))
    start = made.runs.spec(made.project.start_name(name))
    target = next(key for key, item in made.artefacts.items() if name in item.runs)
    files = steps(made, target)
    assert files[made.paths.training(start, 1)] == "training"
    assert files[made.paths.tensors(start.data) / "tensors.json"] == "tensors"
