"""Subword models, vocabularies and the unigram baseline."""
