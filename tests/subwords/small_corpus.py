"""The small corpus, under its former name."""

from tests.support.small_corpus import *  # noqa: F403
