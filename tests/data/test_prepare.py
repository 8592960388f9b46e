import resource

import pytest

from fathom.config.schema.dataset import FORMATS, PlannedDataset
from fathom.data.prepare import prepare
from fathom.io.errors import Findings
from fathom.io.files import read_json, read_lines, sha256
from fathom.io.locks import HOLDER, LOCK
from tests.data.small_archives import (
    catalogue,
    fetched,
    lines_dataset,
    message,
    messages_dataset,
    row,
    table,
    talks,
    talks_dataset,
    wheel,
)
from tests.support.refused import refused, says

SENTENCES = [f"Open the {noun} number {n}" for noun in ("door", "file") for n in range(40)]


# Frozen: what the hash gives these sentences.
EXPECTED = {
    "fra": {"train": 44, "valid": 16, "test": 20},
    "ell": {"train": 44, "valid": 16, "test": 20},
    "ces": {"train": 30, "valid": 12, "test": 8},
}


def with_changes(dataset, changes):
    """Return a data set with other values of its card."""
    return FORMATS[dataset.format].model_validate(dataset.model_dump() | changes)


@pytest.fixture
def made(tmp_path, lines):
    """Two fetched wheels, a data set of three tasks, and a function that prepares it."""
    french = [message(text, f"Ouvrir {text[9:]}") for text in SENTENCES]
    greek = [message(text, f"Άνοιγμα {text[9:]}") for text in SENTENCES]
    czech = [message(text, f"Otevřít {text[9:]}") for text in SENTENCES[:50]]
    one = wheel(tmp_path / "one.whl", {"fr": catalogue(*french), "el": catalogue(*greek[:30])})
    two = wheel(tmp_path / "two.whl", {"el": catalogue(*greek[20:]), "cs": catalogue(*czech)})
    folder = tmp_path / "sources"
    sources = {
        "one": fetched(folder / "one", one, "one"),
        "two": fetched(folder / "two", two, "two"),
    }
    codes = {"one": {"fra": ["fr"], "ell": ["el"]}, "two": {"ell": ["el"], "ces": ["cs"]}}
    dataset = messages_dataset(codes, ["fra", "ell", "ces"], expected=EXPECTED)

    def run(out=tmp_path / "corpus", **changes):
        prepare(with_changes(dataset, changes), sources, folder.joinpath, out, lines.append)
        return out

    run.folder = folder
    return run


def test_a_corpus_is_line_aligned_text_and_a_record_of_it(made):
    out = made()
    tasks = ("fra", "ell", "ces")
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    expected_files = {
        f"{task}/{split}.{language}"
        for task in tasks
        for split in ("train", "valid", "test")
        for language in (task, "eng")
    }
    assert files == expected_files | {"corpus.json", LOCK}
    corpus = read_json(out / "corpus.json")
    assert corpus["task_names"] == list(tasks)
    assert [source["name"] for source in corpus["sources"]] == ["one", "two"]
    assert corpus["licences"] == ["CC0-1.0"]
    for task in tasks:
        for split, record in corpus["tasks"][task]["splits"].items():
            for language in (task, "eng"):
                file = out / task / f"{split}.{language}"
                lines = read_lines(file)
                assert sha256(file) == corpus["files"][f"{task}/{split}.{language}"]
                assert len(lines) == record["pairs"]
                assert sum(len(line.split()) for line in lines) == record["words"][language]
    pairs = zip(read_lines(out / "fra/train.fra"), read_lines(out / "fra/train.eng"), strict=True)
    assert all(pivot == f"Open the {text.removeprefix('Ouvrir ')}" for text, pivot in pairs)


def test_no_english_sentence_is_in_two_splits_of_any_language(made):
    out = made()
    places: dict[str, set[str]] = {}
    for task in ("fra", "ell", "ces"):
        for split in ("train", "valid", "test"):
            for sentence in read_lines(out / task / f"{split}.eng"):
                places.setdefault(sentence, set()).add(split)
    assert set(places) == set(SENTENCES)
    assert all(len(splits) == 1 for splits in places.values())


def test_two_preparations_have_equal_bytes(made, tmp_path):
    one, other = made(), made(out=tmp_path / "again")
    for path in one.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (other / path.relative_to(one)).read_bytes()


def test_dropped_pairs_are_counted_by_rule(made):
    assert read_json(made() / "corpus.json")["tasks"]["ell"]["dropped"] == {"duplicate": 10}


def test_drift_is_one_line_a_count_and_writes_nothing(made, tmp_path):
    wrong = {task: dict(counts) for task, counts in EXPECTED.items()}
    wrong["ces"]["test"] += 1
    wrong["fra"]["train"] = "9.9k"
    with pytest.raises(Findings) as caught:
        made(expected=wrong)
    fra, ces = caught.value.findings
    says("count", "fra", "train").check(fra)
    says("count", "ces", "test").check(ces)
    assert not (tmp_path / "corpus").exists()


