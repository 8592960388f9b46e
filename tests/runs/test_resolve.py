import pytest

from fathom.config.yaml_files import read
from fathom.errors import FathomError
from fathom.runs.method_card import Card
from fathom.runs.resolve import (
    Scale,
    Setting,
    leaves,
    nested,
    paper_settings,
    scaled,
    units,
    with_card,
)

LAYERS, UPDATES = ("model", "encoder_layers"), ("training", "updates")
WARMUP = ("training", "warmup")


def scale(tmp_path, **changes):
    (tmp_path / "s.yaml").write_text(
        "layers: 0.25\nupdates: 300\nreplace: {training: {warmup: 9}}\n"
    )
    values = {
        "name": "s", "file": read(tmp_path / "s.yaml", tmp_path), "title": "t", "layers": 0.25,
        "width": 0.125, "updates": 300, "datasets": {}, "replace": {}, "method_settings": {},
        "seeds": None, "anchor": None,
    }  # fmt: skip
    return Scale(**(values | changes))


def settings(layers=12, updates=14000, warmup=8000):
    return {
        LAYERS: Setting(layers, "p:1"),
        UPDATES: Setting(updates, "p:2"),
        WARMUP: Setting(warmup, "p:3", note="App. C.2"),
    }


UNITS = {LAYERS: "layers", UPDATES: "updates", WARMUP: "updates"}


def test_layers_shrink_by_the_ratio_and_are_rounded_up(tmp_path):
    for paper, small in ((6, 2), (12, 3), (24, 6), (36, 9)):
        got = scaled(settings(layers=paper), scale(tmp_path), UNITS)
        assert got[LAYERS].value == small
        assert got[LAYERS].paper_value == paper
        assert got[LAYERS].where == "s.yaml:1: layers"


def test_a_part_of_a_layer_is_rounded_up_only_where_a_scale_cuts_layers(tmp_path):
    leaf = ("method", "settings", "target_depth")
    given, unit_of = settings() | {leaf: Setting(14.5, "p:4")}, UNITS | {leaf: "layers"}
    assert scaled(given, scale(tmp_path), unit_of)[leaf].value == 4
    assert scaled(given, scale(tmp_path, layers=1.0), unit_of)[leaf] == given[leaf]


def test_counts_of_updates_shrink_by_the_ratio_of_updates(tmp_path):
    got = scaled(settings(), scale(tmp_path), UNITS)
    assert got[UPDATES].value == 300
    assert got[WARMUP].value == 172


def test_what_a_scale_replaces_wins_and_keeps_the_papers_value_and_source(tmp_path):
    got = scaled(settings(), scale(tmp_path, replace={"training": {"warmup": 9}}), UNITS)
    assert got[WARMUP] == Setting(9, "s.yaml:3: replace.training.warmup", 8000, "App. C.2")


def test_a_value_that_a_scale_leaves_keeps_its_place(tmp_path):
    same = scale(tmp_path, layers=1.0, updates=None)
    assert scaled(settings(), same, UNITS) == settings()


def test_a_scale_puts_its_own_data_set_in_place_of_anothers(tmp_path):
    leaf = ("data", "dataset")
    given = settings() | {leaf: Setting("big", "p:4")}
    got = scaled(given, scale(tmp_path, datasets={"big": "small"}), UNITS)
    assert (got[leaf].value, got[leaf].paper_value) == ("small", "big")


def test_a_card_setting_of_the_scale_applies_only_where_the_card_has_it(tmp_path):
    own = scale(tmp_path, method_settings={"rate": 10})
    leaf = ("method", "settings", "rate")
    assert leaf not in scaled(settings(), own, UNITS)
    assert scaled(settings() | {leaf: Setting(1, "c")}, own, UNITS)[leaf].value == 10


def test_defaults_then_the_model_run_then_the_run_itself(tmp_path):
    (tmp_path / "runs.yaml").write_text(
        "defaults: {model: {a: 1, b: 1, c: 1}}\n"
        "runs:\n  deep: {model: {b: 2, c: 2}}\n  other: {like: deep, model: {c: 3}}\n"
        "sources: {model.a: Table 1}\n"
    )
    got = paper_settings(read(tmp_path / "runs.yaml", tmp_path), "other")
    assert {leaf[-1]: each.value for leaf, each in got.items()} == {"a": 1, "b": 2, "c": 3}
    assert got[("model", "a")].note == "Table 1"
    assert got[("model", "b")].where == "runs.yaml:3: runs.deep.model.b"


