"""Claims name tables, rows, columns and labels that exist."""

import pytest

from tests.support.refused import prose, says

LATENT, LAMGD = "latent_depth/claims.yaml", "lamgd/claims.yaml"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        pytest.param(
            LATENT,
            "falling(table7[",
            "falling(table77[",
            says(
                "unknown",
                "table or figure",
                "table77",
                where="loss_terms_help.claim",
                nearest="table7",
            ),
            id="table",
        ),
        pytest.param(
            LATENT,
            'trained(table5["24/12"])',
            'trained(table5["24/21"])',
            says(
                "part of a table",
                "table5",
                "row",
                "24/21",
                where="static_m2o_diverges.claim",
                nearest="24/24",
            ),
            id="row",
        ),
        pytest.param(
            LATENT,
            'table1["LL-Both, 48/48", "bleu_test"] > table1["Transformer-Big", "bleu_test"]',
            'table1["LL-Both, 48/48", "bleu_tset"] > table1["Transformer-Big", "bleu_test"]',
            says(
                "part of a table",
                "table1, row 'LL-Both, 48/48',",
                "column",
                "bleu_tset",
                nearest="bleu_test",
            ),
            id="column",
        ),
        pytest.param(
            LATENT,
            'falling(table7[:, "avg"])',
            'falling(table7[:, "agv"])',
            says(
                "part of a table",
                "table7",
                "column",
                "agv",
                where="loss_terms_help.claim",
                nearest="avg",
            ),
            id="column of all rows",
        ),
        pytest.param(
            LATENT,
            'table5["<row>", tasks] >= table5["12/12", tasks]',
            'table8["Static depth, L = 12", tasks] >= table5["12/12", tasks]',
            says("no tasks", "table8", "Static depth, L = 12", remedy=prose("all columns")),
            id="tasks",
        ),
        pytest.param(
            LATENT,
            'failed(table4["ReZero, 24/24"])',
            'failed(table4["ReZero, 24/24", "depth_decoder"])',
            says(
                "cell is empty",
                "table4",
                "ReZero, 24/24",
                "depth_decoder",
                remedy=prose("another cell"),
            ),
            id="empty cell",
        ),
        pytest.param(
            LATENT,
            'failed(table4["ReZero, 24/24"])',
            "failed(table4[tasks])",
            says(
                "no row of",
                "tasks",
                "table4",
                where="rezero_diverges.claim",
                remedy=prose("all rows"),
            ),
            id="tasks as rows",
        ),
        pytest.param(
            LATENT,
            'failed(table4["ReZero, 24/24"])',
            'failed(table4["ReZero, 24/24", "bos", "mar"])',
            says(
                "three keys",
                "table4",
                where="rezero_diverges.claim",
                remedy=prose("one or two keys"),
            ),
            id="three keys",
        ),
        pytest.param(
            LATENT,
            'falling(table7[:, "avg"])',
            'falling(2 * table7["LL-D, 24/24", ["avg"]])',
            says("claim shape", "falling", where="loss_terms_help.claim"),
            id="one number",
        ),
        pytest.param(
            LATENT,
            'mean(sd(figure6["β = 10"], "layer"))',
            'mean(sd(figure6["β = 1O"], "layer"))',
            says(
                "part of a table",
                "figure6",
                "label",
                "β = 1O",
                where="utilisation_grows_uniform.claim",
                nearest="β = 1",
            ),
            id="label",
        ),
        pytest.param(
            LATENT,
            'mean(sd(figure6["β = 10"], "layer"))',
            'mean(sd(figure6["β = 10"], "layers"))',
            says(
                "part of a table",
                "figure6",
                "axis",
                "layers",
                where="utilisation_grows_uniform.claim",
                nearest="layer",
            ),
            id="axis",
        ),
        pytest.param(
            LAMGD,
            'figure2["Domains", "law1", "law2"]',
            'figure2["Domains", "law1", "law3"]',
            says(
                "part of a table",
                "figure2",
                "label",
                "law3",
                where="halves_share_a_network.claim",
                nearest="law2",
            ),
            id="task as a label",
        ),
    ],
)
def test_a_fault_is_found_with_line_and_nearest_name(faults, file, old, new, message):
    found = message.check(faults(file, old, new))
    assert found[0].startswith(f"config/papers/{file}:")
