import pyarrow
import pytest
from pyarrow import parquet

from fathom.config.schema.dataset import WikipediaDataset
from fathom.config.schema.source import SeveralFiles
from fathom.data.prepare import TASK, prepare, same_text
from fathom.data.readers.wikipedia import read
from fathom.io.errors import FathomError, Findings
from fathom.io.files import read_json, read_lines, sha256
from fathom.io.records import write_record
from fathom.results.verify import verify
from tests.data.small_archives import contents, wikipedia_dataset

SPLITS = ("train", "valid", "test")
# Full stops of their own, abbreviations, and numbers with a point.
SENTENCES = {
    "de": ["Dr. Abel kam z.B. am 3. Mai.", "Er ging wieder."],
    "ja": ["東京は首都です。", "それは大きいです。"],
    "zh": ["北京是首都。", "它很大。"],
    "hi": ["यह एक वाक्य है।", "यह दूसरा है।"],
    "ne": ["यो वाक्य हो।", "अर्को पनि छ।"],
    "my": ["မြန်မာနိုင်ငံသည် နိုင်ငံဖြစ်သည်။", "မြို့တော်မှာ နေပြည်တော်ဖြစ်သည်။"],
    "si": ["ශ්රී ලංකාව රටකි.", "එය දූපතකි."],
    "gu": ["આ એક વાક્ય છે.", "આ બીજું છે."],
    "ar": ["هذه جملة.", "هل هذا سؤال؟"],
    "kk": ["Бұл сөйлем.", "Бұл екінші сөйлем."],
    "cs": ["Narodil se 3. ledna 1900 v Praze.", "Zemřel tamtéž."],
}


def table(path, articles, wiki="de", **columns):
    """Write a parquet file of articles, with two of them in each row group."""
    address = f"https://{wiki}.wikipedia.org/wiki/{{}}"
    values = {
        "id": [str(n) for n, _ in enumerate(articles)],
        "url": [address.format(n) for n, _ in enumerate(articles)],
        "title": [f"Seite {n}" for n, _ in enumerate(articles)],
        "text": list(articles),
    }
    kept = {name: column for name, column in (values | columns).items() if column is not None}
    parquet.write_table(pyarrow.table(kept), path, row_group_size=2)
    return path


def folder_of(folder, *parts, wiki="de"):
    """Write a source's folder with a file for each list of articles."""
    folder.mkdir(parents=True)
    names = [f"train-{n:05d}.parquet" for n, _ in enumerate(parts)]
    for name, articles in zip(names, parts, strict=True):
        table(folder / name, articles, wiki)
    write_record(folder / "source.json", {"files": {name: sha256(folder / name) for name in names}})
    return folder


def articles(count, start=0):
    return [f"Satz Nummer {n} steht hier." for n in range(start, start + count)]


def splits(text):
    return {split: [row.text for row in rows] for split, rows in text.splits.items()}


@pytest.mark.parametrize("language", SENTENCES)
def test_paragraphs_are_split_by_the_rules_of_their_language(tmp_path, language):
    joined = "" if language in ("ja", "zh") else " "
    text = joined.join(SENTENCES[language])
    more = [f"{SENTENCES[language][1][:-1]} {n}{SENTENCES[language][1][-1]}" for n in range(6)]
    folder = folder_of(tmp_path / "a", [text, *more], wiki=language)
    found = splits(read({language: folder}, wikipedia_dataset([language]))[language])
    assert {*SENTENCES[language], *more} == {row for rows in found.values() for row in rows}


