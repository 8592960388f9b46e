"""Published parallel text: tables of talks, files with a side each, and numbers of lines."""

import gzip

import pyarrow
import pytest
from pyarrow import parquet

from fathom.data.prepare import prepare
from fathom.data.readers import line_numbers, parallel, ted
from fathom.data.sides import part_lines
from fathom.data.split import Pair
from fathom.io.errors import FathomError
from fathom.io.files import read_json, read_lines
from fathom.io.records import read_record, write_record
from tests.data.small_archives import (
    COLUMNS,
    dataset,
    fetched,
    moses,
    numbered_dataset,
    numbers,
    row,
    sgm,
    table,
    talks,
    tar_of,
    zip_of,
)

# TED's tables

TASKS = {"por": "pt-br", "fra": "fr", "mar": "mr"}
TRAIN = table(
    row("t1", en="A bird sang .", pt_br="Um pássaro cantou .", pt="nunca", fr="Un oiseau ."),
    row("t1", en='Say " yes', pt_br='Diga " sim', fr_ca="jamais"),
    row("t1", en="It &apos;s &quot; so &quot; &amp; &#91; ok &#93;", fr="C&apos; est ( bon )"),
    row("t2", en="Never here .", pt="nunca", fr="_ _ NULL _ _"),
    row("t2", en="The word NULL is fine", fr="Le mot NULL aussi", mr="NULL"),
    row("t2", en="Before __NULL__ after", fr="Avant et après"),
    row("t2", en="Marked inside", fr="Avant _ _ NULL _ _ après"),
    row("t3", en="Empty there", fr="", pt_br="   \u00a0"),
    row("t3", en="", fr="Rien en face"),
    row("t3", en="Two\u2028lines", fr="Deux\x85lignes", mr="दोन\rओळी ।"),
    row("t3", en="Entity&#10;line", fr="Ligne&#8232;deux"),
    # Too short for `mr`, long enough for `fr`.
    row("t4", en="Cut short", fr="Coupé", mr="lost")[: COLUMNS.index("fr") + 2],
)
BIRD = row("x1", en="A bird sang .", fr="Un oiseau .")
VALID = table(BIRD, row("v1", en="Only", mr="एक"), end="\r\n")
TEST = table(BIRD, BIRD)
ROWS = {"train": 12, "valid": 2, "test": 2}


def talk_dataset(codes, tasks=TASKS, rows=ROWS):
    return dataset("ted", [*tasks], {"talks": codes}, rows=rows)


@pytest.fixture
def read_talks(tmp_path):
    """A function that reads an archive of these tables."""

    def run(train=TRAIN, valid=VALID, test=TEST, codes=None, tasks=TASKS, rows=ROWS):
        path = talks(tmp_path / "ted_talks.tar.gz", train, valid, test)
        codes = codes or {task: [code] for task, code in tasks.items()} | {"eng": ["en"]}
        return ted.read({"talks": path}, talk_dataset(codes, tasks, rows))

    return run


def test_each_row_gives_a_pair_of_natural_text_or_the_first_reason_why_not(read_talks):
    """The published split and its duplicates are kept."""
    texts = read_talks()
    bird, null = Pair("Un oiseau.", "A bird sang."), "The word NULL is fine"
    por = [Pair("Um pássaro cantou.", "A bird sang."), Pair('Diga "sim', 'Say "yes')]
    fra = [
        bird,
        Pair("C'est (bon)", 'It\'s "so" & [ok]'),
        Pair("Le mot NULL aussi", null),
        Pair("Deux lignes", "Two lines"),
        Pair("Ligne deux", "Entity line"),
        Pair("Coupé", "Cut short"),
    ]
    mar = [Pair("NULL", null), Pair("दोन ओळी।", "Two lines")]
    assert {task: text.splits for task, text in texts.items()} == {
        "por": {"train": por, "valid": [], "test": []},
        "fra": {"train": fra, "valid": [bird], "test": [bird, bird]},
        "mar": {"train": mar, "valid": [Pair("एक", "Only")], "test": []},
    }
    assert texts["fra"].dropped == {"missing": 5, "empty": 2}
    assert texts["mar"].dropped == {"missing": 13}
    for text in texts.values():
        assert text.read == 12 + 2 + 2
        assert text.read == text.dropped.total() + sum(map(len, text.splits.values()))


