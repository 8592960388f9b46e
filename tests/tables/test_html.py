"""A sheet as one HTML page."""

from html.parser import HTMLParser

from fathom.tables.html import page
from fathom.tables.layout import Grid, Sheet, Shown

SHEET = Sheet(
    title="Scores & <sizes>",
    caption="A caption.",
    grids=(
        Grid(
            heading="",
            header=("Model", "Avg.", "bos"),
            body=(
                (Shown("6/6"), Shown("20.70†", "±0.38"), Shown("20.7")),
                (Shown("24/24"), Shown("diverged", span=2), Shown("–", span=0)),
            ),
            footer=(Shown("test sentences"), Shown(""), Shown("438")),
        ),
        Grid("Gates", ("Model",), ((Shown("6/6"),),), note="p < 0.5"),
    ),
    notes=("Scale: tiny.",),
)


class Elements(HTMLParser):
    """Collects tags, attributes and whether every element is closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed():
    elements = Elements()
    elements.feed(page(SHEET))
    return elements


def test_every_element_is_closed():
    assert parsed().open == []


def test_the_page_needs_nothing_else():
    elements = parsed()
    assert not {"script", "link", "img", "iframe"} & set(elements.tags)
    assert not {"src", "href"} & {name for name, _ in elements.attributes}


def test_text_is_escaped():
    text = page(SHEET)
    assert "<h1>Scores &amp; &lt;sizes&gt;</h1>" in text
    assert "p &lt; 0.5" in text


def test_an_outcome_spans_the_cells_that_it_stands_for():
    assert (
        '<tr><td class="text">24/24</td><td class="words" colspan="2">diverged</td></tr>'
        in page(SHEET)
    )


def test_spreads_and_footer_are_set_apart():
    assert "<td>20.70† <small>±0.38</small></td>" in page(SHEET)
    assert "<tfoot><tr>" in page(SHEET)
