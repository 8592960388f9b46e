"""A study: a folder with one file, read as a paper's files are, without printed numbers."""

import shutil

import pytest

from fathom.artefacts.check import beyond_config, findings
from fathom.config.load import load
from fathom.config.measurement_keys import file_of
from fathom.config.show import describe
from fathom.config.tables import setting_numbers
from fathom.config.yaml_values import from_plain
from fathom.io.errors import Findings
from tests.config.conftest import PROJECT
from tests.support.refused import refused, says
from tests.support.specs import ROOT

STUDY = """\
title: Width on pairs
data: {dataset: pair, subwords: {algorithm: bpe, joint: 50}}
seeds: 3
runs:
  flat: {like: deep/uneven}
  thick_<p>: {for: {p: [2, 3]}, like: deep/uneven, method: {kl_weight: <p>}}
  alone: {like: deep/static, training: {updates: 300}}
tables:
  table1: {against: flat, columns: [params, avg, tasks], rows: {flat: flat, KL <p>: thick_<p>}}
claims:
  wider: {sentence: More is better, claim: 'table1["KL 3", "avg"] > table1["flat", "avg"]'}
"""
WORDS = STUDY.replace("pair, subwords: {algorithm: bpe, joint: 50}", "words")


@pytest.fixture
def read(tmp_path):
    """A function that writes a study and returns the project with it."""

    def write(text=STUDY, check=beyond_config, **switches):
        folder = tmp_path / "mine"
        folder.mkdir(exist_ok=True)
        (folder / "study.yaml").write_text(text, encoding="utf-8")
        layer = from_plain({"papers": [str(folder)], **switches}, "--config")
        return load(PROJECT, check, [layer])

    return write


def shown(project, name, scale):
    return {each.path: each for each in describe(project, name, scale)}


def test_a_study_of_ten_lines_is_valid_and_moves_no_other_run(read, sample):
    project = read()
    assert findings(project) == []
    mine = {name for name in project.entries if name.startswith("mine/")}
    assert mine == {"mine/flat", "mine/thick_2", "mine/thick_3", "mine/alone"}
    for scale in sample.scales:
        for name in sample.entries:
            assert project.spec(name, scale).identity == sample.spec(name, scale).identity
    table = project.papers["mine"].tables["table1"]
    assert (table.settings.title, table.metric.tokenize) == ("Width on pairs", None)
    rows = {cell.row: cell.source for cell in project.cells(table)}
    assert rows == {"flat": "mine/flat", "KL 2": "mine/thick_2", "KL 3": "mine/thick_3"}
    assert project.papers["mine"].printed("table1", project.cells(table)) == ()


BY_LANGUAGE = """\
title: Into one language and into eight, of which one is Korean
runs:
  eight: {like: latent_depth/o2m_diverse_12_12}
  english: {like: latent_depth/m2o_diverse_12_12}
tables:
  table1: {columns: [avg, kor], rows: {eight: eight, english: english}}
"""


