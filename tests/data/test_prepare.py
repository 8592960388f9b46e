import resource

import pytest

from fathom.config.schema.dataset import FORMATS, Dataset
from fathom.data.prepare import count_matches, prepare, same_text, shared_sentences
from fathom.data.split import Pair, TaskText
from fathom.io.errors import FathomError, Findings
from fathom.io.files import read_json, read_lines, sha256
from tests.data.small_archives import (
    catalogue,
    contents,
    dataset,
    fetched,
    message,
    numbered_dataset,
    wheel,
)
from tests.support.refused import refused

SENTENCES = [f"Open the {noun} number {n}" for noun in ("door", "file") for n in range(40)]
SPLITS = ("train", "valid", "test")
# Frozen: what the hash gives these sentences.
EXPECTED = {
    "fra": {"train": 44, "valid": 16, "test": 20},
    "ell": {"train": 44, "valid": 16, "test": 20},
    "ces": {"train": 30, "valid": 12, "test": 8},
}


@pytest.fixture
def made(tmp_path, lines):
    """Two fetched wheels, a data set of three tasks, and a function that prepares it."""
    french = [message(text, f"Ouvrir {text[9:]}") for text in SENTENCES]
    greek = [message(text, f"Άνοιγμα {text[9:]}") for text in SENTENCES]
    czech = [message(text, f"Otevřít {text[9:]}") for text in SENTENCES[:50]]
    folder = tmp_path / "sources"
    wheels = {
        "one": {"fr": catalogue(*french), "el": catalogue(*greek[:30])},
        "two": {"el": catalogue(*greek[20:]), "cs": catalogue(*czech)},
    }
    sources = {
        name: fetched(folder / name, wheel(tmp_path / f"{name}.whl", contents), name)
        for name, contents in wheels.items()
    }
    codes = {"one": {"fra": ["fr"], "ell": ["el"]}, "two": {"ell": ["el"], "ces": ["cs"]}}
    made = dataset("packages", ["fra", "ell", "ces"], codes, expected=EXPECTED)

    def run(out=tmp_path / "corpus", **changes):
        card = FORMATS[made.format].model_validate(made.model_dump() | changes)
        prepare(card, sources, folder.joinpath, out, lines.append)
        return out

    run.folder = folder
    return run


def test_a_corpus_is_line_aligned_text_and_a_record_of_it(made, lines):
    out = made()
    files = {
        f"{task}/{split}.{language}"
        for task in EXPECTED
        for split in SPLITS
        for language in (task, "eng")
    }
    assert contents(out).keys() == files | {"corpus.json"}
    corpus = read_json(out / "corpus.json")
    assert corpus["task_names"] == list(EXPECTED)
    assert [source["name"] for source in corpus["sources"]] == ["one", "two"]
    assert corpus["licences"] == ["CC0-1.0"]
    assert corpus["files"] == {name: sha256(out / name) for name in files}
    for task in EXPECTED:
        for split, record in corpus["tasks"][task]["splits"].items():
            for language in (task, "eng"):
                text = read_lines(out / task / f"{split}.{language}")
                assert len(text) == record["pairs"]
                assert sum(len(line.split()) for line in text) == record["words"][language]
    assert corpus["tasks"]["ell"]["dropped"] == {"duplicate": 10}
    pairs = zip(read_lines(out / "fra/train.fra"), read_lines(out / "fra/train.eng"), strict=True)
    assert all(pivot == f"Open the {text.removeprefix('Ouvrir ')}" for text, pivot in pairs)
    assert any(line.startswith("invented: fra: 44 train") for line in lines)


def test_a_new_corpus_has_equal_bytes_and_takes_the_place_of_what_was_left(made, tmp_path):
    out = made()
    before = contents(out)
    assert contents(made(out=tmp_path / "again")) == before
    (out / "fra" / "train.fra").write_text("altered\n")
    (out / ".new-abc" / "fra").mkdir(parents=True)
    (out / ".new-abc" / "fra" / "train.fra").write_text("half")
    made()
    assert contents(out) == before
    # No English sentence is in two splits of any language.
    splits = [
        {line for task in EXPECTED for line in read_lines(out / task / f"{split}.eng")}
        for split in SPLITS
    ]
    assert sum(map(len, splits)) == len(set().union(*splits)) == len(SENTENCES)


