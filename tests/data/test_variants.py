"""One variant of a language is shown, as MediaWiki shows it to who has chosen none."""

import pytest

from fathom.data.variants import one_variant


@pytest.mark.parametrize(
    ("wikitext", "shown"),
    [
        ("-{zh-hans:软件;zh-hant:軟體}-", "软件"),
        ("-{zh-tw:軟體; zh-cn:软件;}-", "软件"),
        ("-{zh-hk:軟件;zh-sg:软件}-", "軟件"),
        ("-{\nzh-hant : 甲;\n zh-hans: 丙 ;\n}-", "丙"),
        ("-{A|zh-hans:软件;zh-hant:軟體}-", "软件"),
        ("a-{H|zh-hans:软件;zh-hant:軟體}-b-{T|zh:c}--{-|zh:d}-", "ab"),
        ("a-{H|软件=>zh-tw:軟體;}-b", "ab"),
        ("-{zh-hans|乾}-坤", "乾坤"),
        ("-{R|乾}-坤 -{乾}-", "乾坤 乾"),
        ("-{zh:http://a.org; b;zh-hant:c}-", "http://a.org; b"),
        ("-{zh-hans:-{乾}-净;zh-hant:乾淨}-", "乾净"),
        ("-{re:publica}- -{ open }", "re:publica -{ open }"),
        ("-{kk-latn:Qazaqstan;kk-cyrl:Қазақстан}-", "Qazaqstan"),
    ],
)
def test_one_variant_is_shown(wikitext, shown):
    assert one_variant(wikitext) == shown
