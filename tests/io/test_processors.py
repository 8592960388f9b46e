"""The name of the processor, which results are recorded with."""

import platform

import pytest

from fathom.io import processors

CORE = "processor\t: {}\nmodel name\t: AMD EPYC 9R14\n\n"
INFO = CORE.format(0) + CORE.format(1)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (INFO, "AMD EPYC 9R14"),
        ("processor\t: 0\nBogoMIPS\t: 50.00\n", None),
        ("model name\t:\n", None),
        (None, None),
    ],
    ids=["named", "not named", "empty", "no file"],
)
def test_the_name_is_the_systems_or_else_the_architecture(tmp_path, monkeypatch, text, name):
    path = tmp_path / "cpuinfo"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(processors, "INFO", path)
    assert processors.processor() == (name or platform.processor() or platform.machine())
