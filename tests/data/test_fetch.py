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

CONTENT = {"talks.tsv": "".join(f"line {n * n}\n" for n in range(9000)).encode()}


def fetch(source, places, report):
    fetching.fetch(source, *places, report, Limits(pause=0))


@pytest.fixture
def places(tmp_path):
    """The source's folder and the folder for files by hand."""
    return tmp_path / "sources" / "talks", tmp_path / "sources" / "by_hand"


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


def put(places, name, content):
    path = places[1] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def left(places):
    """Return the names of what is left in the source's folder, but its lock."""
    return sorted(path.name for path in places[0].iterdir() if path.name not in (LOCK, HOLDER))


# A source that is fetched


def test_a_source_is_its_file_as_published_and_a_record(talks, archive, places, lines, site):
    # What killed processes left is deleted.
    (places[0] / ".pip-abc").mkdir(parents=True)
    (places[0] / ".pip-abc" / "half.whl").write_bytes(b"half")
    (places[0] / ".talks.tar.gz.1234.part").write_bytes(b"half")
    fetch(talks, places, lines.append)
    assert left(places) == ["source.json", "talks.tar.gz"]
    assert fetched(talks, places[0]).read_bytes() == archive.read_bytes()
    record = read_record(places[0] / "source.json")
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
    before = (places[0] / "source.json").read_bytes()
    fetch(talks, places, lines.append)
    assert (places[0] / "source.json").read_bytes() == before
    assert len(site.requests) == 1
    assert "already fetched" in lines[-1]
    assert sum("CC0-1.0. Invented for a test." in line for line in lines) == 1


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
def test_what_is_not_as_recorded_is_named_and_fetched_again(
    talks, places, lines, name, content, words
):
    fetch(talks, places, lines.append)
    whole, path = (places[0] / "talks.tar.gz").read_bytes(), places[0] / name
    if content is None:
        path.unlink()
    elif isinstance(content, str):
        path.write_text(content)
    else:
        write_record(path, {"files": content})
    with pytest.raises(FathomError, match=words) as caught:
        fetched(talks, places[0])
    assert "fathom fetch talks" in caught.value.remedy
    fetch(talks, places, lines.append)
    assert fetched(talks, places[0]).read_bytes() == whole


def test_a_full_disk_is_found_before_anything_is_fetched(talks, places, lines, site):
    large = talks.model_copy(update={"bytes": 10**18})
    with pytest.raises(FathomError, match="needs 1,000,000,000,000,000,000 bytes, the disk has"):
        fetch(large, places, lines.append)
    assert site.requests == []


def test_two_processes_never_fetch_into_one_folder(talks, places, lines, site):
    with only_writer(places[0], print), pytest.raises(FathomError):
        fetch(talks, places, lines.append)
    assert site.requests == []


# Addresses


def test_the_next_address_is_tried_and_one_error_names_what_each_gave(site, archive, places, lines):
    content = archive.read_bytes()
    wrong = [
        site.put("/page", content=b"<!doctype html>" + bytes(len(content) - 15)),
        site.put("/short", content=content[:-1]),
        site.put("/gone", status=404),
        site.put("/bent", content=altered(content)),
    ]
    with pytest.raises(FathomError, match="no address gave") as caught:
        fetch(source(archive, "talks", mirrors=wrong), places, lines.append)
    words = ("web page", "not the published", "404", "its sha256 is")
    for what, word in zip(caught.value.what.split("; "), words, strict=True):
        assert word in what
    assert str(places[1] / "talks.tar.gz") in caught.value.remedy
    assert "\n" not in str(caught.value)
    assert left(places) == []
    right = site.put("/right", content=content)
    fetch(source(archive, "talks", mirrors=[*wrong, right]), places, lines.append)
    assert read_record(places[0] / "source.json")["address"] == right


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
    site, unpublished, archive, places, lines
):
    content = archive.read_bytes()
    known = unpublished.model_copy(update={"md5": md5(content).hexdigest()})
    site.put("/talks.tar.gz", content=altered(content))
    with pytest.raises(FathomError, match="its md5 is"):
        fetch(known, places, lines.append)
    put(places, "talks.tar.gz", altered(content))
    with pytest.raises(FathomError, match="its md5 is"):
        fetch(known, places, lines.append)
    assert left(places) == []
    put(places, "talks.tar.gz", content)
    fetch(known, places, lines.append)
    assert fetched(known, places[0]).read_bytes() == content
    assert any("the right MD5, no SHA-256 is published" in line for line in lines)