def contents(folder):
    """Return the bytes of all files of a folder, but its lock."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files if path.name not in (LOCK, HOLDER)}


def test_a_wrong_count_leaves_a_finished_corpus_as_it_was(made):
    """A typo in `expected` deleted corpus.json, and all that was trained on it waited for it."""
    out = made()
    before = contents(out)
    with pytest.raises(Findings):
        made(expected={task: {"train": 0, "valid": 0, "test": 0} for task in EXPECTED})
    assert contents(out) == before


def test_a_disk_that_gets_full_leaves_a_finished_corpus_as_it_was(made):
    """Field fault 11: the disk is a limit on the size of files, which a longer file reaches."""
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
    assert contents(out) == before


def test_a_new_corpus_takes_the_place_of_the_old_one_and_of_what_was_left(made):
    out = made()
    before = contents(out)
    (out / "fra" / "train.fra").write_text("altered\n")
    (out / ".new-abc" / "fra").mkdir(parents=True)
    (out / ".new-abc" / "fra" / "train.fra").write_text("half")
    made()
    assert contents(out) == before


def test_a_source_that_is_gone_leaves_the_corpus_that_was_made_of_it(made):
    """The record was deleted before the sources were read, and later stages could not run."""
    out = made()
    (made.folder / "two" / "source.json").unlink()
    with refused("not fetched"):
        made()
    assert (out / "corpus.json").exists()


def test_two_languages_with_the_same_text_are_an_error(made):
    codes = {"one": {"fra": ("fr",), "ell": ("fr",)}, "two": {"ces": ("cs",)}}
    with pytest.raises(Findings) as caught:
        made(sources=codes)
    says("shared text", "fra", "ell", "100.0%").check(caught.value.findings[0])


def test_a_source_must_have_been_fetched(made):
    (made.folder / "two" / "source.json").unlink()
    with refused("not fetched", "two"):
        made()


def test_progress_is_one_line_a_task(made, lines):
    made()
    assert next(line for line in lines if "train" in line).startswith("invented: fra: ")


def test_the_papers_archive_goes_the_same_way(tmp_path, lines):
    """Different counts for each language, so that a swapped column shows."""
    train = [
        row(
            f"t{n}",
            en=f"Sentence {n % 20} .",
            pt_br=f"Frase {n} ." if n < 30 else "__NULL__",
            pt=f"Nunca {n} .",
            fr=f"Phrase {n} ." if n % 2 else "_ _ NULL _ _",
            fr_ca="Jamais .",
        )
        for n in range(35)
    ]
    test = [row("x", en="Sentence 3 .", pt_br="Frase 3 .", fr="Phrase 3 .")] * 2
    path = talks(
        tmp_path / "talks.tar.gz", table(*train), table(*test[:1], end="\r\n"), table(*test)
    )
    expected = {
        "por": {"train": "0.03k", "valid": 1, "test": 2},
        "fra": {"train": 17, "valid": 1, "test": 2},
    }
    dataset = talks_dataset({"por": "pt-br", "fra": "fr"}, expected=expected)
    folder = tmp_path / "sources"
    sources = {"talks": fetched(folder / "talks", path, "talks")}
    out = tmp_path / "corpus"
    prepare(dataset, sources, folder.joinpath, out, lines.append)
    assert read_lines(out / "por" / "train.por")[:2] == ["Frase 0 .", "Frase 1 ."]
    assert read_lines(out / "fra" / "test.fra") == ["Phrase 3 ."] * 2
    corpus = read_json(out / "corpus.json")
    assert corpus["tasks"]["por"]["splits"]["train"]["pairs"] == 30
    assert corpus["tasks"]["por"]["dropped"] == {"missing_mark": 5}


def test_text_without_pairs_is_one_file_a_split(tmp_path, lines):
    english = catalogue(*(message(sentence, "") for sentence in SENTENCES))
    hindi = catalogue(*(message(sentence, f"{sentence} का") for sentence in SENTENCES[:40]))
    path = wheel(tmp_path / "one.whl", {"en": english, "hi": hindi})
    folder = tmp_path / "sources"
    sources = {"one": fetched(folder / "one", path, "one")}
    expected = {
        "en": {"train": 44, "valid": 16, "test": 20},
        "hi": {"train": 19, "valid": 11, "test": 10},
    }
    codes = {"one": {"en": ["en"], "hi": ["hi"]}}
    dataset = lines_dataset(codes, ["en", "hi"], expected=expected)
    out = tmp_path / "corpus"
    prepare(dataset, sources, folder.joinpath, out, lines.append)
    assert sorted(path.name for path in (out / "hi").iterdir()) == [
        "test.hi",
        "train.hi",
        "valid.hi",
    ]
    record = read_json(out / "corpus.json")["tasks"]["en"]
    assert record["languages"] == ["en"]
    assert record["splits"]["train"]["sentences"] == len(read_lines(out / "en" / "train.en")) == 44


def test_a_data_set_without_a_reader_is_refused_with_its_reason(tmp_path, lines):
    values = {"title": "", "citation": "", "licence": "", "tasks": ["deu"], "pivot": "eng"}
    planned = PlannedDataset.model_validate(
        values | {"name": "planned", "not_built": "the archive is gone"}
    )
    with refused("data set not built", ..., "the archive is gone") as caught:
        prepare(planned, {}, tmp_path.joinpath, tmp_path, lines.append)
    assert caught.value.where == "config/datasets/planned.yaml: not_built"
    assert not list(tmp_path.iterdir())
