"""Archives of the shapes that are read, with invented text."""

import io
import sqlite3
import tarfile
import zipfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from polib import pofile

from fathom.config.schema.dataset import (
    FORMATS,
    SPLITS,
    NumberedDataset,
    PackageDataset,
    WikipediaDataset,
)
from fathom.config.schema.source import KINDS, Source
from fathom.io.locks import HOLDER, LOCK
from fathom.io.records import write_record

# Some of the sixty, in the order of the real tables.
COLUMNS = ["en", "es", "pt-br", "fr", "zh-cn", "pt", "fr-ca", "mr"]


def source(path: Path, name: str, **changes) -> Source:
    content = path.read_bytes()
    value = {
        "title": "invented",
        "kind": "archive",
        "file": path.name,
        "bytes": len(content),
        "sha256": sha256(content).hexdigest(),
        "licence": "CC0-1.0",
        "notice": "Invented for a test.",
    }
    value |= changes
    if value["kind"] == "archive":
        value.setdefault("mirrors", ["https://example.org/file"])
    return KINDS[value["kind"]].model_validate(value | {"name": name})


def fetched(folder: Path, file: Path, name: str) -> Source:
    """Put a file where `fetch` would, with its record."""
    made = source(file, name)
    folder.mkdir(parents=True)
    file.rename(folder / file.name)
    write_record(folder / "source.json", {"files": {file.name: made.sha256}})
    return made


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files of a folder, but its locks."""
    files = (path for path in folder.rglob("*") if path.is_file())
    kept = (path for path in files if path.name not in (LOCK, HOLDER))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}


def zip_of(path: Path, contents: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def tar_of(path: Path, contents: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def message(msgid: str, msgstr: str, before: str = "") -> str:
    return f'{before}\nmsgid "{msgid}"\nmsgstr "{msgstr}"\n'


def plural(one: str, many: str, *forms: str) -> str:
    lines = [f'\nmsgid "{one}"\nmsgid_plural "{many}"']
    lines += [f'msgstr[{place}] "{form}"' for place, form in enumerate(forms)]
    return "\n".join(lines) + "\n"


def catalogue(*messages: str, plurals: str = "", charset: str = "UTF-8") -> bytes:
    rule = f'"Plural-Forms: {plurals}\\n"\n' if plurals else ""
    header = f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset={charset}\\n"\n{rule}'
    return (header + "".join(messages)).encode(charset)


def wheel(path: Path, catalogues: dict[str, bytes]) -> Path:
    """Write a wheel whose app/locale/<code>/LC_MESSAGES/django.po are these."""
    contents = {"app/__init__.py": b"", "app/locale/fr/LC_MESSAGES/django.mo": b"\xde\x12\x04\x95"}
    contents |= {
        f"app/locale/{code}/LC_MESSAGES/django.po": text for code, text in catalogues.items()
    }
    return zip_of(path, contents)


def installable(folder: Path, requires: str = "") -> Source:
    """Write a wheel that pip accepts; return it as a source of kind "package"."""
    metadata = "Metadata-Version: 2.1\nName: invented-messages\nVersion: 1.0\n"
    if requires:
        metadata += f"Requires-Dist: {requires}\n"
    about = "invented_messages-1.0.dist-info"
    tags = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    path = zip_of(
        folder / "invented_messages-1.0-py3-none-any.whl",
        {
            "app/locale/fr/LC_MESSAGES/django.po": catalogue(message("Save", "Enregistrer")),
            f"{about}/METADATA": metadata.encode(),
            f"{about}/WHEEL": tags.encode(),
            f"{about}/RECORD": b"",
        },
    )
    named = {"kind": "package", "package": "invented-messages", "version": "1.0"}
    return source(path, "invented", **named)


def dataset(format: str, tasks: list[str], sources: dict, **keys) -> Any:
    """Return a data set of a format, with pairs of English unless a key says that it has none."""
    value = {"title": "invented", "citation": "nowhere", "licence": "CC0-1.0", "format": format}
    value |= {"name": "invented", "pivot": "eng", "max_shared": 0.2, "expected": {}}
    value |= {"tasks": tasks, "sources": sources} | DEFAULTS.get(format, {}) | keys
    return FORMATS[format].model_validate(
        {key: given for key, given in value.items() if given is not None}
    )


# Half of the sentences of packages are for test, and two and two of articles are held out.
DEFAULTS = {
    "packages": {
        "split": {"by": "key_hash", "salt": "s", "test_per_mille": 300, "valid_per_mille": 200},
        "cleaning": {
            "equal_plurals": "both",
            "max_characters": 100,
            "max_ratio": 4.0,
            "min_ratio": 0.2,
            "ratio_from": 20,
        },
    },
    "ted": {
        "split": {"by": "published"},
        "cleaning": {"missing_marks": ["__NULL__", "_ _ NULL _ _"]},
    },
    "wikipedia": {"cleaning": {"max_characters": 80}, "pivot": None, "expected": None},
}
# Sentences without pairs; those of `en` are the messages.
ALONE = {"sides": "alone", "messages": "en", "pivot": None}


def french_dataset(sources: dict, tasks: list[str], reads: dict, **keys) -> PackageDataset:
    """Return a data set of French texts inside packages."""
    keys = {"languages": dict.fromkeys(tasks, "fra")} | keys
    return dataset("packages", tasks, sources, reads=reads, **keys)


def compiled(*messages: str, plurals: str = "") -> bytes:
    return pofile(catalogue(*messages, plurals=plurals).decode()).to_binary()


def bible(versions: dict[str, dict[tuple[int, int, int], str]]) -> bytes:
    """Return a database of verses: by version, then by book, chapter and verse."""
    rows = [
        (version, *place, text)
        for version, verses in versions.items()
        for place, text in verses.items()
    ]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE bible (bbName, bNumber, cNumber, vNumber, vText)")
        database.executemany("INSERT INTO bible VALUES (?, ?, ?, ?, ?)", rows)
        database.commit()
        return database.serialize()


def moses(path: Path, name: str, english: list[str], french: list[str]) -> Path:
    """Write a zip of OPUS's form."""
    sides = {"en": english, "fr": french, "ids": [f"a.xml.gz {line}" for line in english]}
    contents = {
        f"{name}.{side}": "".join(f"{line}\n" for line in lines).encode()
        for side, lines in sides.items()
    }
    return zip_of(path, {"README": b"about", "LICENSE": b"terms"} | contents)