@pytest.mark.parametrize(
    ("language", "tokens", "natural"),
    [
        ("eng", "( Laughter )", "(Laughter)"),
        ("aze", 'O dedi : " Salam , dostum ! "', 'O dedi: "Salam, dostum!"'),
        ("hin", "यह घर है । यह भी ॥", "यह घर है। यह भी॥"),
        ("eng", "Tom 's isn 't", "Tom's isn't"),
        ("fra", "l' eau est là .", "l'eau est là."),
        # Korean keeps the blanks between its words, which Chinese has not.
        ("kor", "안녕 하세요 .", "안녕 하세요."),
        # Entities are read before, once.
        ("eng", "&amp; stays", "&amp; stays"),
    ],
)
def test_tokens_are_joined_as_the_language_is_written(language, tokens, natural):
    assert ted.joiner(language)(tokens) == natural


def test_columns_may_stand_in_any_order_after_a_byte_order_mark(read_talks):
    lines = [line.split("\t") for line in TEST.decode().split("\n")[:-1]]
    turned = "".join("\t".join(reversed(line)) + "\n" for line in lines).encode()
    assert read_talks(test=turned)["fra"].splits == read_talks()["fra"].splits
    marked = table(row("t", en="One", fr="Un")).replace(b"talk_name\ten", b"\xef\xbb\xbfen\tname")
    assert read_talks(test=marked, rows=ROWS | {"test": 1})["fra"].splits["test"] == [
        Pair("Un", "t")
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tasks": TASKS | {"mar": "mrx"}}, "no row of talks has the code 'mrx'"),
        (
            {"train": table(columns=["fr" if c == "fr-ca" else c for c in COLUMNS])},
            r"all_talks_train\.tsv, line 1: 2 cells have the code 'fr'",
        ),
        ({"test": b""}, "talks has 0 rows for test, not 2"),
        ({"valid": table(BIRD)}, "talks has 1 rows for valid, not 2"),
        (
            {"test": table(BIRD, [*BIRD, "more"])},
            r"all_talks_test\.tsv, line 3: 10 cells of 9 codes",
        ),
        (
            {"test": TEST.replace(b"Un oiseau", b"\xc9t\xe9", 1)},
            "ted_talks.tar.gz: all_talks_test.tsv, line 2: not UTF-8 at byte 36",
        ),
        ({"test": None}, r"the file all_talks_test\.tsv is missing"),
        ({"codes": {"fra": ["fr"]}}, "the code of the pivot 'eng' is not given"),
    ],
)
def test_a_table_that_is_not_the_expected_one_is_named(read_talks, changes, words):
    with pytest.raises(FathomError, match=words):
        read_talks(**changes)


# The same rows as parquet: by file, and in each row codes and cells

CODES = {"fra": ["fr"], "hin": ["hi"], "eng": ["en"]}
FILES = {
    "ted_multi-train-00000-of-00002.parquet": [
        {"en": "It &apos;s ( so ) .", "fr": "C&apos; est ( bon ) .", "hi": "यह घर है ।"},
    ],
    "ted_multi-train-00001-of-00002.parquet": [{"fr": "Rien en face"}],
    "ted_multi-validation.parquet": [{"en": "One", "hi": "एक ।"}],
    "ted_multi-test.parquet": [{"en": "Two", "fr": " ", "hi": None}],
}


def lists(*rows):
    """Return a column of rows, each with its codes and its cells."""
    return [{"language": [*row], "translation": [*row.values()]} for row in rows]


@pytest.fixture
def read_parquet(tmp_path):
    """A function that reads a folder of these files; a changed file has the rows as given."""

    def run(rows=None, codes=CODES, changed=(), files=FILES):
        columns = {name: lists(*of_file) for name, of_file in files.items()} | dict(changed)
        for name, column in columns.items():
            made = {"talk_name": ["t"] * len(column), "translations": column}
            parquet.write_table(pyarrow.table(made), tmp_path / name)
        write_record(tmp_path / "source.json", {"files": dict.fromkeys(columns, "")})
        card = talk_dataset(codes, ["fra", "hin"], rows or {"train": 2, "valid": 1, "test": 1})
        return ted.read({"talks": tmp_path}, card)

    return run


