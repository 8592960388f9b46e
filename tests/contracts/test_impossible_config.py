"""Config that cannot work is refused at once: a mistake is one finding with file, line and key."""

import shutil
import time

import pytest

from fathom.config.load import load
from fathom.io.errors import Findings
from tests.support.refused import says
from tests.support.small_project import write_config

RUNS, TABLES = "papers/sample/runs.yaml", "papers/sample/tables.yaml"
SWITCHES = "config.yaml"
SCALE, GATES = "scales/small.yaml", "methods/latent_layers.yaml"
LATENT = "name: latent_layers, stacks: [decoder], target_depth: 1"
BOMB = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30))
NAME = "a name has at most 64 small letters, digits and underscores, a letter first"
# By what is wrong: the file, its text, what replaces it; what the finding says, the end of its
# place, and a part of its remedy. Other mistakes are in tests/config/test_mistakes.py.
MISTAKES = {
    # Numbers.
    "not a number": (RUNS, "1.5e-3", ".nan", ".nan is not a number", "learning_rate"),
    "infinity": (RUNS, "clip: 1.0", "clip: -.inf", "-.inf is not a number", "clip"),
    "a float": (RUNS, "heads: 4", "heads: 4.0", "4.0 is not", "heads"),
    "401 digits": (RUNS, "updates: 4 ", f"updates: 1{'0' * 400} ", "is not a number"),
    "all dropped": (RUNS, "dropout: 0.3,", "dropout: 1.0,", "1.0 is too large"),
    "all smoothed": (RUNS, "smoothing: 0.1", "smoothing: 1.0", "1.0 is", "label_smoothing"),
    "a gain below nothing": (
        SCALE, "nats_below_unigram: 0.7", "nats_below_unigram: -3", "-3 is too small",
    ),
    "1e400": (RUNS, "cap_ratio: 0.5", "cap_ratio: 1.0e+400", "1.0e+400 is not a number"),
    "5001 digits": (RUNS, "updates: 4 ", f"updates: 1{'0' * 5000} ", "is not a number"),
    "digits without a number": (RUNS, "updates: 4 ", "updates: 0x_ ", "0x_ is not a number"),
    "base 60": (RUNS, "updates: 4 ", "updates: 1:30 ", "1:30 as a number to the base 60"),
    "a date": (RUNS, "method: static", "method: 2001-01-01", "YAML reads 2001-01-01 as a date"),
    "no such date": (RUNS, "method: static", "method: 2001-13-45", "YAML reads"),
    "5001 layers": (RUNS, "layers: 2/2", f"layers: {'2' * 5001}/2", "is not a pair of layer"),
    "a power": (RUNS, "layers: 2/2", "layers: ²/2", "'²/2' is not a pair of layer counts"),
    "5001 epochs": (RUNS, "updates: 4 ", f"updates: {'9' * 5001} epochs ", "is not"),
    "a ratio": (SCALE, "seeds: 1", f"times: {{width: {'9' * 5001}/1}}", "' is not a ratio"),
    # Seeds.
    "twice": (RUNS, "{like: base}", "{like: base, seeds: [1, 1]}", "'1' is there 2 times", "seeds"),
    "a huge seed": (
        RUNS, "{like: base}", f"{{like: base, seeds: [{2 ** 64}]}}",
        f"{2 ** 64} is too large", "runs.static_2_2.seeds.0",
    ),
    "a billion seeds": (SCALE, "seeds: 1", "seeds: 1000000000", f"{10 ** 9} is"),
    "float seeds": (RUNS, "{like: base}", "{like: base, seeds: [1.0]}", "1.0 is not"),
    "switched seeds": (SWITCHES, "device: cpu", "seeds: 4294967296", "", "seeds"),
    # Switches.
    "a device in two lines": (
        SWITCHES, "device: cpu", 'device: "cpu\\n"', "' is not possible here",
    ),
    "a folder with braces": (
        SWITCHES, "device: cpu", "results: re{x}sults", "'re{x}sults' is not a folder",
    ),
    "no folder": (SWITCHES, "device: cpu", 'results: ""', "'' is not a folder"),
    # YAML.
    "an anchor": (
        RUNS, "method: static", "method: &x static",
        "anchors and aliases are not read", "runs.yaml:9",
    ),
    "an alias of itself": (
        RUNS, "families:", "x: &x [*x]\nfamilies:", "anchors and aliases are not",
    ),
    "a bomb": (RUNS, "families:", f"a0: &a0 [x]\n{BOMB}families:", "anchors and aliases are not"),
    "a merge key": (RUNS, "method: static", "<<: {method: static}", "merge keys are not read"),
    "a tag": (RUNS, "method: static", "method: !!python/name:os.system ''", "tags are not read"),
    "open brackets": (
        RUNS, "method: static", f"method: {'[' * 5000}",
        "more than 32 levels of mappings and lists",
    ),
    "a quoted control character": (
        TABLES, "A sample table", '"A \\0 table"', "a control character", "table1.title",
    ),
    "a control character": (RUNS, "method: static", "method: \x01", "not YAML (", "9"),
    # Names.
    "a name in two lines": (RUNS, "gated_2_2:", "\"a\\nb\":", NAME, r"a\nb"),
    "a name with a slash": (RUNS, "gated_2_2:", "gated/2:", NAME),
    "a long name": (RUNS, "gated_2_2:", f"{'g' * 65}:", NAME),
    "a value of `for` twice": (
        RUNS, "gated_2_2: {like: base,", "gated_2_<n>: {for: {n: [2, 2]}, like: base,",
        "`for` gives the name 'gated_2_2' twice", "gated_2_<n>",
    ),
    "values of `for` that are one name": (
        RUNS, "gated_2_2: {like: base,", "gated_2_<n>: {for: {n: [0.1, '0_1']}, like: base,",
        "`for` gives the name 'gated_2_0_1' twice", "gated_2_<n>",
    ),
    "a value of `for` that fits no name": (
        RUNS, "gated_2_2: {like: base,", "gated_2_<n>: {for: [{n: 2}, {n: é}], like: base,",
        "'gated_2_é': a name has at most 64", "gated_2_<n>", "write `for` as a list",
    ),
    "a column twice": (
        TABLES, "[avg, tasks]", "[avg, avg, tasks]", "column 'avg' is there 2 times", "table1",
    ),
    # A card: its runs are not checked against it.
    "a rule that compares nothing": (
        "methods/group_dropout.yaml", "rule: active <= groups", "rule: active + groups",
        "'active + groups' is not a comparison of numbers", "requires.0.rule",
    ),
    "a rule with a call behind a division by 0": (
        "methods/group_dropout.yaml", "rule: active <= groups", "rule: 1 % 0 < abs(active)",
        "'1 % 0 < abs(active)' is not a comparison of numbers", "requires.0.rule",
    ),
    "gates refused for no setting": (
        GATES, "{sample: noise_free", "{sampel: noise_free",
        "unknown key 'sampel'", "settings.sampel", "nearest valid name: 'sample'",
    ),
    # Settings that do not go together.
    "heads": (RUNS, "heads: 4", "heads: 5", "16 is not a multiple of 5 heads", "model.heads"),
    "a warm-up longer than the run": (
        RUNS, "warmup: 2}", "warmup: 5}",
        "a warm-up of 5 updates, and the run has 4", "training.schedule.warmup", "4 or less",
    ),
    "one table of two dictionaries": (
        RUNS, "tie_embeddings: decoder", "tie_embeddings: all",
        "one table for both sides needs one dictionary for both sides", "tie_embeddings", "joint",
    ),
    "a depth of an encoder": (
        RUNS, LATENT, "name: latent_layers, stacks: [encoder], target_depth: 1",
        "acts on no stack of the method", "target_depth_stacks",
    ),
    "hard samples that never begin": (
        RUNS, LATENT, f"{LATENT}, sample: straight_through, straight_through_after: 4",
        "straight_through_after < updates, but here",
    ),
    "a regulariser that never begins": (
        RUNS, LATENT, f"{LATENT}, kl_anneal_start: 500", "", "kl_anneal_start",
    ),
    "unequal groups": (
        RUNS, LATENT, "name: group_dropout, groups: 5, active: 2",
        "width % groups == 0, but here", "groups",
    ),
    "more groups on than there are": (
        RUNS, LATENT, "name: group_dropout, active: 17", "active <= groups, but here",
    ),
    "tasks with more groups than exist": (
        RUNS, LATENT, "name: fixed_group_dropout, groups: 4, shared_groups: 3, own_groups: 1",
        "shared_groups + own_groups * tasks <= groups, but here", "shared_groups",
    ),
    "one decay rate of two": (
        RUNS, LATENT, "name: group_dropout, phi_betas: [0.9]", "", "phi_betas",
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
    file, old, new, what, where, remedy, *_ = *MISTAKES[mistake], "", ""
    path = small / "config" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    (finding,) = findings(small)
    says(what, where=where, remedy=remedy).check(str(finding))
    assert finding.where.startswith(f"config/{file}:")
    assert finding.where.split(":")[1].isdigit()
    assert len(str(finding).split("\n")) == 1


def test_a_card_without_its_module_is_refused(small):
    cards = small / "config" / "methods"
    shutil.copy(cards / "static.yaml", cards / "other.yaml")
    (finding,) = findings(small)
    assert str(finding).startswith("config/methods/other.yaml:1: the card has no module")
    assert "methods/other.py" in finding.remedy


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
