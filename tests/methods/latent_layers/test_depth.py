"""Hard gates, and how many of them are open."""

import pytest
import torch

from fathom.methods.latent_layers.equations import depth_of, hard_gates


def test_a_hard_gate_is_open_from_its_threshold_on():
    alpha = torch.tensor([[0.0, 1e-3, -1e-3], [9.0, -9.0, 2.0]])
    assert hard_gates(alpha, 0.5).tolist() == [[1, 1, 0], [1, 0, 1]]
    assert hard_gates(alpha, 0.9).tolist() == [[0, 0, 0], [1, 0, 0]]


def test_the_likeliest_layers_stay_where_hard_gates_would_keep_fewer():
    alpha = torch.tensor([[-0.3, -0.1, -0.2], [0.5, -0.1, -0.2], [0.5, 0.1, 0.2], [-1, -1, -1]])
    assert hard_gates(alpha, 0.5, 1).tolist() == [[0, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0]]
    assert hard_gates(alpha, 0.5, 2).tolist() == [[0, 1, 1], [1, 1, 0], [1, 1, 1], [1, 1, 0]]
    assert depth_of(alpha, 0.5).by_task == (0, 1, 3, 0)


def test_depth_counts_hard_gates_and_says_how_decided_they_are():
    assert depth_of(torch.zeros(2, 3), 0.5).by_task == (3, 3)
    alpha = torch.tensor([[0.05, -0.05, 2.0], [-0.2, -2.0, 0.0]])
    depth = depth_of(alpha, 0.5)
    assert depth.by_task == (2, 1)
    assert depth.effective_depth == 1.5
    assert depth.sum_p == pytest.approx(torch.sigmoid(alpha).sum().item() / 2)
