"""Studies: `fathom new` and `adopt` begin one, and a sweep grows by its file."""

import bz2
import gzip
import lzma
import re
import shutil
from pathlib import Path

import pytest
from PIL import Image

from fathom.artefacts.check import findings
from fathom.cli.verbs import PROJECT_VARIABLE
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.config.tables import setting_numbers
from fathom.config.yaml_values import from_plain
from fathom.data.clean import key
from fathom.io.errors import refuse
from fathom.io.files import read_lines
from fathom.io.records import write_record
from fathom.results.recipe import RECIPE
from fathom.results.tree import rows
from fathom.workflow.start import found
from fathom.workflow.targets import Targets
from tests.config.conftest import PROJECT
from tests.support.refused import says
from tests.support.small_project import RUN
from tests.support.specs import ROOT


def with_study(folder, root=PROJECT, **switches):
    """Return a project that has the study of a folder."""
    return load(root, layers=[from_plain({"papers": [str(folder)], **switches}, "--config")])


def rows_of(project, study):
    """Return the runs of the rows of a study's table."""
    table = project.papers[study].tables["table1"]
    return {cell.row: cell.source for cell in project.cells(table)}


@pytest.fixture
def new(call, tmp_path, monkeypatch):
    """A function that begins a study in an empty folder, with the project of tests/fixtures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PROJECT_VARIABLE, str(PROJECT))
    return lambda *words: call("new", *words)


def test_a_new_study_is_valid_and_compares_the_runs_that_are_named(new, tmp_path):
    answer = new("mine", "--like", "uneven", "--like", "deep/gated", "--data", "pair")
    assert answer.code == 0, answer
    assert "next: fathom run mine\n" in answer.err
    project = with_study(tmp_path / "mine")
    table = project.papers["mine"].tables["table1"]
    assert rows_of(project, "mine") == {"uneven": "mine/uneven", "gated": "mine/gated"}
    assert (table.settings.against, project.run("mine/gated").data.dataset) == ("uneven", "pair")
    assert project.papers["mine"].about.title == "uneven and Gated on pair"


def test_the_commented_lines_of_a_new_study_are_a_run_for_each_value_and_their_rows(new, tmp_path):
    """As the tutorial changes the file."""
    assert new("mine", "--like", "uneven", "--data", "pair").code == 0
    file = tmp_path / "mine" / "study.yaml"
    file.write_text(file.read_text().replace("# dropout", "dropout"))
    project = with_study(tmp_path / "mine")
    assert rows_of(project, "mine") == {"uneven": "mine/uneven"} | {
        f"dropout {dropout}": f"mine/dropout_0_{tenth}" for dropout, tenth in ((0.1, 1), (0.3, 3))
    }
    dropouts = [project.run(run).model.dropout for run in ("mine/dropout_0_1", "mine/dropout_0_3")]
    assert dropouts == [0.1, 0.3]


def test_a_new_study_says_which_run_is_trained_as_another(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PROJECT_VARIABLE, str(ROOT))
    run = "m2o_diverse_12_12"
    answer = call("new", "mine", "--like", f"latent_depth/{run}", "--data", "po_wheels_diverse")
    same = f"mine/{run} is latent_depth/{run} at scale tiny, and trained once\n"
    assert (answer.code, answer.err.startswith(same)) == (0, True), answer


def test_a_new_study_is_named_in_config_which_is_not_written_over(new, call, tmp_path):
    like = ("--like", "deep/uneven")
    config = tmp_path / "config" / "config.yaml"
    assert "new: mine/study.yaml, config/config.yaml\n" in new("mine", *like, "--data", "pair").err
    assert config.read_text(encoding="utf-8") == "papers: [mine]\n"
    assert call("status", "mine").code == 0
    # Two studies may have one baseline.
    same = new("theirs", *like, "--data", "pair")
    assert "theirs/study.yaml\nname it in config/config.yaml: papers: [mine, theirs]\n" in same.err
    answer = new("yours", "--like", "mine/uneven", "--data", "pair")
    assert "yours/uneven is mine/uneven at scale small, and trained once\n" in answer.err
    assert "yours/study.yaml\nname it in config/config.yaml: papers: [mine, yours]\n" in answer.err
    assert config.read_text(encoding="utf-8") == "papers: [mine]\n"


def test_a_study_without_a_data_set_is_not_named_and_stops_no_verb(new, call, tmp_path):
    answer = new("mine")
    assert "write your data set as `data` in the study" in answer.err
    assert "then name it in config/config.yaml: papers: [mine]\n" in answer.err
    assert not (tmp_path / "config").exists()
    assert call("list").code == call("validate").code == 0


def test_without_a_run_it_has_the_one_that_the_scale_watches(new, tmp_path):
    assert new("mine").code == 0
    assert "static: {like: deep/static}" in (tmp_path / "mine" / "study.yaml").read_text()


def test_a_study_that_is_not_valid_is_not_left(new, tmp_path):
    message = says("'fewer' needs a direction", where="new: runs.pair_8.data.direction")
    message.check(new("mine", "--like", "deep/pair_8", "--data", "words").one_line)
    assert [*tmp_path.iterdir()] == []


PAIRS = [(f"la phrase {n}", f"Sentence {n}") for n in range(300)]
# Other translations of some sentences, which end in another mark.
PAIRS += [(f"une phrase {n}", f"sentence {n}!") for n in range(100)]
WRONG = [("", "nothing"), ("le vide", ""), ("OK", "OK"), *PAIRS[:2]]
CODES, DEU = ("--languages", "fra-eng"), ("--languages", "deu-eng")
# What `adopt` of the tests and `write` call their files.
SAME, TWO = ("my.fr", "my.en.gz"), ("my.de", "my.en")


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


@pytest.fixture
def adopted(adopt):
    """A study `mine` whose text is adopted, and named in config."""
    assert adopt(*CODES, "--hold-out", "9+9", "--like", "uneven").code == 0


@pytest.fixture
def prepare(call, tmp_path):
    """A function that fetches and prepares the text of a study; it returns the pairs by split."""

    def run(name="mine"):
        assert call("fetch", f"{name}_fra").code == call("prepare", name).code == 0
        return corpus(tmp_path, name=name)

    return run


def corpus(tmp_path, task="fra", name="mine"):
    """Return the pairs of each split of a task of the one corpus of a data set."""
    (folder,) = (tmp_path / "results" / "corpora").glob(f"{name}-*")
    sides = {
        split: [read_lines(folder / task / f"{split}.{code}") for code in (task, "eng")]
        for split in ("train", "valid", "test")
    }
    return {split: [*zip(*pair, strict=True)] for split, pair in sides.items()}


def test_two_files_of_text_become_a_valid_study_and_prepared_text(adopt, prepare, call, tmp_path):
    answer = adopt(*CODES, "--hold-out", "40+30", "--like", "uneven")
    assert answer.code == 0, answer
    assert "mine: fra: 405 pairs; dropped 5\n" in answer.err
    assert "dropped: 2 with an empty side: my.fr:1, my.fr:2\n" in answer.err
    assert "dropped: 2 that repeat others: my.fr:6, my.fr:7\n" in answer.err
    assert "kept, but look" not in answer.err
    # Files in the wrong order are seen in the first pair of training.
    assert "mine: fra: my.fr:4: fra “la phrase 0” = eng “Sentence 0”\n" in answer.err
    assert "split by the hash of eng: 330 train, 40 valid, 30 test" in answer.err
    assert "mine/datasets/mine.yaml, config/config.yaml\nnext: " in answer.err
    assert "next: fathom run mine\n" in answer.err
    assert "\ntitle: uneven on mine\n" in (tmp_path / "mine" / "study.yaml").read_text()
    assert call("validate").code == 0
    # `translate` took the row of the study, which is called after the paper's run.
    assert "write deep/uneven or mine/uneven" in call("show", "uneven").one_line
    splits = prepare()
    assert [len(splits[split]) for split in ("train", "valid", "test")] == [330, 40, 30]
    assert sorted(pair for pairs in splits.values() for pair in pairs) == sorted(PAIRS)


@pytest.mark.parametrize("marked", ["my.fr", "my.en.gz"])
def test_a_byte_order_mark_is_no_text(adopt, prepare, marked):
    # Without the mark the first pair has an equal one.
    pairs = [*PAIRS, PAIRS[0]]
    mark = "\ufeff"
    pairs[0] = tuple(mark * (of == marked) + side for of, side in zip(SAME, PAIRS[0], strict=True))
    answer = adopt(*CODES, "--hold-out", "9+9", "--like", "uneven", pairs=pairs)
    assert "dropped: 1 that repeat others: my.fr:401\n" in answer.err
    assert sorted(pair for pairs in prepare().values() for pair in pairs) == sorted(PAIRS)


def test_no_sentence_is_in_two_splits_and_more_text_holds_out_nearly_the_same(
    adopt, prepare, tmp_path
):
    held = []
    for pairs in (PAIRS, [*PAIRS, *((f"autre {n}", f"another {n}") for n in range(30))]):
        assert adopt(*CODES, "--hold-out", "60+60", "--like", "uneven", pairs=pairs).code == 0
        splits = {
            split: {key(english) for _, english in of_split}
            for split, of_split in prepare().items()
        }
        assert splits["train"].isdisjoint(splits["valid"] | splits["test"])
        assert splits["valid"].isdisjoint(splits["test"])
        held.append(splits["test"])
        for folder in ("mine", "results", "config"):
            shutil.rmtree(tmp_path / folder)
    assert len(held[0] & held[1]) > 0.8 * len(held[0])


def test_text_that_has_changed_is_refused_and_text_that_was_fetched_needs_no_original(
    adopted, call, tmp_path
):
    text = tmp_path / "my.fr"
    content = text.read_bytes()
    text.write_bytes(content + b"x\n")
    changed = says("my.fr has changed since it was adopted (sha256 ", where="my.fr")
    changed.check(call("fetch", "mine_fra").one_line)
    text.unlink()
    says("no such file", where="my.fr").check(call("fetch", "mine_fra").one_line)
    text.write_bytes(content)
    assert call("fetch", "mine_fra").code == 0
    text.unlink()
    assert "already fetched" in call("fetch", "mine_fra").err
    assert call("prepare", "mine").code == 0


def test_a_card_that_holds_out_too_much_is_refused(adopted, call, tmp_path):
    card = tmp_path / "mine" / "datasets" / "mine.yaml"
    text = card.read_text(encoding="utf-8")
    card.write_text(text.replace("adopt, valid: 9,", "adopt, valid: 900,"), encoding="utf-8")
    assert call("fetch", "mine_fra").code == 0
    says("cannot hold out 900+9 of 400 pairs", where="split of fra").check(
        call("prepare", "mine").err
    )


@pytest.mark.parametrize("name", ["my.tsv", "my.tsv.gz", "my.TSV.GZ"])
def test_columns_of_one_file_are_the_same_text_as_two_files(adopted, prepare, call, tmp_path, name):
    words = (*CODES, "--hold-out", "9+9", "--like", "deep/uneven")
    table = "".join(f"{english}\tx\t{french}\n" for french, english in [*WRONG, *PAIRS]).encode()
    (tmp_path / name).write_bytes(gzip.compress(table) if name.lower().endswith(".gz") else table)
    answer = call("adopt", "yours", "--tsv", name, "--columns", "3,1", *words)
    assert "yours: fra: 405 pairs; dropped 5\n" in answer.err
    (tmp_path / "config" / "config.yaml").write_text("papers: [mine, yours]\n")
    assert prepare("mine") == prepare("yours")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("my.tsv", b"a\nb\n", says("no column 2: the line has 1", where="my.tsv:1")),
        ("my.tsv", b"a\tb\na\n", says("1 columns, where line 1 has 2", where="my.tsv:2")),
        (
            "my.tsv.gz",
            gzip.compress(b"a\tb\n", mtime=0)[:-4],
            says("not a whole .gz", where="my.tsv.gz"),
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named(new, call, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    message.check(call("adopt", "mine", "--tsv", name, *CODES).one_line)


# Half of its English sentences are those of French, written otherwise; some have several pairs.
GERMAN = [(f"der Satz {n}", f"sentence {n} ?") for n in range(0, 300, 5)]
GERMAN += [(f"ein Satz {n}", f"New sentence {n // 2}") for n in range(60)]


def write(tmp_path, name, pairs):
    """Write two files of text, and return their names."""
    for code, side in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
        (tmp_path / f"{name}.{code}").write_text("".join(f"{x}\n" for x in side), encoding="utf-8")
    return f"{name}.de", f"{name}.en"


def prepared(call, tmp_path):
    """Return the pairs of each split of both tasks, as they are prepared."""
    assert call("validate").code == 0
    for step in (("fetch", "mine_fra"), ("fetch", "mine_deu"), ("prepare", "mine")):
        assert call(*step).code == 0
    return {task: corpus(tmp_path, task) for task in ("fra", "deu")}


def test_a_second_language_is_a_task_of_the_same_data_set_and_no_task_knows_held_out_text(
    adopt, call, tmp_path
):
    assert adopt(*CODES, "--hold-out", "20+10", "--like", "uneven").code == 0
    study = (tmp_path / "mine" / "study.yaml").read_text(encoding="utf-8")
    german = write(tmp_path, "my", GERMAN)
    answer = call("adopt", "mine", "--text", *german, "--languages", "de-en")
    assert "mine: fra: split by the hash of eng: 370 train, 20 valid, 10 test\n" in answer.err
    assert "mine: deu: split by the hash of eng: 90 train, 20 valid, 10 test\n" in answer.err
    assert "this is a new data set: its runs train again" in answer.err
    assert "name it" not in answer.err
    assert (tmp_path / "mine" / "study.yaml").read_text(encoding="utf-8") == study
    tasks = prepared(call, tmp_path)
    keys = {
        split: {key(english) for task in tasks.values() for _, english in task[split]}
        for split in ("train", "valid", "test")
    }
    assert keys["train"].isdisjoint(keys["valid"] | keys["test"])
    assert keys["valid"].isdisjoint(keys["test"])
    assert sorted(pair for pairs in tasks["deu"].values() for pair in pairs) == sorted(GERMAN)


def test_a_task_whose_sentences_are_all_in_a_larger_one_has_its_number_of_held_out_pairs(
    adopted, call, tmp_path
):
    german = write(tmp_path, "my", GERMAN[:60])
    answer = call("adopt", "mine", "--text", *german, *DEU)
    assert "mine: deu: split by the hash of eng: 42 train, 9 valid, 9 test\n" in answer.err
    # Of some sentences French has two pairs.
    assert "mine: fra: split by the hash of eng: 377 train, 9 valid, 14 test\n" in answer.err


def test_held_out_files_stay_and_their_sentences_leave_the_training_text_of_all_tasks(
    adopt, call, tmp_path
):
    files = ("--valid", *write(tmp_path, "valid", [("la 7", "Sentence 7"), ("", "sentence 300")]))
    files += ("--test", *write(tmp_path, "test", [("la 8", "SENTENCE 8!")]))
    answer = adopt(*CODES, *files, "--like", "uneven")
    assert "dropped: 4 with a held-out sentence in the second language: my.fr:13" in answer.err
    assert "look: 1 pairs that differ in length by more than 3 to 1: valid.de:2\n" in answer.err
    assert "mine: fra: split by file: 396 train, 2 valid, 1 test\n" in answer.err
    assert "in test, too" not in answer.err
    files = ("--valid", *write(tmp_path, "v", [("v", "Sentence 10"), ("t", "Sentence 15")]))
    files += ("--test", *write(tmp_path, "t", [("t", "Sentence 15")]))
    german = write(tmp_path, "my", GERMAN)
    answer = call("adopt", "mine", "--text", *german, "--languages", "deu-eng", *files)
    assert "mine: deu: kept, but look: 1 pairs of validation that are in test, too: v.de:2\n" in (
        answer.err
    )
    tasks = prepared(call, tmp_path)
    assert tasks["fra"]["valid"] == [("la 7", "Sentence 7"), ("", "sentence 300")]
    held = [pair for task in tasks.values() for pair in [*task["valid"], *task["test"]]]
    keys = {key(english) for _, english in held}
    kept = {"fra": [*PAIRS], "deu": GERMAN}
    for task, pairs in kept.items():
        assert tasks[task]["train"] == [pair for pair in pairs if key(pair[1]) not in keys]


def test_lines_and_pairs_that_are_worth_a_look_are_named(adopt):
    long = (" ".join(["mot"] * 251), " ".join(["word"] * 251))
    unequal = [("oui" * 4, "yes"), ("non", "no, never"), ("a" * 10, "bcd"), ("a" * 10, "bcd")]
    unseen = [("soft\u00adly", "softly")]
    pairs = [long, *PAIRS, *unequal, *unseen]
    french = "\r\n".join(side for side, _ in pairs).encode()
    answer = adopt(*CODES, "--hold-out", "9+9", "--like", "uneven", pairs=pairs, french=french)
    look = [line.partition("look: ")[2] for line in answer.err.splitlines() if "look" in line]
    assert look == [
        "405 lines that end in CRLF: my.fr:1, my.fr:2, my.fr:3 and 402 more",
        "1 pairs with characters that nobody sees (zero width, soft hyphen): my.fr:406",
        "1 pairs with more than 250 words on a side: my.fr:1",
        "2 pairs that differ in length by more than 3 to 1: my.fr:402, my.fr:404",
    ]
    mots, words = "mot " * 10, "word " * 8
    assert f"mine: fra: my.fr:1: fra “{mots}…” = eng “{words}…”\n" in answer.err


def test_a_file_whose_lines_all_end_in_crlf_is_named_once(adopt):
    french = "".join(f"{side}\r\n" for side, _ in PAIRS).encode()
    answer = adopt(*CODES, "--hold-out", "9+9", "--like", "uneven", pairs=PAIRS, french=french)
    assert "look: 1 files whose lines all end in CRLF: my.fr\n" in answer.err


def test_a_sentence_sends_a_terminal_no_escape_sequence(adopt):
    pairs = [("rouge \x1b[31mici", "red \x1b]0;title\x07here"), *PAIRS]
    answer = adopt(*CODES, "--hold-out", "9+9", "--like", "uneven", pairs=pairs)
    assert "rouge \\x1b[31mici" in answer.err
    assert "\x1b" not in answer.err


def test_files_of_unequal_length_part_where_their_lengths_stop_matching(adopt):
    pairs = [("x" * (n * 37 % 83 + 1), "y" * (n * 37 % 83 + 3)) for n in range(300)]
    parts = {lost: f"they part near line {lost + 1}, where lengths" for lost in (0, 120)}
    for lost, part in (parts | {299: "my.en.gz has more at its end"}).items():
        french = "".join(f"{line}\n" for line, _ in pairs[:lost] + pairs[lost + 1 :]).encode()
        message = says(f"my.fr has 299 lines and my.en.gz 300; {part}", where=f":{lost + 1}")
        message.check(adopt(*CODES, pairs=pairs, french=french).one_line)


def test_changed_files_are_read_again_only_if_that_is_asked_for(adopted, prepare, call, tmp_path):
    prepare()
    (before,) = (tmp_path / "results" / "corpora").iterdir()
    with open(tmp_path / "my.fr", "a", encoding="utf-8") as french:
        french.write("encore\n")
    english = gzip.decompress((tmp_path / "my.en.gz").read_bytes()) + b"again\n"
    (tmp_path / "my.en.gz").write_bytes(gzip.compress(english))
    words = ("adopt", "mine", "--text", *write(tmp_path, "my", GERMAN), "--languages", "de-en")
    says("my.fr has changed", remedy="`fathom adopt mine --again`").check(call(*words).one_line)
    answer = call("adopt", "mine", "--again")
    assert "mine: fra: split by the hash of eng: 383 train, 9 valid, 9 test\n" in answer.err
    assert "new data set" not in answer.err
    assert call("fetch", "mine_fra").code == call("prepare", "mine").code == 0
    assert before.exists()
    assert len([*before.parent.iterdir()]) == 2


@pytest.mark.parametrize(
    ("card", "old", "new", "edited"),
    [
        ("datasets/mine.yaml", "licence:", "# my comment\nlicence:", "# my comment"),
        ("datasets/mine.yaml", "max_shared: 1.0", "max_shared: 0.5", "max_shared"),
        ("datasets/mine.yaml", "licence: private", "licence: 5", "licence"),
        ("sources/mine_fra.yaml", "kind: local\nlicence: private\n", "", "kind, licence"),
    ],
)
def test_no_edited_card_is_overwritten(adopted, call, tmp_path, card, old, new, edited):
    german = ("--text", *write(tmp_path, "my", GERMAN), *DEU)
    path = tmp_path / "mine" / card
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    for words in (["--again"], german):
        what = f"the card is edited ({edited}), and"
        message = says(what, where=path.name, remedy="another name")
        message.check(call("adopt", "mine", *words).one_line)
    assert path.read_text(encoding="utf-8") == text.replace(old, new)
    assert len([*(tmp_path / "mine").rglob("*.yaml")]) == 3


def test_terms_and_titles_that_a_user_writes_on_the_cards_are_kept(adopted, call, tmp_path):
    terms = "licence: CC0-1.0  # by letter\n"
    cards = [tmp_path / "mine" / card for card in ("datasets/mine.yaml", "sources/mine_fra.yaml")]
    for path in cards:
        text = path.read_text(encoding="utf-8").replace("licence: private\n", terms)
        path.write_text(text.replace("title: m", "title: M"), encoding="utf-8")
    german = ("--text", *write(tmp_path, "my", GERMAN), *DEU)
    for words in (["--again"], german, ["--again"]):
        assert call("adopt", "mine", *words).code == 0
        for path in cards:
            text = path.read_text(encoding="utf-8")
            assert terms in text
            assert "\ntitle: M" in text
    assert call("validate").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (CODES, says("'mine' has the task fra", remedy="adopt mine --again")),
        (("--languages", "eng-deu"), says("share eng", remedy="deu-eng, and the files")),
        (("--languages", "fra-deu"), says("all tasks of 'mine' share eng", remedy="fra-eng")),
        ((*DEU, "--valid", *TWO, "--test", *TWO), says("are files, or none", where="--valid")),
        ((*DEU, "--like", "uneven"), says("the study is there", where="--like")),
        ((*DEU, "--again"), says("the cards name the files", where="--again")),
        ((*DEU, "--hold-out", "30+31"), says("30+31 of 120 pairs leave 59", remedy="12+12")),
    ],
)
def test_a_task_that_cannot_be_added_is_one_line_and_no_card_changes(
    adopted, call, tmp_path, words, message
):
    cards = {path: path.read_bytes() for path in (tmp_path / "mine").rglob("*.yaml")}
    german = write(tmp_path, "my", GERMAN)
    message.check(call("adopt", "mine", "--text", *german, *words).one_line)
    assert {path: path.read_bytes() for path in (tmp_path / "mine").rglob("*.yaml")} == cards


@pytest.mark.parametrize(
    ("words", "changes", "message"),
    [
        (
            (*CODES, "--valid", *SAME, "--test", *SAME),
            {},
            says("402 with a held-out sentence in the second language); no pairs for train"),
        ),
        (CODES, {"french": b"a\n"}, says("my.fr has 1 lines and my.en.gz 405", where="my.fr:2")),
        (
            CODES,
            {"french": b"a\nna \xe9\n"},
            says("not UTF-8 at byte 4", where="my.fr:2", remedy="iconv -f <its encoding>"),
        ),
        (CODES, {}, says("200+200 of 400 pairs leave 0 for training", remedy="40+40 or fewer")),
        (
            CODES,
            {"pairs": [("", "OK"), *[("OK", "OK")] * 2]},
            says(r"(1 with an empty side, 2 equal on both sides); 200+200 of 0", remedy="more"),
        ),
        (
            CODES,
            {"pairs": [("OK", "OK")] * 3},
            says("both sides have the same text", where="my.fr", remedy="languages"),
        ),
        (CODES, {"pairs": [("a", "")], "french": b"\xef\xbb\xbf"}, says("empty", where="my.fr")),
        (
            CODES,
            {"pairs": [("a", "b")], "french": b"a\rb\rc\r"},
            says("one line with 3 CR", where="my.fr", remedy=r"tr '\r' '\n'"),
        ),
        (
            CODES,
            {"french": b"a\nb\0c\n"},
            says("NUL at byte 2", where="my.fr:2", remedy=r"tr -d '\0'"),
        ),
        *(
            (CODES, {"french": packed}, says("a packed file, not text", where="my.fr", remedy=how))
            for packed, how in [
                (lzma.compress(b"a\n"), "unxz "),
                (bz2.compress(b"a\n"), "bunzip2 "),
                (b"PK\3\4 and so on", "unzip "),
                (b"\x28\xb5\x2f\xfd and so on", "unzstd "),
            ]
        ),
        (
            CODES,
            {"french": gzip.compress(b"a\n")},
            says("packed by gzip", where="my.fr", remedy="a name that ends in .gz"),
        ),
        ((*CODES, "--hold-out", "9"), {}, says("not the numbers", remedy="500+500")),
        (
            (*CODES, "--hold-out", "9+9", "--like", "unevn"),
            {},
            says("no run 'unevn'", nearest="uneven"),
        ),
    ],
)
def test_text_that_cannot_be_adopted_is_one_line_and_nothing_is_written(
    adopt, tmp_path, words, changes, message
):
    message.check(adopt(*words, **changes).one_line)
    assert {path.name for path in tmp_path.iterdir()} == {"my.fr", "my.en.gz"}


# A sweep: a study with a run for each combination of values.

SWEEP = """\
title: Sweep
seeds: {seeds}
runs:
  unchanged: {{like: {like}}}
  x_<x>_dropout_<p>: {{for: {{x: {values}, p: {dropout}}}, like: unchanged, {key}, model: {{dropout: <p>}}}}
