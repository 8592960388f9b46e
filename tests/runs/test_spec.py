from dataclasses import replace


def test_the_identity_does_not_depend_on_name_scale_or_evaluation(catalog):
    spec = catalog.spec("static_12_12", "tiny")
    evaluation = replace(spec.evaluation, compared_gates="hard")
    other = replace(spec, run="another", scale="other", evaluation=evaluation)
    assert other.identity == spec.identity


def test_any_setting_of_the_training_changes_the_identity(catalog):
    spec = catalog.spec("static_12_12", "tiny")
    changed = [
        replace(spec, model=replace(spec.model, heads=2)),
        replace(spec, training=replace(spec.training, clip=0.5)),
        replace(spec, data=replace(spec.data, max_pieces=9)),
        replace(spec, method=replace(spec.method, name="layerdrop")),
        replace(spec, outcome=replace(spec.outcome, exploded_for=9)),
    ]
    assert len({spec.identity, *(each.identity for each in changed)}) == 6


def test_another_definition_of_the_data_set_is_another_corpus_and_another_run(catalog):
    spec = catalog.spec("static_12_12", "tiny")
    other = replace(spec.data, definition=spec.data.definition | {"pivot": "deu"})
    assert other.corpus_folder != spec.data.corpus_folder
    assert other.folder != spec.data.folder
    assert replace(spec, data=other).identity != spec.identity


def test_a_setting_of_pieces_leaves_the_corpus_where_it_is(catalog):
    data = catalog.spec("static_12_12", "tiny").data
    other = replace(data, max_pieces=9)
    assert other.corpus_folder == data.corpus_folder
    assert other.folder != data.folder


def test_folders_carry_the_first_eight_digits(catalog):
    spec = catalog.spec("static_12_12", "tiny")
    assert spec.folder == f"static_12_12-{spec.identity[:8]}"
