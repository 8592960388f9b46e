"""claims.yaml gives sentences with one part for each combination of `for`."""

import pytest

from fathom.artefacts.claims.expressions import artefacts, shown
from tests.support.refused import prose, says

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
    assert artefacts(claim) == ("table3", "table4", "table5")


def test_a_list_of_mappings_gives_pairs(all_claims):
    claim = all_claims["lamgd"]["family_is_nearest"]
    assert [part.name for part in claim.parts][:2] == ["aze/tur", "tur/aze"]


def test_a_guard_is_an_expression_too(all_claims):
    (part,) = all_claims["latent_depth"]["depth_grows_with_beta"].parts
    assert part.guard_text.startswith("table6")
    assert len(list(shown(part))) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "  claim: falling(table7",
            "  claim: fallling(table7",
            says(
                "unknown", "function", "fallling", where="loss_terms_help.claim", nearest="falling"
            ),
        ),
        (
            "  for: {t: [table3, table4]}\n  claim: failed",
            "  for: {u: [table3, table4]}\n  claim: failed",
            says("placeholder", "for", "t", where="static_decoders_diverge.claim"),
        ),
        (
            "  supports: {table3: holds, table4: holds, table5: fails}",
            "  supports: {table3: holds, table4: holds, tabel5: fails}",
            says(
                "unknown",
                "part",
                "tabel5",
                where="latent_decoder_beats_static.supports.tabel5",
                nearest="table5",
            ),
        ),
        (
            "  supports: {table3: holds, table4: holds, table5: fails}",
            "  supports: {table3: holds, table4: holds}",
            says(
                "no answer",
                "table5",
                where="latent_decoder_beats_static.supports",
                remedy=prose("add an answer", "table5"),
            ),
        ),
        (
            "  supports: {table3: holds, table4: holds, table5: fails}",
            "  supports: hold",
            says(
                "not possible",
                "hold",
                where="latent_decoder_beats_static.supports",
                nearest="holds",
            ),
        ),
        (
            "  for: {t: [table3, table4]}\n  claim: failed",
            "  for: {t: table3}\n  claim: failed",
            says(
                "no list of values",
                where="static_decoders_diverge.for.t",
                remedy=prose("list of values"),
            ),
        ),
        (
            "  guard: table6",
            "  gaurd: table6",
            says("unknown key", "gaurd", where="depth_grows_with_beta.gaurd", nearest="guard"),
        ),
    ],
)
def test_a_fault_is_found_with_line_and_nearest_name(faults, old, new, message):
    found = message.check(faults(FILE, old, new))
    assert found[0].startswith(f"config/papers/{FILE}:")