def test_a_part_that_was_altered_on_disk_is_not_trusted(site, talks, archive, places, lines):
    site.put("/talks.tar.gz", content=archive.read_bytes(), drops=[1000, 0])
    with pytest.raises(FathomError, match="run it again to resume"):
        fetch(talks, places, lines.append)
    assert left(places) == ["talks.tar.gz.part", "talks.tar.gz.part.json"]
    (places[0] / "talks.tar.gz.part").write_bytes(bytes(1000))
    with pytest.raises(FathomError, match="its sha256 is"):
        fetch(talks, places, lines.append)
    assert left(places) == []


def test_no_user_password_or_query_of_an_address_is_printed_or_kept(site, archive, places, lines):
    """All of source.json, of the lines and of the error had them."""
    content, note = archive.read_bytes(), places[0] / "talks.tar.gz.part.json"
    plain = site.put("/file?token=hidden", content=content, drops=[1000, 0])
    talks = source(archive, "talks", mirrors=[plain.replace("://", "://somebody:hidden@")])
    with pytest.raises(FathomError, match="run it again to resume") as caught:
        fetch(talks, places, lines.append)
    kept = [str(caught.value), note.read_text()]
    fetch(talks, places, lines.append)
    assert site.requests[-1][1] == "bytes=1000-"
    for text in (*kept, *lines, (places[0] / "source.json").read_text()):
        assert "hidden" not in text
        assert "somebody" not in text


# By hand


def test_a_file_put_by_hand_is_taken_first_and_named_where_only_the_user_may_fetch_it(
    site, talks, archive, places, lines
):
    steps = {"kind": "by_hand", "steps": "register at the university"}
    registered = source(archive, "talks", **steps, bytes=None, sha256=None)
    with pytest.raises(FathomError, match="by hand: register at the university") as caught:
        fetch(registered, places, lines.append)
    assert str(places[1] / archive.name) in caught.value.remedy
    put(places, "talks.tar.gz", archive.read_bytes())
    for made in (registered, talks):
        fetch(made, places, lines.append)
        assert read_record(places[0] / "source.json")["by_hand"] is True
        assert fetched(made, places[0]).read_bytes() == archive.read_bytes()
        (places[0] / "source.json").unlink()
    assert site.requests == []
    assert (places[1] / "talks.tar.gz").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (altered, "its sha256 is .* not the published"),
        (lambda content: content + b"x", "bytes, not the published"),
    ],
)
def test_a_wrong_file_put_by_hand_is_an_error_and_not_passed_over(
    site, talks, archive, places, lines, change, words
):
    put(places, "talks.tar.gz", change(archive.read_bytes()))
    with pytest.raises(FathomError, match=words) as caught:
        fetch(talks, places, lines.append)
    assert caught.value.where == str(places[1] / "talks.tar.gz")
    assert (left(places), site.requests) == ([], [])


# Sources without a published checksum


