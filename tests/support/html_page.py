"""An HTML page taken apart by html.parser: elements, their text, ids and addresses."""

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(
    {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
LOADED = ("src", "srcset", "poster", "data")


@dataclass
class Element:
    """An element with its attributes and what is inside."""

    tag: str
    attributes: dict[str, str]
    inside: list = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text inside, with one blank between words."""
        parts = (part if isinstance(part, str) else part.text for part in self.inside)
        return " ".join(" ".join(parts).split())

    def all(self, tag: str | None = None, style: str | None = None) -> "list[Element]":
        """Return the elements inside, in their order; of a tag or a class where one is given."""
        listed = []
        for part in self.inside:
            if isinstance(part, Element):
                classes = part.attributes.get("class", "").split()
                if tag in (None, part.tag) and (style is None or style in classes):
                    listed.append(part)
                listed += part.all(tag, style)
        return listed

    def named(self, name: str) -> "Element":
        """Return the element with an id."""
        return next(part for part in self.all() if part.attributes.get("id") == name)


class _Builder(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = [Element("page", {})]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, {key: value or "" for key, value in attrs})
        self.open[-1].inside.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}> {self.getpos()}"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].inside.append(data)


def parsed(text: str) -> Element:
    """Return a page; its elements are closed in their order."""
    builder = _Builder()
    builder.feed(text)
    builder.close()
    assert len(builder.open) == 1, [element.tag for element in builder.open]
    return builder.open[0]


def check(page: Element) -> None:
    """Check what holds for every page: ids, links inside, nothing loaded, tables, pictures."""
    ids = Counter(part.attributes["id"] for part in page.all() if "id" in part.attributes)
    assert [name for name, count in ids.items() if count > 1] == []
    for part in page.all():
        for key in LOADED:
            assert part.attributes.get(key, "data:").startswith("data:"), part.attributes
        assert part.tag not in ("link", "iframe", "object", "embed", "base")
        assert not [key for key in part.attributes if key.startswith("on")]
    styles = " ".join(part.text for part in page.all("style"))
    assert "url(" not in styles
    assert "@import" not in styles
    for link in page.all("a"):
        address = link.attributes["href"]
        if address.startswith("#") and address != "#closed":
            assert address[1:] in ids, address
    for table in page.all("table"):
        assert table.all("caption")[0].text
        assert table.all("tr")
        assert {cell.attributes.get("scope") for cell in table.all("th")} <= {"row", "col"}
    assert all(picture.attributes.get("alt") for picture in page.all("img"))
