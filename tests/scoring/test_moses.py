"""Moses tokens are those of Moses' own script.

The lines are invented. Their tokens were recorded from scripts/tokenizer/tokenizer.perl of
github.com/moses-smt/mosesdecoder at commit d2b558728f08 (30 October 2018), with `-q -l <language>`.
"""

import pytest

from fathom.scoring.moses import MosesTokens, metric

RECORDED = [
    (
        "en",
        "Hello, it's a \"test\" (no. 5), isn't it?",
        "Hello , it &apos;s a &quot; test &quot; ( no . 5 ) , isn &apos;t it ?",
    ),
    (
        "en",
        "The U.S. paid $5,300.50, i.e. 3.5% of A,B,C and 1,000 more.",
        "The U.S. paid $ 5,300.50 , i.e. 3.5 % of A , B , C and 1,000 more .",
    ),
    (
        "en",
        "In the 1990's the dogs' owner cried 'no' ... twice..",
        "In the 1990 &apos;s the dogs &apos; owner cried &apos; no &apos; ... twice ..",
    ),
    (
        "en",
        "Dr. Smith's well-known co-author lives at No. 12, e.g. at 5 p.m.",
        "Dr. Smith &apos;s well-known co-author lives at No. 12 , e.g. at 5 p.m.",
    ),
    (
        "en",
        "Tokens like x/y, a_b, @me, #1, C++ and me@x.org are cut; a|b & <c> [d] too!",
        "Tokens like x / y , a _ b , @ me , # 1 , C + + and me @ x.org are cut ; a &#124; b &amp; "
        "&lt; c &gt; &#91; d &#93; too !",
    ),
    ("en", "So am I.", "So am I."),
    (
        "en",
        "“Smart” quotes – and dashes—stay, it’s old; naïve café.",
        "“ Smart ” quotes – and dashes — stay , it ’ s old ; naïve café .",
    ),
    (
        "de",
        "Das ist z.B. Nr. 5, d.h. der 3. Versuch.",
        "Das ist z.B. Nr. 5 , d.h. der 3. Versuch .",
    ),
    (
        "de",
        "Er sagte: „Ich hab's gesehen“, bzw. 'fast'!",
        "Er sagte : „ Ich hab &apos; s gesehen “ , bzw. &apos; fast &apos; !",
    ),
    (
        "de",
        "Am 21. Mai 2014 kostete es 1.234,56 € (ca. 50 %).",
        "Am 21. Mai 2014 kostete es 1.234,56 € ( ca. 50 % ) .",
    ),
    (
        "de",
        "Die Baden-Württemberg-Frage, die US-amerikanische... und so weiter usw.",
        "Die Baden-Württemberg-Frage , die US-amerikanische ... und so weiter usw.",
    ),
    (
        "de",
        "Größe: 5,5 m² – schön & gut; siehe § 12 Abs. 3 GG.",
        "Größe : 5,5 m ² – schön &amp; gut ; siehe § 12 Abs . 3 GG .",
    ),
    (
        "cs",
        "Žije zde cca. 5 000 lidí, tj. 12,5 % z celku.",
        "Žije zde cca. 5 000 lidí , tj. 12,5 % z celku .",
    ),
    (
        "fr",
        "L'eau de l'été n'est-elle pas « tiède » aujourd'hui ?",
        "L&apos; eau de l&apos; été n&apos; est-elle pas « tiède » aujourd&apos; hui ?",
    ),
]


@pytest.mark.parametrize(("language", "line", "tokens"), RECORDED)
def test_a_line_is_cut_as_moses_own_script_cuts_it(language, line, tokens):
    assert MosesTokens(language)(line) == tokens


def test_a_language_has_two_or_three_letters():
    line = "Morgen bzw. Montag."
    assert MosesTokens("deu")(line) == MosesTokens("de")(line) != MosesTokens("eng")(line)


def test_a_blank_line_has_no_tokens():
    assert MosesTokens("de")("") == ""
    assert MosesTokens("de")("  ").split() == []


def test_the_metric_reads_moses_tokens_and_nothing_else():
    """A hyphen stays inside its word, which 13a does as well; quotes are words of their own."""
    bleu = metric("en")
    assert bleu.tokenizer('a well-known "b"') == "a well-known &quot; b &quot;"
    assert bleu.tokenizer_signature == bleu.tokenizer.signature()