tables:
  table1: {{against: unchanged, columns: [params, avg, tasks], rows: {{unchanged: unchanged, "x <x>, dropout <p>": x_<x>_dropout_<p>}}}}
figures:
  figure1: {{kind: heat_map, table: table1, value: avg, rows: x, columns: dropout, numbers: true, cells: {{"<x>, <p>": x_<x>_dropout_<p>}}}}
"""  # noqa: E501


@pytest.fixture
def made(tmp_path):
    """A function that writes a study and returns its targets, after all checks."""

    def write(text, root=PROJECT, scale="small", **switches):
        (tmp_path / "sweep").mkdir(exist_ok=True)
        (tmp_path / "sweep" / "study.yaml").write_text(text, encoding="utf-8")
        project = with_study(tmp_path / "sweep", root, **switches)
        refuse(findings(project))
        return Targets(project, scale, Paths(tmp_path / "results", scale))

    return write


def test_the_six_lines_of_the_page_train_each_combination_beside_the_unchanged_run(made):
    page = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    section = page.partition("\n## A sweep\n")[2]
    text = re.findall(r"^```yaml\n(.+?)^```$", section, re.MULTILINE | re.DOTALL)[0]
    assert text.count("\n") == 6
    targets, like = made(text, ROOT, "tiny", seeds="1-2"), "latent_depth/m2o_diverse_ll_d_12_24"
    project = targets.project
    values = {
        f"sweep/depth_weight_{weight}_dropout_0_{tenth}".replace(".", "_"): (weight, tenth / 10)
        for weight in (0.1, 0.3, 1)
        for tenth in (1, 3)
    }
    assert set(project.runs_of("sweep")) == {"sweep/unchanged", *values}
    # One of the values is the run's own at this scale.
    assert "0 of 12 trainings found, 12 to train" in found(targets, "sweep")[0]
    assert project.spec("sweep/unchanged", "tiny").name == like
    base = setting_numbers(project.run(like, "tiny"))
    for name, (weight, dropout) in values.items():
        changed = {"method.depth_weight": weight, "model.dropout": dropout}
        assert setting_numbers(project.run(name, "tiny")) == base | changed
    table = project.papers["sweep"].tables["table1"]
    assert table.settings.against == "unchanged"
    assert rows_of(project, "sweep") == {"unchanged": "sweep/unchanged"} | {
        f"λ = {weight}, dropout {dropout}": name for name, (weight, dropout) in values.items()
    }


def test_a_value_that_is_added_to_the_file_trains_its_own_runs_alone(made):
    key = "method: {kl_weight: <x>}"
    text = SWEEP.format(like="deep/uneven", seeds=2, values=[0.1, 3], dropout=[0.2, 0.4], key=key)
    targets = made(text)
    for name in targets.names_of("sweep"):
        for seed in targets.seeds(name):
            path = targets.paths.training(targets.spec(name), seed)
            write_record(path, {"recipe": RECIPE["training"]})
    assert "10 of 10 trainings found" in found(targets, "sweep")[0]
    targets = made(text.replace("[0.1, 3]", "[0.1, 3, 5]"))
    assert "10 of 14 trainings found, 4 to train" in found(targets, "sweep")[0]
    names = targets.names_of("sweep")
    paths = {name: targets.paths.training(targets.spec(name), 1) for name in names}
    missing = [name for name in names if not paths[name].exists()]
    assert [name.partition("_dropout")[0] for name in missing] == 2 * ["sweep/x_5"]


def lines_of(name):
    """Return the lines of a csv in the folder of the sweep, by what places them."""
    lines = rows(Path(f"results/small/sweep/{name}.csv"))
    return {(line["row"], line["column"]): line for line in lines}


@pytest.mark.slow
def test_two_settings_are_trained_and_drawn_as_a_map_and_the_runs_own_values_once(
    encoded, own, call
):
    folder = own(encoded)
    key = "training: {updates: <x>}"
    text = SWEEP.format(like=f"sample/{RUN}", seeds=1, values=[4, 40], dropout=[0.1, 0.3], key=key)
    (folder / "sweep").mkdir()
    (folder / "sweep" / "study.yaml").write_text(text, encoding="utf-8")
    with open("config/config.yaml", "a", encoding="utf-8") as stream:
        stream.write("papers: [sweep]\n")
    swept = {(n, p): f"sweep/x_{n}_dropout_0_{p}" for p in (1, 3) for n in (4, 40)}
    for run in (f"sample/{RUN}", *swept.values()):
        for verb in ("train", "translate", "score"):
            assert call(verb, run).code == 0
    # Its values are those of dropout 0.3 and 4 updates.
    assert len([*folder.glob("results/runs/*/*/1/training.json")]) == 4
    for verb, name in (("table", "table1"), ("figure", "figure1")):
        assert call(verb, f"sweep_{name}").code == 0
    table, fields = lines_of("table1"), lines_of("figure1")
    values = {}
    for (n, p), run in swept.items():
        cell, field = table[f"x {n}, dropout 0.{p}", "avg"], fields[str(n), f"0.{p}"]
        assert field["run"] == run
        assert float(field["value"]) == float(cell["value"])
        values[n, p] = float(field["value"])
    same = table["x 4, dropout 0.3", "avg"]
    assert float(same["value"]) == float(table["unchanged", "avg"]["value"]) == values[4, 3]
    # It is no comparison: Holm's correction is for the three others.
    assert (same["difference"], same["p_holm"]) == ("", "")
    others = [table[f"x {n}, dropout 0.{p}", "avg"] for n, p in ((4, 1), (40, 1), (40, 3))]
    least = min(float(line["p"]) for line in others)
    assert min(float(line["p_holm"]) for line in others) == pytest.approx(min(3 * least, 1))
    assert len({*values.values()}) > 1
    with Image.open("results/small/sweep/figure1.png") as picture:
        assert len(picture.getcolors(1 << 20)) > 10
