"""`like`, `for` and `<name>` resolve, and each value keeps its place."""

from dataclasses import dataclass

import pytest

from fathom.config.merge import Place, Sections, combinations, expand
from fathom.config.yaml_values import YamlFile, read
from fathom.io.errors import Findings
from tests.support.refused import prose, refused, says


@pytest.fixture
def written(tmp_path):
    """A function that writes a file and reads it."""

    def write(text: str) -> YamlFile:
        (tmp_path / "runs.yaml").write_text(text, encoding="utf-8")
        return read(tmp_path / "runs.yaml", tmp_path)

    return write


FAMILIES = """\
families:
  base:
    model: {width: 512, heads: 8}
    method: {name: static}
    training:
      betas: [0.9, 0.98]
  wide: {like: base, model: {width: 1024}}
  latent: {method: {name: latent_layers, depth: 12}}
runs:
  big: {like: [wide, latent]}
  small:
    like: big
    model:
      width: 64
    training: {betas: [0.8, 0.9]}
    method: {depth: 6}
"""


def runs_of(file):
    return Sections(file, [("families",), ("runs",)]).expanded(("runs",))


def test_entries_are_merged_from_left_to_right_and_own_keys_come_last(written):
    runs = runs_of(written(FAMILIES))
    assert list(runs) == ["big", "small"]
    assert runs["big"].values == {
        "model": {"width": 1024, "heads": 8},
        "method": {"name": "latent_layers", "depth": 12},
        "training": {"betas": [0.9, 0.98]},
    }
    assert runs["small"].values["model"] == {"width": 64, "heads": 8}
    assert runs["small"].values["method"] == {"name": "latent_layers", "depth": 6}
    assert runs["small"].values["training"] == {"betas": [0.8, 0.9]}


def test_a_mapping_of_another_name_replaces_the_former_entirely(written):
    text = FAMILIES + "  other: {like: big, method: {name: layerdrop, p: 0.5}}\n"
    other = runs_of(written(text))["other"]
    assert other.values["method"] == {"name": "layerdrop", "p": 0.5}


def test_an_entry_knows_its_ancestors_the_farthest_first(written):
    runs = runs_of(written(FAMILIES))
    assert runs["small"].ancestors == ("base", "wide", "latent", "big", "small")


def test_each_value_keeps_the_line_from_which_it_comes(written):
    small = runs_of(written(FAMILIES))["small"]
    assert small.where(("model", "width")) == "runs.yaml:14: runs.small.model.width"
    assert small.where(("model", "heads")) == "runs.yaml:3: families.base.model.heads"
    assert small.where(("method", "name")) == "runs.yaml:8: families.latent.method.name"
    assert small.where(("training", "betas", 1)).endswith("runs.small.training.betas.1")


def test_a_missing_key_has_the_line_of_the_nearest_key_above_it(written):
    small = runs_of(written(FAMILIES))["small"]
    assert small.where(("model", "ffn")) == "runs.yaml:13: runs.small.model.ffn"
    assert small.where(("data", "dataset")) == "runs.yaml:11: runs.small.data.dataset"


@dataclass(frozen=True)
class Commented(YamlFile):
    """A file that says for each key what its source is."""

    def source(self, path):
        return "of " + ".".join(path)


def test_sources_survive_merging_and_for(written):
    file = written(FAMILIES + "  beta_<b>: {for: {b: [0, 1]}, like: big, model: {heads: <b>}}\n")
    runs = runs_of(Commented(file.name, file.value, file.lines))
    assert runs["beta_1"].source(("model", "heads")) == "of runs.beta_<b>.model.heads"
    assert runs["beta_1"].source(("model", "width")) == "of families.wide.model.width"


def test_for_makes_one_entry_for_each_combination(written):
    file = written("<a>_<n>: {for: {a: [x, y], n: [6, 12]}, layers: <n>, name: of <a>}\n")
    entries = expand(file)
    assert list(entries) == ["x_6", "x_12", "y_6", "y_12"]
    assert entries["y_12"].values == {"layers": 12, "name": "of y"}
    assert entries["y_12"].chosen == {"a": "y", "n": 12}
    assert entries["y_12"].where(("layers",)) == "runs.yaml:1: <a>_<n>.layers"


def test_for_takes_a_list_of_mappings(written):
    file = written("<a>: {for: [{a: x, b: 1}, {a: y, b: 2}], value: <b>}\n")
    assert {name: entry.values for name, entry in expand(file).items()} == {
        "x": {"value": 1},
        "y": {"value": 2},
    }


def test_like_may_name_an_entry_that_for_makes(written):
    file = written("x_<n>: {for: {n: [1, 2]}, value: <n>}\nz: {like: x_2, more: 1}\n")
    assert expand(file)["z"].values == {"value": 2, "more": 1}


