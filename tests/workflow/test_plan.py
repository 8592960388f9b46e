from tests.runs.test_targets import TABLE, targets

from fathom.io.files import write_json
from fathom.project.load import load
from fathom.workflow.plan import lines


def test_a_start_says_its_scale_and_every_training_that_is_missing(catalog, tmp_path):
    said = "\n".join(lines(targets(catalog, tmp_path, TABLE)))
    assert "scale tiny" in said
    assert "0 of 10 trainings found, 10 to train" in said
    assert catalog.spec("ll_both_24_24", "tiny").folder in said


def test_what_has_ended_is_found(catalog, tmp_path):
    asked = targets(catalog, tmp_path, TABLE)
    spec = catalog.spec("static_6_6", "tiny")
    write_json(asked.paths.training(spec, 1), {})
    said = "\n".join(lines(asked))
    assert "1 of 10 trainings found, 9 to train" in said
    assert spec.folder not in said


def test_compare_alone_says_that_nothing_is_trained(catalog, tmp_path):
    assert "nothing will be trained" in "\n".join(lines(targets(catalog, tmp_path, "compare")))


def test_of_a_file_it_says_that_snakemake_knows_what_it_takes(catalog, tmp_path):
    """It said that nothing would be trained, whatever the file."""
    said = "\n".join(lines(targets(catalog, tmp_path, "results/tiny/latent_depth/table5.md")))
    assert "nothing will be trained" not in said
    assert "a file was asked for: Snakemake's list of jobs says what will be trained" in said


def test_a_run_with_a_manifest_is_found_though_its_training_json_is_gone(catalog, tmp_path):
    """It was said to be trained, while Snakemake rightly trained nothing."""
    asked = targets(catalog, tmp_path, TABLE)
    write_json(asked.paths.manifest(catalog.spec("static_6_6", "tiny"), 1), {})
    assert "1 of 10 trainings found, 9 to train" in "\n".join(lines(asked))


def test_a_run_brings_the_training_that_it_starts_from(project, edit, tmp_path):
    edit(
        "config/papers/latent_depth/runs.yaml",
        "  static_6_6:\n",
        "  static_6_6:\n    training: {start: {run: tuned_base, freeze: false}}\n",
    )
    edit(
        "config/papers/latent_depth/runs.yaml",
        "  static_12_12: {}\n",
        "  static_12_12: {}\n  tuned_base: {model: {encoder_layers: 6, decoder_layers: 6}}\n",
    )
    catalog = load(project)
    asked = targets(catalog, tmp_path, TABLE)
    assert "0 of 11 trainings found, 11 to train" in "\n".join(lines(asked))
    base, tuned = (catalog.spec(run, "tiny") for run in ("tuned_base", "static_6_6"))
    assert asked.base(tuned.folder, "1") == [asked.paths.training(base, 1)]
    assert asked.base(base.folder, "1") == []
    write_json(asked.paths.training(base, 1), {})
    assert "1 of 11 trainings found, 10 to train" in "\n".join(lines(asked))