def test_a_full_disk_or_a_lost_source_leaves_a_finished_corpus_as_it_was(made):
    """The disk is a limit on the size of files, which a longer file reaches."""
    out = made()
    before = contents(out)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (out / "fra" / "train.fra").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            made(out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    (made.folder / "two" / "source.json").unlink()
    with pytest.raises(FathomError, match="the source 'two' has not been fetched"):
        made()
    assert contents(out) == before


def test_unexpected_counts_are_named_and_leave_a_finished_corpus_as_it_was(made):
    """A typo in `expected` deleted corpus.json, and all that was trained on it waited for it."""
    out = made()
    before = contents(out)
    wrong = EXPECTED | {
        "fra": EXPECTED["fra"] | {"train": "9.9k"},
        "ces": EXPECTED["ces"] | {"test": 9},
    }
    with pytest.raises(Findings) as caught:
        made(expected=wrong)
    first, second = caught.value.findings
    assert first.what == "task fra, split train: 44 pairs, expected 9.9k"
    assert first.where == "data set: expected.fra.train"
    assert second.what == "task ces, split test: 8 pairs, expected 9"
    assert contents(out) == before


def test_a_data_set_without_a_reader_is_refused_with_its_reason(tmp_path, lines):
    values = {"title": "", "citation": "", "licence": "", "tasks": ["deu"], "pivot": "eng"}
    planned = Dataset.model_validate(
        values | {"name": "planned", "not_built": "the archive is gone"}
    )
    with refused("is not built: the archive is gone", where="data set: not_built"):
        prepare(planned, {}, tmp_path.joinpath, tmp_path, lines.append)
    assert not list(tmp_path.iterdir())


# Counts as papers print them


@pytest.mark.parametrize(
    ("count", "expected", "right"),
    [
        (671, 671, True),
        (670, 671, False),
        # Cut off and rounded both: papers print either.
        (5946, "5.94k", True),
        (5950, "5.94k", False),
        (5930, "5.94k", False),
        (10017, "10.0k", True),
        (10100, "10.0k", False),
        (134327, "134k", True),
        (133001, "134k", True),
        (135000, "134k", False),
        (4_520_000, "4.5M", True),
        (4_400_000, "4.5M", False),
    ],
)
def test_a_count_holds_to_the_printed_digits(count, expected, right):
    assert count_matches(count, expected) is right


# One text under two names


def text(train, valid=(), test=()):
    """Return a task's text from its sentences."""
    splits = {"train": train, "valid": valid, "test": test}
    return TaskText(
        {name: [Pair(sentence, "x y") for sentence in side] for name, side in splits.items()}
    )


def test_one_text_under_two_names_is_found_and_related_languages_are_not(made):
    """Debian's Slovak help of LibreOffice is the Czech help under another name."""
    card = dataset("packages", ["slk", "ces", "pol"], {"app": {}})
    czech = [f"věta {n}" for n in range(100)]
    texts = {
        # The share is of the smaller task's distinct sentences.
        "slk": text([*czech[:30], *czech[:30]], [], czech[40:70]),
        "ces": text(czech),
        "pol": text([*czech[:20], *(f"zdanie {n}" for n in range(80))]),
    }
    shares = {("slk", "ces"): 1.0, ("slk", "pol"): 20 / 60, ("ces", "pol"): 0.2}
    assert shared_sentences(card, texts) == shares
    empty = {"ces": text(czech), "none": text([])}
    assert shared_sentences(card, empty) == {("ces", "none"): 0}
    texts["pol"] = text([*czech[:12], *(f"zdanie {n}" for n in range(80))])
    (finding,) = same_text(card, texts)
    assert finding.what == "tasks slk and ces share 100.0% of their sentences"
    codes = {"one": {"fra": ("fr",), "ell": ("fr",)}, "two": {"ces": ("cs",)}}
    with pytest.raises(Findings, match="tasks fra and ell share"):
        made(sources=codes)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        # Two parts may have one test, and a third task may not have it.
        (
            [(["a"], ["v"], ["t", "u"]), (["b"], ["v"], ["t", "u"]), ([], ["v"], ["t", "u"])],
            ["law1 and rel share", "law2 and rel share"],
        ),
        ([(["a"], ["v"], ["t"]), (["a"], ["v"], ["t"]), (["r"],)], ["law1 and law2 share"]),
        ([(["a"], ["v"], ["t"]), (["b"], ["v"], ["u"]), ([],)], ["parts of law, and their test"]),
    ],
)
def test_two_parts_of_one_text_have_one_test_and_different_training(texts, found):
    files = {task: ["a", "b", "c"] for task in ("law1", "law2", "rel")}
    codes = {"jrc": {"law": ["J"], "rel": ["T"]}}
    card = numbered_dataset(codes, files, parts={"law": ["law1", "law2"]})
    named = dict(zip(files, (text(*splits) for splits in texts), strict=True))
    findings = [finding.what for finding in same_text(card, named)]
    assert len(findings) == len(found)
    for words, what in zip(found, findings, strict=True):
        assert words in what