def test_short_forms_are_written_out_before_merging(written):
    def normal(entry):
        if not isinstance(entry.get(("method",)), str):
            return entry
        return entry.spelled("method", {("method", "name"): entry.get(("method",))})

    file = written("a: {method: {name: x, p: 1}}\nb: {like: a, method: y}\nc: {like: b}\n")
    entries = expand(file, normal=normal)
    assert entries["c"].values == {"method": {"name": "y"}}
    assert entries["c"].where(("method", "name")) == "runs.yaml:2: b.method"


def test_a_short_form_beside_its_long_form_is_refused(written):
    def normal(entry):
        return entry.spelled("layers", {("model", "layers"): 6})

    with refused(
        "two forms", "layers", "model.layers", where="yaml:1: a.model.layers", error=Findings
    ):
        expand(written("a: {layers: 6, model: {layers: 7}}\n"), normal=normal)


def test_a_value_can_be_set_from_another_file(written):
    entry = runs_of(written(FAMILIES))["big"]
    scale = YamlFile("tiny.yaml", {}, {("set",): 7, ("set", "model.width"): 8})
    changed = entry.with_value(("model", "width"), 64, Place(scale, ("set", "model.width")))
    assert changed.values["model"] == {"width": 64, "heads": 8}
    assert changed.where(("model", "width")) == "tiny.yaml:8: set.model.width"
    assert entry.values["model"]["width"] == 1024


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {like: b}\nb: {like: a}\n", says("circle", "a > b > a", where="yaml:1: a.like")),
        ("a: {like: a}\n", says("circle", "a > a", where="yaml:1: a.like")),
        (
            "base: {}\nb: {like: bse}\n",
            says("unknown", "entry", "bse", where="yaml:2: b.like", nearest="base"),
        ),
        (
            "a: {like: 3}\n",
            says("names nothing", where="yaml:1: a.like", remedy="a name or a list"),
        ),
        ("a: 3\n", says("no inner mapping", where="yaml:1: a", remedy="{…}")),
        ("a_<x>: {for: {y: [1]}}\n", says("placeholder", "for", "x", where="yaml:1: a_<x>")),
        (
            "a_<x>: {model: {norm: <x>}}\n",
            says("placeholder", "for", "x", where="yaml:1: a_<x>", remedy=prose("add for")),
        ),
        (
            "a_<x>:\n  fro: {x: [1]}\n",
            says("unknown key", "fro", where="yaml:2: a_<x>.fro", nearest="for"),
        ),
        (
            "a: {for: {y: [1, 2]}}\n",
            says("for gives twice", "a", where="yaml:1: a", remedy="delete a value"),
        ),
        (
            "a_<x>: {for: {x: 3}}\n",
            says("no list of values", where="yaml:1: a_<x>.for.x", remedy=prose("list of values")),
        ),
        (
            "a_<x>: {for: []}\n",
            says("chooses nothing", where="yaml:1: a_<x>.for", remedy=prose("list of values")),
        ),
    ],
)
def test_what_cannot_be_resolved_is_refused_with_its_line(written, text, message):
    with pytest.raises(Findings) as raised:
        expand(written(text))
    message.check(raised.value)


def test_all_that_is_wrong_is_found_at_once(written):
    with pytest.raises(Findings) as raised:
        expand(written("a: {like: x}\nb: {like: y}\n"))
    assert len(raised.value.findings) == 2


def test_a_run_and_a_family_of_one_name_are_refused(written):
    text = "families: {a: {}}\nruns:\n  a: {}\n"
    remedy = prose("choose another name")
    first, where = "runs.yaml:1: families.a", "yaml:3: runs.a"
    with refused("name taken", "a", first, where=where, remedy=remedy, error=Findings):
        runs_of(written(text))


def test_combinations_name_the_key_that_is_wrong():
    file = YamlFile("claims.yaml", {}, {("for",): 3})
    with refused("chooses nothing", where="claims.yaml:3: for"):
        combinations("x", Place(file, ("for",)))


@pytest.mark.parametrize(
    "name",
    ["a" * 65, "a; touch x", "$(touch x)", "../a", "a/b", "A", "2_2", "a\n", "a b", "ä", ""],
)
def test_a_name_that_no_folder_and_no_shell_should_get_is_refused(tmp_path, name):
    """A name of 300 letters was a folder that no file system takes; tables' names ran in shells."""
    file = YamlFile("tables.yaml", {name: {"rows": 1}}, {})
    with refused("name rule", where=name.replace("\n", r"\n") or "tables.yaml", error=Findings):
        expand(file)
    file = YamlFile("tables.yaml", {"a_<b>": {"for": {"b": [name]}, "rows": 1}}, {})
    if name not in ("2_2", ""):
        with refused("name rule", where="a_<b>", error=Findings):
            expand(file)


def test_a_name_of_64_letters_is_accepted():
    assert list(expand(YamlFile("tables.yaml", {"a" * 64: {"rows": 1}}, {}))) == ["a" * 64]
