"""`--method` and `--metric`: the contracts of one method or metric alone."""

import pytest

from fathom.config import plugins
from fathom.io.errors import nearest

# The test whose parameter `name` is a method or a metric.
TESTS = {
    "method": "test_a_method_keeps_its_contracts",
    "metric": "test_each_metric_of_fathom_keeps_the_contracts",
}


def pytest_addoption(parser):
    for kind in TESTS:
        parser.addoption(f"--{kind}", metavar="NAME", help=f"Only the contracts of this {kind}.")


def pytest_collection_modifyitems(config, items):
    """Keep the contracts of what is named; without these options, everything."""
    named = {kind: config.getoption(kind, None) for kind in TESTS}
    if not any(named.values()):
        return
    for kind, name in named.items():
        if name and name not in (valid := plugins.names(f"{kind}s")):
            raise pytest.UsageError(f"no {kind} '{name}'; {nearest(name, valid)}")
    chosen = [item for item in items if name_of(item) in named.items()]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def name_of(item):
    """Return the kind and the name of a method or metric whose contracts a test checks."""
    kind = next((each for each, test in TESTS.items() if test == item.originalname), None)
    return (kind, item.callspec.params["name"]) if kind else None
