from datetime import datetime

import pytest

from fathom.data import fetch as fetching
from fathom.data.answers import Limits
from fathom.data.fetch import fetched_file
from fathom.io.errors import FathomError
from fathom.io.integrity import read_record, write_record
from fathom.io.locks import HOLDER, LOCK, only_writer
from tests.data.small_archives import installable, source, tar_of, zip_of
from tests.support.refused import prose, refused, says

CONTENT = {"talks.tsv": "".join(f"line {n * n}\n" for n in range(9000)).encode()}


def fetch(source, folder, by_hand, report):
    """Fetch a source without pauses."""
    fetching.fetch(source, folder, by_hand, report, Limits(pause=0))


@pytest.fixture
def places(tmp_path):
    """The source's folder and the folder for files by hand."""
    return tmp_path / "sources" / "talks", tmp_path / "sources" / "by_hand"


@pytest.fixture
def archive(tmp_path):
    return tar_of(tmp_path / "talks.tar.gz", CONTENT)


def altered(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def left(places):
    """Return the names of what is left in the source's folder, but its lock."""
    folder, _ = places
    return sorted(path.name for path in folder.iterdir() if path.name not in (LOCK, HOLDER))


def test_a_source_is_its_file_as_published_and_a_record(site, archive, places, lines):
    folder, by_hand = places
    address = site.put("/talks.tar.gz", content=archive.read_bytes())
    talks = source(archive, "talks", mirrors=[address])
    fetch(talks, folder, by_hand, lines.append)
    assert left(places) == ["source.json", "talks.tar.gz"]
    assert (folder / "talks.tar.gz").read_bytes() == archive.read_bytes()
    record = read_record(folder / "source.json")
    assert datetime.fromisoformat(record.pop("fetched")).tzinfo is not None
    assert record == {
        "name": "talks",
        "title": "invented",
        "file": "talks.tar.gz",
        "address": address,
        "bytes": archive.stat().st_size,
        "files": {"talks.tar.gz": talks.sha256},
        "licence": "CC0-1.0",
        "notice": "Invented for a test.",
    }
    assert fetched_file(talks, folder) == folder / "talks.tar.gz"


def test_the_licence_is_shown_once(site, archive, places, lines):
    address = site.put("/talks.tar.gz", content=archive.read_bytes())
    talks = source(archive, "talks", mirrors=[address])
    for _ in range(2):
        fetch(talks, *places, lines.append)
    assert sum("CC0-1.0. Invented for a test." in line for line in lines) == 1


def test_a_second_fetch_changes_nothing_and_asks_nobody(site, archive, places, lines):
    folder, by_hand = places
    address = site.put("/talks.tar.gz", content=archive.read_bytes())
    talks = source(archive, "talks", mirrors=[address])
    fetch(talks, folder, by_hand, lines.append)
    before = (folder / "source.json").read_bytes()
    fetch(talks, folder, by_hand, lines.append)
    assert (folder / "source.json").read_bytes() == before
    assert len(site.requests) == 1
    says("already fetched").check(lines[-1])


def test_a_download_of_another_file_is_refused(site, archive, places, lines):
    """Field fault 12."""
    folder, by_hand = places
    talks = source(
        archive, "talks", mirrors=[site.put("/talks.tar.gz", content=archive.read_bytes())]
    )
    fetch(talks, folder, by_hand, lines.append)
    write_record(folder / "source.json", {"files": {talks.file: "0"}})
    with refused("other source", remedy="fathom fetch talks"):
        fetched_file(talks, folder)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        ("file", "changed file"),
        ("record", "not JSON"),
        ("older record", "no checksum"),
        ("no file", "no such file"),
    ],
)
def test_what_is_not_as_recorded_is_fetched_again(site, archive, places, lines, harm, message):
    folder, by_hand = places
    address = site.put("/talks.tar.gz", content=archive.read_bytes())
    talks = source(archive, "talks", mirrors=[address])
    fetch(talks, folder, by_hand, lines.append)
    file, record = folder / "talks.tar.gz", folder / "source.json"
    if harm == "file":
        file.write_bytes(altered(file.read_bytes()))
    elif harm == "record":
        record.write_text("{")
    elif harm == "older record":
        record.write_text('{"sha256": "0"}')
    else:
        file.unlink()
    with refused(message) as caught:
        fetched_file(talks, folder)
    assert "fathom fetch talks" in caught.value.remedy
    fetch(talks, folder, by_hand, lines.append)
    assert fetched_file(talks, folder).read_bytes() == archive.read_bytes()


