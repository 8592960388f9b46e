import re
from datetime import datetime
from hashlib import md5, sha256

import pytest

from fathom.config.schema.source import SeveralFiles
from fathom.data import fetch as fetching
from fathom.data.download import Limits
from fathom.data.fetch import download_wheel, fetched
from fathom.io.errors import FathomError
from fathom.io.locks import HOLDER, LOCK, only_writer
from fathom.io.records import read_record, write_record
from tests.data.small_archives import installable, source, tar_of
from tests.support.refused import refused

CONTENT = {"talks.tsv": "".join(f"line {n * n}\n" for n in range(9000)).encode()}


class Here:
    """The folder of a source, the folder for files by hand, and what is reported."""

    def __init__(self, sources):
        self.folder, self.by_hand, self.lines = sources / "talks", sources / "by_hand", []
        self.record = self.folder / "source.json"

    def fetch(self, source):
        fetching.fetch(source, self.folder, self.by_hand, self.lines.append, Limits(pause=0))

    def put(self, name, content):
        """Put a file by hand."""
        path = self.by_hand / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    @property
    def left(self):
        """The names of what is left in the source's folder, but its lock."""
        names = (path.name for path in self.folder.iterdir())
        return sorted(name for name in names if name not in (LOCK, HOLDER))


@pytest.fixture
def here(tmp_path):
    return Here(tmp_path / "sources")


@pytest.fixture
def archive(tmp_path):
    return tar_of(tmp_path / "talks.tar.gz", CONTENT)


@pytest.fixture
def talks(site, archive):
    """A source whose size and checksum are published."""
    address = site.put("/talks.tar.gz", content=archive.read_bytes())
    return source(archive, "talks", mirrors=[address])


@pytest.fixture
def unpublished(talks):
    """A source whose size and checksum nobody publishes."""
    return talks.model_copy(update={"bytes": None, "sha256": None})


def altered(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


# A source that is fetched


def test_a_source_is_its_file_as_published_and_a_record(talks, archive, here, site):
    # What killed processes left is deleted.
    (here.folder / ".pip-abc").mkdir(parents=True)
    (here.folder / ".pip-abc" / "half.whl").write_bytes(b"half")
    (here.folder / ".talks.tar.gz.1234.part").write_bytes(b"half")
    here.fetch(talks)
    assert here.left == ["source.json", "talks.tar.gz"]
    assert fetched(talks, here.folder).read_bytes() == archive.read_bytes()
    record = read_record(here.record)
    assert datetime.fromisoformat(record.pop("fetched")).tzinfo is not None
    assert record == {
        "name": "talks",
        "title": "invented",
        "file": "talks.tar.gz",
        "address": talks.mirrors[0],
        "bytes": archive.stat().st_size,
        "files": {"talks.tar.gz": talks.sha256},
        "licence": "CC0-1.0",
        "notice": "Invented for a test.",
    }
    # A second fetch changes nothing and asks nobody; the licence is shown once.
    before = here.record.read_bytes()
    here.fetch(talks)
    assert here.record.read_bytes() == before
    assert len(site.requests) == 1
    assert "already fetched" in here.lines[-1]
    assert sum("CC0-1.0. Invented for a test." in line for line in here.lines) == 1


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("talks.tar.gz", "x", "not the file that was recorded"),
        ("talks.tar.gz", None, "no such file"),
        ("source.json", "{", "not JSON"),
        ("source.json", '{"sha256": "0"}', "checksum"),
        ("source.json", {"talks.tar.gz": "0"}, "is another file than config/sources says"),
        ("source.json", None, "has not been fetched"),
    ],
)
def test_what_is_not_as_recorded_is_named_and_fetched_again(talks, here, name, content, words):
    here.fetch(talks)
    whole, path = (here.folder / "talks.tar.gz").read_bytes(), here.folder / name
    if content is None:
        path.unlink()
    elif isinstance(content, str):
        path.write_text(content)
    else:
        write_record(path, {"files": content})
    with refused(words, remedy="fathom fetch talks"):
        fetched(talks, here.folder)
    here.fetch(talks)
    assert fetched(talks, here.folder).read_bytes() == whole


