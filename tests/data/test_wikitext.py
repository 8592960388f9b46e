"""From wikitext to what a reader sees: one fault of a page never takes the rest of it."""

import pytest

from fathom.data.wikitext import paragraphs

SILENT = {"datei", "kategorie", "medium"}


@pytest.mark.parametrize(
    ("wikitext", "shown"),
    [
        ("'''Bern''' is a ''city''.", "Bern is a city."),
        ("It's ''''old''''.", "It's 'old'."),
        ("l'''Iliade'' et l<nowiki>'</nowiki>''Odyssée''.", "l'Iliade et l'Odyssée."),
        ("L<nowiki/>'''Iliade''', l'<nowiki/>'''Odyssée'''.", "LIliade, l'Odyssée."),
        ("''a''{{x}}''b'' ''c''<ref>d</ref>''e''", "ab ce"),
        ("''[[Lista d''e paise]]'' [[Harry|about ''Harry'']]", "Lista d''e paise about Harry"),
        ("&#39;&#39;two&#39;&#39;", "''two''"),
        ("The [[river]] [[Aare|Aare's]] water.", "The river Aare's water."),
        ("See [[:Category:Rivers]].", "See Category:Rivers."),
        ("A [[a|''small'' {{x}}thing]] here.", "A small thing here."),
        ("{{Infobox\n| name = {{nested|x}}\n}}Text after it.", "Text after it."),
        ("Known{{efn|A note.}} since 1200.", "Known since 1200."),
        ("Cited.<ref name=\"a\">Book, p. 5.</ref><ref name='a'/> More.", "Cited. More."),
        ("Visible<!-- hidden\n --> text.", "Visible text."),
        ("The [https://example.org site] and [https://example.org].", "The site and ."),
        ("Bern ({{IPA|x}}) is old.", "Bern is old."),
        ("ベルン\uff08{{lang|de|Bern}}、\uff09は都市。", "ベルンは都市。"),
        ("5&nbsp;km &amp; more &lt;b&gt; &amp;lt; &apos;", "5 km & more <b> &lt; '"),
        ("<nowiki>[[a]] <b> <ref> __NOTOC__ -{b}-</nowiki>.", "[[a]] <b> <ref> __NOTOC__ -{b}-."),
        ("half &#xD800; a pair", "half \ufffd a pair"),
        ("Call main() and a[] with [[re:publica]].", "Call main() and a[] with re:publica."),
        ("Bern[[de:Bern]] [[zh-min-nan:Bern|x]][[De:Bern]] is.", "Bern is."),
        ("[[:de:Bern]] of [[AT&amp;T]] {{a}}[[b{{c}}]]", "de:Bern of AT&T b"),
        ("使用-{zh-hans:[[软件]];zh-hant:[[軟體]]}-。-{H|zh-cn:甲;\nzh-tw:乙}-", "使用软件。"),
        ("Water is H<sub>2</sub>O.<br />It flows.", "Water is H2O. It flows."),
        ("__NOTOC__ Text of __init__.", "Text of __init__."),
        ("A&shy;b\u200b c.", "Ab c."),
    ],
)
def test_markup_becomes_text(wikitext, shown):
    assert list(paragraphs(wikitext)) == [shown]


@pytest.mark.parametrize(
    "wikitext",
    [
        "== Heading ==",
        "* first\n* second",
        "# one\n## two",
        ": indented",
        "; term : meaning",
        "----",
        '{| class="wikitable"\n! Name !! Age\n|-\n| Ann || 5\n|}',
        "[[Datei:Bern.jpg|mini|Ein Bild mit [[Link]]]]",
        "[[Image:Bern.jpg|thumb|A picture]]",
        "[[Archivo:Bern.svg|mini]]",
        "[[Kategorie:Ort]]",
        "[[de:Bern]]",
        "<gallery>\nA.jpg|One\nB.jpg|Two\n</gallery>",
        "<math>x^2</math>",
        '<syntaxhighlight lang="c">int x;</syntaxhighlight>',
        "<timeline>a\nb</timeline>",
        "{{Nur|eine|Vorlage}}",
        "__KEIN_INHALTSVERZEICHNIS__",
        "__विषय_सूची_हीन__",
        "__目次非表示__",
        "",
    ],
)
def test_what_is_no_running_text_is_left_out(wikitext):
    assert list(paragraphs(wikitext, SILENT)) == []
    text = f"Before it.\n\n{wikitext}\n\nAfter it."
    assert list(paragraphs(text, SILENT)) == ["Before it.", "After it."]


@pytest.mark.parametrize(
    "broken",
    ["{{unclosed", "[[unclosed", "'''bold", "<ref>open", "{|\n| a table", "<b>open", "}} ]] |}"],
)
def test_broken_markup_leaves_the_paragraphs_around_it(broken):
    assert "Before it." in list(paragraphs(f"Before it.\n\n{broken}\n\nAfter it."))


def test_a_paragraph_is_a_line_without_a_line_end_of_any_kind():
    lines = list(paragraphs("One\u2028two.\nThree\x85four.\n\nFive."))
    assert lines == ["One two.", "Three four.", "Five."]