def test_rows_of_parquet_are_those_of_the_tables(read_parquet):
    texts = read_parquet()
    assert texts["fra"].splits["train"] == [Pair("C'est (bon).", "It's (so).")]
    assert texts["hin"].splits["train"] == [Pair("यह घर है।", "It's (so).")]
    assert texts["hin"].splits["valid"] == [Pair("एक।", "One")]
    assert texts["hin"].dropped == {"missing": 2}
    assert texts["fra"].dropped == {"missing": 2, "empty": 1}
    assert texts["fra"].read == 4


TRAINING = "ted_multi-train-00000-of-00002.parquet"


def test_a_row_of_parquet_without_codes_or_cells_has_no_pair(read_parquet):
    row = {"language": ["en", "fr", "hi"], "translation": ["a", "b", "c"]}
    nulls = [None, {"language": None, "translation": None}, row]
    rows = {"train": 4, "valid": 1, "test": 1}
    texts = read_parquet(rows, changed={TRAINING: nulls})
    assert texts["fra"].splits["train"] == [Pair("b", "a")]
    assert texts["fra"].dropped["missing"] == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"changed": {TRAINING: [{"language": ["fr", "fr"], "translation": ["a", "b"]}]}},
            f"{TRAINING}, row 1: 2 cells have the code 'fr'",
        ),
        (
            {"changed": {TRAINING: [{"language": ["fr"], "translation": ["a", "b"]}]}},
            "row 1: 2 cells of 1 codes in a row",
        ),
        ({"codes": CODES | {"hin": ["hin"]}}, "no row of talks has the code 'hin'"),
        (
            {"rows": {"train": 258098, "valid": 1, "test": 1}},
            "talks has 2 rows for train, not 258,098",
        ),
        ({"changed": {TRAINING: ["fr"]}}, "no column 'translations' of type struct"),
        ({"changed": {"ted_multi.parquet": lists({"en": "a"})}}, "nothing says which split it is"),
    ],
)
def test_parquet_files_that_are_not_the_expected_ones_are_named(read_parquet, changes, words):
    with pytest.raises(FathomError, match=words):
        read_parquet(**changes)


# A file for each side

SOURCES = {
    "europarl": {"deu": ["europarl.de-en.de"], "eng": ["europarl.de-en.en"]},
    "crawl": {"deu": ["crawl.de-en.de"], "eng": ["crawl.de-en.en"]},
    "tests": {
        "deu": ["news2012-src.de.sgm", "news2014-ref.de.sgm"],
        "eng": ["news2012-src.en.sgm", "news2014-src.en.sgm"],
    },
}


@pytest.fixture
def read_parallel(tmp_path):
    """A function that reads training text in a folder and without one, and test sets."""

    def run(german=b"Haus\nMaus\n\nLaus\n", egg=b"Ei\n", clean=False, **changes):
        contents = {
            "europarl": {
                "training/europarl.de-en.de": german,
                "training/europarl.de-en.en": b"house\nmouse\nempty\nlouse\n",
                "training/europarl.cs-en.en": b"not read\n",
            },
            "crawl": {"crawl.de-en.de": egg, "crawl.de-en.en": b"egg\n"},
            "tests": {
                "test/news2012-src.de.sgm": sgm("Tee &amp; Kaffee", "Maus"),
                "test/news2012-src.en.sgm": sgm("tea &amp; coffee", "mouse"),
                "test/news2014-ref.de.sgm": sgm("Ein Satz\nauf zwei Zeilen", "Ei"),
                "test/news2014-src.en.sgm": sgm("a sentence\non two lines", "egg"),
            },
        }
        files = {name: tar_of(tmp_path / f"{name}.tgz", of) for name, of in contents.items()}
        split = {"by": "file", "clean": clean}
        split |= {"valid": ["news2012-src.de.sgm"], "test": ["news2014-ref.de.sgm"]}
        card = dataset("parallel", ["deu"], SOURCES | changes, split=split)
        return parallel.read(files, card)["deu"]

    return run


