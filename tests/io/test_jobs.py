import pytest

from fathom.io.jobs import VARIABLES, job_id


@pytest.mark.parametrize("variable", VARIABLES.values())
def test_each_scheduler_names_its_job_in_a_variable_of_its_own(monkeypatch, variable):
    for name in VARIABLES.values():
        monkeypatch.delenv(name, raising=False)
    assert job_id() is None
    monkeypatch.setenv(variable, "12[3]")
    assert job_id() == "12[3]"
