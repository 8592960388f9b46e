"""`fathom new` and `fathom adopt`: a study to begin with, text of a user, and what is refused."""

import gzip
import shutil

import pytest

from fathom.cli.verbs import PROJECT_VARIABLE
from fathom.config.load import load
from fathom.config.yaml_values import from_plain
from fathom.data.clean import key
from fathom.io.files import read_lines
from tests.config.conftest import PROJECT
from tests.support.refused import says


@pytest.fixture
def new(call, tmp_path, monkeypatch):
    """A function that begins a study in an empty folder, with the project of tests/fixtures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PROJECT_VARIABLE, str(PROJECT))
    return lambda *words: call("new", *words)


def test_a_new_study_is_valid_and_compares_the_runs_that_are_named(new, tmp_path):
    answer = new("mine", "--like", "uneven", "--like", "deep/gated", "--data", "pair")
    assert answer.code == 0, answer
    assert "snakemake mine --config papers=mine" in answer.err
    layer = from_plain({"papers": [str(tmp_path / "mine")]}, "--config")
    project = load(PROJECT, layers=[layer])
    table = project.papers["mine"].tables["table1"]
    rows = {cell.row: cell.source for cell in project.cells(table)}
    assert rows == {"uneven": "mine/uneven", "gated": "mine/gated"}
    assert (table.settings.against, project.run("mine/gated").data.dataset) == ("uneven", "pair")


def test_without_a_run_it_has_the_one_that_the_scale_watches(new, tmp_path):
    assert new("mine").code == 0
    assert "static: {like: deep/static}" in (tmp_path / "mine" / "study.yaml").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("there",), says("the folder is there already", where="there")),
        (("deep",), says("the name 'deep' is taken by config/papers/deep")),
        (("My-Study",), says("a name has at most 64 small letters")),
        (("mine", "--like", "unevn"), says("no run 'unevn'", nearest="uneven")),
        (("mine", "--data", "piar"), says("no data set 'piar'", where="--data", nearest="pair")),
    ],
)
def test_nothing_is_overwritten_and_a_wrong_name_is_one_line(new, tmp_path, words, message):
    (tmp_path / "there").mkdir()
    message.check(new(*words).one_line)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


PAIRS = [(f"la phrase {n}", f"Sentence {n}") for n in range(300)]
# Other translations of some sentences, which end in another mark.
PAIRS += [(f"une phrase {n}", f"sentence {n}!") for n in range(100)]
WRONG = [("", "nothing"), ("le vide", ""), ("OK", "OK"), *PAIRS[:2]]
CODES = ("--languages", "fra-eng")


@pytest.fixture
def adopt(call, tmp_path, monkeypatch):
    """A function that adopts pairs of text in an empty folder whose config names the study."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PROJECT_VARIABLE, str(PROJECT))

    def run(*words, pairs=(*WRONG, *PAIRS), name="mine", french=None):
        sides = ["".join(f"{line}\n" for line in side) for side in zip(*pairs, strict=True)]
        (tmp_path / "my.fr").write_bytes(french or sides[0].encode())
        (tmp_path / "my.en.gz").write_bytes(gzip.compress(sides[1].encode(), mtime=0))
        return call("adopt", name, "--text", "my.fr", "my.en.gz", *words)

    return run