def test_plain_files_are_training_and_named_ones_validation_and_test(read_parallel):
    text = read_parallel()
    expected = [("Haus", "house"), ("Maus", "mouse"), ("Laus", "louse"), ("Ei", "egg")]
    assert text.splits["train"] == expected
    assert text.dropped == {"empty": 1}
    assert text.splits["valid"] == [("Tee & Kaffee", "tea & coffee"), ("Maus", "mouse")]
    assert text.splits["test"][0] == ("Ein Satz auf zwei Zeilen", "a sentence on two lines")
    assert text.shared == {"valid": 1, "test": 1}
    assert text.parts == {}
    # A clean split leaves out of training what is in the others.
    text = read_parallel(clean=True)
    assert text.splits["train"] == [("Haus", "house"), ("Laus", "louse")]
    assert text.dropped == {"empty": 1, "in_validation_or_test": 2}
    assert text.shared == {"valid": 0, "test": 0}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"german": b"Haus\n"},
            "europarl.tgz: 1 and 4 lines in europarl.de-en.de and europarl.de-en.en",
        ),
        (
            {"crawl": {"deu": ["crawl.cs-en.de"], "eng": ["crawl.de-en.en"]}},
            "crawl.tgz: the file crawl.cs-en.de is missing",
        ),
        ({"egg": b"\xd6l\n"}, "crawl.tgz: crawl.de-en.de, line 1: not UTF-8"),
    ],
)
def test_files_that_do_not_fit_are_named(read_parallel, changes, words):
    with pytest.raises(FathomError, match=words):
        read_parallel(**changes)


def test_columns_of_packed_files_are_read_in_the_order_of_their_names(tmp_path):
    """As CzEng's: id, score, Czech and English; and one line is empty."""
    rows = {"00": "a\t1\tdům\thouse\n\n", "01": "b\t1\tmyš\tmouse\n", "02": "c\t1\tvejce\tegg\n"}
    contents = {f"data/{n}train.gz": gzip.compress(rows[n].encode()) for n in ("02", "00", "01")}
    contents |= {"data/00dtest.gz": gzip.compress(b"not read\n")}
    codes = {"ces": ["??train.gz:3"], "eng": ["??train.gz:4"]}
    more = {"data/10train.gz": gzip.compress(b"d\t1\tpes\tdog\n")}
    files = {
        "czeng": tar_of(tmp_path / "data.0.tar", contents, "w"),
        "czeng_1": tar_of(tmp_path / "data.1.tar", more, "w"),
    }
    sources = {"czeng": codes, "czeng_1": codes}
    card = dataset(
        "parallel", ["ces"], sources, split={"by": "file", "valid": ["v"], "test": ["t"]}
    )
    text = parallel.read(files, card)["ces"]
    first = [("dům", "house"), ("myš", "mouse"), ("vejce", "egg")]
    assert text.splits["train"] == [*first, ("pes", "dog")]
    assert text.dropped == {"empty": 1}
    contents["data/03train.gz"] = gzip.compress(b"d\t1\tjen\n")
    tar_of(files["czeng"], contents, "w")
    with pytest.raises(FathomError, match="no column 4: the line has 3"):
        parallel.read(files, card)
    contents |= {"data/old/00train.gz": contents["data/00train.gz"]}
    tar_of(files["czeng"], contents, "w")
    with pytest.raises(FathomError, match=r"2 files are called 00train\.gz"):
        parallel.read(files, card)


def orig(contents, path, tasks=("aze", "bel")):
    """Read an archive in which each task has a folder with an English side of its own."""
    splits = ("train", "dev", "test")
    codes = {task: [f"{task}_eng/ted-{part}.orig.{task}" for part in splits] for task in tasks}
    codes["eng"] = [f"<task>_eng/ted-{part}.orig.eng" for part in splits]
    split = {"by": "file", "valid": [codes[task][1] for task in tasks]}
    split["test"] = [codes[task][2] for task in tasks]
    card = dataset("parallel", [*tasks], {"orig": codes}, split=split)
    return parallel.read({"orig": zip_of(path / "ted_orig.zip", contents)}, card)


def in_folders(tasks=("aze", "bel", "xbel")):
    return {
        f"ted/{task}_eng/ted-{part}.orig.{side}": f"{part} {side} of {task}\n".encode()
        for task in tasks
        for part in ("train", "dev", "test")
        for side in (task.removeprefix("x"), "eng")
    }


def test_files_of_one_name_are_told_apart_by_the_folders_that_a_code_names(tmp_path):
    texts = orig(in_folders(), tmp_path)
    for task, text in texts.items():
        for split, part in {"train": "train", "valid": "dev", "test": "test"}.items():
            assert text.splits[split] == [(f"{part} {task} of {task}", f"{part} eng of {task}")]
    # A folder is named as a whole: `xbel_eng` is not `bel_eng`.
    with pytest.raises(FathomError, match=r"bel_eng/ted-\w+\.orig\.\w+ is missing"):
        orig(in_folders(("aze", "xbel")), tmp_path)