def test_a_full_disk_is_found_before_anything_is_fetched(talks, here, site):
    large = talks.model_copy(update={"bytes": 10**18})
    with refused("needs 1,000,000,000,000,000,000 bytes, the disk has"):
        here.fetch(large)
    assert site.requests == []


def test_two_processes_never_fetch_into_one_folder(talks, here, site):
    with only_writer(here.folder, print), refused():
        here.fetch(talks)
    assert site.requests == []


# Addresses


def test_the_next_address_is_tried_and_one_error_names_what_each_gave(site, archive, here):
    content = archive.read_bytes()
    wrong = [
        site.put("/page", content=b"<!doctype html>" + bytes(len(content) - 15)),
        site.put("/short", content=content[:-1]),
        site.put("/gone", status=404),
        site.put("/bent", content=altered(content)),
    ]
    with pytest.raises(FathomError, match="no address gave") as caught:
        here.fetch(source(archive, "talks", mirrors=wrong))
    words = ("web page", "not the published", "404", "its sha256 is")
    for what, word in zip(caught.value.what.split("; "), words, strict=True):
        assert word in what
    assert str(here.by_hand / "talks.tar.gz") in caught.value.remedy
    assert "\n" not in str(caught.value)
    assert here.left == []
    right = site.put("/right", content=content)
    here.fetch(source(archive, "talks", mirrors=[*wrong, right]))
    assert read_record(here.record)["address"] == right


@pytest.mark.parametrize(
    ("mirrors", "tried"),
    [
        (["http://a.org/f"], ["https://a.org/f", "http://a.org/f"]),
        (["https://a.org/f", "http://a.org/f"], ["https://a.org/f", "http://a.org/f"]),
        (["http://me:word@a.org/f"], ["https://me:word@a.org/f", "http://me:word@a.org/f"]),
        # A server speaks one of the two on a port.
        (["http://a.org:8080/f"], ["http://a.org:8080/f"]),
    ],
)
def test_https_is_tried_before_http(talks, mirrors, tried):
    assert [*talks.model_copy(update={"mirrors": mirrors}).addresses("f")] == tried


def test_a_file_with_another_md5_than_the_published_one_is_not_even_recorded(
    site, unpublished, archive, here
):
    content = archive.read_bytes()
    known = unpublished.model_copy(update={"md5": md5(content).hexdigest()})
    site.put("/talks.tar.gz", content=altered(content))
    with refused("its md5 is"):
        here.fetch(known)
    here.put("talks.tar.gz", altered(content))
    with refused("its md5 is"):
        here.fetch(known)
    assert here.left == []
    here.put("talks.tar.gz", content)
    here.fetch(known)
    assert fetched(known, here.folder).read_bytes() == content
    assert any("the right MD5, no SHA-256 is published" in line for line in here.lines)


def test_a_part_that_was_altered_on_disk_is_not_trusted(site, talks, archive, here):
    site.put("/talks.tar.gz", content=archive.read_bytes(), drops=[1000, 0])
    with refused(remedy="run it again to resume"):
        here.fetch(talks)
    assert here.left == ["talks.tar.gz.part", "talks.tar.gz.part.json"]
    (here.folder / "talks.tar.gz.part").write_bytes(bytes(1000))
    with refused("its sha256 is"):
        here.fetch(talks)
    assert here.left == []


