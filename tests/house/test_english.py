"""Plain English: words and names that slow a reader are not used.

Prose is checked in comments, docstrings, messages, config, workflow and docs; names in the library.
Sentences that are quoted from papers (`sentence:` of claims.yaml) are left as printed.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.test_text import texts
from tests.house.tree import ROOT, Function, Source, library, listed

# A pattern, and what to write instead. Patterns match words, never parts of names.
WORDS = {
    "whence|thence": "from where",
    "anew": "again",
    "stand|stands|stood|standing": "is, are",
    "beside": "next to, as well",
    "mend|mends|mended": "fix",
    "wish|wishes|wished": "request, option",
    "told|tells? of": "has, knows, describes",
    "said": "printed, written",
    "yardsticks?": "unigram baseline",
    "(?:go|goes|going|went|gone) on": "resume, continue",
    "(?:takes?|took|taken) up": "resume, load",
    "(?:written|read|believed) whole|whole(?! numbers?\\b)": "all, full, complete",
    "so many": "n, the number of",
    "ledgers?": "deviations",
    "rests|rested": "is skipped, stays as it is",
    "alike": "equal, similar",
    "behind": "after, in, by",
    "wanted": "required, requested",
    "at work": "locked by",
    "let it": "wait for it",
    "has ended before": "already finished",
    "another form": "does not match",
    "stays its owners": "keeps its licence",
}
# Names that say nothing to a reader of code, and better ones.
NAMES = {
    "each": "row, task, parameter",
    "found": "what was found",
    "told": "findings, split_by_task",
    "said": "message, printed",
    "kept": "saved_weights, active_layers, groups_on",
    "wanted": "requested, manifests_for",
    "wish": "option",
    "wishes": "options",
    "behind": "inputs_of",
    "alike": "similarity",
    "fits": "matches",
    "facts": "check_counts",
    "see": "observe",
    "ends": "bounds",
    "take_up": "load_weights_from",
    "once_each": "unique",
    "yardstick": "unigram_nll",
    "ledger": "deviations",
    "rests": "is_skipped",
    "anchor": "check_learning",
    "conclude": "summarise",
    "closure": "code_hash",
    "surroundings": "compatibility",
    "catalog": "project",
    "tokens_are": "tokens_per",
    "source_parts": "source_models",
    "share_embeddings": "tie_embeddings",
    "Feed": "UpdateBatches",
    "Launch": "RuntimeOptions",
    "Parts": "micro_batches",
    "Places": "TrainPaths",
    "Sheet": "TableView",
    "Shown": "TableView",
}

_WORD = {
    re.compile(rf"(?<![\w`-])(?:{pattern})(?![\w`-]|\()", re.IGNORECASE): plain
    for pattern, plain in WORDS.items()
}
_ANY = re.compile("|".join(f"(?:{pattern})" for pattern in WORDS), re.IGNORECASE)
_SUFFIXES = {".py", ".smk", ".yaml", ".md", ".rst", ".sh", ".toml", ".cff"}
_NAMED = {"Makefile", "Snakefile", "run"}


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are prose, with their numbers: of Python comments and text."""
    written = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from _comments(written)
        yield from _strings(ast.parse(written))
        return
    quoted = None
    for number, line in enumerate(written.split("\n"), 1):
        depth = len(line) - len(line.lstrip())
        if quoted is not None and (depth > quoted or not line.strip()):
            continue
        quoted = None
        if path.name == "claims.yaml" and (key := re.match(r"[\s-]*sentence:", line)):
            quoted = len(key[0]) - len("sentence:")
            continue
        yield number, line


def _comments(written: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(written).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lines of all f-strings, and of string literals that hold more than one word."""
    joined = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) in joined or re.search(r"\s", node.value.strip()):
            for shift, line in enumerate(node.value.split("\n")):
                yield node.lineno + shift, line


def worn_words(root: Path) -> list[str]:
    """Return each worn word in prose under a root."""
    findings = []
    for path in texts(root):
        name = str(path.relative_to(root))
        if path.suffix not in _SUFFIXES and path.name not in _NAMED:
            continue
        if name == "tests/house/test_english.py":
            continue
        # Most files have none, and finding the prose of a file takes long.
        if not _ANY.search(path.read_text(encoding="utf-8")):
            continue
        for number, line in prose(path):
            findings += [
                f"{name}:{number}: '{match[0]}'; write {plain}"
                for word, plain in _WORD.items()
                for match in word.finditer(line)
            ]
    return findings


def worn_names(root: Path) -> list[str]:
    """Return each worn name that the library defines."""
    return [
        f"{source.at(node)}: '{name}' as a name; write {NAMES[name.lstrip('_')]}"
        for source in library(root)
        for node, name in _defined(source)
        if name.lstrip("_") in NAMES
    ]


def _defined(source: Source) -> Iterator[tuple[ast.AST | int, str]]:
    yield 1, source.path.stem
    for node in source.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node, node.id
        elif isinstance(node, Function | ast.ClassDef):
            yield node, node.name
        elif isinstance(node, ast.arg):
            yield node, node.arg


def test_prose_has_no_worn_words():
    findings = worn_words(ROOT)
    assert not findings, listed(findings)


def test_the_library_has_no_worn_names():
    findings = worn_names(ROOT)
    assert not findings, listed(findings)


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("docs/page.md", "The file stands here.\n", [1]),
        ("docs/page.md", "One stand-in, `told` and `beside()`.\n", []),
        ("config/x.yaml", "a: 1  # whole numbers\nb: 2  # the whole text\n", [2]),
        ("config/claims.yaml", "x:\n  - sentence: >-\n      said\n    title: said\n", [4]),
        (
            "lib/a.py",
            '"""Text."""\n\nwhole = "whole"\n# told\nsay = f"wait: {whole} anew"\n',
            [4, 5],
        ),
    ],
)
def test_a_worn_word_is_found_in_prose_alone(small, name, text, lines):
    findings = worn_words(small({name: text}))
    assert [int(finding.split(":")[1]) for finding in findings] == lines


def test_a_worn_name_is_found(small):
    root = small({"lib/fathom/data/sample.py": "def kept(each):\n    found = 1\n"})
    assert [finding.split(":")[1] for finding in worn_names(root)] == ["1", "1", "2"]