def test_natural_lines_are_read_as_they_are_with_the_quotes_of_a_table(tmp_path):
    lines = ["(Laughter)", '"a ""b"""', "यह घर है।", "It's Tom's.", "&amp; stays"]
    contents = in_folders(("aze",))
    for side in ("aze", "eng"):
        name = f"ted/aze_eng/ted-train.orig.{side}"
        contents[name] = "".join(f"{line}\n" for line in lines).encode()
    train = orig(contents, tmp_path, ("aze",))["aze"].splits["train"]
    assert train == [(line, line) for line in lines]


# A part of the test set, in an archive of its own

TRAIN_PAIRS, VALID_PAIRS = [("Alte Mäuse", "mice are nice"), ("Ja.", "Yes.")], [("Tee.", "Tea.")]
TEST_PAIRS = [
    ("Ja.", "Yes."),
    ("Nein.", "No."),
    ("Ja.", "Yes."),
    ("R&amp;B", "R & B"),
    ("Ei.", "Egg."),
]
NO, YES, EGG = TEST_PAIRS[1], TEST_PAIRS[0], TEST_PAIRS[4]


@pytest.fixture
def with_part(tmp_path):
    """A function that prepares text whose test set has a part, and returns the corpus's folder."""

    def run(part=(NO, YES, EGG), clean=False, **keys):
        texts = {"train": ("train", TRAIN_PAIRS), "valid": ("dev", VALID_PAIRS)}
        texts |= {"test": ("test-full", TEST_PAIRS), "filtered": ("test", part)}
        sources, codes = {}, {}
        for source, (folder, pairs) in texts.items():
            ends = [("ref.de.sgm", "src.en.sgm"), ("de", "en")][source == "train"]
            contents = {}
            sides = zip(*pairs, strict=True) if pairs else ((), ())
            for end, lines in zip(ends, sides, strict=True):
                plain = "".join(f"{line}\n" for line in lines).encode()
                contents[f"{folder}/{source}-{end}"] = sgm(*lines) if "sgm" in end else plain
            names = [*contents]
            path = tar_of(tmp_path / f"{source}.tgz", contents)
            sources[source] = fetched(tmp_path / "sources" / source, path, source)
            codes[source] = {"deu": [names[0]], "eng": [names[1]]}
        split = {"by": "file", "clean": clean, "valid": codes["valid"]["deu"]}
        split |= {"test": codes["test"]["deu"], "parts": {"filtered": codes["filtered"]["deu"]}}
        keys = {"split": split, "max_shared": 1.0} | keys
        card = dataset("parallel", ["deu"], codes, **keys)
        out = tmp_path / "corpus"
        prepare(card, sources, (tmp_path / "sources").joinpath, out, print)
        return out

    return run


PIECES = {"pieces": {"merges": 1, "max_words": 80, "max_ratio": 9}}


@pytest.mark.parametrize("keys", [{}, {"clean": "pivots"}, PIECES], ids=["plain", "clean", "cut"])
def test_a_part_of_the_test_set_is_the_lines_with_its_pairs_and_no_text_of_its_own(with_part, keys):
    """The pair that is there twice is the second one: the part has the order of the test set."""
    out = with_part(**keys)
    record = read_record(out / "corpus.json")
    assert read_lines(out / "deu" / "test.filtered.lines") == ["2", "3", "5"]
    assert "deu/test.filtered.lines" in record["files"]
    assert part_lines(out, "deu", "filtered") == [1, 2, 4]
    about = record["tasks"]["deu"]
    assert about["parts"] == {"filtered": 3}
    assert about["read"] == len([*TRAIN_PAIRS, *VALID_PAIRS, *TEST_PAIRS])
    kept = 1 if "clean" in keys else 2
    sizes = {split: about["splits"][split]["pairs"] for split in about["splits"]}
    assert sizes == {"train": kept, "valid": 1, "test": 5}
    assert len(read_lines(out / "deu" / "test.deu")) == 5


