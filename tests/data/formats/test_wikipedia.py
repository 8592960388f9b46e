import bz2
import gzip

import pytest

from fathom.data.checks import same_text
from fathom.data.fetch import fetch, fetched_file
from fathom.data.prepare import prepare
from fathom.data.readers.wikipedia import read
from fathom.io.files import read_json, read_lines
from fathom.scoring.corpus import measure
from tests.data.small_archives import fetched, source
from tests.data.small_dumps import dump, page, wikipedia_dataset
from tests.support.refused import refused, says

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


def pages(*texts, start=0):
    return [page(f"Seite {n}", text) for n, text in enumerate(texts, start=start)]


def words(count):
    """Return articles with a sentence of their own."""
    return pages(*(f"Satz Nummer {n} steht hier." for n in range(count)))


def splits(text):
    return {split: [row.text for row in rows] for split, rows in text.splits.items()}


@pytest.mark.parametrize("language", SENTENCES)
def test_paragraphs_are_split_by_the_rules_of_their_language(tmp_path, language):
    text = (
        "".join(SENTENCES[language]) if language in ("ja", "zh") else " ".join(SENTENCES[language])
    )
    more = [f"{SENTENCES[language][1][:-1]} {n}{SENTENCES[language][1][-1]}" for n in range(6)]
    path = dump(tmp_path, f"{language}wiki", *pages(text, *more))
    dataset = wikipedia_dataset([language])
    found = splits(read({language: path}, dataset)[language])
    assert {*SENTENCES[language], *more} == {row for rows in found.values() for row in rows}


def test_rules_count_what_they_drop_and_counts_add_up(tmp_path):
    odd = page("Viel", "2001.\n\n" + "w" * 81 + ".\n\n...\n\nEin Satz.\n* Liste.\n== Titel ==")
    again = page(
        "Nochmal", "SATZ NUMMER 1 STEHT HIER! Satz Nummer 2 steht hier. Satz Nummer 3 steht hier."
    )
    extra = [page("Vorlage:X", "x", ns=10), page("Heim", "#REDIRECT", redirect=True)]
    path = dump(tmp_path, "dewiki", *words(40), odd, again, *extra)
    text = read({"de": path}, wikipedia_dataset(["de"], {"de": 20}))["de"]
    found = splits(text)
    assert (len(found["valid"]), len(found["test"])) == (2, 2)
    assert 18 <= len(found["train"]) <= 20
    assert (text.dropped["no_letter"], text.dropped["too_long"]) == (2, 1)
    assert (text.dropped["page_other_namespace"], text.dropped["page_redirect"]) == (1, 1)
    sentences = sum(map(len, found.values()))
    dropped = sum(count for rule, count in text.dropped.items() if not rule.startswith("page_"))
    assert text.read == sentences + dropped == 47
    assert text.dropped["held_out"] + text.dropped["not_drawn"] + sentences == 44


def test_the_same_sentences_are_held_out_wherever_the_text_is_read(tmp_path):
    one = read({"de": dump(tmp_path, "dewiki", *words(30))}, wikipedia_dataset(["de"]))["de"]
    other = dump(tmp_path, "dewiki", *reversed(words(30)))
    again = read({"de": other}, wikipedia_dataset(["de"], {"de": 10}))["de"]
    assert splits(one)["valid"] == splits(again)["valid"]
    assert splits(one)["test"] == splits(again)["test"]


def test_a_dump_under_two_names_is_found_by_its_held_out_sentences(tmp_path):
    files = {"de": dump(tmp_path, "dewiki", *words(30)), "fr": dump(tmp_path, "frwiki", *words(30))}
    dataset = wikipedia_dataset(["de", "fr"])
    (finding,) = same_text(dataset, read(files, dataset))
    says("shared text", "de", "fr").check(finding)


def test_a_dump_with_too_few_sentences_is_refused(tmp_path):
    path = dump(tmp_path, "dewiki", *words(4))
    with refused("few sentences", 4, 4, where=path.name):
        read({"de": path}, wikipedia_dataset(["de"]))


def test_fewer_sentences_than_the_first_article_has_are_refused(tmp_path):
    """The message blamed the dump."""
    path = dump(tmp_path, "dewiki", *pages(*(f"Satz {n}. Und Satz {n}{n}." for n in range(20))))
    with refused("small draw", 1, where="articles.yaml: split.train.de", remedy="36"):
        read({"de": path}, wikipedia_dataset(["de"], {"de": 1}))


def test_a_dump_of_another_wiki_is_refused(tmp_path):
    path = dump(tmp_path, "frwiki", *words(9))
    with refused("other wiki", "frwiki", "dewiki", where=path.name):
        read({"de": path}, wikipedia_dataset(["de"]))


def test_many_articles_are_read_in_several_processes_with_the_same_result(tmp_path, monkeypatch):
    path, dataset = dump(tmp_path, "dewiki", *words(200)), wikipedia_dataset(["de"], {"de": 100})
    found = []
    for processors in ({0}, {0, 1}):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, own=processors: own)
        found.append(splits(read({"de": path}, dataset)["de"]))
    assert found[0] == found[1]


@pytest.mark.parametrize("damage", [None, "truncated", "repacked"])
def test_a_dump_comes_from_a_server_and_becomes_a_corpus(tmp_path, site, lines, damage):
    content = dump(tmp_path, "dewiki", *words(40)).read_bytes()
    if damage == "truncated":
        content = content[:-40]
    if damage == "repacked":
        content = gzip.compress(bz2.decompress(content))
    name = "dewiki-20261101-pages-articles.xml.bz2"
    address = site.put(f"/dewiki/20261101/{name}", content=content)
    path = tmp_path / name
    one = source(path, "de", mirrors=[address], bytes=None, sha256=None)
    folder = tmp_path / "sources"
    if damage == "repacked":
        with refused("no archive", where=folder / "de" / name):
            fetch(one, folder / "de", tmp_path / "by_hand", lines.append)
        return
    fetch(one, folder / "de", tmp_path / "by_hand", lines.append)
    assert fetched_file(one, folder / "de").name == name
    dataset, out = wikipedia_dataset(["de"], {"de": 20}), tmp_path / "corpus"
    if damage == "truncated":
        with refused("no dump", where=name):
            prepare(dataset, {"de": one}, folder.joinpath, out, lines.append)
        assert not out.exists()
        return
    prepare(dataset, {"de": one}, folder.joinpath, out, lines.append)
    record = read_json(out / "corpus.json")["tasks"]["de"]
    train = read_lines(out / "de" / "train.de")
    assert len(train) == record["splits"]["train"]["sentences"] == 20
    assert record["splits"]["train"]["words"]["de"] == 100
    assert record["dropped"] == {"not_drawn": 16}
    measure(dataset, {"de": one}, out, lines.append)
    assert (
        read_json(out / "statistics.json")["measurements"]["sentences.train"]["all"]["value"] == 20
    )


def test_corpora_of_two_dates_are_two(tmp_path):
    first = fetched(tmp_path / "sources" / "de", dump(tmp_path, "dewiki", *words(9)), "de")
    dataset = wikipedia_dataset(["de"])
    later = first.model_copy(
        update={"sha256": None, "bytes": None, "file": "dewiki-20270101.xml.bz2"}
    )
    earlier = later.model_copy(update={"file": "dewiki-20261101.xml.bz2"})
    assert dataset.corpus_folder({"de": later}) != dataset.corpus_folder({"de": earlier})
