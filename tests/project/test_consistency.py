"""Faults planted in the project's own config: each is found, with file, line and nearest name."""

import shutil
from functools import cache

import pytest

from fathom.io.errors import FathomError
from tests.support.checked import checked
from tests.support.papers import PAPERS
from tests.support.refused import prose, says
from tests.support.specs import ROOT

LATENT = "config/papers/latent_depth/runs.yaml"
GROUPS = "config/papers/lamgd/runs.yaml"
CARD = "config/methods/latent_layers.yaml"
TINY = "config/scales/tiny.yaml"
OF_SCALES = "config/papers/latent_depth/scales.yaml"
TWELVE = "  m2o_diverse_12_12: {like: m2o_diverse}"
# By what is planted: a group, file, text, its replacement, and a part of the finding. Faults of one
# group are planted together: all findings come in one round.
FAULTS = {
    "a duplicate key": (
        0,
        LATENT,
        "      width: 512  # App. C.2\n",
        "      width: 512  # App. C.2\n      width: 256  # §3\n",
        says("duplicate key", where="families.transformer.model.width"),
    ),
    "like in a circle": (
        1,
        LATENT,
        "  ted:\n    like: transformer\n",
        "  ted:\n    like: o2m_related\n",
        says("circle"),
    ),
    "like without target": (
        6,
        LATENT,
        "like: [en_de, dlcl], layers: 36/36",
        "like: [en_de, dlc], layers: 36/36",
        says("unknown", "entry", "dlc", nearest="dlcl"),
    ),
    "an unknown setting": (
        2,
        LATENT,
        "      ffn: 1024  # App. C.2\n",
        "      fnn: 1024  # App. C.2\n",
        says("unknown key", "fnn", where="families.transformer.model.fnn", nearest="ffn"),
    ),
    "BLEU that nothing counts": (
        2,
        "config/papers/transparent_attention/runs.yaml",
        "    scoring: {tokenizers: [moses]}  # Experimental Setup",
        "    # Experimental Setup",
        says("not scored", "moses", where="scoring.tokenizers", remedy="[moses]"),
    ),
    "a setting of another type": (
        2,
        LATENT,
        "      updates: 14000  # App. C.2",
        "      updates: 14000.0  # App. C.2",
        says("wrong type", "14000.0", "a whole number", where="training.updates"),
    ),
    "an unknown setting of a method": (
        2,
        LATENT,
        "{name: layerdrop, p: 0.5,",
        "{name: layerdrop, q: 0.5,",
        says("unknown key", "q"),
    ),
    "an unknown method": (
        2,
        LATENT,
        "  dlcl: {method: dlcl}",
        "  dlcl: {method: dlc}",
        says("unknown", "method", "dlc", nearest="dlcl"),
    ),
    "an unknown data set": (
        3,
        LATENT,
        "data: {dataset: ted8_related, direction",
        "data: {dataset: ted8_relatd, direction",
        says("unknown", "data set", "ted8_relatd", nearest="ted8_related"),
    ),
    "no direction": (
        3,
        LATENT,
        "data: {dataset: ted8_diverse, direction: many_to_one}",
        "data: {dataset: ted8_diverse}",
        says("direction", "ted8_diverse"),
    ),
    "a value without a source": (
        3,
        LATENT,
        "      heads: 4  # App. C.2\n",
        "      heads: 4\n",
        says("no source", where="families.transformer.model.heads"),
    ),
    "equal settings under two names": (
        3,
        LATENT,
        TWELVE,
        TWELVE + "\n  m2o_diverse_again: {like: m2o_diverse}",
        says(
            "equal settings",
            "latent_depth/m2o_diverse_again",
            remedy=prose("use the other run", "latent_depth/m2o_diverse_12_12"),
        ),
    ),
    "equal settings at a scale alone": (
        3,
        LATENT,
        "  m2o_diverse_24_12:",
        "  m2o_diverse_11_12: {like: m2o_diverse, layers: 11/12}\n  m2o_diverse_24_12:",
        says(
            "equal at a scale",
            "latent_depth/m2o_diverse_12_12",
            "tiny",
            "config/scales/tiny.yaml:4: times.layers",
        ),
    ),
    "a run that nothing uses": (
        8,
        LATENT,
        "  m2o_diverse_24_15:",
        "  m2o_diverse_60_12: {like: m2o_diverse, layers: 60/12}\n  m2o_diverse_24_15:",
        says("unused run", where="runs.m2o_diverse_60_12"),
    ),
    "a start that does not exist": (
        2,
        GROUPS,
        "start: {run: domains_transformer, freeze: true}",
        "start: {run: domains_transforme, freeze: true}",
        says("unknown", "run", "domains_transforme", nearest="domains_transformer"),
    ),
    "a start with other pieces": (
        3,
        GROUPS,
        "  split: {data: {dataset: domains7, pieces_of: domains6}}",
        "  split: {data: {dataset: domains7}}",
        says("other pieces", remedy="data.pieces_of"),
    ),
    "a start with other tokens of target languages": (
        7,
        GROUPS,
        "    like: <set>\n    group: adapters\n",
        "    like: <set>\n    group: adapters\n    data: {target_token: none}  # §3.1.2\n",
        says("other tokens", remedy="data.target_token"),
    ),
    "a token where there is one target language": (
        7,
        LATENT,
        "    data: {dataset: ted8_diverse, direction: many_to_one}",
        "    data: {dataset: ted8_diverse, direction: many_to_one, target_token: decoder}",
        says("one target language", where="data.target_token"),
    ),
    "fewer weights than are averaged": (
        2,
        GROUPS,
        "      keep_weights: 3  #",
        "      keep_weights: 2  #",
        says("kept weights", 3, 2, remedy="training.keep_weights: 3 or more"),
    ),
    "a width that heads do not divide": (
        4,
        LATENT,
        "      heads: 4  # App. C.2\n",
        "      heads: 5  # App. C.2\n",
        says("heads", 512, 5),
    ),
    "a masked language model without masking": (
        3,
        LATENT,
        "    masking: {chosen: 0.15, masked: 0.8, random: 0.1}",
        "    # masking: {chosen: 0.15, masked: 0.8, random: 0.1}",
        says("masking", remedy=prose("add masking")),
    ),
    # Alone: a run that cannot be read may be the one that the rule fits.
    "a rule that fits no run": (
        9,
        TINY,
        "  - when: {training.schedule.name: noam}",
        "  - when: {training.schedule.name: noa}",
        says(
            "no run has",
            "training.schedule.name",
            "noa",
            where="when.training.schedule.name",
            nearest="noam",
        ),
    ),
    "a rule for an unknown setting": (
        2,
        TINY,
        "    set: {training.batch.tokens: 1024}",
        "    set: {training.batch.token: 1024}",
        says("unknown", "setting", "training.batch.token", nearest="tokens"),
    ),
    "an unknown data set of a scale": (
        2,
        TINY,
        "  ted8_related: po_wheels_related",
        "  ted8_related: po_wheels_relatd",
        says("unknown", "data set", "po_wheels_relatd", nearest="po_wheels_related"),
    ),
    "an unknown group of a scale": (
        3,
        OF_SCALES,
        "updates: {o2m_related: 300",
        "updates: {o2m_relatd: 300",
        says("unknown", "group", "o2m_relatd", nearest="o2m_related"),
    ),
    "a group without updates": (
        4,
        OF_SCALES,
        "updates: {o2m_related: 300, ",
        "updates: {",
        says("no updates", "o2m_related", "latent_depth"),
    ),
    "an unknown paper of a scale": (
        5,
        TINY,
        "datasets:\n",
        "updates: {latent_deth: {o2m_related: 300}}\ndatasets:\n",
        says("unknown", "paper", "latent_deth", nearest="latent_depth"),
    ),
    "an unknown run to watch": (
        4,
        TINY,
        "check_learning: {run: latent_depth/m2o_diverse_12_12",
        "check_learning: {run: latent_depth/m2o_diverse_12_13",
        says("unknown", "run", "latent_depth/m2o_diverse_12_13"),
    ),
    "a training that saves fewer weights than are averaged": (
        4,
        GROUPS,
        "training: {updates: 5000, save_every: 500}",
        "training: {updates: 5000, save_every: 2500}",
        says("too few saves", 5000, 2, 3, where="decoding.average_of", remedy="save_every: 1666"),
    ),
    "a target depth on a stack without the method": (
        4,
        LATENT,
        "method: {name: latent_layers, stacks: [decoder], target_depth: 12}",
        "method: {name: latent_layers, stacks: [encoder], target_depth: 12}",
        says(
            "acts on no stack",
            "target_depth",
            "12.0",
            where="method.target_depth_stacks",
            remedy="write [encoder], or target_depth: null",
        ),
    ),
    "a target depth of more layers than there are": (
        3,
        LATENT,
        "layers: 12/48, seeds: 5, method: {target_depth: 24}",
        "layers: 12/48, seeds: 5, method: {target_depth: 49}",
        says(
            "more layers", "49.0", "decoder", 48, where="method.target_depth", remedy="48 or less"
        ),
    ),
    "a list of stacks of an unknown setting": (
        5,
        CARD,
        "stacks_of: target_depth",
        "stacks_of: target_dept",
        says("unknown", "setting", "target_dept", where="stacks_of", nearest="target_depth"),
    ),
    "an unknown paper of a card": (
        2,
        CARD,
        "paper: latent_depth",
        "paper: latent_dept",
        says("unknown", "paper", "latent_dept", nearest="latent_depth"),
    ),
    "an unknown equation of a card": (
        3,
        CARD,
        "equations: [Eq. 2,",
        "equations: [Eq. 22,",
        says("unknown", "equation", "Eq. 22"),
    ),
    "an unknown scale": (
        2,
        "config/config.yaml",
        "scale: tiny",
        "scale: tny",
        says("unknown", "scale", "tny", where="scale", nearest="tiny"),
    ),
}


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """A function that plants a group of faults in a copy of config and returns the findings."""

    @cache
    def load_group(group):
        project = tmp_path_factory.mktemp("planted")
        shutil.copytree(ROOT / "config", project / "config")
        for planted, file, old, new, _ in FAULTS.values():
            if planted == group:
                path = project / file
                text = path.read_text(encoding="utf-8")
                assert old in text, f"{file} has no {old!r}"
                path.write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(FathomError) as caught:
            checked(project)
        return str(caught.value).split("\n")

    return load_group


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_with_its_file_line_and_nearest_name(findings, fault):
    group, *_, finding = FAULTS[fault]
    lines = finding.check(findings(group))
    assert all(line.startswith("config/") and line.split(":")[1].isdigit() for line in lines)


def test_the_projects_own_config_has_no_findings(own_project):
    assert len([run for run in own_project.entries if run.split("/")[0] in PAPERS]) == 136


def test_runs_that_are_equal_everywhere_are_one_finding(findings):
    [line] = says("equal settings", "latent_depth/m2o_diverse_again").check(findings(3))
    assert "scale" not in line
    assert f"({LATENT}:" in line


def test_a_misspelled_group_of_a_scale_is_one_finding(findings):
    [line] = [line for line in findings(3) if " group '" in line]
    says("unknown", "group", "o2m_relatd").check(line)


def test_a_file_that_cannot_be_read_hides_no_cause_behind_its_consequences(findings):
    assert len(findings(0)) == 1
    assert len(findings(6)) == 1
