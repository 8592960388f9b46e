"""What the machine refuses is a sentence; a bug is not."""

import errno
import os

import pytest

from fathom.cli.faults import fault
from tests.support.refused import prose, says

GROUPS = {
    prose("not writable"): "ENOSPC EDQUOT EFBIG EACCES EPERM EROFS",
    prose("in the way"): "EEXIST ENOTDIR EISDIR ENAMETOOLONG ELOOP",
    prose("deleted"): "ENOENT ESTALE",
    prose("disk fails"): "EIO ENODEV ETIMEDOUT EOPNOTSUPP",
    prose("too much"): "EMFILE ENFILE ENOMEM",
}


class OutOfMemoryError(RuntimeError):
    """As torch calls it where a GPU is full."""


@pytest.mark.parametrize(
    ("name", "remedy"),
    [(name, remedy) for remedy, names in GROUPS.items() for name in names.split()],
)
def test_what_the_machine_refuses_names_the_file_and_what_to_do(name, remedy):
    number = getattr(errno, name)
    error = fault(OSError(number, "in other words", "results/a.json"))
    says(remedy=remedy, where="results/a.json").check(error)
    assert error.what == os.strerror(number)


@pytest.mark.parametrize("error", [MemoryError(), OutOfMemoryError("CUDA out of memory")])
def test_a_full_memory_is_no_bug(error):
    says("no memory", remedy="tokens_per_device").check(fault(error))


@pytest.mark.parametrize(
    "error", [OSError("no number"), OSError(errno.EBADF, "bad"), ValueError("x"), KeyError("x")]
)
def test_what_is_likely_a_bug_has_no_sentence(error):
    assert fault(error) is None