def test_a_source_that_was_never_fetched_is_named(archive, places):
    with refused("not fetched", "talks"):
        fetched_file(source(archive, "talks"), places[0])


def test_the_next_address_is_tried(site, archive, places, lines):
    dead = site.put("/dead", content=b"<html>moved</html>")
    gone = site.put("/gone", status=404)
    bent = site.put("/bent", content=altered(archive.read_bytes()))
    right = site.put("/right", content=archive.read_bytes())
    talks = source(archive, "talks", mirrors=[dead, gone, bent, right])
    fetch(talks, *places, lines.append)
    assert read_record(places[0] / "source.json")["address"] == right


def test_one_error_names_what_each_address_gave_and_where_to_put_the_file(
    site, archive, places, lines
):
    content = archive.read_bytes()
    mirrors = [
        site.put("/page", content=b"<!doctype html>" + bytes(len(content) - 15)),
        site.put("/short", content=content[:-1]),
        site.put("/bent", content=altered(content)),
    ]
    with refused("no address", "talks.tar.gz", remedy=places[1] / "talks.tar.gz") as caught:
        fetch(source(archive, "talks", mirrors=mirrors), *places, lines.append)
    page, short, bent = caught.value.what.split("; ")
    says("web page", where="/page").check(page)
    says("wrong length", f"{len(content) - 1:,}", f"{len(content):,}", where="/short").check(short)
    says("checksum", where="/bent").check(bent)
    assert "\n" not in str(caught.value)
    assert left(places) == []


def test_a_cut_off_download_goes_on_and_is_checked(site, archive, places, lines):
    content = archive.read_bytes()
    address = site.put("/talks.tar.gz", content=content, drops=[1000, 0])
    talks = source(archive, "talks", mirrors=[address])
    with refused(remedy=prose("resume")):
        fetch(talks, *places, lines.append)
    assert left(places) == ["talks.tar.gz.part", "talks.tar.gz.part.json"]
    fetch(talks, *places, lines.append)
    assert site.requests[-1] == ("/talks.tar.gz", "bytes=1000-")
    assert left(places) == ["source.json", "talks.tar.gz"]
    assert (places[0] / "talks.tar.gz").read_bytes() == content


def test_a_part_that_was_altered_on_disk_is_not_trusted(site, archive, places, lines):
    """Field fault 12."""
    content = archive.read_bytes()
    address = site.put("/talks.tar.gz", content=content, drops=[1000, 0])
    talks = source(archive, "talks", mirrors=[address])
    with pytest.raises(FathomError):
        fetch(talks, *places, lines.append)
    (places[0] / "talks.tar.gz.part").write_bytes(bytes(1000))
    with refused("checksum"):
        fetch(talks, *places, lines.append)
    assert left(places) == []
    fetch(talks, *places, lines.append)
    assert left(places) == ["source.json", "talks.tar.gz"]


def test_a_file_put_by_hand_is_taken_first(site, archive, places, lines):
    folder, by_hand = places
    by_hand.mkdir(parents=True)
    (by_hand / "talks.tar.gz").write_bytes(archive.read_bytes())
    talks = source(archive, "talks", mirrors=[site.put("/talks.tar.gz", status=404)])
    fetch(talks, folder, by_hand, lines.append)
    assert site.requests == []
    assert read_record(folder / "source.json")["by_hand"] is True
    assert fetched_file(talks, folder).read_bytes() == archive.read_bytes()
    assert (by_hand / "talks.tar.gz").exists()


def test_a_file_put_by_hand_ends_a_download_that_was_cut_off(site, archive, places, lines):
    folder, by_hand = places
    address = site.put("/talks.tar.gz", content=archive.read_bytes(), drops=[1000, 0])
    talks = source(archive, "talks", mirrors=[address])
    with pytest.raises(FathomError) as caught:
        fetch(talks, folder, by_hand, lines.append)
    assert str(by_hand / "talks.tar.gz") in caught.value.remedy
    by_hand.mkdir(parents=True)
    (by_hand / "talks.tar.gz").write_bytes(archive.read_bytes())
    fetch(talks, folder, by_hand, lines.append)
    assert left(places) == ["source.json", "talks.tar.gz"]


