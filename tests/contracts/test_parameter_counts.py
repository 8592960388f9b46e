"""Every printed parameter count is that of the network which its row names, or is listed as wrong.

The formulas here are worked out by hand from the papers' descriptions, d the width, f that of the
feed-forward sub-layers, every linear layer with a bias.
"""

import contextlib
import json
from collections import Counter

import pytest
from typer.testing import CliRunner

from fathom.cli.main import build
from tests.support.small_networks import ROOT


@pytest.fixture(scope="module")
def lines():
    """What `fathom params` says at the papers' own scale, by paper, table and row."""
    with contextlib.chdir(ROOT):
        answer = CliRunner().invoke(build(), ["params", "--scale", "paper", "--json"])
    assert answer.exit_code == 0, answer.output
    printed = json.loads(answer.stdout)["printed"]
    found = {(each["paper"], each["table"], each["row"]): each for each in printed}
    assert len(found) == len(printed)
    return found


def test_every_row_with_a_printed_count_is_there(lines):
    rows = Counter((paper, table) for paper, table, _ in lines)
    assert rows == {
        ("latent_depth", "table1"): 8,
        ("latent_depth", "table2"): 7,
        ("latent_depth", "table3"): 8,
        ("transparent_attention", "table1"): 13,
        ("transparent_attention", "table2"): 13,
        ("transparent_attention", "table3"): 13,
        ("transparent_attention", "table4"): 13,
        ("lamgd", "table3"): 4,
        ("lamgd", "table4"): 2,
        ("lamgd", "table5"): 12,
    }


def test_no_count_differs_without_being_listed(lines):
    off = {key: each["ours"] for key, each in lines.items() if each["verdict"] == "differs"}
    assert off == {}


def test_what_is_listed_is_really_off_and_has_a_reason(lines):
    for key, each in lines.items():
        listed = each["verdict"] in ("misprint", "unexplained")
        assert listed is (each["reason"] is not None), key
        assert not listed or abs(each["difference"]) > 0.01, key


def test_only_these_are_listed(lines):
    misprints = {key for key, each in lines.items() if each["verdict"] == "misprint"}
    assert misprints == {("latent_depth", "table1", "DLCL, 48/48"), ("lamgd", "table4", "Adapter")}
    unexplained = Counter(
        (*key[:2], each["printed_millions"])
        for key, each in lines.items()
        if each["verdict"] == "unexplained"
    )
    cells = [(table, millions) for table in ("table1", "table2") for millions in (120, 137, 154)]
    assert unexplained == {("transparent_attention", *cell): 3 for cell in cells}


def test_a_whole_network_agrees_within_one_percent_and_not_by_rounding(lines):
    by_digits = 0
    for key, each in lines.items():
        if each["verdict"] == "agrees" and abs(each["difference"] or 0) > 0.01:
            assert each["counts_what_is_added"], key
            assert round(each["ours"] / 1e6) == each["printed_millions"], key
            by_digits += 1
    assert by_digits == 4, "13 million printed for the adapters' 12.743"


def test_the_dictionaries_have_the_sizes_that_the_counts_imply(lines):
    rows = {
        (paper, table): (each["source_entries"], each["target_entries"])
        for (paper, table, _), each in lines.items()
        if table != "table5"
    }
    assert sum(rows["latent_depth", "table1"]) == 68_080
    assert sum(rows["latent_depth", "table3"]) == 62_660
    assert rows["latent_depth", "table2"] == (40_004, 40_004)
    assert rows["transparent_attention", "table1"] == (32_000, 32_000)
    assert rows["lamgd", "table3"] == (40_000, 40_000)
    for row, sizes in {
        "O2M-related": (8_133, 54_527),
        "M2O-related": (54_527, 8_133),
        "O2M-diverse": (8_072, 59_729),
        "M2O-diverse": (59_729, 8_072),
    }.items():
        each = lines["lamgd", "table5", f"{row}/Transformer"]
        assert (each["source_entries"], each["target_entries"]) == sizes


def encoder(d: int, f: int) -> int:
    """One attention, the feed-forward sub-layer, two norms."""
    return 4 * (d * d + d) + 2 * d * f + f + d + 4 * d


def decoder(d: int, f: int) -> int:
    """Two attentions, the feed-forward sub-layer, three norms."""
    return encoder(d, f) + 4 * (d * d + d) + 2 * d


def lstm(i: int, c: int) -> int:
    """One direction: four gates of [input; state], each with its norm's scale and bias."""
    return 4 * c * (i + c) + 8 * c


def latent_transformer() -> int:
    """12 and 24 layers with a final norm each, 62,660 rows of embeddings, 8 × 24 logits."""
    layers = 12 * encoder(512, 1024) + 24 * decoder(512, 1024)
    return layers + 62_660 * 512 + 2 * 2 * 512 + 8 * 24


def dlcl_transformer() -> int:
    """48 and 48 layers, 68,080 rows; a stack adds 49 × 49 weights and a norm for each layer."""
    layers = 48 * (encoder(512, 1024) + decoder(512, 1024))
    return layers + 68_080 * 512 + 2 * 2 * 512 + 2 * (49**2 + 48 * 2 * 512)


def masked_lm() -> int:
    """48 layers, 40,005 tied rows, 514 positions, a final norm, a dense head with norm and bias."""
    head = 768 * 768 + 768 + 2 * 768 + 40_005
    return 48 * encoder(768, 3072) + 40_005 * 768 + 514 * 768 + 2 * 768 + head


def transparent_transformer() -> int:
    """20 and 6 layers without final norms, three tables, an output bias, 21 × 6 mixture weights."""
    layers = 20 * encoder(512, 2048) + 6 * decoder(512, 2048)
    return layers + 3 * 32_000 * 512 + 32_000 + 21 * 6


def transparent_rnmt() -> int:
    """20 bidirectional and 8 layers of 512 cells, one additive attention, 20 mixture weights."""
    c, v = 512, 32_000
    tables = 2 * v * c + 2 * c * v + v
    stack = 2 * lstm(c, c) + 19 * 2 * lstm(2 * c, c) + 2 * c * c + c
    attention = 2 * (c * c + c) + 2 * (c // 4) ** 2 + c // 4
    return tables + stack + attention + 8 * lstm(2 * c, c) + 20


def multilingual_transformer() -> int:
    """6 and 6 layers with a final norm each, three tables of which the output's has a bias."""
    layers = 6 * (encoder(512, 1024) + decoder(512, 1024)) + 2 * 2 * 512
    return layers + (8_133 + 2 * 54_527) * 512 + 54_527


def domain_adapters() -> int:
    """6 domains × 12 layers: a norm, 512 to 2048 and back."""
    return 6 * 12 * (2 * 512 * 2048 + 2048 + 512 + 2 * 512)


@pytest.mark.parametrize(
    ("row", "formula"),
    [
        (("latent_depth", "table3", "LL-D, 12/24"), latent_transformer),
        (("latent_depth", "table1", "DLCL, 48/48"), dlcl_transformer),
        (("latent_depth", "table2", "Static 48"), masked_lm),
        (("transparent_attention", "table1", "transparent, 20"), transparent_transformer),
        (("transparent_attention", "table3", "transparent, 20"), transparent_rnmt),
        (("lamgd", "table5", "O2M-related/Transformer"), multilingual_transformer),
        (("lamgd", "table3", "Adapter"), domain_adapters),
    ],
)
def test_a_count_is_that_of_the_formula(lines, row, formula):
    assert lines[row]["ours"] == formula()
