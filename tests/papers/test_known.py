"""Runs have a full name, and a short one within their paper."""

from fathom.config.spec import Known, KnownRun, full_name

PLAIN = KnownRun(("bos",), "ted", 14000, (1,), ("plain",))
LATENT = KnownRun(("bos",), "ted", 14000, (1,), ("soft", "hard"), ("decoder",))


def test_a_run_of_another_paper_keeps_its_paper():
    assert full_name("lamgd", "o2m_related_lamgd") == "lamgd/o2m_related_lamgd"
    assert full_name("lamgd", "latent_depth/m2o_diverse_6_6") == "latent_depth/m2o_diverse_6_6"


def test_only_a_papers_own_runs_have_a_short_name():
    known = Known({"a/x": PLAIN, "b/y": PLAIN}, {})
    assert known.names("a") == ("x", "b/y")


def test_a_run_with_gates_is_known_by_them():
    assert LATENT.gated
    assert not PLAIN.gated