def test_the_first_fetch_records_a_checksum_and_later_ones_must_match_it(
    site, unpublished, archive, places, lines
):
    content, first = archive.read_bytes(), places[0] / "first.json"
    fetch(unpublished, places, lines.append)
    checksum = read_record(first)["files"]["talks.tar.gz"]
    assert any("no checksum is published" in line and checksum in line for line in lines)
    assert read_record(places[0] / "source.json")["files"] == {"talks.tar.gz": checksum}

    (places[0] / "talks.tar.gz").unlink()
    site.put("/talks.tar.gz", content=altered(content))
    with pytest.raises(FathomError, match="of the first fetch"):
        fetch(unpublished, places, lines.append)
    put(places, "talks.tar.gz", altered(content))
    with pytest.raises(FathomError, match="of the first fetch"):
        fetch(unpublished, places, lines.append)
    put(places, "talks.tar.gz", content)
    fetch(unpublished, places, lines.append)
    assert fetched(unpublished, places[0]).read_bytes() == content

    # Whoever deletes the record, or damages it and is told so, takes another file.
    first.write_text("{}")
    with pytest.raises(FathomError, match="checksum") as caught:
        fetch(unpublished, places, lines.append)
    assert caught.value.where == str(first)
    first.unlink()
    other = tar_of(archive.with_name("other.tar.gz"), {"talks.tsv": b"another text\n"}).read_bytes()
    put(places, "talks.tar.gz", other)
    fetch(unpublished, places, lines.append)
    assert fetched(unpublished, places[0]).read_bytes() == other


# As `git hash-object` prints it of these lines.
BLOB = "c98f6d14cdc412bb88fee029df5a01b4fc22c3f1"


def test_an_archive_packed_anew_is_known_by_the_ids_of_its_files_in_git(
    site, unpublished, archive, places, lines
):
    known = unpublished.model_copy(update={"blobs": {"talks.tsv": BLOB}})
    for contents, words in (
        ({"talks.tsv": altered(CONTENT["talks.tsv"])}, f"its id in git is .*, not {BLOB}"),
        ({"other.tsv": b"one"}, r"the file talks\.tsv is missing"),
    ):
        site.put("/talks.tar.gz", content=tar_of(archive, contents).read_bytes())
        with pytest.raises(FathomError, match=words):
            fetch(known, places, lines.append)
        assert left(places) == []
    packed = tar_of(archive, {"experiments-0123/talks.tsv": CONTENT["talks.tsv"]}, "w:xz")
    site.put("/talks.tar.gz", content=packed.read_bytes())
    fetch(known, places, lines.append)
    assert fetched(known, places[0]).exists()


@pytest.mark.parametrize(
    ("spoiled", "words"),
    [
        (lambda content: content[:-500], "not a readable archive"),
        (lambda content: b"<!doctype html>" + b"x" * 900, "web page"),
    ],
)
def test_an_answer_without_length_must_be_a_whole_archive(
    site, unpublished, archive, places, lines, spoiled, words
):
    site.put("/talks.tar.gz", content=spoiled(archive.read_bytes()), says_length=False)
    with pytest.raises(FathomError, match=words):
        fetch(unpublished, places, lines.append)
    assert left(places) == []


def test_a_bomb_is_not_kept_though_its_checksum_is_right(site, tmp_path, places, lines):
    path = tar_of(tmp_path / "talks.tar.gz", CONTENT | {"zeros": bytes(16 << 20)})
    address = site.put("/talks.tar.gz", content=path.read_bytes())
    with pytest.raises(FathomError, match="more than 100 times as large"):
        fetch(source(path, "talks", mirrors=[address]), places, lines.append)
    assert left(places) == []
    assert not any("licence" in line for line in lines)


def linked(content, **changes):
    """What Hugging Face says of a file with these bytes, before it redirects."""
    said = {"size": str(len(content)), "digits": sha256(content).hexdigest()} | changes
    return {"status": 302, "linked": (said["size"], f'"{said["digits"]}"')}


def test_what_the_site_publishes_with_a_file_is_demanded_and_recorded(
    site, unpublished, archive, places, lines
):
    content = archive.read_bytes()
    moved = {"location": site.put("/bytes", content=altered(content), drops=[1000])}
    site.put("/talks.tar.gz", **linked(content), **moved)
    with pytest.raises(FathomError, match=r"its sha256 is .* that the site publishes"):
        fetch(unpublished, places, lines.append)
    # Another size is noticed before the bytes are received.
    site.put("/bytes", content=content[:-1])
    with pytest.raises(FathomError, match="bytes, not the published"):
        fetch(unpublished, places, lines.append)
    assert not (places[0] / "first.json").exists()

    site.put("/bytes", content=content)
    fetch(unpublished, places, lines.append)
    assert any("the checksum that the site publishes" in line for line in lines)
    for name in ("first.json", "source.json"):
        record = read_record(places[0] / name)
        assert record["published_by_site"] == ["talks.tar.gz"]
        assert record["files"] == {"talks.tar.gz": sha256(content).hexdigest()}
    put(places, "talks.tar.gz", altered(content))
    (places[0] / "source.json").unlink()
    with pytest.raises(FathomError, match="that the site published at the first fetch"):
        fetch(unpublished, places, lines.append)