def test_no_user_password_or_query_of_an_address_is_printed_or_kept(site, archive, here):
    """All of source.json, of the lines and of the error had them."""
    content, note = archive.read_bytes(), here.folder / "talks.tar.gz.part.json"
    plain = site.put("/file?token=hidden", content=content, drops=[1000, 0])
    talks = source(archive, "talks", mirrors=[plain.replace("://", "://somebody:hidden@")])
    with pytest.raises(FathomError, match="run it again to resume") as caught:
        here.fetch(talks)
    kept = [str(caught.value), note.read_text()]
    here.fetch(talks)
    assert site.requests[-1][1] == "bytes=1000-"
    for text in (*kept, *here.lines, here.record.read_text()):
        assert "hidden" not in text
        assert "somebody" not in text


# By hand


def test_a_file_put_by_hand_is_taken_first_and_named_where_only_the_user_may_fetch_it(
    site, talks, archive, here
):
    steps = {"kind": "by_hand", "steps": "register at the university"}
    registered = source(archive, "talks", **steps, bytes=None, sha256=None)
    with refused("by hand: register at the university", remedy=here.by_hand / archive.name):
        here.fetch(registered)
    here.put("talks.tar.gz", archive.read_bytes())
    for made in (registered, talks):
        here.fetch(made)
        assert read_record(here.record)["by_hand"] is True
        assert fetched(made, here.folder).read_bytes() == archive.read_bytes()
        here.record.unlink()
    assert site.requests == []
    assert (here.by_hand / "talks.tar.gz").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (altered, re.compile("its sha256 is .* not the published")),
        (lambda content: content + b"x", "bytes, not the published"),
    ],
)
def test_a_wrong_file_put_by_hand_is_an_error_and_not_passed_over(
    site, talks, archive, here, change, words
):
    here.put("talks.tar.gz", change(archive.read_bytes()))
    with refused(words, where=here.by_hand / "talks.tar.gz"):
        here.fetch(talks)
    assert (here.left, site.requests) == ([], [])


# Sources without a published checksum


def test_the_first_fetch_records_a_checksum_and_later_ones_must_match_it(
    site, unpublished, archive, here
):
    content, first = archive.read_bytes(), here.folder / "first.json"
    here.fetch(unpublished)
    checksum = read_record(first)["files"]["talks.tar.gz"]
    assert any("no checksum is published" in line and checksum in line for line in here.lines)
    assert read_record(here.record)["files"] == {"talks.tar.gz": checksum}

    (here.folder / "talks.tar.gz").unlink()
    site.put("/talks.tar.gz", content=altered(content))
    with refused("of the first fetch"):
        here.fetch(unpublished)
    here.put("talks.tar.gz", altered(content))
    with refused("of the first fetch"):
        here.fetch(unpublished)
    here.put("talks.tar.gz", content)
    here.fetch(unpublished)
    assert fetched(unpublished, here.folder).read_bytes() == content

    # Whoever deletes the record, or damages it and is told so, takes another file.
    first.write_text("{}")
    with refused("checksum", where=first):
        here.fetch(unpublished)
    first.unlink()
    other = tar_of(archive.with_name("other.tar.gz"), {"talks.tsv": b"another text\n"}).read_bytes()
    here.put("talks.tar.gz", other)
    here.fetch(unpublished)
    assert fetched(unpublished, here.folder).read_bytes() == other


# As `git hash-object` prints it of these lines.
BLOB = "c98f6d14cdc412bb88fee029df5a01b4fc22c3f1"


def other(contents):
    """A function that packs other contents in place of an archive."""
    return lambda path: tar_of(path, contents).read_bytes()


