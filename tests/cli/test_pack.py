"""`fathom pack`: one file with a finished run."""

import pytest

from tests.support.refused import says
from tests.support.small_project import RUN


@pytest.mark.slow
def test_a_run_is_packed_once(own, trained, call):
    folder = own(trained)
    answer = call("pack", RUN)
    assert answer.code == 0
    (archive,) = folder.glob(f"{RUN}-*.1.zip")
    assert archive.name in answer.err
    says("file exists", where=archive.name).check(call("pack", RUN).one_line)
    assert call("pack", RUN, "--out", "another.zip").code == 0


def test_a_run_that_was_not_trained_is_refused(project, call):
    says("no such file").check(call("pack", RUN).one_line)