@pytest.mark.parametrize(
    ("part", "line", "word"),
    [
        ((NO, ("Neu.", "New."), EGG), 2, "Neu."),
        ((NO, ("Ja.", "Yes!")), 2, "Ja."),
        ((EGG, NO), 2, "Nein."),
        ((YES, YES, YES), 3, "Ja."),
    ],
    ids=["unknown", "another second side", "another order", "more often"],
)
def test_a_part_with_a_pair_that_the_test_set_has_not_there_is_refused(with_part, part, line, word):
    where = rf"filtered: test/filtered-ref\.de\.sgm, line {line}: .*'{word}'.*in their order"
    with pytest.raises(FathomError, match=where):
        with_part(part)


def test_an_unexpected_number_of_pairs_in_a_part_is_refused(with_part):
    expected = {"train": 2, "valid": 1, "test": 5, "parts": {"filtered": 4}}
    with pytest.raises(FathomError, match="task deu, part filtered: 3 pairs, expected 4"):
        with_part(expected={"deu": expected})


def test_a_part_needs_a_file_of_each_task():
    names = {task: ["train", f"valid.{task}", f"test.{task}"] for task in ("deu", "ces")}
    codes = {"full": names | {"eng": ["train", "valid", "test"]}}
    codes["filtered"] = {"deu": ["some.deu"], "eng": ["some"]}
    split = {"by": "file", "valid": ["valid.deu", "valid.ces"], "test": ["test.deu", "test.ces"]}
    card = dataset(
        "parallel", ["deu", "ces"], codes, split=split | {"parts": {"half": ["some.deu"]}}
    )
    found = [fault for fault in card.faults(codes) if fault[0][0] == "split"]
    assert found == [(("split", "parts", "half"), "no file of 'ces'", "name a file of each task")]


def test_a_part_without_pairs_is_refused(with_part):
    with pytest.raises(FathomError, match="no pairs for 'deu'"):
        with_part(())


def test_counts_of_a_part_that_is_not_there_are_refused_before_any_text_is_read():
    codes = {"tests": {"deu": ["a.deu", "b.deu"], "eng": ["a.eng", "b.eng"]}}
    split = {"by": "file", "valid": ["v"], "test": ["a.deu"], "parts": {"half": ["b.deu"]}}
    expected = {"deu": {"train": 1, "valid": 1, "test": 1, "parts": {"hlaf": 1}}}
    card = dataset("parallel", ["deu"], codes, split=split, expected=expected)
    (fault,) = [fault for fault in card.faults(codes) if "parts" in fault[0]]
    assert fault[:2] == (("expected", "deu", "parts", "hlaf"), "no part 'hlaf'")
    assert "half" in fault[2]


# The tokens of a natural line, as the table of talks has them.
TOKENS = {
    "(Laughter)": "( Laughter )",
    'He said "yes".': "He said &quot; yes &quot; .",
    "It's Tom's & mine.": "It &apos;s Tom &apos;s &amp; mine .",
    "[Applause]": "&#91; Applause &#93;",
    "No, 3.5 of it!": "No , 3.5 of it !",
}


def test_the_same_lines_come_from_the_archive_by_hand_the_table_and_parquet(tmp_path):
    hindi = {f"यह घर {n} है।": f"यह घर {n} है ।" for n in range(len(TOKENS))}
    contents = {
        f"ted/mar_eng/ted-{part}.orig.{side}": "".join(f"{line}\n" for line in lines).encode()
        for part in ("train", "dev", "test")
        for side, lines in (("mar", hindi), ("eng", TOKENS))
    }
    by_hand = orig(contents, tmp_path, ("mar",))["mar"].splits
    cells = [*zip(TOKENS.values(), hindi.values(), strict=True)]
    rows = table(*(row("t", en=english, mr=other) for english, other in cells))
    path = talks(tmp_path / "ted_talks.tar.gz", rows, rows, rows)
    codes, counts = {"mar": ["mr"], "eng": ["en"]}, dict.fromkeys(ROWS, len(cells))
    from_table = ted.read({"talks": path}, talk_dataset(codes, ["mar"], counts))["mar"].splits
    of_file = [{"en": english, "mr": other} for english, other in cells]
    names = ("train-0", "validation", "test")
    columns = {f"ted-{name}.parquet": lists(*of_file) for name in names}
    folder = tmp_path / "parquet"
    folder.mkdir()
    for name, column in columns.items():
        made = {"talk_name": ["t"] * len(column), "translations": column}
        parquet.write_table(pyarrow.table(made), folder / name)
    write_record(folder / "source.json", {"files": dict.fromkeys(columns, "")})
    from_parquet = ted.read({"talks": folder}, talk_dataset(codes, ["mar"], counts))["mar"].splits
    assert by_hand["train"] == [*zip(hindi, TOKENS, strict=True)]
    for split in ROWS:
        assert by_hand[split] == from_table[split] == from_parquet[split]