@pytest.mark.parametrize(
    ("metric", "mean_of_eight", "korean", "english"),
    [
        ("", "by-language", "ko-mecab", "13a"),
        ("metric: {tokenize: intl}\n", "intl", "intl", "intl"),
    ],
)
def test_a_study_shows_the_bleu_of_its_target_languages_unless_it_names_another(
    tmp_path, metric, mean_of_eight, korean, english
):
    """One task has the tokenizer of its language, so that runs with other tasks are comparable."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "study.yaml").write_text(BY_LANGUAGE + metric, encoding="utf-8")
    layer = from_plain({"papers": [str(folder)]}, "--config")
    project = load(ROOT, beyond_config, [layer])
    cells = project.cells(project.papers["mine"].tables["table1"])
    assert {(cell.row, cell.column): cell.metric for cell in cells} == {
        ("eight", "avg"): mean_of_eight,
        ("eight", "kor"): korean,
        ("english", "avg"): english,
        ("english", "kor"): english,
    }
    assert findings(project) == []


def test_a_tokenizer_that_not_all_languages_of_a_mean_have_is_a_finding(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    text = BY_LANGUAGE + "metric: {tokenize: ko-mecab}\n"
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(Findings) as raised:
        load(ROOT, beyond_config, [from_plain({"papers": [str(folder)]}, "--config")])
    found = [finding.what for finding in raised.value.findings]
    assert found == ["a table shows BLEU with the tokenizer 'ko-mecab', and nothing counts it"]


def test_a_number_is_written_as_a_name_in_names_and_as_itself_in_settings_and_labels(read):
    values = {"0.1": "0_1", "5.0e-3": "0_005", "4": "4", "0.00001": "0_00001"}
    text = STUDY.replace("[2, 3]", f"[{', '.join(values)}]").replace("KL 3", "KL 0.1")
    again = "  again_<p>: {for: {p: [0.1]}, like: thick_<p>, method: {target_depth: 4.0}}\n  alone"
    project = read(text.replace("  alone", again, 1))
    table = project.papers["mine"].tables["table1"]
    runs = {cell.row: cell.source for cell in project.cells(table) if cell.row != "flat"}
    assert runs == {f"KL {float(p) if p != '4' else 4}": f"mine/thick_{values[p]}" for p in values}
    weights = [project.run(run).method.kl_weight for run in (*runs.values(), "mine/again_0_1")]
    assert weights == [0.1, 0.005, 4.0, 0.00001, 0.1]


@pytest.mark.parametrize(
    ("value", "name"),
    [("-1", "m1"), ("true", "true"), ("null", "none"), ("a/b", "a_b"), ("6/12", "6_12")],
)
def test_any_value_gives_a_name_to_a_run_and_to_a_row_that_names_it(read, value, name):
    text = STUDY.replace("{p: [2, 3]}", f"{{p: [2], x: [{value}]}}").replace("KL 3", "KL 2")
    project = read(text.replace("thick_<p>", "thick_<p>_<x>"), check=False)
    table = project.papers["mine"].tables["table1"]
    assert [cell.source for cell in project.cells(table)][-1] == f"mine/thick_2_{name}"


def test_a_line_of_a_figure_is_repeated_for_the_runs_of_its_for_as_a_row_is(read):
    figure = "figures: {a: {kind: lines, series: nll.valid, x: update, lines: {KL <p>: thick_<p>}}}"
    lines = read(f"{STUDY}{figure}\n").papers["mine"].figures["a"].settings.lines
    assert lines == {"KL 2": "thick_2", "KL 3": "thick_3"}


def test_a_cell_of_a_heat_map_is_repeated_for_the_runs_of_its_for(read):
    rows = "table: table1, value: avg, rows: KL, columns: text"
    figure = f'figures: {{a: {{kind: heat_map, {rows}, cells: {{"<p>, pair": thick_<p>}}}}}}'
    settings = read(f"{STUDY}{figure}\n").papers["mine"].figures["a"].settings
    assert settings.cells == {"2, pair": "thick_2", "3, pair": "thick_3"}


def test_a_value_of_a_for_may_be_the_one_that_another_run_has(read):
    """Which value that is differs with the scale, and its row has it at every scale."""
    text = STUDY.replace("like: deep/static", "like: thick_10")  # which might be that one, too
    project = read(text.replace("[2, 3]", "[10, 3]"), scale="small")
    assert project.spec("mine/thick_10", "small") == project.spec("mine/flat", "small")
    assert project.spec("mine/thick_10").name == "mine/thick_10"


def test_a_run_that_equals_the_run_it_is_like_is_trained_once_as_that_run(read, tmp_path):
    """Of a paper, and of a study; the papers' runs have none of the blame."""
    pieces = "subwords: {algorithm: bpe, foreign: 30, english: 20}"
    data = f"{{dataset: fewer, direction: many_to_one, {pieces}}}"
    text = STUDY.replace("{dataset: pair, subwords: {algorithm: bpe, joint: 50}}", data)
    (tmp_path / "other").mkdir()
    other = "title: Other\nruns: {again: {like: mine/flat}}\n"
    (tmp_path / "other" / "study.yaml").write_text(other, encoding="utf-8")
    folders = [str(tmp_path / name) for name in ("other", "mine")]
    project = read(text, papers=folders, scale="small")
    for name, trained in (("mine/flat", "mine/flat"), ("other/again", "mine/flat")):
        assert project.spec(name).name == trained
        assert project.spec(name, "small").name == "deep/uneven"