def numbers(path: Path, files: dict[str, list[int]]) -> Path:
    """Write an archive of line numbers under a top folder, as a repository's server packs it."""
    contents = {
        f"experiments-0123/tacl20/{name}": "".join(f"{line}\n" for line in lines).encode()
        for name, lines in files.items()
    }
    return tar_of(path, {"experiments-0123/README.md": b"about"} | contents)


def numbered_dataset(
    sources: dict, files: dict[str, list[str]], clean: bool = False, **keys
) -> NumberedDataset:
    """Return a data set of numbered lines of French.

    Args:
        sources: the names of each task's files by source.
        files: by task, the files of its numbers for training, validation and test.
        clean: as in the split.
        keys: other keys of the card.
    """
    named = {task: dict(zip(SPLITS, of_task, strict=True)) for task, of_task in files.items()}
    split = {"by": "line_numbers", "source": "numbers", "files": named, "clean": clean}
    keys = {"languages": dict.fromkeys(files, "fra")} | keys
    return dataset("line_numbers", [*files], sources | {"numbers": {}}, split=split, **keys)


def sgm(*sentences: str) -> bytes:
    """Return a test set as shared tasks publish it; attributes come in any order."""
    segments = [
        f'<seg id="{n}"> {text} </seg>' if n % 2 else f'<seg\n lang="x" id="{n}">{text}</seg>'
        for n, text in enumerate(sentences, start=1)
    ]
    head = '<srcset setid="invented" srclang="any">\n<doc docid="d" genre="news">\n<p>\n'
    return f"{head}{chr(10).join(segments)}\n</p>\n</doc>\n</srcset>\n".encode()


def wikipedia_dataset(tasks: list[str], train: dict | None = None) -> WikipediaDataset:
    """Return a data set that holds two and two sentences out."""
    split = {"by": "held_out", "salt": "s", "valid": 2, "test": 2, "train": train or {}}
    return dataset("wikipedia", tasks, {task: {task: [task]} for task in tasks}, split=split)


def row(name: str, **cells: str) -> list[str]:
    """Return a row of TED's tables; a column `pt-br` is given as `pt_br`, others are missing."""
    given = {column.replace("_", "-"): text for column, text in cells.items()}
    return [name, *(given.get(column, "__NULL__") for column in COLUMNS)]


def table(*rows: list[str], end: str = "\n", columns: list[str] = COLUMNS) -> bytes:
    lines = [["talk_name", *columns], *rows]
    return "".join("\t".join(line) + end for line in lines).encode()


def talks(path: Path, train: bytes, valid: bytes, test: bytes) -> Path:
    names = ("all_talks_train.tsv", "all_talks_dev.tsv", "all_talks_test.tsv")
    tables = zip(names, (train, valid, test), strict=True)
    return tar_of(path, {name: content for name, content in tables if content is not None})
