"""Config that cannot work is refused at once: a mistake is one finding with file, line and key."""

import shutil
import time

import pytest

from fathom.config.load import load
from fathom.io.errors import Findings
from tests.support.refused import says
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
    "not a number": (RUNS, "1.5e-3", ".nan", says(".nan is not a number", where="learning_rate")),
    "infinity": (RUNS, "clip: 1.0", "clip: -.inf", says("-.inf is not a number", where="clip")),
    "1e400": (RUNS, "cap_ratio: 0.5", "cap_ratio: 1.0e+400", says("1.0e+400 is not a number")),
    "a float": (RUNS, "heads: 4", "heads: 4.0", says("4.0 is not", where="heads")),
    "401 digits": (RUNS, "updates: 4 ", f"updates: 1{'0' * 400} ", says("is not a number")),
    "5001 digits": (RUNS, "updates: 4 ", f"updates: 1{'0' * 5000} ", says("is not a number")),
    "digits without a number": (RUNS, "updates: 4 ", "updates: 0x_ ", says("0x_ is not a number")),
    "base 60": (
        RUNS, "updates: 4 ", "updates: 1:30 ",
        says("YAML reads 1:30 as a number to the base 60"),
    ),
    "a date": (
        RUNS, "method: static", "method: 2001-01-01",
        says("YAML reads 2001-01-01 as a date"),
    ),
    "no such date": (RUNS, "method: static", "method: 2001-13-45", says("YAML reads")),
    "5001 layers": (
        RUNS, "layers: 2/2", f"layers: {'2' * 5001}/2",
        says("' is not a pair of layer counts"),
    ),
    "layers in a power": (
        RUNS, "layers: 2/2", "layers: ²/2",
        says("'²/2' is not a pair of layer counts"),
    ),
    "5001 epochs": (RUNS, "updates: 4 ", f"updates: {'9' * 5001} epochs ", says("is not")),
    "a huge ratio": (
        SCALE, "seeds: 1", f"times: {{width: {'9' * 5001}/1}}",
        says("' is not a ratio"),
    ),
    "a share of everything": (
        RUNS, "dropout: 0.3,", "dropout: 1.0,", says("1.0 is too large"),
    ),
    "all mass on the vocabulary": (
        RUNS, "smoothing: 0.1", "smoothing: 1.0", says("1.0 is", where="label_smoothing"),
    ),
    # Seeds.
    "a seed twice": (
        RUNS, "{like: base}", "{like: base, seeds: [1, 1]}",
        says("'1' is there 2 times", where="seeds"),
    ),
    "a scale's seed twice": (SCALE, "seeds: 1", "seeds: [2, 2]", says("'2' is there 2 times")),
    "float seeds": (RUNS, "{like: base}", "{like: base, seeds: [1.0]}", says("1.0 is not")),
    "a huge seed": (
        RUNS,
        "{like: base}",
        "{like: base, seeds: [18446744073709551616]}",
        says(f"{2 ** 64} is too large", where="runs.static_2_2.seeds.0"),
    ),
    "a billion seeds": (SCALE, "seeds: 1", "seeds: 1000000000", says(f"{10 ** 9} is")),
    "switched seeds": (SWITCHES, "device: cpu", "seeds: 4294967296", says(where="seeds")),
    # YAML.
    "an anchor": (
        RUNS, "method: static", "method: &x static",
        says("anchors and aliases are not read", where="runs.yaml:9"),
    ),
    "an alias of itself": (
        RUNS, "families:", "x: &x [*x]\nfamilies:",
        says("anchors and aliases are not read"),
    ),
    "an alias bomb": (
        RUNS, "families:", f"a0: &a0 [x]\n{BOMB}families:",
        says("anchors and aliases are not read"),
    ),
    "a merge key": (
        RUNS, "method: static", "<<: {method: static}",
        says("merge keys are not read"),
    ),
    "a tag": (
        RUNS, "method: static", "method: !!python/name:os.system ''",
        says("tags are not read"),
    ),
    "open brackets": (
        RUNS, "method: static", f"method: {'[' * 5000}",
        says("more than 32 levels of mappings and lists"),
    ),
    "brackets": (
        RUNS, "method: static", f"method: {'[' * 5000}{']' * 5000}",
        says("levels of mappings and lists"),
    ),
    "braces": (
        RUNS, "method: static", f"method: {'{a: ' * 5000}",
        says("levels of mappings and lists"),
    ),
    "a control character in quotes": (
        "papers/sample/tables.yaml", "A sample table", '"A \\0 table"',
        says("a control character", where="table1.title"),
    ),
    "a control character": (RUNS, "method: static", "method: \x01", says("not YAML (", where="9")),
    # Names.
    "a name in two lines": (
        RUNS, "gated_2_2:", "\"a\\nb\":",
        says(
            "a name has at most 64 small letters, digits and underscores, a letter first",
            where=r"a\nb",
        ),
    ),
    "a name with a slash": (
        RUNS, "gated_2_2:", "gated/2:",
        says("a name has at most 64 small letters, digits and underscores, a letter first"),
    ),
    "a long name": (
        RUNS, "gated_2_2:", f"{'g' * 65}:",
        says("a name has at most 64 small letters, digits and underscores, a letter first"),
    ),
    "a family in two lines": (
        RUNS, "  base:", '  "ba\\nse":',
        says("a name has at most 64 small letters, digits and underscores, a letter first"),
    ),
    "a group in two lines": (RUNS, "group: main", 'group: "ma\\nin"', says("' does not match")),
    "a device in two lines": (
        SWITCHES, "device: cpu", "device: \"cpu\\n\"",
        says("' is not possible here"),
    ),
    "a device of another maker": (
        SWITCHES, "device: cpu", "device: xpu", says("'xpu' is not possible here"),
    ),
    "a folder with braces": (
        SWITCHES, "device: cpu", "results: re{x}sults", says("'re{x}sults' is not a folder"),
    ),
    "no folder": (SWITCHES, "device: cpu", 'results: ""', says("'' is not a folder")),
    "heads that do not divide the width": (
        RUNS, "heads: 4", "heads: 5", says("16 is not a multiple of 5 heads", where="model.heads"),
    ),
    "a warm-up longer than the run": (
        RUNS, "warmup: 2}", "warmup: 5}",

        says(
            "a warm-up of 5 updates, and the run has 4",
            where="training.schedule.warmup", remedy="4 or less",
        ),
    ),
    "a gain below nothing": (
        SCALE, "nats_below_unigram: 0.7", "nats_below_unigram: -3",
        says(f"{-3} is too small"),
    ),
    "a misspelled key that is required": (
        RUNS, "heads: 4", "haeds: 4",
        says("unknown key 'haeds'", where="model.haeds", nearest="heads"),
    ),
    "a circle of families": (
        RUNS, "  base:\n", "  base:\n    like: base\n",
        says("`like` goes in a circle: base > base", where="families.base.like"),
    ),
    "a group that YAML reads as false": (
        RUNS, "group: main", "group: no",
        says("YAML reads no, on, yes and off as true or false", where="group"),
    ),
    "a rule for no value": (
        SCALE, "seeds: 1",
        "seeds: 1\nrules: [{when: {data.direction: many_to_on}, set: {training.clip: 2.0}}]",
        says("no run has data.direction 'many_to_on'", nearest="many_to_one"),
    ),
    "a rule for no value of two": (
        SCALE, "seeds: 1",
        "seeds: 1\nrules: [{when: {like: [base, bsae]}, set: {training.clip: 2.0}}]",
        says("no run has like 'bsae'", nearest="base"),
    ),
    "a column twice": (
        "papers/sample/tables.yaml", "[avg, tasks]", "[avg, avg, tasks]",
        says("column 'avg' is there 2 times", where="table1"),
    ),
    "a value of `for` twice": (
        RUNS, "gated_2_2: {like: base,", "gated_2_<n>: {for: {n: [2, 2]}, like: base,",
        says("`for` gives the name 'gated_2_2' twice", where="gated_2_<n>"),
    ),
    "values of `for` that are one name": (
        RUNS, "gated_2_2: {like: base,",
        "gated_2_<n>: {for: {n: [0.1, '0_1']}, like: base,",
        says("`for` gives the name 'gated_2_0_1' twice", where="gated_2_<n>"),
    ),
    "a value of `for` that fits no name": (
        RUNS, "gated_2_2: {like: base,",
        "gated_2_<n>: {for: [{n: 2}, {n: A}], like: base,",

        says(
            "'gated_2_A': a name has at most 64 small letters",
            where="gated_2_<n>", remedy="write `for` as a list",
        ),
    ),
    # A card: its runs are not checked against it.
    "a rule of no setting": (
        CARD, "rule: active <= groups", "rule: activ <= groups",
        says("no setting 'activ'", where="requires.0.rule", nearest="active"),
    ),
    "a rule that compares nothing": (
        CARD, "rule: active <= groups", "rule: active + groups",
        says("'active + groups' is not a comparison of numbers", where="requires.0.rule"),
    ),
    "gates refused for no setting": (
        "methods/latent_layers.yaml", "{sample: noise_free", "{sampel: noise_free",
        says("unknown key 'sampel'", where="settings.sampel", nearest="sample"),
    ),
    # Settings that do not go together.
    "one table of two dictionaries": (
        RUNS, "tie_embeddings: decoder", "tie_embeddings: all",

        says(
            "one table for both sides needs one dictionary for both sides",
            where="tie_embeddings", remedy="joint",
        ),
    ),
    "a depth of an encoder": (
        RUNS, LATENT, "name: latent_layers, stacks: [encoder], target_depth: 1",
        says("acts on no stack of the method", where="target_depth_stacks"),
    ),
    "hard samples that never begin": (
        RUNS, LATENT, f"{LATENT}, sample: straight_through, straight_through_after: 4",
        says("straight_through_after < updates, but here"),
    ),
    "a regulariser that never begins": (
        RUNS, LATENT, f"{LATENT}, kl_anneal_start: 500", says(where="kl_anneal_start"),
    ),
    "unequal groups": (
        RUNS, LATENT, "name: group_dropout, groups: 5, active: 2",
        says("width % groups == 0, but here", where="groups"),
    ),
    "more groups on than there are": (
        RUNS, LATENT, "name: group_dropout, active: 17",
        says("active <= groups, but here"),
    ),
    "tasks with more groups than exist": (
        RUNS, LATENT, "name: fixed_group_dropout, groups: 4, shared_groups: 3, own_groups: 1",
        says(
            "shared_groups + own_groups * tasks <= groups, but here",
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
        says("unknown key 'compared_metric'"),
    ),
    "bars that are missing": (
        "papers/sample/figures.yaml", "  bars: {gated: Gated}\n", "",
        says("no value is given", where="figure1.bars", remedy="add the key"),
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
    says(
        "the card has no module", where="config/methods/other.yaml:1", remedy="methods/other.py"
    ).check(finding)


def test_a_paper_whose_runs_are_gone_says_so_and_nothing_else(small):
    """It was a finding for each name of a run, and none of them that the file is missing."""
    (small / "config" / RUNS).unlink()
    (finding,) = findings(small)
    says("no such file, and", where=f"config/{RUNS}").check(finding)


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
    says("'NA' is not a number", where="table1.csv:2").check(wrong)
    says("mark 'bold' has no meaning", where="table1.csv:3").check(wrong)
    says("2000 is more than 100 BLEU", where="table1.csv:3").check(wrong)
    assert len(wrong) == 3


@pytest.mark.parametrize("group", ["mian", "others"])
def test_a_misspelled_group_of_updates_is_one_finding(small, group):
    with (small / "config" / SCALE).open("a") as scale:
        scale.write(f"updates: {{sample: {{{group}: 3}}}}\n")
    (finding,) = findings(small)
    says(f"no group '{group}'", where=f"updates.sample.{group}", nearest="main").check(finding)
