"""The small project, under its former name."""

from tests.support.small_project import *  # noqa: F403