@pytest.mark.parametrize(
    ("spoiled", "words"),
    [
        (lambda path: path.read_bytes()[:-500], "not a readable archive"),
        (lambda path: b"<!doctype html>" + b"x" * 900, "web page"),
        (other(CONTENT | {"zeros": bytes(16 << 20)}), "more than 100 times as large"),
        (
            other({"talks.tsv": altered(CONTENT["talks.tsv"])}),
            re.compile(f"its id in git is .*, not {BLOB}"),
        ),
        (other({"other.tsv": b"one"}), "the file talks.tsv is missing"),
    ],
)
def test_what_is_not_a_whole_archive_or_has_other_files_is_not_kept(
    site, unpublished, archive, here, spoiled, words
):
    """Nobody publishes its checksum, and its length is not announced."""
    known = unpublished.model_copy(update={"blobs": {"talks.tsv": BLOB}})
    site.put("/talks.tar.gz", content=spoiled(archive), says_length=False)
    with refused(words):
        here.fetch(known)
    assert here.left == []
    assert not any("licence" in line for line in here.lines)


def test_an_archive_packed_anew_is_known_by_the_ids_of_its_files_in_git(
    site, unpublished, archive, here
):
    known = unpublished.model_copy(update={"blobs": {"talks.tsv": BLOB}})
    packed = tar_of(archive, {"experiments-0123/talks.tsv": CONTENT["talks.tsv"]}, "w:xz")
    site.put("/talks.tar.gz", content=packed.read_bytes())
    here.fetch(known)
    assert fetched(known, here.folder).exists()


def linked(content, **changes):
    """What Hugging Face says of a file with these bytes, before it redirects."""
    said = {"size": str(len(content)), "digits": sha256(content).hexdigest()} | changes
    return {"status": 302, "linked": (said["size"], f'"{said["digits"]}"')}


def test_what_the_site_publishes_with_a_file_is_demanded_and_recorded(
    site, unpublished, archive, here
):
    content = archive.read_bytes()
    moved = {"location": site.put("/bytes", content=altered(content), drops=[1000])}
    site.put("/talks.tar.gz", **linked(content), **moved)
    with pytest.raises(FathomError, match=r"its sha256 is .* that the site publishes"):
        here.fetch(unpublished)
    # Another size is noticed before the bytes are received.
    site.put("/bytes", content=content[:-1])
    with pytest.raises(FathomError, match="bytes, not the published"):
        here.fetch(unpublished)
    assert not (here.folder / "first.json").exists()

    site.put("/bytes", content=content)
    here.fetch(unpublished)
    assert any("the checksum that the site publishes" in line for line in here.lines)
    for name in ("first.json", "source.json"):
        record = read_record(here.folder / name)
        assert record["published_by_site"] == ["talks.tar.gz"]
        assert record["files"] == {"talks.tar.gz": sha256(content).hexdigest()}
    here.put("talks.tar.gz", altered(content))
    (here.folder / "source.json").unlink()
    with pytest.raises(FathomError, match="that the site published at the first fetch"):
        here.fetch(unpublished)


@pytest.mark.parametrize("changes", [{"digits": "0" * 40}, {"size": "-1"}, {"size": ""}])
def test_what_a_site_says_that_is_not_a_size_and_a_sha256_is_passed_over(
    site, unpublished, archive, here, changes
):
    moved = {"location": site.put("/bytes", content=archive.read_bytes())}
    site.put("/talks.tar.gz", **linked(archive.read_bytes(), **changes), **moved)
    here.fetch(unpublished)
    assert "published_by_site" not in read_record(here.folder / "source.json")


def test_a_published_checksum_comes_before_what_a_site_says(site, talks, here):
    content = site.pages["/talks.tar.gz"].content
    moved = {"location": site.put("/bytes", content=content)}
    site.put("/talks.tar.gz", **linked(altered(content)), **moved)
    here.fetch(talks)
    assert fetched(talks, here.folder).read_bytes() == content


# Sources of several files


