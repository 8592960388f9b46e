"""claims.yaml gives sentences with one part for each combination of `for`."""

import pytest

from fathom.claims.expressions import Reference, parts

FILE = "latent_depth/claims.yaml"


def test_every_claim_of_the_papers_is_parsed(all_claims):
    counts = {
        name: (len(claims), sum(len(claim.parts) for claim in claims.values()))
        for name, claims in all_claims.items()
    }
    assert counts == {
        "latent_depth": (30, 39),
        "transparent_attention": (16, 30),
        "lamgd": (16, 26),
    }


def test_a_claim_has_a_part_for_each_combination(all_claims):
    claim = all_claims["latent_depth"]["latent_decoder_beats_static"]
    assert [(part.name, part.supports) for part in claim.parts] == [
        ("table3", "holds"),
        ("table4", "holds"),
        ("table5", "fails"),
    ]
    assert claim.artefacts == ("table3", "table4", "table5")


def test_a_list_of_mappings_gives_pairs(all_claims):
    claim = all_claims["lamgd"]["family_is_nearest"]
    assert [part.name for part in claim.parts][:2] == ["aze/tur", "tur/aze"]


def test_a_guard_is_an_expression_too(all_claims):
    (part,) = all_claims["latent_depth"]["depth_grows_with_beta"].parts
    assert part.guard is not None
    assert any(isinstance(item, Reference) for item in parts(part.guard))
    assert len(list(part.shown())) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "  claim: falling(table7",
            "  claim: fallling(table7",
            "loss_terms_help.claim: no function 'fallling'; nearest valid name: 'falling'",
        ),
        (
            "  for: {t: [table3, table4]}\n  claim: failed",
            "  for: {u: [table3, table4]}\n  claim: failed",
            "static_decoders_diverge.claim: `for` gives no <t>; ",
        ),
        (
            "  supports: {table3: holds, table4: holds, table5: fails}",
            "  supports: {table3: holds, table4: holds, tabel5: fails}",
            "latent_decoder_beats_static.supports.tabel5: no part 'tabel5'; nearest valid name: 't",
        ),
        (
            "  supports: {table3: holds, table4: holds, table5: fails}",
            "  supports: {table3: holds, table4: holds}",
            "latent_decoder_beats_static.supports: no answer for part 'table5'; add `table5: hold",
        ),
        (
            "  supports: {table3: holds, table4: holds, table5: fails}",
            "  supports: hold",
            "latent_decoder_beats_static.supports: 'hold' is not possible here; nearest valid nam",
        ),
        (
            "  for: {t: [table3, table4]}\n  claim: failed",
            "  for: {t: table3}\n  claim: failed",
            "static_decoders_diverge.for.t: this is no list of values; write {name: [values]}",
        ),
        (
            "  guard: table6",
            "  gaurd: table6",
            "depth_grows_with_beta.gaurd: unknown key 'gaurd'; nearest valid name: 'guard'",
        ),
    ],
)
def test_a_fault_is_found_with_line_and_nearest_name(faults, old, new, message):
    found = [line for line in faults(FILE, old, new) if message in line]
    assert found
    assert found[0].startswith(f"config/papers/{FILE}:")