def test_rules_count_what_they_drop_and_counts_add_up(tmp_path):
    odd = f"Titel\n2001.\n\n{'w' * 81}.\n\n...\n\nEin Satz.\nListe\n\u200b\n"
    again = "SATZ NUMMER 1 STEHT HIER! Satz Nummer 2 steht hier. Satz Nummer 3 steht hier."
    folder = folder_of(tmp_path / "a", [odd, again, *articles(40)])
    text = read({"de": folder}, wikipedia_dataset(["de"]))["de"]
    found = splits(text)
    assert [len(rows) for rows in found.values()] == [44 - 4 - text.dropped["held_out"], 2, 2]
    dropped = {"unfinished": 2, "no_letter": 2, "too_long": 1, "not_drawn": 0}
    assert dropped.items() <= text.dropped.items()
    assert text.read == sum(map(len, found.values())) + text.dropped.total() == 49
    held = {row.casefold().strip(".!") for split in ("valid", "test") for row in found[split]}
    assert not held & {row.casefold().strip(".!") for row in found["train"]}


def test_groups_of_articles_are_read_in_the_order_of_a_hash_until_there_are_enough(tmp_path):
    parts = articles(40), articles(40, 40)
    folder = folder_of(tmp_path / "a", *parts)
    every = splits(read({"de": folder}, wikipedia_dataset(["de"]))["de"])["train"]
    text = read({"de": folder}, wikipedia_dataset(["de"], {"de": 30}))["de"]
    some = splits(text)["train"]
    assert len(some) == 30
    again = splits(read({"de": folder}, wikipedia_dataset(["de"], {"de": 30}))["de"])["train"]
    assert some == again
    # Of both files, not in their order; nothing is read beyond the group that makes it enough.
    assert {*parts[0]} & {*some}
    assert {*parts[1]} & {*some}
    assert every != sorted(every)
    assert text.read <= 30 + 4 + 2


def test_the_same_sentences_are_held_out_wherever_they_are_in_the_text(tmp_path):
    dataset = wikipedia_dataset(["de", "fr"])
    shuffled = [*reversed(articles(20, 10))], articles(10)
    folders = {
        "de": folder_of(tmp_path / "a", articles(30)),
        "fr": folder_of(tmp_path / "b", *shuffled, wiki="fr"),
    }
    texts = read(folders, dataset)
    one, other = map(splits, texts.values())
    assert (one["valid"], one["test"]) == (other["valid"], other["test"])
    # So one text under two names is found.
    (finding,) = same_text(dataset, texts)
    assert "tasks de and fr share" in finding.what


def bent(path):
    content = path.read_bytes()
    path.write_bytes(b"PAR1" + bytes(200) + content[204:])


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda path: path.write_bytes(b"PAR1<html>PAR1"), "not a readable parquet file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-40]), "not a readable parquet file"),
        (bent, "not a readable parquet file"),
        (lambda path: table(path, articles(9), text=None), "no column 'text' of type str"),
        (lambda path: table(path, articles(9), text=[*range(9)]), "no column 'text' of type str"),
        (lambda path: table(path, articles(9), wiki="fr"), "not one of https://de.wikipedia.org/"),
        (lambda path: table(path, articles(4)), "4 sentences are too few to hold 4 out and train"),
    ],
)
def test_a_file_that_is_not_such_a_table_is_named(tmp_path, harm, words):
    folder = folder_of(tmp_path / "a", articles(9))
    harm(folder / "train-00000.parquet")
    with pytest.raises(FathomError, match=words) as caught:
        read({"de": folder}, wikipedia_dataset(["de"]))
    assert caught.value.where.startswith("a")


def fetched(folder, *parts):
    """Write a source's folder as `fetch` does, and return the source."""
    folder_of(folder, *parts, wiki=folder.name)
    names = sorted(path.name for path in folder.glob("*.parquet"))
    value = {"kind": "files", "name": folder.name, "title": "invented", "licence": "CC0-1.0"}
    value |= {"notice": "none", "address": "https://example.org/2023"}
    write_record(folder / "first.json", {"files": {name: sha256(folder / name) for name in names}})
    return SeveralFiles.model_validate(value | {"files": dict.fromkeys(names)})