@pytest.fixture
def several(site):
    """Three files below one address, of which one has a published checksum."""
    contents = {f"part{n}.parquet": b"PAR1" + bytes([n]) * 9000 + b"PAR1" for n in range(3)}
    for name, content in contents.items():
        site.put(f"/revision/{name}", content=content)
    files = dict.fromkeys(contents)
    content = contents["part1.parquet"]
    files["part1.parquet"] = {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    value = {"kind": "files", "name": "talks", "title": "invented", "files": files}
    value |= {"licence": "CC0-1.0", "notice": "Invented for a test."}
    made = SeveralFiles.model_validate(value | {"address": site.put("/revision", status=404)})
    return made, contents


def test_several_files_are_fetched_one_after_the_other_and_all_are_checked(site, several, here):
    made, contents = several
    site.pages["/revision/part2.parquet"].drops = [0]
    with refused("no address gave part2"):
        here.fetch(made)
    site.requests.clear()
    here.fetch(made)
    assert site.requests == [("/revision/part2.parquet", None)]
    assert fetched(made, here.folder) == here.folder
    for name, content in contents.items():
        assert (here.folder / name).read_bytes() == content
    first = read_record(here.folder / "first.json")["files"]
    assert sorted(first) == ["part0.parquet", "part2.parquet"]
    record = read_record(here.record)
    assert (record["bytes"], record["address"]) == (3 * 9008, made.address)

    (here.folder / "part0.parquet").write_bytes(altered(contents["part0.parquet"]))
    with refused(remedy="fathom fetch talks"):
        fetched(made, here.folder)
    here.put("talks/part0.parquet", contents["part0.parquet"])
    here.fetch(made)
    assert fetched(made, here.folder) == here.folder

    fewer = made.model_copy(update={"files": {"part0.parquet": None}})
    with refused("has other files than config/sources says"):
        fetched(fewer, here.folder)
    here.fetch(fewer)
    assert fetched(fewer, here.folder) == here.folder


def test_a_file_that_its_folder_lacks_comes_from_a_mirror_which_the_record_names(
    site, several, here
):
    made, contents = several
    mirrored = made.model_copy(update={"mirrors": (site.put("/copy", status=404),)})
    site.put("/copy/part1.parquet", content=contents["part1.parquet"])
    site.put("/revision/part1.parquet", status=404)
    here.fetch(mirrored)
    record = read_record(here.folder / "source.json")
    assert record["address"] == made.address
    assert record["mirrors"] == {"part1.parquet": f"{mirrored.mirrors[0]}/part1.parquet"}
    # Which copies are named says nothing about the text.
    assert mirrored.identity() == made.identity()


# pip


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that pip takes for its only index."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.slow
def test_a_package_comes_through_pip_without_what_it_requires(index, here):
    wheel = installable(index, requires="not-to-be-had")
    here.fetch(wheel)
    assert here.left == [wheel.file, "source.json"]
    assert read_record(here.record)["package"] == "invented-messages==1.0"
    assert fetched(wheel, here.folder).read_bytes() == (index / wheel.file).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "limits", "words"),
    [
        ({"version": "2.0"}, Limits(), "pip's index does not have this version"),
        ({"package": "never-heard-of"}, Limits(), "pip finds nothing under this name"),
        ({"sha256": "0" * 64}, Limits(), "the index has another file under this name"),
        # An index that sends a byte now and then kept pip, and the fetch, for ever.
        ({}, Limits(rate_over=0.01, rate=1e6), "pip has not ended after"),
    ],
)
def test_what_pip_refuses_is_said_in_one_line(index, tmp_path, changes, limits, words):
    wheel = installable(index).model_copy(update=changes)
    with refused(words, where=wheel.pinned, remedy=tmp_path / "by_hand"):
        download_wheel(wheel, tmp_path, tmp_path / "by_hand", limits)
    assert list(tmp_path.glob("*.whl")) == []


@pytest.mark.slow
def test_an_index_out_of_reach_is_reported_without_its_address(index, tmp_path, monkeypatch, site):
    wheel = installable(index)
    address = site.put("/simple/", status=404)
    site.close()
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", address)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(FathomError, match="pip does not reach its index") as caught:
        download_wheel(wheel, tmp_path, tmp_path / "by_hand")
    assert "127.0.0.1" not in str(caught.value)
