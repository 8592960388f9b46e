"""Config that cannot work is refused at once: a mistake is one finding with file, line and key."""

import shutil
import time

import pytest

from fathom.config.load import load
from fathom.io.errors import Findings
from tests.support.refused import prose, says
from tests.support.small_project import write_config

RUNS = "papers/sample/runs.yaml"
SCALE = "scales/small.yaml"
SWITCHES = "config.yaml"
CARD = "methods/group_dropout.yaml"
LATENT = "name: latent_layers, stacks: [decoder], target_depth: 1"
BOMB = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30))
# By what is wrong: the file, its text, what replaces it, and a part of the one finding.
MISTAKES = {
    # Numbers.
    "not a number": (RUNS, "1.5e-3", ".nan", says("no number", ".nan", where="learning_rate")),
    "infinity": (RUNS, "clip: 1.0", "clip: -.inf", says("no number", "-.inf", where="clip")),
    "1e400": (RUNS, "cap_ratio: 0.5", "cap_ratio: 1.0e+400", says("no number", "1.0e+400")),
    "a float": (RUNS, "heads: 4", "heads: 4.0", says("wrong type", "4.0", where="heads")),
    "401 digits": (RUNS, "updates: 4 ", f"updates: 1{'0' * 400} ", says("no number")),
    "5001 digits": (RUNS, "updates: 4 ", f"updates: 1{'0' * 5000} ", says("no number")),
    "digits without a number": (RUNS, "updates: 4 ", "updates: 0x_ ", says("no number", "0x_")),
    "base 60": (RUNS, "updates: 4 ", "updates: 1:30 ", says("base 60", "1:30")),
    "a date": (RUNS, "method: static", "method: 2001-01-01", says("date", "2001-01-01")),
    "no such date": (RUNS, "method: static", "method: 2001-13-45", says("date")),
    "5001 layers": (RUNS, "layers: 2/2", f"layers: {'2' * 5001}/2", says("layers")),
    "layers in a power": (RUNS, "layers: 2/2", "layers: ²/2", says("layers", "²/2")),
    "5001 epochs": (RUNS, "updates: 4 ", f"updates: {'9' * 5001} epochs ", says("wrong type")),
    "a huge ratio": (SCALE, "seeds: 1", f"times: {{width: {'9' * 5001}/1}}", says("no ratio")),
    "a share of everything": (
        RUNS, "dropout: 0.3,", "dropout: 1.0,", says("limit", "1.0", prose("too large")),
    ),
    "all mass on the vocabulary": (
        RUNS, "smoothing: 0.1", "smoothing: 1.0", says("limit", "1.0", where="label_smoothing"),
    ),
    # Seeds.
    "a seed twice": (
        RUNS, "{like: base}", "{like: base, seeds: [1, 1]}", says("twice", 1, 2, where="seeds"),
    ),
    "a scale's seed twice": (SCALE, "seeds: 1", "seeds: [2, 2]", says("twice", 2, 2)),
    "float seeds": (RUNS, "{like: base}", "{like: base, seeds: [1.0]}", says("wrong type", "1.0")),
    "a huge seed": (
        RUNS,
        "{like: base}",
        "{like: base, seeds: [18446744073709551616]}",
        says("limit", 2**64, prose("too large"), where="runs.static_2_2.seeds.0"),
    ),
    "a billion seeds": (SCALE, "seeds: 1", "seeds: 1000000000", says("limit", 10**9)),
    "switched seeds": (SWITCHES, "device: cpu", "seeds: 4294967296", says(where="seeds")),
    # YAML.
    "an anchor": (RUNS, "method: static", "method: &x static", says("anchor", where="runs.yaml:9")),
    "an alias of itself": (RUNS, "families:", "x: &x [*x]\nfamilies:", says("anchor")),
    "an alias bomb": (RUNS, "families:", f"a0: &a0 [x]\n{BOMB}families:", says("anchor")),
    "a merge key": (RUNS, "method: static", "<<: {method: static}", says("merge key")),
    "a tag": (RUNS, "method: static", "method: !!python/name:os.system ''", says("tag")),
    "open brackets": (RUNS, "method: static", f"method: {'[' * 5000}", says("levels", 32)),
    "brackets": (RUNS, "method: static", f"method: {'[' * 5000}{']' * 5000}", says("levels")),
    "braces": (RUNS, "method: static", f"method: {'{a: ' * 5000}", says("levels")),
    "a control character in quotes": (
        "papers/sample/tables.yaml", "A sample table", '"A \\0 table"',
        says("control character", where="table1.title"),
    ),
    "a control character": (RUNS, "method: static", "method: \x01", says("not YAML", where="9")),
    # Names.
    "a name in two lines": (RUNS, "gated_2_2:", "\"a\\nb\":", says("name rule", where=r"a\nb")),
    "a name with a slash": (RUNS, "gated_2_2:", "gated/2:", says("name rule")),
    "a long name": (RUNS, "gated_2_2:", f"{'g' * 65}:", says("name rule")),
    "a family in two lines": (RUNS, "  base:", '  "ba\\nse":', says("name rule")),
    "a group in two lines": (RUNS, "group: main", 'group: "ma\\nin"', says("pattern")),
    "a device in two lines": (SWITCHES, "device: cpu", "device: \"cpu\\n\"", says("not possible")),
    "a device of another maker": (
        SWITCHES, "device: cpu", "device: xpu", says("not possible", "xpu"),
    ),
    "a folder with braces": (
        SWITCHES, "device: cpu", "results: re{x}sults", says("impossible folder", "re{x}sults"),
    ),
    "no folder": (SWITCHES, "device: cpu", 'results: ""', says("impossible folder", "")),
    "heads that do not divide the width": (
        RUNS, "heads: 4", "heads: 5", says("heads", 16, 5, where="model.heads"),
    ),
    "a warm-up longer than the run": (
        RUNS, "warmup: 2}", "warmup: 5}",
        says("warm-up", 5, 4, where="training.schedule.warmup", remedy="4 or less"),
    ),
    "a gain below nothing": (
        SCALE, "nats_below_unigram: 0.7", "nats_below_unigram: -3",
        says("limit", -3, prose("too small")),
    ),
    "a misspelled key that is required": (
        RUNS, "heads: 4", "haeds: 4",
        says("unknown key", "haeds", where="model.haeds", nearest="heads"),
    ),
    "a circle of families": (
        RUNS, "  base:\n", "  base:\n    like: base\n",
        says("circle", "base > base", where="families.base.like"),
    ),
    "a group that YAML reads as false": (
        RUNS, "group: main", "group: no", says("YAML boolean", where="group"),
    ),
    "a rule for no value": (
        SCALE, "seeds: 1",
        "seeds: 1\nrules: [{when: {data.direction: many_to_on}, set: {training.clip: 2.0}}]",
        says("no run has", "data.direction", "many_to_on", nearest="many_to_one"),
    ),
    "a rule for no value of two": (
        SCALE, "seeds: 1",
        "seeds: 1\nrules: [{when: {like: [base, bsae]}, set: {training.clip: 2.0}}]",
        says("no run has", "like", "bsae", nearest="base"),
    ),
    "a column twice": (
        "papers/sample/tables.yaml", "[avg, tasks]", "[avg, avg, tasks]",
        says("column twice", "avg", 2, where="table1"),
    ),
    "a value of `for` twice": (
        RUNS, "gated_2_2: {like: base,", "gated_2_<n>: {for: {n: [2, 2]}, like: base,",
        says("for gives twice", "gated_2_2", where="gated_2_<n>"),
    ),
    "a value of `for` that fits no name": (
        RUNS, "gated_2_2: {like: base,",
        "gated_2_<n>: {for: [{n: 2}, {n: 0.1}], like: base,",
        says("name rule of", "gated_2_0.1", where="gated_2_<n>", remedy=prose("for as a list")),
    ),
    # A card: its runs are not checked against it.
    "a rule of no setting": (
        CARD, "rule: active <= groups", "rule: activ <= groups",
        says("unknown", "setting", "activ", where="requires.0.rule", nearest="active"),
    ),
    "a rule that compares nothing": (
        CARD, "rule: active <= groups", "rule: active + groups",
        says("no comparison", "active + groups", where="requires.0.rule"),
    ),
    "gates refused for no setting": (
        "methods/latent_layers.yaml", "{sample: noise_free", "{sampel: noise_free",
        says("unknown key", "sampel", where="settings.sampel", nearest="sample"),
    ),
    # Settings that do not go together.
    "one table of two dictionaries": (
        RUNS, "tie_embeddings: decoder", "tie_embeddings: all",
        says("one table", where="tie_embeddings", remedy="joint"),
    ),
    "a depth of an encoder": (
        RUNS, LATENT, "name: latent_layers, stacks: [encoder], target_depth: 1",
        says("acts on no stack", where="target_depth_stacks"),
    ),
    "hard samples that never begin": (
        RUNS, LATENT, f"{LATENT}, sample: straight_through, straight_through_after: 4",
        says("requirement", ..., "straight_through_after < updates"),
    ),
    "a regulariser that never begins": (
        RUNS, LATENT, f"{LATENT}, kl_anneal_start: 500", says(where="kl_anneal_start"),
    ),
    "unequal groups": (
        RUNS, LATENT, "name: group_dropout, groups: 5, active: 2",
        says("requirement", ..., "width % groups == 0", where="groups"),
    ),
    "more groups on than there are": (
        RUNS, LATENT, "name: group_dropout, active: 17",
        says("requirement", ..., "active <= groups"),
    ),
    "tasks with more groups than exist": (
        RUNS, LATENT, "name: fixed_group_dropout, groups: 4, shared_groups: 3, own_groups: 1",
        says(
            "requirement", ..., "shared_groups + own_groups * tasks <= groups",
            where="shared_groups",
        ),
    ),
    "one decay rate of two": (
        RUNS, LATENT, "name: group_dropout, phi_betas: [0.9]", says(where="phi_betas"),
    ),
    "a decay rate that is text": (
        RUNS, LATENT, "name: group_dropout, phi_betas: [0.9, x]", says(where="phi_betas.1"),
    ),
    "a metric that is not known": (
        "papers/sample/paper.yaml", "metric: {tokenize: 13a}", "compared_metric: chrF",
        says("unknown key", "compared_metric"),
    ),
    "bars that are missing": (
        "papers/sample/figures.yaml", "  bars: {gated: Gated}\n", "",
        says("no value", where="figure1.bars", remedy=prose("add the key")),
    ),
}  # fmt: skip


