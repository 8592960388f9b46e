"""Errors of the machine as sentences: none of them is a bug of fathom.

Files are replaced at once, so none that is half-written is trusted after them.
"""

import errno
import os

from fathom.io.errors import FathomError
from fathom.io.memory import is_out_of_memory

_REMEDIES = {
    "make room or give the right to write there, and start again": (
        errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS,
    ),
    "move what is in the way, or use another folder, and start again": (
        errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP,
        errno.ENOTEMPTY,
    ),
    "it was deleted or moved; start again": (errno.ENOENT, errno.ESTALE),
    "the disk or its connection fails; repair it, and start again": (
        errno.EIO, errno.ENODEV, errno.ENXIO, errno.ENOTCONN, errno.ETIMEDOUT, errno.EREMOTEIO,
        errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP,
    ),
    "end other programs, and start again": (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM),
}  # fmt: skip
_MEMORY = "lower tokens_per_device in config/config.yaml, or end other programs"


def fault(error: Exception) -> FathomError | None:
    """Return the sentence of what the machine refused, or None where a bug is likelier.

    Args:
        error: what ended the command.
    """
    if is_out_of_memory(error):
        return FathomError("no memory is left", "memory", _MEMORY)
    if not isinstance(error, OSError) or error.errno is None:
        return None
    remedies = {number: remedy for remedy, group in _REMEDIES.items() for number in group}
    if error.errno not in remedies:
        return None
    where = str(error.filename or "disk")
    return FathomError(os.strerror(error.errno), where, remedies[error.errno])