def test_two_studies_may_have_the_same_baseline(read, tmp_path):
    """The second one stopped every command, also of the first."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "study.yaml").write_text(STUDY, encoding="utf-8")
    project = read(papers=[str(tmp_path / name) for name in ("mine", "other")])
    assert findings(project) == []
    first, second = (project.spec(f"{study}/flat") for study in ("mine", "other"))
    assert first.identity == second.identity
    assert (first.name, second.name) == ("mine/flat", "other/flat")


def test_runs_that_only_a_scale_makes_equal_are_the_studys_mistake(read):
    text = STUDY.replace("deep/static, training: {updates: 300}", "deep/uneven, layers: 2/4")
    with refused(
        "the settings of 'mine/alone' equal those of 'mine/flat' at scale small",
        remedy="write like: mine/flat",
    ):
        read(text, scale="small")


def test_a_run_of_another_study_is_lent_with_its_text_and_scaled_as_there(read, tmp_path):
    (tmp_path / "other").mkdir()
    runs = "runs: {again: {like: mine/flat}, fixed: {like: mine/alone, seeds: 4}}\n"
    (tmp_path / "other" / "study.yaml").write_text(f"title: Other\n{runs}", encoding="utf-8")
    project = read(papers=[str(tmp_path / "mine"), str(tmp_path / "other")], check=False)
    for scale in (None, "small"):
        for lent, name in (("flat", "again"), ("alone", "fixed")):
            first, second = (
                project.spec(run, scale).identity for run in (f"mine/{lent}", f"other/{name}")
            )
            assert first == second


def test_a_column_may_show_a_setting(read):
    columns = "columns: {updates: setting training.updates, tall: setting model.width}"
    table = f"  table2: {{{columns}, rows: {{flat: flat, alone: alone}}}}\n"
    project = read(STUDY.replace("claims:", f"{table}claims:"))
    cells = project.cells(project.papers["mine"].tables["table2"])
    keys = {cell.column: cell.key for cell in cells}
    assert keys == {"updates": "setting.training.updates", "tall": "setting.model.width"}
    assert {file_of(key, None) for key in keys.values()} == {"training"}
    assert setting_numbers(project.run("mine/alone", "small"))["training.updates"] == 300
    assert setting_numbers(project.run("deep/epochs"))["training.updates"] == 75


def test_the_studys_text_and_seeds_take_the_place_of_the_lenders(read):
    project = read()
    settings = shown(project, "mine/flat", "full")
    assert settings["data.dataset"].where.endswith("mine/study.yaml:2")
    data = project.run("mine/flat").data
    assert (data.dataset, data.direction, data.subwords.joint) == ("pair", None, 50)
    assert (data.subwords.foreign, data.max_pieces) == (None, 64)
    assert project.seeds("mine/flat", "small") == (1, 2, 3)


def test_pieces_alone_keep_the_borrowed_text(read):
    text = STUDY.replace("dataset: pair, ", "").replace("joint: 50", "foreign: 30, english: 20")
    data = read(text, check=False).run("mine/flat").data
    assert (data.dataset, data.direction) == ("words", "many_to_one")
    assert (data.subwords.foreign, data.subwords.joint) == (30, None)


def test_text_in_both_directions_keeps_the_borrowed_direction(read):
    data = read(WORDS, check=False).run("mine/flat").data
    assert (data.dataset, data.direction, data.subwords.foreign) == ("words", "many_to_one", 120)


def test_a_run_scales_as_its_lender_does_but_for_what_the_study_writes(read):
    project = read(WORDS, check=False)
    lender, flat = (shown(project, name, "small") for name in ("deep/uneven", "mine/flat"))
    assert {key for key in flat if flat[key].value != lender[key].value} == {"seeds"}
    assert flat["training.clip"].value == 2.0
    assert project.run("mine/thick_3", "small").method.kl_weight == 3.0


@pytest.mark.parametrize(
    ("written", "path", "value"),
    [
        ("training: {updates: 600}", "training.updates", 600),
        ("training: {validate_every: 40}", "training.validate_every", 40),
        ("training: {schedule: {warmup: 20}}", "training.schedule.warmup", 20),
        ("model: {width: 128}", "model.width", 128),
        ("layers: 8/12", "model.encoder_layers", 8),
    ],
)
def test_what_a_study_writes_is_used_as_written_and_the_rest_scales_as_the_lender(
    read, written, path, value
):
    project = read(WORDS.replace("training: {updates: 300}", written), check=False)
    for scale in ("small", "long"):
        lender, alone = (shown(project, run, scale) for run in ("deep/static", "mine/alone"))
        assert alone[path].value == value
        assert alone[path].where.endswith("mine/study.yaml:7")
        changed = {key for key in alone if alone[key].value != lender[key].value}
        assert changed - {"model.decoder_layers", "seeds", "model.dropout"} == {path}
        assert project.not_built("mine/alone", scale) == ""


def test_the_scales_of_a_study_change_what_it_writes(read):
    scales = "scales:\n  small: {updates: {main: 7}, rules: [{set: {training.clip: 3.0}}]}\n"
    project = read(STUDY + scales, check=False)
    training = project.run("mine/alone", "small").training
    assert (training.updates, training.clip) == (7, 3.0)
    assert project.run("mine/alone", "small").data.subwords.joint == 50
    assert project.run("mine/alone", "small").model.encoder_layers == 2


def test_a_study_is_checked_at_the_scale_that_is_asked_for_alone(read):
    """What the files of others do to it at another scale is not the user's mistake."""
    text = STUDY + "scales: {small: {updates: {main: 2}}}\n"
    read(text, scale="full")
    with pytest.raises(Findings, match=r"mine/study.yaml:5: runs.flat.decoding.*at scale small"):
        read(text, scale="small")


