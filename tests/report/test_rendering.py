"""Templates escape text and refuse names that they do not get."""

import pytest
from jinja2 import UndefinedError

from fathom.artefacts.rendering import environment


def test_text_is_escaped():
    template = environment().from_string("{{ text }}")
    assert template.render(text='<b a="&">') == "&lt;b a=&#34;&amp;&#34;&gt;"


def test_a_name_that_is_not_given_is_an_error():
    with pytest.raises(UndefinedError):
        environment().from_string("{{ nothing }}").render()
