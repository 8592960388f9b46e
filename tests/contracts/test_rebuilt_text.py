"""WMT'16's archive made again by the project's own card, from small files of the published form."""

import shutil
from collections import Counter
from itertools import pairwise

import pytest

from fathom.artefacts.artefacts import Artefacts
from fathom.config.load import load
from fathom.io.files import read_lines, sha256
from fathom.io.records import read_record, write_record
from tests.artefacts.test_artefacts import named, write_scores
from tests.cli.conftest import call, invoke
from tests.data.small_archives import sgm, tar_of
from tests.support.refused import says
from tests.support.small_project import ROOT, RUN, in_pieces, paths, replace_all, write_config

__all__ = ["call"]
NAME, ARCHIVE, FULL_RUN = "wmt16_en_de_rebuilt", "wmt16_en_de", f"sample/{RUN}"
SOURCE = "title: t\nkind: by_hand\nfile: {}.tgz\nsteps: none\nlicence: CC0-1.0\nnotice: Invented.\n"


def words(german, english):
    return " ".join(["Wort"] * german), " ".join(["word"] * english)


HOUSE = ("Das alte Haus steht z.B. dort.", "The old house stands there.")
EUROPARL = [
    ("Das Haus ist alt.", "The house isn't new."),
    ("", "No."),
    words(81, 40),
    words(80, 80),
]
CRAWL = [("Haus | Maus [neu]", '"It\'s a house & a mouse"'), words(9, 1), words(1, 10)]
CRAWL += [("a" * 1001, "long"), ("a" * 1000, "long")]
DROPPED = {"empty": 1, "too_long": 1, "unequal_length": 1, "long_word": 1}
VALID, TEST = [("Ja.", "Yes."), words(1, 10)], [("Ist's alt?", "That's old."), words(81, 1)]
# By source, the names of both files, and what is in them.
FORMS = {
    "europarl_v7": ("training/europarl-v7.de-en", ".de", ".en", EUROPARL),
    "commoncrawl": ("commoncrawl.de-en", ".de", ".en", CRAWL),
    "news_commentary_v11": ("nc-v11/news-commentary-v11.de-en", ".de", ".en", [HOUSE] * 3),
    "wmt13_test": ("test/newstest2013-src", ".de.sgm", ".en.sgm", VALID),
    "wmt14_test": ("test-full/newstest2014-deen", "-ref.de.sgm", "-src.en.sgm", TEST),
}
MERGES, LINES, ENTRIES = 20, 8, 48


@pytest.fixture
def made(tmp_path):
    """A function that prepares the text by a card with these counts, and returns the project."""

    def run(lines=LINES, entries=ENTRIES, merges=MERGES, prepare=True):
        folder = write_config(tmp_path / "project")
        config, by_hand = folder / "config", folder / "results" / "sources" / "by_hand"
        by_hand.mkdir(parents=True)
        for name in (f"datasets/{NAME}", f"datasets/{ARCHIVE}", f"sources/{ARCHIVE}"):
            shutil.copy(ROOT / "config" / f"{name}.yaml", config / f"{name}.yaml")
        for source, (name, *ends, pairs) in FORMS.items():
            (config / "sources" / f"{source}.yaml").write_text(SOURCE.format(source))
            contents = {}
            for end, texts in zip(ends, zip(*pairs, strict=True), strict=True):
                plain = "".join(f"{text}\n" for text in texts).encode()
                contents[name + end] = sgm(*texts) if end.endswith("sgm") else plain
            tar_of(by_hand / f"{source}.tgz", contents)
        counts = {
            "merges: 32000": f"merges: {merges}",
            'train: "4.5M", valid: 3000, test: 3003': f"train: {LINES}, valid: 2, test: 2",
            "4500966, entries: 34040, threshold: 5": f"{lines}, entries: {entries}, threshold: 2",
        }
        replace_all(config / "datasets" / f"{NAME}.yaml", counts)
        scale = config / "scales" / "small.yaml"
        scale.write_text(f"{scale.read_text()}datasets: {{{ARCHIVE}: {NAME}}}\n")
        in_pieces(folder, ARCHIVE)
        invoke(folder, *(("fetch", source) for source in FORMS))
        if prepare:
            invoke(folder, ("prepare", NAME))
        return folder

    return run


def corpus(folder):
    return paths(folder).corpus(load(folder).spec(FULL_RUN, "small").data)


def bpe(training, words, merges):
    """Return the pieces of words, by the algorithm of Sennrich et al. (2016) as it is printed."""
    counts = Counter(word for line in training for word in line.split())
    pieces = {word: [*word[:-1], f"{word[-1]}</w>"] for word in words}
    for _ in range(merges):
        pairs = Counter()
        for word, parts in pieces.items():
            for pair in pairwise(parts):
                pairs[pair] += counts[word]
        # Of equally frequent pairs subword-nmt takes the last in the order of the alphabet.
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        for parts in pieces.values():
            at = 0
            while at < len(parts) - 1:
                if (parts[at], parts[at + 1]) == best:
                    parts[at : at + 2] = ["".join(best)]
                at += 1
    return {word: "@@ ".join(parts).removesuffix("</w>") for word, parts in pieces.items()}


