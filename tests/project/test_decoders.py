"""A run that CTranslate2 translates is refused where a table shows it with gates that it lacks."""

import pytest

from fathom.io.errors import Findings
from tests.support.checked import checked
from tests.support.refused import prose, refused, says
from tests.support.small_project import GATED, RUN, write_config

STATIC = "static_2_2: {like: base}"
OWN = "{like: base, method: {name: latent_layers,"
DECODER = "{like: base, decoding: {decoder: ctranslate2}"


@pytest.fixture
def edit(tmp_path):
    """A function that replaces text in the small project's config and returns its folder."""
    write_config(tmp_path)

    def replace(name, old, new):
        path = tmp_path / "config" / "papers" / "sample" / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        return tmp_path

    return replace


def test_a_static_run_is_read_with_its_decoder(edit):
    folder = edit("runs.yaml", STATIC, f"{RUN}: {DECODER}}}  # §5")
    decoding = checked(folder).run(f"sample/{RUN}").decoding
    assert (decoding.decoder, decoding.beam) == ("ctranslate2", 2)


def test_a_table_with_soft_gates_refuses_it_with_the_scale(edit):
    folder = edit("runs.yaml", OWN, f"{DECODER}, method: {{name: latent_layers,")
    with refused(
        "not plain with", "latent_layers", "soft",
        where=f"runs.{GATED}.decoding.decoder", remedy=prose("write fathom"), error=Findings,
    ) as caught:  # fmt: skip
        checked(folder)
    assert [finding.what.endswith("(at scale small)") for finding in caught.value.findings] == [
        True
    ]


def test_other_findings_come_first(edit):
    edit("runs.yaml", OWN, f"{DECODER}, method: {{name: latent_layers,")
    with pytest.raises(Findings) as caught:
        checked(edit("tables.yaml", "Gated: gated_2_2", "Gated: gated_2_3"))
    says(nearest=GATED).check(caught.value)
    assert not any("decoder" in finding.where for finding in caught.value.findings)
