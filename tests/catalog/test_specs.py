import pytest

from fathom.catalog.resolve import nested
from fathom.catalog.specs import spec_from
from fathom.records.errors import Findings


def resolved(catalog):
    tree = nested(catalog.settings("static_12_12", "tiny"))
    return tree, catalog.datasets["po_wheels_diverse"]


def test_a_method_without_gates_is_decoded_plainly_whatever_the_defaults_say(catalog):
    tree, dataset = resolved(catalog)
    for gates, expected in ((False, "plain"), (True, "soft")):
        spec = spec_from("r", "tiny", tree, dataset, {}, gates)
        assert spec.evaluation.compared_gates == expected


def test_tasks_are_the_data_sets_in_its_order(catalog):
    tree, dataset = resolved(catalog)
    spec = spec_from("r", "tiny", tree, dataset, {}, False)
    assert spec.data.tasks == ("bos", "mar", "hin", "mkd", "ell", "bul", "fra", "kor")


def test_a_setting_that_nobody_gives_is_named(catalog):
    tree, dataset = resolved(catalog)
    del tree["model"]["width"]
    with pytest.raises(Findings, match=r"model\.width: no value is given; give it in the run"):
        spec_from("r", "tiny", tree, dataset, {}, False)