@pytest.mark.parametrize("change", [altered, lambda content: content[:-1], lambda _: b"<html>"])
def test_a_wrong_file_put_by_hand_is_an_error_and_not_passed_over(
    site, archive, places, lines, change
):
    folder, by_hand = places
    by_hand.mkdir(parents=True)
    (by_hand / "talks.tar.gz").write_bytes(change(archive.read_bytes()))
    address = site.put("/talks.tar.gz", content=archive.read_bytes())
    with refused("not the published") as caught:
        fetch(source(archive, "talks", mirrors=[address]), folder, by_hand, lines.append)
    assert caught.value.where == str(by_hand / "talks.tar.gz")
    assert (left(places), site.requests) == ([], [])


@pytest.mark.parametrize("pack", [tar_of, zip_of])
@pytest.mark.parametrize("name", ["../x", "/x"])
def test_a_dangerous_archive_is_not_kept_though_its_checksum_is_right(
    site, tmp_path, places, lines, pack, name
):
    path = pack(tmp_path / "talks.tar.gz", CONTENT | {name: b"x"})
    address = site.put("/talks.tar.gz", content=path.read_bytes())
    with refused("points outside", name):
        fetch(source(path, "talks", mirrors=[address]), *places, lines.append)
    assert left(places) == []
    assert not any("licence" in line for line in lines)


def test_a_full_disk_is_found_before_anything_is_fetched(archive, places, lines):
    """Field fault 11."""
    talks = source(archive, "talks", mirrors=["http://127.0.0.1:1/"], bytes=10**18)
    with refused("disk", ..., "1,000,000,000,000,000,000"):
        fetch(talks, *places, lines.append)


def test_what_killed_processes_left_is_deleted(site, archive, places, lines):
    """Their names hold a process's number, so nothing ever used or replaced them."""
    folder, _ = places
    (folder / ".pip-abc").mkdir(parents=True)
    (folder / ".pip-abc" / "half.whl").write_bytes(b"half")
    (folder / ".talks.tar.gz.1234.part").write_bytes(b"half")
    address = site.put("/talks.tar.gz", content=archive.read_bytes())
    fetch(source(archive, "talks", mirrors=[address]), *places, lines.append)
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_two_processes_never_fetch_into_one_folder(site, archive, places, lines):
    address = site.put("/talks.tar.gz", content=archive.read_bytes())
    with only_writer(places[0], print), refused("locked"):
        fetch(source(archive, "talks", mirrors=[address]), *places, lines.append)
    assert site.requests == []


def test_no_user_password_or_query_of_an_address_is_printed_or_kept(site, archive, places, lines):
    """All of source.json, of the lines and of the error had them."""
    content = archive.read_bytes()
    address, gone = (
        site.put(path, **page).replace("://", "://somebody:hidden@")
        for path, page in (("/a?key=hidden", {"content": content}), ("/b", {"status": 404}))
    )
    with refused("no address") as caught:
        fetch(source(archive, "talks", mirrors=[gone]), *places, lines.append)
    fetch(source(archive, "talks", mirrors=[address]), *places, lines.append)
    for text in (str(caught.value), *lines, (places[0] / "source.json").read_text()):
        assert "hidden" not in text
        assert "somebody" not in text