@pytest.fixture
def small(tmp_path):
    return write_config(tmp_path)


def findings(folder):
    """Return what is wrong with the project, found quickly."""
    began = time.process_time()
    with pytest.raises(Findings) as caught:
        load(folder)
    assert time.process_time() - began < 5
    return caught.value.findings


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_finding_with_file_line_and_key(small, mistake):
    file, old, new, message = MISTAKES[mistake]
    path = small / "config" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    (finding,) = findings(small)
    message.check(str(finding))
    assert finding.where.startswith(f"config/{file}:")
    assert finding.where.split(":")[1].isdigit()
    assert len(str(finding).split("\n")) == 1


def test_a_card_without_its_module_is_refused(small):
    cards = small / "config" / "methods"
    shutil.copy(cards / "static.yaml", cards / "other.yaml")
    (finding,) = findings(small)
    says("no module", where="config/methods/other.yaml:1", remedy="methods/other.py").check(finding)


def test_a_paper_whose_runs_are_gone_says_so_and_nothing_else(small):
    """It was a finding for each name of a run, and none of them that the file is missing."""
    (small / "config" / RUNS).unlink()
    (finding,) = findings(small)
    says("file missing", where=f"config/{RUNS}").check(finding)


def test_a_paper_needs_no_runs_of_its_own(small):
    """Its tables may show those of other papers."""
    other = small / "config/papers/other"
    shutil.copytree(small / "config/papers/sample", other)
    (other / "runs.yaml").unlink()
    (other / "figures.yaml").unlink()
    tables = (other / "tables.yaml").read_text(encoding="utf-8")
    for run in ("static_2_2", "gated_2_2"):
        tables = tables.replace(f": {run}", f": sample/{run}")
    (other / "tables.yaml").write_text(tables, encoding="utf-8")
    assert "other" in load(small).papers


def test_a_wrong_number_hides_no_mark_and_a_score_is_at_most_100(small):
    path = small / "config/papers/sample/reported/table1.csv"
    text = (
        path.read_text().replace("avg,20.5,,", "avg,NA,,").replace("bos,20.0,,", "bos,2000,,bold")
    )
    path.write_text(text.replace("kor,21.0,,,", "kor,21.0,,,2.1"))
    wrong = findings(small)
    says("no digits", "NA", where="table1.csv:2").check(wrong)
    says("mark", "bold", where="table1.csv:3").check(wrong)
    says("more than 100", 2000, "BLEU", where="table1.csv:3").check(wrong)
    assert len(wrong) == 3


@pytest.mark.parametrize("group", ["mian", "others"])
def test_a_misspelled_group_of_updates_is_one_finding(small, group):
    with (small / "config" / SCALE).open("a") as scale:
        scale.write(f"updates: {{sample: {{{group}: 3}}}}\n")
    (finding,) = findings(small)
    says("unknown", "group", group, where=f"updates.sample.{group}", nearest="main").check(finding)
