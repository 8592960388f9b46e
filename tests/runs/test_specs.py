from dataclasses import replace

import pytest

from fathom.errors import Findings
from fathom.runs.resolve import nested
from fathom.runs.specs import spec_from


def resolved(catalog):
    tree = nested(catalog.settings("static_12_12", "tiny"))
    return tree, catalog.datasets["po_wheels_diverse"]


def test_a_method_without_gates_is_decoded_plainly_whatever_the_defaults_say(catalog):
    tree, dataset = resolved(catalog)
    for gates, expected in ((False, "plain"), (True, "soft")):
        spec = spec_from("r", "tiny", tree, dataset, {}, gates, None)
        assert spec.evaluation.compared_gates == expected


def test_tasks_are_the_data_sets_in_its_order(catalog):
    tree, dataset = resolved(catalog)
    spec = spec_from("r", "tiny", tree, dataset, {}, False, None)
    assert spec.data.tasks == ("bos", "mar", "hin", "mkd", "ell", "bul", "fra", "kor")


def test_a_setting_that_nobody_gives_is_named(catalog):
    tree, dataset = resolved(catalog)
    del tree["model"]["width"]
    with pytest.raises(Findings, match=r"model\.width: no value is given; give it in the run"):
        spec_from("r", "tiny", tree, dataset, {}, False, None)


def test_what_stands_beside_a_schedules_name_are_its_keywords(catalog):
    tree, dataset = resolved(catalog)
    schedule = spec_from("r", "tiny", tree, dataset, {}, False, None).training.schedule
    assert schedule.name == "inverse_sqrt"
    assert schedule.settings == {"learning_rate": 5.0e-3, "warmup": 100}


def test_a_run_that_starts_from_another_is_another_run_when_that_one_changes(catalog):
    tree, dataset = resolved(catalog)
    base = spec_from("base", "tiny", tree, dataset, {}, False, None)
    assert base.training.start is None
    tree["training"]["start"] = {"run": "base", "freeze": True}
    tuned = spec_from("r", "tiny", tree, dataset, {}, False, base)
    start = tuned.training.start
    assert (start.run, start.average_of, start.freeze) == ("base", 1, True)
    assert start.folder == base.folder
    other = replace(base, model=replace(base.model, width=8))
    assert spec_from("r", "tiny", tree, dataset, {}, False, other).identity != tuned.identity
