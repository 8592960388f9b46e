"""Every printed parameter count is that of the network which its row names, or is listed as wrong.

The formulas here are worked out by hand from the papers' descriptions, d the width, f that of the
feed-forward sub-layers, every linear layer with a bias.
"""

from collections import Counter

import pytest

from fathom.artefacts.parameters import printed_counts

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lines(own_project):
    """Each printed count by paper, table, row and column, with the count of our network."""
    counts = [*printed_counts(own_project, without_sizes := [])]
    assert not without_sizes
    by_cell = {
        (count.paper, count.table, count.cell.row, count.cell.column): (count, count.ours())
        for count in counts
    }
    assert len(by_cell) == len(counts)
    return by_cell


@pytest.fixture(scope="module")
def counted(own_project):
    """A function that counts a run's parameters; of a run that starts from another, those added."""
    from fathom.artefacts.parameters import vocabulary
    from fathom.methods.build import count

    def parameters(run):
        spec = own_project.spec(run)
        sizes = vocabulary(own_project, run)
        specs = [spec] + ([own_project.spec(spec.start.name)] if spec.start else [])
        totals = [
            count(one.model, one.method, len(one.data.tasks), sizes.source, sizes.target)["total"]
            for one in specs
        ]
        return totals[0] - sum(totals[1:])

    return parameters


def test_every_printed_count_is_there(lines):
    tables = Counter(key[:2] for key in lines)
    assert tables == {
        ("latent_depth", "table1"): 8,
        ("latent_depth", "table2"): 7,
        ("latent_depth", "table3"): 8,
        ("transparent_attention", "table1"): 5,
        ("transparent_attention", "table2"): 5,
        ("transparent_attention", "table3"): 5,
        ("transparent_attention", "table4"): 5,
        ("lamgd", "table3"): 4,
        ("lamgd", "table4"): 2,
        ("lamgd", "table5"): 12,
    }


def test_no_count_differs_without_being_listed(lines):
    off = {key: ours for key, (count, ours) in lines.items() if count.verdict(ours) == "differs"}
    assert off == {}


def test_what_is_listed_is_really_off(lines):
    for key, (count, ours) in lines.items():
        if count.verdict(ours) in ("misprint", "unexplained"):
            assert abs(count.difference(ours)) > 0.01, key
            assert count.cell.right or count.reason, key


def test_only_these_are_listed(lines):
    verdicts = {key: count.verdict(ours) for key, (count, ours) in lines.items()}
    misprints = {key[:3] for key, verdict in verdicts.items() if verdict == "misprint"}
    assert misprints == {("latent_depth", "table1", "DLCL, 48/48"), ("lamgd", "table4", "Adapter")}
    unexplained = {
        (*key[:2], key[3]) for key, verdict in verdicts.items() if verdict == "unexplained"
    }
    assert unexplained == {
        ("transparent_attention", table, column)
        for table in ("table1", "table2")
        for column in ("12", "16", "20")
    }


def test_a_network_agrees_within_one_percent_and_not_by_rounding(lines):
    by_digits = 0
    for key, (count, ours) in lines.items():
        if count.verdict(ours) == "agrees" and abs(count.difference(ours) or 0) > 0.01:
            assert count.added_to is not None, key
            assert round(ours / 1e6) == float(count.cell.value), key
            by_digits += 1
    assert by_digits == 4, "13 million printed for the adapters' 12.743"


def test_the_dictionaries_have_the_sizes_that_the_counts_imply(lines):
    sizes = {
        count.spec.name: (count.source_entries, count.target_entries) for count, _ in lines.values()
    }
    assert sum(sizes["latent_depth/en_de_big"]) == 68_080
    assert sum(sizes["latent_depth/o2m_related_6_6"]) == 62_660
    assert sizes["latent_depth/masked_lm_24"] == (40_004, 40_004)
    assert sizes["transparent_attention/en_de_transformer_plain_6"] == (32_000, 32_000)
    assert sizes["lamgd/domains_transformer"] == (40_000, 40_000)
    assert sizes["lamgd/o2m_related_transformer"] == (8_133, 54_527)
    assert sizes["lamgd/m2o_related_transformer"] == (54_527, 8_133)
    assert sizes["lamgd/o2m_diverse_transformer"] == (8_072, 59_729)
    assert sizes["lamgd/m2o_diverse_transformer"] == (59_729, 8_072)


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
    ("run", "formula"),
    [
        ("latent_depth/o2m_related_ll_d_12_24", latent_transformer),
        ("latent_depth/en_de_dlcl_48_48", dlcl_transformer),
        ("latent_depth/masked_lm_48", masked_lm),
        ("transparent_attention/en_de_transformer_transparent_20", transparent_transformer),
        ("transparent_attention/en_de_rnmt_transparent_20", transparent_rnmt),
        ("lamgd/o2m_related_transformer", multilingual_transformer),
        ("lamgd/domains_adapters", domain_adapters),
    ],
)
def test_a_count_is_that_of_the_formula(counted, run, formula):
    assert counted(run) == formula()
