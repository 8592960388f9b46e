"""`fathom fetch`, `prepare`, `subwords`, `encode`."""

import random
import re
import shutil
from contextlib import closing
from hashlib import sha256
from io import BytesIO
from zipfile import ZipFile

import pytest
import yaml

from fathom.config.load import load
from fathom.io.files import read_json
from fathom.io.records import identity
from fathom.io.signals import Stopped
from fathom.results import measurements
from tests.data.server import Site
from tests.support.small_project import RUN, TEST_SENTENCES, paths
from tests.support.stopped_jobs import HEARD, said_of, start

FILE = "Django-5.1.4-py3-none-any.whl"


def zipped(text):
    """Return the bytes of an archive of one file."""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", text)
    return packed.getvalue()


def write_card(project, name, mirrors, content):
    """Write the card of a source: an archive of these bytes at some addresses."""
    card = {
        "title": "A file",
        "kind": "archive",
        "mirrors": mirrors,
        "file": "a.zip",
        "bytes": len(content),
        "sha256": sha256(content).hexdigest(),
        "licence": "BSD-3-Clause",
        "notice": "Of the tests.",
    }
    path = project / "config" / "sources" / f"{name}.yaml"
    path.write_text(yaml.safe_dump(card), encoding="utf-8")


def test_a_check_of_sites_names_what_is_missing_what_it_stops_and_what_to_do(
    project, call, monkeypatch
):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with closing(Site()) as site:
        content = zipped("a")
        gone, other = site.put("/gone", status=404), site.put("/other", content=content + b"1")
        write_card(project, "django", [gone, other], content)
        for words in (("validate",), ("plan",), ("list", "sources")):
            assert call(*words).code == 0
        assert site.requests == []
        answer = call("fetch", "--check")
        put = "results/sources/by_hand/a.zip"
        assert answer.lines == [
            "django  a.zip: not found",
            f"  {gone}: the server answers 404 Not Found",
            f"  {other}: {len(content) + 1} bytes, not the published {len(content)}",
            "  without it: no sample_table1, sample_figure1",
            f"  to do: put the file at {put}, or give another address in the source's card",
        ]
        assert answer.code == 1
        assert answer.err == "files here: 0, found at 0 hosts: 0, missing: 1\n"
        site.put("/other", content=content)
        answer = call("fetch", "--check", "django")
        assert (answer.code, answer.out) == (0, "")
        assert answer.err == "files here: 0, found at 1 hosts: 1, missing: 0\n"
        assert not (project / "results").exists()
        # Without --check the file is fetched, and is here then.
        assert call("fetch").code == 0
        assert call("fetch", "--check").err.startswith("files here: 1,")


def test_a_file_put_by_hand_gets_a_record_and_its_notice_is_printed(project, edit, call):
    content = zipped("a")
    put = project / "results" / "sources" / "by_hand" / FILE
    put.parent.mkdir(parents=True)
    put.write_bytes(content)
    published = (project / "config" / "sources" / "django.yaml").read_text(encoding="utf-8")
    digits = published.split("sha256: ")[1][:64]
    edit("sources/django.yaml", "8276471", str(len(content)))
    edit("sources/django.yaml", digits, sha256(content).hexdigest())
    answer = call("fetch", "django")
    record = read_json(project / "results" / "sources" / "django" / "source.json")
    assert record["by_hand"] is True
    assert "BSD-3-Clause" in answer.err
    assert answer.out == ""


@pytest.mark.slow
def test_a_download_that_signals_stop_goes_on_where_it_was(project, call, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    content = zipped(random.Random(1).randbytes(2_000_000))
    with closing(Site()) as site:
        address = site.put("/a.zip", content=content, stalls=[400_000] * 3)
        write_card(project, "slow", [address], content)
        part = project / "results" / "sources" / "slow" / "a.zip.part"
        sizes = [0]
        for number in random.Random().choices(HEARD, k=3):
            job = start(project, "fetch slow")
            code = job.stop(number, lambda: part.exists() and part.stat().st_size > sizes[-1])
            assert code == Stopped(number).code
            [*_, last] = job.log.read_text(encoding="utf-8").splitlines()
            assert re.search(f"{said_of(number)} start the same command again", last)
            sizes.append(part.stat().st_size)
        assert call("fetch", "slow").code == 0
        first, *others = site.requests
        assert first == ("/a.zip", None)
        assert others == [("/a.zip", f"bytes={size}-") for size in sizes[1:]]
    assert part.with_name("a.zip").read_bytes() == content
    assert not part.exists()


def data_of(folder):
    return load(folder).spec(f"sample/{RUN}", "small").data


def test_a_corpus_is_counted_by_name_and_by_folder_with_the_same_bytes(own, text, call):
    folder = own(text)
    data = data_of(folder)
    path, counts = paths(folder).statistics(data), []
    for name in ("small", data.corpus_folder):
        # Nothing is fetched, so the text cannot be prepared again.
        assert "the source 'django' has not been fetched" in call("prepare", name).one_line
        assert call("prepare", name, "--count").code == 0
        counts.append(path.read_bytes())
    assert counts[0] == counts[1]
    file = measurements.read(path)
    assert (file.corpus, file.identity) == ("small", identity(data.definition))
    pairs = file.measurements["pairs.test"].tasks
    assert {task: number.value for task, number in pairs.items()} == dict.fromkeys(
        ("bos", "kor"), TEST_SENTENCES
    )


def test_text_is_learned_from_by_name_and_by_folder_with_the_same_bytes(own, text, call):
    folder = own(text)
    data = data_of(folder)
    assert call("subwords", "small").code == 0
    files = sorted(paths(folder).subwords(data).iterdir())
    assert "subwords.json" in [file.name for file in files]
    before = [file.read_bytes() for file in files]
    answer = call("subwords", data.subwords_folder)
    assert (answer.code, answer.out) == (0, "")
    assert "bpe, 120 pieces" in answer.err
    assert [file.read_bytes() for file in files] == before


@pytest.mark.parametrize(
    ("words", "is_prepared", "missing", "command"),
    [
        ("prepare --count small", False, "corpus.json", "fathom prepare small"),
        ("subwords small", False, "corpus.json", "fathom prepare small"),
        ("encode small", True, "subwords.json", "fathom subwords small-"),
    ],
)
def test_text_that_is_not_prepared_or_has_no_subwords_is_named_with_the_command(
    own, text, call, words, is_prepared, missing, command
):
    folder = own(text)
    if not is_prepared:
        (paths(folder).corpus(data_of(folder)) / "corpus.json").unlink()
    line = call(*words.split()).one_line
    assert missing in line
    assert command in line
    assert not (folder / "results" / "subwords").exists()
    assert not (folder / "results" / "tensors").exists()


def test_text_is_encoded_as_before(own, encoded, call):
    folder = own(encoded)
    data = data_of(folder)
    tensors = paths(folder).tensors(data)
    before = read_json(tensors / "tensors.json")
    shutil.rmtree(tensors)
    answer = call("encode", data.folder)
    assert (answer.code, answer.out) == (0, "")
    long = "encode: bos: 1 left out, with more than 64 pieces on a side"
    assert answer.err == f"encode: bos\n{long}\nencode: kor\nnext: fathom list runs\n"
    assert read_json(tensors / "tensors.json") == before