def test_a_keyword_of_the_schedule_that_is_null_is_taken_back_from_every_scale(tmp_path):
    (tmp_path / "runs.yaml").write_text(
        "defaults: {training: {updates: 8, schedule: {name: a, rate: 1}}, model: {c: 3}}\n"
        "runs: {other: {training: {schedule: {name: b, rate: null}}, model: {c: null}}}\n"
        "sources: {}\n"
    )
    got = paper_settings(read(tmp_path / "runs.yaml", tmp_path), "other")
    own = scale(tmp_path, replace={"training": {"schedule": {"rate": 9}}})
    found = {leaf[-1]: each.value for leaf, each in scaled(got, own, {}).items()}
    assert found == {"updates": 8, "name": "b", "c": None}


def test_a_scale_that_names_a_schedule_replaces_it_as_a_whole(tmp_path):
    own = scale(tmp_path, replace={"training": {"schedule": {"name": "a", "rate": 9}}})
    place = ("training", "schedule")
    given = settings() | {
        (*place, "name"): Setting("b", "p:1"),
        (*place, "power"): Setting(2, "p:2"),
    }
    found = scaled(given, own, UNITS)
    schedule = {leaf[-1]: each.value for leaf, each in found.items() if leaf[:2] == place}
    assert schedule == {"name": "a", "rate": 9}
    assert found[(*place, "name")].paper_value == "b"


def test_a_source_of_the_defaults_is_not_said_of_a_runs_own_value(tmp_path):
    (tmp_path / "runs.yaml").write_text(
        "defaults: {model: {a: 1}}\nruns: {other: {model: {a: 2}}}\nsources: {model.a: Table 1}\n"
    )
    got = paper_settings(read(tmp_path / "runs.yaml", tmp_path), "other")
    assert (got[("model", "a")].value, got[("model", "a")].note) == (2, "")


@pytest.mark.parametrize("other", ["none", "second"])
def test_like_goes_one_level_deep(tmp_path, other):
    (tmp_path / "runs.yaml").write_text(
        "defaults: {}\nruns:\n  first: {}\n  second: {like: first}\n"
        f"  third: {{like: {other}}}\nsources: {{}}\n"
    )
    with pytest.raises(FathomError, match="cannot be taken as a model"):
        paper_settings(read(tmp_path / "runs.yaml", tmp_path), "third")


def test_leaves_and_nested_are_each_others_inverse():
    tree = {"a": {"b": 1, "c": [2, 3]}, "d": 4}
    flat = leaves(tree)
    assert flat == {("a", "b"): 1, ("a", "c"): [2, 3], ("d",): 4}
    assert nested({leaf: Setting(value, "") for leaf, value in flat.items()}) == tree


def test_units_are_read_from_the_schema():
    schema = {"properties": {"m": {"properties": {"n": {"x-unit": "layers"}, "k": {}}}}}
    assert units(schema) == {("m", "n"): "layers"}


def card_file(tmp_path):
    (tmp_path / "card.yaml").write_text(
        "settings: {rate: {default: 1}, kind: {default: a}}\npresets: {loud: {rate: 3, kind: b}}\n"
    )
    setting = {"description": "", "type": "integer", "default": 1, "source": "§2"}
    text = setting | {"type": "string", "default": "a"}
    value = {
        "title": "", "summary": "", "paper": None, "equations": [], "sides": [], "gates": False,
        "settings": {"rate": setting, "kind": text}, "presets": {"loud": {"rate": 3, "kind": "b"}},
        "neutral": None, "example": {"layers": 1, "tasks": 1, "settings": {}},
    }  # fmt: skip
    return Card.from_mapping("some", value), read(tmp_path / "card.yaml", tmp_path)


def test_a_runs_own_settings_come_before_its_presets_and_those_before_the_cards(tmp_path):
    rate, kind = ("method", "settings", "rate"), ("method", "settings", "kind")
    preset = {("method", "preset"): Setting("loud", "r:2")}
    card, file = card_file(tmp_path)
    plain = with_card({}, card, file)
    assert (plain[rate].value, plain[kind].value, plain[rate].note) == (1, "a", "§2")
    loud = with_card(preset | {rate: Setting(9, "r:3")}, card, file)
    assert (loud[rate], loud[kind].value) == (Setting(9, "r:3"), "b")
    assert loud[kind].where == "card.yaml:2: presets.loud.kind"
    with pytest.raises(
        FathomError, match="'some' has no preset 'lout'; nearest valid name: 'loud'"
    ):
        with_card({("method", "preset"): Setting("lout", "r:2")}, card, file)
