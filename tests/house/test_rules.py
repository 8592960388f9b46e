"""Rules have help and logs and take any folder, and profiles agree with the default."""

import re
from pathlib import Path

import pytest
import yaml

from tests.house.tree import ROOT, listed, rule_files

PROFILES = ROOT / "workflow" / "profiles"
# A place in a shell line that Snakemake fills, without the `:q` that quotes it.
UNQUOTED = re.compile(
    r"^\s*\"[^\"]*?(\{(?:log|input|output|wildcards|params|resources|config)[^{}:]*\})"
)
LOGGED = "exec fathom-logged {log:q}"
# The default profile beats --profile key by key, so these would silently win over a cluster's.
NEVER_IN_DEFAULT = {"executor", "jobs", "default-resources", "set-resources", "retries"}
ONLY_IN_DEFAULT = {"cores"}


def without_help(root: Path) -> list[str]:
    """Return rules that `snakemake --list` would show without a line of help."""
    rule = re.compile(r"^ *rule(?: \w+)?:\n(?! *\"\"\")", re.MULTILINE)
    texts = {path: path.read_text(encoding="utf-8") for path in rule_files(root)}
    return [
        f"{path.relative_to(root)}:{text[: match.start()].count(chr(10)) + 1}: no docstring"
        for path, text in texts.items()
        for match in rule.finditer(text)
    ]


def unquoted(root: Path) -> list[str]:
    """Return shell lines that text from config, such as a folder's name, would break."""
    return [
        f"{path.relative_to(root)}:{number}: {match[1]} in a shell; write {match[1][:-1]}:q}}"
        for path in rule_files(root)
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if (match := UNQUOTED.match(line))
    ]


def unlogged(root: Path) -> list[str]:
    """Return rules that lose lines of their log, or work, where a signal stops them."""
    shell = re.compile(r"^    shell:\n(.*)\n", re.MULTILINE)
    return [
        f"{path.relative_to(root)}: {line.strip()}; write {LOGGED} first"
        for path in rule_files(root)
        for line in shell.findall(path.read_text(encoding="utf-8"))
        if not line.strip().startswith((f'"{LOGGED} fathom ', f'"{LOGGED} fathom-ranks fathom '))
    ]


def profile(name: str) -> dict:
    """Return a profile's settings."""
    return yaml.safe_load((PROFILES / name / "config.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("rule", [without_help, unquoted, unlogged])
def test_rules_have_help_quotes_and_logs(rule):
    """With `results: "my results"` in config.yaml every job failed at its log."""
    found = rule(ROOT)
    assert not found, listed(found)


@pytest.mark.parametrize(
    ("rule", "text", "line"),
    [
        (without_help, 'rule x:\n    """Help."""\n\n\nrule y:\n    input: []\n', ":5"),
        (unquoted, 'rule x:\n    shell:\n        "echo | tee {log}"\n', ":3"),
        (unquoted, 'rule x:\n    shell:\n        "f {log:q} {resources.device}"\n', ":3"),
        (unlogged, 'rule x:\n    shell:\n        "fathom fetch | tee {log:q}"\n', ""),
    ],
)
def test_a_rule_without_help_quotes_or_a_log_is_found(small, rule, text, line):
    (finding,) = rule(small({"workflow/rules/a.smk": text}))
    assert finding.startswith(f"workflow/rules/a.smk{line}: ")


def test_the_default_profile_runs_one_job_at_a_time_on_a_gpu_of_this_machine():
    default = profile("default")
    assert default["resources"] == {"gpu": 1, "login": 2}
    assert default["set-resource-scopes"] == {"gpu": "local", "login": "local"}
    assert not NEVER_IN_DEFAULT & set(default), "clusters are left alone"


@pytest.mark.parametrize(
    "name", sorted(path.name for path in PROFILES.iterdir() if path.name != "default")
)
def test_a_profile_agrees_with_the_default(name):
    default, other = profile("default"), profile(name)
    shared = set(default) - ONLY_IN_DEFAULT
    assert {key: other.get(key) for key in shared} == {key: default[key] for key in shared}


def test_profiles_are_found_by_their_bare_names():
    assert (ROOT / "slurm" / "config.yaml").is_file()
    # Snakemake looks into ./profiles, and into the profiles next to the main Snakefile.
    for folder in (ROOT, ROOT / "workflow"):
        assert (folder / "profiles" / "default" / "config.yaml").is_file()


def test_nothing_is_submitted_again_by_itself_and_no_training_is_in_a_group():
    """A retry trains again what a user has cancelled, inside the stopped job."""
    texts = [path.read_text(encoding="utf-8") for path in rule_files(ROOT)]
    assert not [text for text in texts if re.search(r"^ *(retries|group):", text, re.MULTILINE)]
    assert not {"retries", "groups", "group-components"} & set(profile("slurm"))


def test_text_is_prepared_on_the_cluster_and_not_where_the_user_is_logged_in():
    rules = ""
    for name in ("corpora", "subwords"):
        rules += (ROOT / "workflow" / "rules" / f"{name}.smk").read_text(encoding="utf-8")
    named = re.findall(r"^rule (\w+):$", rules, re.MULTILINE)
    assert {"prepare_corpus", "measure_corpus", "train_subwords", "encode_text"} <= {*named}
    assert "localrule" not in rules