def use(tmp_path):
    """Name the study in the working folder's config."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("papers: [mine]\n", encoding="utf-8")


def corpus(tmp_path):
    """Return the pairs of each split of the one corpus."""
    (folder,) = (tmp_path / "results" / "corpora").iterdir()
    sides = {
        split: [read_lines(folder / "fra" / f"{split}.{code}") for code in ("fra", "eng")]
        for split in ("train", "valid", "test")
    }
    return {split: [*zip(*pair, strict=True)] for split, pair in sides.items()}


def test_two_files_of_text_become_a_valid_study_and_prepared_text(adopt, call, tmp_path):
    answer = adopt(*CODES, "--hold-out", "40+30", "--like", "uneven")
    assert answer.code == 0, answer
    assert "405 pairs of fra and eng" in answer.err
    assert "dropped 5" in answer.err
    assert "2 with an empty side: lines 1, 2\n" in answer.err
    assert "2 that repeat others: lines 6, 7\n" in answer.err
    assert "330 train, 40 valid, 30 test" in answer.err
    assert "next: snakemake mine --config papers=mine" in answer.err
    use(tmp_path)
    assert call("validate").code == 0
    assert call("fetch", "mine").code == call("prepare", "mine").code == 0
    splits = corpus(tmp_path)
    assert {split: len(pairs) for split, pairs in splits.items()} == {
        "train": 330,
        "valid": 40,
        "test": 30,
    }
    assert sorted(pair for pairs in splits.values() for pair in pairs) == sorted(PAIRS)


def test_no_sentence_is_in_two_splits_and_more_text_holds_out_nearly_the_same(
    adopt, call, tmp_path
):
    held = []
    for pairs in (PAIRS, [*PAIRS, *((f"autre {n}", f"another {n}") for n in range(30))]):
        assert adopt(*CODES, "--hold-out", "60+60", "--like", "uneven", pairs=pairs).code == 0
        use(tmp_path)
        assert call("fetch", "mine").code == call("prepare", "mine").code == 0
        splits = {
            split: {key(english) for _, english in of_split}
            for split, of_split in corpus(tmp_path).items()
        }
        assert splits["train"].isdisjoint(splits["valid"] | splits["test"])
        assert splits["valid"].isdisjoint(splits["test"])
        held.append(splits["test"])
        for folder in ("mine", "results", "config"):
            shutil.rmtree(tmp_path / folder)
    assert len(held[0] & held[1]) > 0.8 * len(held[0])


def test_text_that_has_changed_is_refused_and_text_that_was_fetched_needs_no_original(
    adopt, call, tmp_path
):
    assert adopt(*CODES, "--hold-out", "9+9", "--like", "uneven").code == 0
    use(tmp_path)
    text = tmp_path / "my.fr"
    content = text.read_bytes()
    text.write_bytes(content + b"x\n")
    changed = says("my.fr has changed since it was adopted (sha256 ", where="my.fr")
    changed.check(call("fetch", "mine").one_line)
    text.unlink()
    says("no such file", where="my.fr").check(call("fetch", "mine").one_line)
    text.write_bytes(content)
    assert call("fetch", "mine").code == 0
    text.unlink()
    assert "already fetched" in call("fetch", "mine").err
    assert call("prepare", "mine").code == 0


@pytest.mark.parametrize(
    ("old", "new", "verb", "message"),
    [
        ("valid: 9", "valid: 900", ("prepare", "mine"), says("900+9 of 400 pairs leave 0")),
        ("[fra]\n", "[fra, old]\n", ("validate",), says("by pairs_by_hash of several tasks")),
    ],
)
def test_a_card_of_adopted_text_that_is_edited_wrongly_is_refused(
    adopt, call, tmp_path, old, new, verb, message
):
    assert adopt(*CODES, "--hold-out", "9+9", "--like", "uneven").code == 0
    use(tmp_path)
    card = tmp_path / "mine" / "datasets" / "mine.yaml"
    text = card.read_text(encoding="utf-8")
    card.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert call("fetch", "mine").code == 0
    message.check(call(*verb).err)


@pytest.mark.parametrize(
    ("words", "changes", "message"),
    [
        (("--languages", "fr-eng"), {}, says("not two languages", where="--languages fr-eng")),
        (("--languages", "eng-eng"), {}, says("not two languages")),
        (CODES, {"french": b"a\n"}, says("my.fr has 1 lines and my.en.gz 405", where="--text")),
        (
            CODES,
            {"french": b"a\nna \xe9\n"},
            says("not UTF-8 at byte 4", where="my.fr:2", remedy="iconv"),
        ),
        (CODES, {}, says("200+200 of 400 pairs leave 0 for training", remedy="40+40 or fewer")),
        ((*CODES, "--hold-out", "9"), {}, says("not the numbers", remedy="500+500")),
        (
            (*CODES, "--hold-out", "9+9", "--like", "unevn"),
            {},
            says("no run 'unevn'", nearest="uneven"),
        ),
        (CODES, {"name": "pair"}, says("there is a data set or source 'pair'")),
        (CODES, {"name": "deep"}, says("the name 'deep' is taken")),
        (CODES, {"name": "there"}, says("the folder is there already", where="there")),
    ],
)
def test_text_that_cannot_be_adopted_is_one_line_and_nothing_is_written(
    adopt, tmp_path, words, changes, message
):
    (tmp_path / "there").mkdir()
    message.check(adopt(*words, **changes).one_line)
    assert {path.name for path in tmp_path.iterdir()} == {"there", "my.fr", "my.en.gz"}
