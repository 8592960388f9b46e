"""Subword models, vocabularies and the unigram yardstick."""