def test_training_text_is_cleaned_and_all_text_is_cut_by_one_bpe_as_in_the_script(made):
    folder = corpus(made())
    names = [f"{split}.{side}" for split in ("train", "valid", "test") for side in ("deu", "eng")]
    cut = {name: read_lines(folder / "deu" / name) for name in names}
    whole = {name: [line.replace("@@ ", "") for line in cut[name]] for name in names}
    # The tokens are those of tokenizer.perl -q -l de, and -l en.
    long, news = "a" * 1000, "Das alte Haus steht z.B. dort ."
    german = ["Das Haus ist alt .", words(80, 80)[0], "Haus &#124; Maus &#91; neu &#93;"]
    assert whole["train.deu"] == [*german, words(9, 1)[0], long, *[news] * 3]
    assert whole["train.eng"][0] == "The house isn &apos;t new ."
    assert whole["train.eng"][2] == "&quot; It &apos;s a house &amp; a mouse &quot;"
    assert whole["valid.eng"] == ["Yes .", words(1, 10)[1]]
    assert whole["test.deu"] == ["Ist &apos; s alt ?", words(81, 1)[0]]
    pieces = bpe(
        whole["train.deu"] + whole["train.eng"],
        {word for lines in whole.values() for line in lines for word in line.split()},
        MERGES,
    )
    for name in names:
        assert cut[name] == [
            " ".join(pieces[word] for word in line.split()) for line in whole[name]
        ]
    record = read_record(folder / "corpus.json")
    task = record["tasks"]["deu"]
    assert (task["read"], task["dropped"]) == (16, DROPPED)
    counts = Counter(piece for name in names[:2] for line in cut[name] for piece in line.split())
    entries = 4 + sum(count >= 2 for count in counts.values())
    right = {"lines": LINES, "entries": entries + -entries % 8, "threshold": 2}
    assert record["proof"] == {"text_of": ARCHIVE, "wanted": right, "found": right}


def judged(folder, read=None):
    """Return the verdict on a score of a run on the text.

    `read` is the SHA-256 of the corpus.json that the training read; else it is that of today's.
    """
    project, record = load(folder), corpus(folder) / "corpus.json"
    write_scores(Artefacts(project, paths(folder)), FULL_RUN, key="bleu.test.plain.13a")
    content = {"corpus_sha256": read or (sha256(record) if record.is_file() else "")}
    write_record(paths(folder).training(project.spec(FULL_RUN, "small"), 1), content)
    artefacts = Artefacts(project, paths(folder))
    compared = artefacts.compared(*named(artefacts, "sample", "table1"))
    items = {(item.result.cell.row, item.result.cell.column): item for item in compared.cells}
    return items["Static", "deu"].verdict


def test_cells_are_judged_where_both_counts_prove_the_text(made):
    verdict = judged(made())
    assert (verdict.words, verdict.delta) == ("reproduced", 0.0)


def test_a_training_on_text_before_the_counted_one_is_not_judged(made):
    verdict = judged(made(), read="a" * 64)
    assert verdict.words == "not comparable (small)"
    assert "its training read other text than wmt16_en_de_rebuilt-" in verdict.cause


@pytest.mark.parametrize(
    ("changes", "doubt"),
    [
        ({"lines": 4_500_966}, "8 lines in place of 4,500,966"),
        ({"entries": 56}, f"{ENTRIES} entries in place of 56"),
        (
            {"lines": 9, "entries": 40},
            f"8 lines in place of 9 and {ENTRIES} entries in place of 40",
        ),
        ({"prepare": False}, f"nobody has counted yet whether its text is that of {ARCHIVE}"),
    ],
)
def test_a_wrong_count_leaves_the_text_another_one_and_the_cause_has_both(made, changes, doubt):
    folder = made(**changes)
    verdict = judged(folder)
    assert verdict.words == "not comparable (small)"
    assert verdict.cause.endswith(f"; {doubt}")
    if "prepare" not in changes:
        proof = read_record(corpus(folder) / "corpus.json")["proof"]
        wanted = {"lines": LINES, "entries": ENTRIES, "threshold": 2} | changes
        assert (proof["wanted"], proof["found"]["lines"]) == (wanted, LINES)


def test_more_merges_than_the_text_allows_are_refused(made, monkeypatch, call):
    monkeypatch.chdir(made(merges=9_999, prepare=False))
    answer = call("prepare", NAME)
    assert answer.code == 1
    what, where = "9999 merges are more than the text allows", "pieces.merges"
    says(what, where=where, remedy="write 60 or less").check(answer.err)