@pytest.mark.parametrize("changes", [{"digits": "0" * 40}, {"size": "-1"}, {"size": ""}])
def test_what_a_site_says_that_is_not_a_size_and_a_sha256_is_passed_over(
    site, unpublished, archive, places, lines, changes
):
    moved = {"location": site.put("/bytes", content=archive.read_bytes())}
    site.put("/talks.tar.gz", **linked(archive.read_bytes(), **changes), **moved)
    fetch(unpublished, places, lines.append)
    assert "published_by_site" not in read_record(places[0] / "source.json")


def test_a_published_checksum_comes_before_what_a_site_says(site, talks, places, lines):
    content = site.pages["/talks.tar.gz"].content
    moved = {"location": site.put("/bytes", content=content)}
    site.put("/talks.tar.gz", **linked(altered(content)), **moved)
    fetch(talks, places, lines.append)
    assert fetched(talks, places[0]).read_bytes() == content


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


def test_several_files_are_fetched_one_after_the_other_and_all_are_checked(
    site, several, places, lines
):
    made, contents = several
    site.pages["/revision/part2.parquet"].drops = [0]
    with pytest.raises(FathomError, match="no address gave part2"):
        fetch(made, places, lines.append)
    site.requests.clear()
    fetch(made, places, lines.append)
    assert site.requests == [("/revision/part2.parquet", None)]
    assert fetched(made, places[0]) == places[0]
    for name, content in contents.items():
        assert (places[0] / name).read_bytes() == content
    first = read_record(places[0] / "first.json")["files"]
    assert sorted(first) == ["part0.parquet", "part2.parquet"]
    record = read_record(places[0] / "source.json")
    assert (record["bytes"], record["address"]) == (3 * 9008, made.address)

    (places[0] / "part0.parquet").write_bytes(altered(contents["part0.parquet"]))
    with pytest.raises(FathomError, match="fathom fetch talks"):
        fetched(made, places[0])
    put(places, "talks/part0.parquet", contents["part0.parquet"])
    fetch(made, places, lines.append)
    assert fetched(made, places[0]) == places[0]

    fewer = made.model_copy(update={"files": {"part0.parquet": None}})
    with pytest.raises(FathomError, match="has other files than config/sources says"):
        fetched(fewer, places[0])
    fetch(fewer, places, lines.append)
    assert fetched(fewer, places[0]) == places[0]


def test_a_file_that_its_folder_lacks_comes_from_a_mirror_which_the_record_names(
    site, several, places, lines
):
    made, contents = several
    mirrored = made.model_copy(update={"mirrors": (site.put("/copy", status=404),)})
    site.put("/copy/part1.parquet", content=contents["part1.parquet"])
    site.put("/revision/part1.parquet", status=404)
    fetch(mirrored, places, lines.append)
    record = read_record(places[0] / "source.json")
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
def test_a_package_comes_through_pip_without_what_it_requires(index, places, lines):
    wheel = installable(index, requires="not-to-be-had")
    fetch(wheel, places, lines.append)
    assert left(places) == [wheel.file, "source.json"]
    assert read_record(places[0] / "source.json")["package"] == "invented-messages==1.0"
    assert fetched(wheel, places[0]).read_bytes() == (index / wheel.file).read_bytes()


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
    with pytest.raises(FathomError, match=words) as caught:
        download_wheel(wheel, tmp_path, tmp_path / "by_hand", limits)
    assert caught.value.where == wheel.pinned
    assert str(tmp_path / "by_hand") in caught.value.remedy
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
