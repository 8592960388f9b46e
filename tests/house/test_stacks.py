"""Each stack owns one loop over its layers; what differs between methods enters through hooks."""

import ast
from pathlib import Path

import pytest

from tests.house.tree import ROOT, Source, told

STACKS = ("encoder", "decoder", "rnmt_encoder", "rnmt_decoder")


def loops(root: Path, stack: str) -> list[str]:
    """Return the `for` statements over layers in a stack's file."""
    source = Source(root, root / "lib" / "fathom" / "models" / f"{stack}.py")
    return [
        f"{source.at(node)}: for … in {ast.unparse(node.iter)}"
        for node in source.nodes
        if isinstance(node, ast.For | ast.AsyncFor | ast.While)
        and "layers" in ast.unparse(node.iter if not isinstance(node, ast.While) else node.test)
    ]


@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_has_one_loop_over_its_layers(stack):
    found = loops(ROOT, stack)
    assert len(found) == 1, told([*found, "let a hook of models/hooks.py do what the second does"])


def test_a_second_loop_is_found(small):
    root = small(
        {
            "lib/fathom/models/encoder.py": """
                def forward(self, x):
                    for layer in self.layers:
                        x = layer(x)
                    for layer in reversed(self.layers):
                        x = layer(x)
                """
        }
    )
    assert len(loops(root, "encoder")) == 2