# Numbers of lines


def lines_of(word, count):
    return [f"{word} {n}" for n in range(count)]


@pytest.fixture
def law(tmp_path):
    """A function that reads the text of one task by some numbers; `index` has other files."""

    def run(train, valid=(18,), test=(19,), count=20, french=None, codes=("JRC.en-fr",), **index):
        keys = {key: index.pop(key) for key in ("clean", "least_lines") if key in index}
        french = french or lines_of("loi", count)
        path = moses(tmp_path / "law.zip", "JRC.en-fr", lines_of("law", count), french)
        of_split = {"train.index": [*train], "valid.index": [*valid], "test.index": [*test]}
        kept = {key: value for key, value in (of_split | index).items() if value is not None}
        card = numbered_dataset({"jrc": {"law": [*codes]}}, {"law": [*of_split]}, **keys)
        chosen = numbers(tmp_path / "numbers.tar.gz", kept)
        return line_numbers.read({"jrc": path, "numbers": chosen}, card)["law"]

    return run


def test_numbers_count_from_0_in_their_order_and_may_repeat(law):
    french = lines_of("loi", 20)
    french[1] = "loi\u2028une\x85deux\rtrois"
    # Pairs without text are dropped from training alone.
    french[4] = french[19] = "  "
    text = law([3, 0, 3, 1, 4], french=french)
    loi, une = ("loi 3", "law 3"), ("loi une deux trois", "law 1")
    assert text.splits["train"] == [loi, ("loi 0", "law 0"), loi, une]
    assert text.splits["test"] == [("", "law 19")]
    assert (text.read, text.dropped) == (7, {"empty": 1})


def test_what_training_shares_with_the_other_splits_is_counted_or_left_out(law):
    numbers = {"train": [1, 2, 19, 19], "valid": [1, 5, 6], "test": [19, 7]}
    text = law(**numbers)
    assert text.shared == {"valid": 1, "test": 1}
    assert len(text.splits["train"]) == 4
    text = law(**numbers, clean=True)
    assert text.splits["train"] == [("loi 2", "law 2")]
    assert text.dropped == {"in_validation_or_test": 3}
    assert len(text.splits["test"]) == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"train": [3, 20]}, "the line number 20 is beyond the last line of 'law'"),
        ({"french": lines_of("loi", 21)}, "law.zip: 20 and 21 lines|law.zip: 21 and 20 lines"),
        ({"test.index": None}, r"numbers.tar.gz: the file test\.index is missing"),
        ({"train": ["1.5"]}, "tacl20/train.index: '1.5' is not a number of a line"),
        ({"least_lines": {"law": 21}}, "'law' has 20 lines, not at least 21"),
        ({"codes": ["ECB.en-fr"]}, r"law.zip: the file ECB\.en-fr\.en is missing"),
    ],
)
def test_numbers_and_files_that_do_not_fit_are_named(law, changes, words):
    with pytest.raises(FathomError, match=words):
        law(**({"train": [3]} | changes))


@pytest.mark.parametrize(
    ("count", "least", "doubt"),
    [
        (20, 20, ""),
        (2002, 2000, ""),
        (2003, 2000, "'law' has 2,003 lines, and the greatest number needs 2,000"),
    ],
)
def test_text_with_more_lines_than_the_published_one_may_be_another(law, count, least, doubt):
    assert law([3], count=count, least_lines={"law": least}).doubt == doubt


