"""Codes of languages: three letters in the cards of data sets, two letters in measurements."""

# ISO 639-3 to ISO 639-1.
SHORT = {
    "aze": "az",
    "bel": "be",
    "bos": "bs",
    "bul": "bg",
    "ces": "cs",
    "deu": "de",
    "ell": "el",
    "eng": "en",
    "fra": "fr",
    "glg": "gl",
    "hin": "hi",
    "kor": "ko",
    "mar": "mr",
    "mkd": "mk",
    "por": "pt",
    "rus": "ru",
    "slk": "sk",
    "tur": "tr",
}


def short(code: str) -> str:
    """Return the two-letter code of a language, or the code itself where there is none."""
    return SHORT.get(code, code)