@pytest.mark.slow
def test_a_package_comes_through_pip(tmp_path, places, lines, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    invented = installable(tmp_path)
    fetch(invented, *places, lines.append)
    assert left(places) == [invented.file, "source.json"]
    assert read_record(places[0] / "source.json")["package"] == "invented-messages==1.0"


def test_a_file_of_another_length_by_hand_is_named_by_its_length(archive, places, lines):
    folder, by_hand = places
    talks = source(archive, "talks", mirrors=["http://127.0.0.1:9/talks"])
    by_hand.mkdir(parents=True)
    (by_hand / "talks.tar.gz").write_bytes(archive.read_bytes() + b"x")
    with refused("wrong length", f"{archive.stat().st_size + 1:,}", f"{archive.stat().st_size:,}"):
        fetch(talks, folder, by_hand, lines.append)
    assert not (folder / "source.json").exists()


@pytest.fixture
def unpublished(site, archive):
    """A source whose size and checksum nobody publishes."""
    address = site.put("/talks.tar.gz", content=archive.read_bytes())
    return source(archive, "talks", mirrors=[address], bytes=None, sha256=None)


def test_the_first_fetch_records_a_checksum_where_none_is_published(
    unpublished, archive, places, lines
):
    folder, _ = places
    fetch(unpublished, *places, lines.append)
    first = read_record(folder / "first.json")
    assert first["bytes"] == archive.stat().st_size
    checksum = first["files"]["talks.tar.gz"]
    says("recorded first", str(folder / "first.json"), checksum).check(lines)
    assert read_record(folder / "source.json")["files"] == first["files"]
    assert fetched_file(unpublished, folder).read_bytes() == archive.read_bytes()


def test_later_fetches_must_match_the_first(site, unpublished, archive, places, lines):
    folder, by_hand = places
    fetch(unpublished, *places, lines.append)
    content = archive.read_bytes()
    (folder / "talks.tar.gz").unlink()
    site.put("/talks.tar.gz", content=altered(content))
    with refused("first fetch"):
        fetch(unpublished, *places, lines.append)
    site.put("/talks.tar.gz", content=content[:-9])
    with refused("no address", "talks.tar.gz"):
        fetch(unpublished, *places, lines.append)
    by_hand.mkdir(parents=True)
    (by_hand / "talks.tar.gz").write_bytes(altered(content))
    with refused("first fetch", where=by_hand / "talks.tar.gz"):
        fetch(unpublished, *places, lines.append)
    (by_hand / "talks.tar.gz").write_bytes(content)
    fetch(unpublished, *places, lines.append)
    assert fetched_file(unpublished, folder).read_bytes() == content


def test_whoever_deletes_the_first_record_takes_another_file(
    site, unpublished, archive, places, lines
):
    folder, _ = places
    fetch(unpublished, *places, lines.append)
    other = tar_of(archive.with_name("other.tar.gz"), {"talks.tsv": b"another text\n"}).read_bytes()
    site.put("/talks.tar.gz", content=other)
    (folder / "first.json").unlink()
    fetch(unpublished, *places, lines.append)
    assert (folder / "talks.tar.gz").read_bytes() == other
    assert read_record(folder / "first.json")["bytes"] == len(other)


def test_a_damaged_first_record_is_named_with_what_to_do(unpublished, places, lines):
    folder, _ = places
    fetch(unpublished, *places, lines.append)
    (folder / "first.json").write_text("{}")
    with refused("no checksum", where=folder / "first.json", remedy="delete it"):
        fetch(unpublished, *places, lines.append)
    (folder / "first.json").unlink()
    fetch(unpublished, *places, lines.append)


@pytest.mark.parametrize("says_length", [True, False])
def test_a_web_page_is_refused_without_a_checksum_too(
    site, unpublished, places, lines, says_length
):
    page = b"<!doctype html>" + b"x" * 900
    site.put("/talks.tar.gz", content=page, says_length=says_length)
    with refused("web page"):
        fetch(unpublished, *places, lines.append)
    assert left(places) == []


def test_a_cut_off_archive_without_length_is_no_archive(site, unpublished, archive, places, lines):
    site.put("/talks.tar.gz", content=archive.read_bytes()[:-500], says_length=False)
    with refused("no archive"):
        fetch(unpublished, *places, lines.append)
    assert left(places) == []
    site.put("/talks.tar.gz", content=archive.read_bytes(), says_length=False)
    fetch(unpublished, *places, lines.append)
    assert fetched_file(unpublished, places[0]).read_bytes() == archive.read_bytes()


def test_a_file_that_only_the_user_may_download_has_one_message_with_its_path(
    archive, places, lines
):
    folder, by_hand = places
    steps = {
        "kind": "by_hand",
        "steps": "register at the university",
        "bytes": None,
        "sha256": None,
    }
    talks = source(archive, "talks", **steps)
    with refused("by hand", archive.name, "register at the university") as caught:
        fetch(talks, *places, lines.append)
    assert str(by_hand / archive.name) in caught.value.remedy
    assert "\n" not in str(caught.value)
    by_hand.mkdir(parents=True)
    (by_hand / archive.name).write_bytes(archive.read_bytes())
    fetch(talks, *places, lines.append)
    assert read_record(folder / "source.json")["by_hand"] is True
    assert fetched_file(talks, folder).is_file()