def test_files_become_a_corpus(tmp_path, lines):
    source = fetched(tmp_path / "de", articles(20), articles(20, 20))
    names = [*source.files]
    dataset, out = wikipedia_dataset(["de"], {"de": 20}), tmp_path / "corpus"
    prepare(dataset, {"de": source}, tmp_path.joinpath, out, lines.append)
    record = read_json(out / "corpus.json")
    assert [row["file"] for row in record["sources"]] == names
    task = record["tasks"]["de"]
    # Text without pairs is one file for each split.
    assert {"de/test.de", "de/train.de", "de/valid.de"} == record["files"].keys()
    assert task["languages"] == ["de"]
    assert len(read_lines(out / "de" / "train.de")) == 20
    assert task["splits"]["train"] == {"sentences": 20, "words": {"de": 100}}
    # Another revision is another corpus; checksums that become known are not.
    later = source.model_copy(update={"address": source.address.replace("2023", "2024")})
    assert dataset.corpus_folder({"de": later}) != dataset.corpus_folder({"de": source})


@pytest.fixture
def three(tmp_path, lines):
    """A data set of three languages, and a function that prepares all of them or one."""
    folder = tmp_path / "sources"
    starts = {"fr": 0, "de": 50, "it": 100}
    sources = {code: fetched(folder / code, articles(20, at)) for code, at in starts.items()}
    card = wikipedia_dataset([*starts], {"de": 9})

    def run(out=tmp_path / "corpus", task=None, card=card):
        # Another order than that of the tasks.
        card = card.model_copy(update={"sources": dict(sorted(card.sources.items()))})
        prepare(card, sources, folder.joinpath, out, lines.append, task)
        return out

    run.folder, run.card = folder, card
    return run


def corpus(out):
    return {name: text for name, text in contents(out).items() if not name.endswith(TASK)}


def test_languages_that_are_prepared_alone_join_to_the_bytes_of_one_job(
    three, tmp_path, monkeypatch
):
    for task in ("it", "fr", "de"):
        three(tmp_path / "apart", task)
    assert corpus(tmp_path / "apart").keys() == {
        f"{task}/{split}.{task}" for task in ("fr", "de", "it") for split in SPLITS
    }
    apart = corpus(three(tmp_path / "apart"))
    assert corpus(three()) == apart
    monkeypatch.setattr(WikipediaDataset, "independent", False)
    assert contents(three(tmp_path / "one_job")) == apart


def test_only_a_language_whose_text_is_not_finished_is_prepared_again(three, lines):
    source = three.folder / "de" / "source.json"
    lost = source.rename(source.with_name("lost"))
    with pytest.raises(FathomError, match="the source 'de' has not been fetched"):
        three()
    lost.rename(source)
    before = contents(three())
    read = ["invented: reading fr", "invented: reading de", "invented: reading it"]
    assert [line for line in lines if "reading" in line] == read
    out = three.folder.parent / "corpus"
    for name in ("de/train.de", "fr/task.json"):
        (out / name).write_text("altered\n")
    found = {path.relative_to(out).as_posix() for path in verify([out]).findings}
    assert found == {"de/train.de", "fr/task.json"}
    lines.clear()
    assert contents(three()) == before
    assert [line for line in lines if "reading" in line] == read[:2]
    assert "invented: it: already prepared, checksums right" in lines
    # Other files of a source are other text.
    for name in ("first.json", "source.json", "train-00000.parquet"):
        (three.folder / "it" / name).unlink()
    (three.folder / "it").rmdir()
    fetched(three.folder / "it", articles(20, 200))
    lines.clear()
    assert contents(three()) != before
    assert [line for line in lines if "reading" in line] == read[2:]


def test_joined_languages_are_checked_and_a_finished_corpus_stays(three):
    before = contents(three())
    counts = {"de": {"train": 10, "valid": 2, "test": 2}}
    values = three.card.model_dump() | {"expected": counts, "max_shared": 0.0}
    with pytest.raises(Findings, match="task de, split train: 9 sentences, expected 10"):
        three(card=WikipediaDataset.model_validate(values))
    assert contents(three.folder.parent / "corpus") == before
    with pytest.raises(FathomError, match="no task 'dee'; nearest valid name: 'de'"):
        three(task="dee")
