from fathom.config.vocabulary import SHORT, short


def test_a_language_has_two_letters_in_measurements():
    assert (short("eng"), short("fra"), short("deu")) == ("en", "fr", "de")
    assert short("en") == "en"


def test_no_two_languages_share_a_code():
    assert len(set(SHORT.values())) == len(SHORT)
