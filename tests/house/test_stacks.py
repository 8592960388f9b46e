"""One function runs the layers of every stack; methods differ in the hooks that they override."""

import ast
from pathlib import Path

from tests.house.tree import ROOT, library, listed

LOOP = "run_layers"


def second_loops(root: Path) -> list[str]:
    """Return the `for` statements over a stack's layers under models/, except those of LOOP."""
    found = []
    for source in library(root):
        if source.room != "models":
            continue
        allowed = {
            id(inner)
            for node in source.nodes
            if isinstance(node, ast.FunctionDef) and node.name == LOOP
            for inner in ast.walk(node)
        }
        found += [
            f"{source.at(node)}: for … in {ast.unparse(node.iter)}; call {LOOP} instead"
            for node in source.nodes
            if isinstance(node, ast.For)
            and id(node) not in allowed
            and "layers" in ast.unparse(node.iter)
        ]
    return found


def test_one_function_loops_over_layers():
    found = second_loops(ROOT)
    assert not found, listed(found)


def test_a_second_loop_is_found(small):
    root = small(
        {
            "lib/fathom/nn/stack.py": """
                def run_layers(layers, x):
                    for layer in layers:
                        x = layer(x)
                """,
            "lib/fathom/nn/transformer/stacks.py": """
                def forward(self, x):
                    for layer in reversed(self.layers):
                        x = layer(x)
                """,
        }
    )
    assert len(second_loops(root)) == 1
