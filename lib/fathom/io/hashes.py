"""Identity of a value: the hash of its canonical JSON."""

import hashlib
import json


def identity(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON, as 64 hexadecimal digits.

    Keys are sorted, so their order in config files does not matter; 3 and 3.0 differ.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def short(identity_: str) -> str:
    """Return the first eight digits, as in the names of folders."""
    return identity_[:8]