def test_a_paper_outside_is_checked_at_the_scale_that_is_asked_for_alone(tmp_path):
    """The project's scales know nothing of it."""
    folder = tmp_path / "mine"
    folder.mkdir()
    files = {
        "paper": "title: Mine\nauthors: [A]\nurl: https://example.org/mine\n"
        "citation: {type: misc, key: a, year: '2021'}\nmetric: {tokenize: 13a}  # §1\n",
        "runs": "runs:\n  flat: {like: deep/static, training: {updates: 600}}  # §1\n",
        "figures": "a: {kind: lines, title: A, section: §1, series: nll.valid, x: update, "
        "lines: {flat: flat}}\n",
    }
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")

    def read(scale):
        layer = from_plain({"papers": [str(folder)], "scale": scale}, "--config")
        return load(PROJECT, layers=[layer])

    read("full")
    with pytest.raises(Findings) as caught:
        read("small")
    (finding,) = caught.value.findings
    says("no such file, and scale small takes the updates").check(finding)
    small = "small: {updates: {main: 60}, rules: [{set: {model.heads: 3}}]}\n"
    (folder / "scales.yaml").write_text(small, encoding="utf-8")
    read("full")
    with pytest.raises(Findings) as caught:
        read("small")
    (finding,) = caught.value.findings
    says("at scale small").check(finding)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("like: deep/uneven}", "like: deap/uneven}",
         says("no paper 'deap'", where="study.yaml:5: runs.flat.like", nearest="deep")),
        ("like: deep/uneven}", "like: deep/unevn}",
         says("no entry 'deep/unevn'", where="study.yaml:5: runs.flat.like",
              nearest="deep/uneven")),
        ("claims:", "clamis:", says("unknown key 'clamis'", nearest="claims")),
        ("title: Width on pairs\n", "", says("no value is given", where="study.yaml:1: title")),
        ("dataset: pair,", "dataset: [pair],", says("['pair'] is not text")),
        ("dataset: pair,", "dataset: piar,", says("no data set 'piar'", nearest="pair")),
        ("rows: {flat: flat", "rows: {flat: falt",
         says("no run 'falt'", where="study.yaml:9: tables.table1.rows.flat", nearest="flat")),
        ("against: flat", "against: falt",
         says("no row or run 'falt'", where="study.yaml:9: tables.table1.against", nearest="flat")),
        ("against: flat", "base: falt",
         says("no row or run 'falt'", where="study.yaml:9: tables.table1.base", nearest="flat")),
        ("table1: {", "table1: {ours: {columns: [nll_valid]}, ",
         says("a study has no printed table", remedy="rows and columns")),
        ('["flat", "avg"]', '["falt", "avg"]',
         says("no row 'falt'", where="study.yaml:11: claims.wider.claim")),
        ("alone: {like: deep/static, training: {updates: 300}}", "alone: {like: deep/uneven}",
         says("the settings of 'mine/alone' equal those of 'mine/flat'",
              remedy="write like: mine/flat")),
        ("[2, 3]", '[a/b, a_b]',
         says("`for` gives the name 'thick_a_b' twice", where="study.yaml:6: runs.thick_<p>")),
        ("columns: [params, avg, tasks]", "columns: {a: setting training.update}",
         says("no numeric setting 'training.update'", where="study.yaml:9: tables.table1.columns.a",
              nearest="training.updates")),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line_and_the_nearest_name(read, old, new, message):
    assert old in STUDY
    with pytest.raises(Findings) as caught:
        read(STUDY.replace(old, new))
    message.check(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("reported/table1.csv",
         says("a study has no printed numbers", remedy="delete it, or rename study.yaml")),
        ("paper.yaml", says("a study and a paper in one folder", remedy="delete one of the two")),
        ("runs.yaml", says("a study has one file", remedy="write it as `runs:` in study.yaml")),
        ("stduy.yaml", says("nothing reads this file", nearest="study.yaml")),
    ],
)  # fmt: skip
def test_a_file_of_a_paper_beside_a_study_is_refused(read, tmp_path, name, message):
    path = tmp_path / "mine" / name
    path.parent.mkdir(parents=True)
    path.write_text("title: Mine\n", encoding="utf-8")
    with pytest.raises(Findings) as caught:
        read()
    message.check(caught.value)


def test_a_study_in_the_clone_is_read_too(tmp_path):
    folder = shutil.copytree(PROJECT, tmp_path / "project") / "config" / "papers" / "mine"
    folder.mkdir()
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    assert "mine/flat" in load(tmp_path / "project").entries