def test_files_as_they_are_downloaded_are_numbered_as_a_shell_joins_them(tmp_path):
    """As the README of tacl20 joins MED: `cat *_en.txt`, then a column of the packed corpus."""
    # Neither the order of the archive nor that of a language's sorting.
    texts = {"b": 1, "B": 2, "a": 1}
    contents = {
        f"fr-en/{name}_{side}.txt": "".join(f"{name} {side} {n}\n" for n in range(count)).encode()
        for name, count in texts.items()
        for side in ("en", "fr")
    }
    contents["__MACOSX/fr-en/._a_en.txt"] = b"not read\n"
    packed = tmp_path / "shuffled.fr-en.gz"
    packed.write_bytes(gzip.compress(b"fr 0\ten 0\nfr 1\ten 1\n"))
    files = {"medline": zip_of(tmp_path / "medline.zip", contents), "ufal": packed}
    files["numbers"] = numbers(
        tmp_path / "numbers.tar.gz", {"train": [0, 1, 3, 4], "valid": [5], "test": [0]}
    )
    sources = {
        "medline": {"med": ["*_fr.txt"], "eng": ["*_en.txt"]},
        "ufal": {"med": ["shuffled.fr-en.gz:1"], "eng": ["shuffled.fr-en.gz:2"]},
    }
    card = numbered_dataset(sources, {"med": ["train", "valid", "test"]})
    splits = line_numbers.read(files, card)["med"].splits
    english = ["B en 0", "B en 1", "b en 0", "en 0"]
    assert splits["train"] == [(text.replace("en", "fr"), text) for text in english]
    assert splits["valid"] == [("fr 1", "en 1")]

    del contents["fr-en/b_fr.txt"]
    files["medline"] = zip_of(tmp_path / "medline.zip", contents)
    with pytest.raises(FathomError, match="2 and 3 files match"):
        line_numbers.read(files, card)


def test_domains_are_read_through_several_files_in_order(tmp_path):
    """Three domains: one of three zips, one in halves, one with a source of its own."""
    parts = ("Ubuntu", "KDE4", "PHP")
    archives = {"ufal": tmp_path / "UFAL.med.tar.gz"}
    tar_of(archives["ufal"], {"UFAL.med.en": b"en 0\nen 1\n", "UFAL.med.fr": b"fr 0\nfr 1\n"})
    for count, name in enumerate((*parts, "JRC"), start=3):
        made = lines_of(f"{name} text", count), lines_of(f"texte de {name}", count)
        archives[name.lower()] = moses(tmp_path / f"{name}.zip", f"{name}.en-fr", *made)
    splits = {
        "it": ([0, 11, 7, 3], [5], [6, 7]),  # of 3 + 4 + 5 lines
        "law1": ([0, 1, 1], [2], [3, 0]),
        "law2": ([4, 5, 1], [2], [3, 0]),
        "med": ([1], [0], [0]),
    }
    files = {task: [f"{task}.{split}" for split in range(3)] for task in splits}
    index = {
        name: chosen
        for task, names in files.items()
        for name, chosen in zip(names, splits[task], strict=True)
    }
    archives["numbers"] = numbers(tmp_path / "numbers.tar.gz", index)
    folder, out = tmp_path / "sources", tmp_path / "corpus"
    sources = {name: fetched(folder / name, path, name) for name, path in archives.items()}
    codes = {"ufal": {"med": ["UFAL.med"]}, "jrc": {"law": ["JRC.en-fr"]}}
    codes |= {name.lower(): {"it": [f"{name}.en-fr"]} for name in parts}
    counts = {
        task: dict(zip(("train", "valid", "test"), map(len, of_task), strict=True))
        for task, of_task in splits.items()
    }
    keys = {"parts": {"law": ["law1", "law2"]}, "max_shared": 0.5, "expected": counts}
    keys |= {"least_lines": {"med": 1}}
    said = []
    prepare(numbered_dataset(codes, files, **keys), sources, folder.joinpath, out, said.append)
    english = ["Ubuntu text 0", "PHP text 4", "PHP text 0", "KDE4 text 0"]
    assert read_lines(out / "it" / "train.eng") == english
    assert read_lines(out / "it" / "test.fra") == ["texte de KDE4 3", "texte de PHP 0"]
    assert read_lines(out / "law1" / "train.eng") == ["JRC text 0", "JRC text 1", "JRC text 1"]
    assert read_lines(out / "law1" / "test.eng") == read_lines(out / "law2" / "test.eng")
    assert read_lines(out / "med" / "train.fra") == ["fr 1"]
    tasks = read_json(out / "corpus.json")["tasks"]
    doubt = "'med' has 2 lines, and the greatest number needs 1"
    assert [about.get("doubt") for about in tasks.values()] == [None, None, None, doubt]
    assert [line for line in said if "warning" in line] == [
        f"invented: med: warning: {doubt}; it may be another release"
    ]
    assert tasks["law1"]["in_training"] == {"valid": 0, "test": 1}
    assert tasks["law2"]["in_training"] == {"valid": 0, "test": 0}
