"""Claims name tables, rows, columns and labels that exist."""

import pytest

LATENT, LAMGD = "latent_depth/claims.yaml", "lamgd/claims.yaml"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        pytest.param(
            LATENT,
            "falling(table7[",
            "falling(table77[",
            "loss_terms_help.claim: no table or figure 'table77'; nearest valid name: 'table7'",
            id="table",
        ),
        pytest.param(
            LATENT,
            'trained(table5["24/12"])',
            'trained(table5["24/21"])',
            "static_m2o_diverges.claim: table5 has no row '24/21'; nearest valid name: '24/",
            id="row",
        ),
        pytest.param(
            LATENT,
            'table1["LL-Both, 48/48", "bleu_test"] > table1["Transformer-Big", "bleu_test"]',
            'table1["LL-Both, 48/48", "bleu_tset"] > table1["Transformer-Big", "bleu_test"]',
            "table1, row 'LL-Both, 48/48', has no column 'bleu_tset'; nearest valid name: 'bleu_",
            id="column",
        ),
        pytest.param(
            LATENT,
            'falling(table7[:, "avg"])',
            'falling(table7[:, "agv"])',
            "loss_terms_help.claim: table7 has no column 'agv'; nearest valid name: 'avg'",
            id="column of all rows",
        ),
        pytest.param(
            LATENT,
            'table5["<row>", tasks] >= table5["12/12", tasks]',
            'table8["Static depth, L = 12", tasks] >= table5["12/12", tasks]',
            "table8, row 'Static depth, L = 12', has no tasks; write `:` for all columns",
            id="tasks",
        ),
        pytest.param(
            LATENT,
            'failed(table4["ReZero, 24/24"])',
            'failed(table4["ReZero, 24/24", "depth_decoder"])',
            "table4, row 'ReZero, 24/24', is empty in column 'depth_decoder'; name another cell",
            id="empty cell",
        ),
        pytest.param(
            LATENT,
            'failed(table4["ReZero, 24/24"])',
            "failed(table4[tasks])",
            "rezero_diverges.claim: `tasks` is no row of table4; write `:` for all rows",
            id="tasks as rows",
        ),
        pytest.param(
            LATENT,
            'failed(table4["ReZero, 24/24"])',
            'failed(table4["ReZero, 24/24", "bos", "mar"])',
            "rezero_diverges.claim: table4 has rows and columns only; give one or two keys",
            id="three keys",
        ),
        pytest.param(
            LATENT,
            'mean(sd(figure6["β = 10"], "layer"))',
            'mean(sd(figure6["β = 1O"], "layer"))',
            "utilisation_grows_uniform.claim: figure6 has no label 'β = 1O'; nearest valid name:",
            id="label",
        ),
        pytest.param(
            LATENT,
            'mean(sd(figure6["β = 10"], "layer"))',
            'mean(sd(figure6["β = 10"], "layers"))',
            "utilisation_grows_uniform.claim: figure6 has no label and no axis 'layers'; nearest",
            id="axis",
        ),
        pytest.param(
            LAMGD,
            'figure2["Domains", "law1", "law2"]',
            'figure2["Domains", "law1", "law3"]',
            "halves_share_a_network.claim: figure2 has no label 'law3'; nearest valid name: 'law",
            id="task as a label",
        ),
    ],
)
def test_a_fault_is_found_with_line_and_nearest_name(faults, file, old, new, message):
    found = [line for line in faults(file, old, new) if message in line]
    assert found
    assert found[0].startswith(f"config/papers/{file}:")
