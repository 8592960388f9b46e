"""Language packs of Firefox inside packages of Debian: Fluent (.ftl) and properties, in a zip.

A pack has one language, so the English side is another package. Messages are joined by file
(without the folder of the language), message and attribute. Of a message that chooses between
variants the default one counts; what a program inserts is left as a placeholder, which the cleaning
knows.
"""

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from fathom.config.schema.dataset import PackageDataset, PackageLineDataset
from fathom.config.schema.package_reads import Fluent
from fathom.data.archives import visit
from fathom.data.members import REMEDY
from fathom.data.texts import Pair
from fathom.io.errors import FathomError

if TYPE_CHECKING:
    from fluent.syntax.ast import Pattern

# Keys and sizes of windows, which are no text.
_NO_TEXT = re.compile(r"(?:accesskey|commandkey|key|style)$")
_PROPERTY = re.compile(r"^[ \t]*([^#!\s=:][^\s=:]*)[ \t]*[=:][ \t]*(.*)$", re.MULTILINE)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_PLACEHOLDER = "{x}"
_ENDINGS = (".ftl", ".properties")

# The texts of a pack by file, message and attribute.
Texts = Mapping[tuple[str, ...], str]


def pack_pairs(
    source: str,
    files: Mapping[str, Path],
    dataset: PackageDataset | PackageLineDataset,
    how: Fluent,
    dropped: dict[str, Counter[str]],
) -> Iterator[tuple[str, Pair]]:
    """Yield the pairs of a source in the order of the English pack, each with its text's name.

    Args:
        source: the source's name.
        files: the file of each source.
        dataset: texts and codes; a code is the name of the language's folders in the pack.
        how: which source is the pack of English.
        dropped: where English texts without a translation are counted, by text.

    Raises:
        FathomError: a package has no language pack, or one without text in a code.
    """
    (code_of_english,) = dataset.codes(how.english, dataset.english)
    for text in dataset.texts:
        for code in dataset.codes(source, text):
            english = _texts(files[how.english], code_of_english)
            own = _texts(files[source], code)
            dropped[text]["no_translation"] += len(english.keys() - own.keys())
            yield from ((text, Pair(own[key], english[key])) for key in english if key in own)


# English is the other side of every language.
@lru_cache(maxsize=2)
def _texts(package: Path, code: str) -> Texts:
    """Return the texts of a package's language pack."""
    texts: dict[tuple[str, ...], str] = {}

    def take(name: str, stream: IO[bytes]) -> None:
        path = "/".join(part for part in PurePosixPath(name).parts if part != code)
        content = _decoded(stream.read(), f"{package.name}: {name}")
        read = _of_fluent if name.endswith(".ftl") else _of_properties
        for key, text in read(content):
            if not _NO_TEXT.search(key[-1]):
                texts[path, *key] = text

    def unpack(name: str, stream: IO[bytes]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            pack = Path(folder) / PurePosixPath(name).name
            pack.write_bytes(stream.read())
            visit(pack, lambda inner: f"/{code}/" in inner and inner.endswith(_ENDINGS), take)

    visit(package, lambda name: name.endswith(".xpi"), unpack)
    if not texts:
        what = f"{package.name} has no messages in {code}"
        raise FathomError(what, package.name, "correct the codes")
    return texts


def _decoded(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FathomError(f"cannot be decoded ({error})", where, REMEDY) from None


def _of_fluent(content: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the messages of a file of Fluent and their attributes; terms are no sentences."""
    from fluent.syntax import FluentParser, ast

    for entry in FluentParser(with_spans=False).parse(content).body:
        if isinstance(entry, ast.Message):
            if entry.value is not None:
                yield (entry.id.name,), _plain(entry.value)
            for attribute in entry.attributes:
                yield (entry.id.name, attribute.id.name), _plain(attribute.value)


def _plain(pattern: "Pattern") -> str:
    """Return a pattern as text."""
    from fluent.syntax import ast

    parts: list[str] = []
    for element in pattern.elements:
        inner = element.expression if isinstance(element, ast.Placeable) else element
        if isinstance(inner, ast.TextElement | ast.StringLiteral):
            parts.append(inner.value)
        elif isinstance(inner, ast.SelectExpression):
            parts += [_plain(variant.value) for variant in inner.variants if variant.default]
        else:
            parts.append(_PLACEHOLDER)
    return "".join(parts)


def _of_properties(content: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the messages of a file of properties."""
    # A backslash at the end of a line continues it.
    joined = re.sub(r"\\\r?\n[ \t]*", "", content)
    for key, text in _PROPERTY.findall(joined):
        yield (key,), _ESCAPE.sub(_unescaped, text)


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)
