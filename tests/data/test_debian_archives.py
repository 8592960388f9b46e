import io

import pytest

from fathom.data.archives import visit
from fathom.data.debian_archives import is_debian, to_data
from tests.data.small_archives import debian_of, tar_of, zip_of
from tests.support.refused import refused

CONTENTS = {"./usr/share/odd": b"odd", "./usr/share/text": b"Save"}


def read(path):
    """Return all members of an archive."""
    members = {}
    visit(path, lambda name: True, lambda name, stream: members.update({name: stream.read()}))
    return members


@pytest.mark.parametrize("packed", ["xz", "gz"])
def test_the_files_of_a_package_are_read_and_its_control_files_are_not(tmp_path, packed):
    assert read(debian_of(tmp_path / "a.deb", CONTENTS, packed=packed)) == CONTENTS


def test_a_package_is_told_from_a_zip_and_a_tar(tmp_path):
    paths = [
        debian_of(tmp_path / "a.deb", CONTENTS),
        zip_of(tmp_path / "a.zip", CONTENTS),
        tar_of(tmp_path / "a.tgz", CONTENTS),
    ]
    assert [is_debian(io.BytesIO(path.read_bytes())) for path in paths] == [True, False, False]


def test_links_of_a_package_may_point_anywhere_and_are_not_followed(tmp_path):
    links = {"./usr/share/settings": "/etc/settings", "./usr/share/up": "../../../../etc"}
    assert read(debian_of(tmp_path / "a.deb", CONTENTS, links)) == CONTENTS


def test_a_member_outside_is_refused_as_in_every_archive(tmp_path):
    with refused("points outside"):
        read(debian_of(tmp_path / "a.deb", {"../etc/passwd": b"x"}))


@pytest.mark.parametrize("harm", ["cut", "no data", "no number"])
def test_a_damaged_package_is_no_readable_archive(tmp_path, harm):
    path = debian_of(tmp_path / "a.deb", CONTENTS)
    content = path.read_bytes()
    if harm == "cut":
        content = content[:-200]
    elif harm == "no data":
        content = content.replace(b"data.tar.xz", b"date.tar.xz")
    else:
        content = content.replace(b"4         `\n", b"four      `\n", 1)
    path.write_bytes(content)
    with refused("no archive"):
        read(path)


def test_the_place_of_the_files_is_found_behind_a_member_of_odd_length():
    def member(name, content):
        head = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n"
        return head.encode() + content + b"\n" * (len(content) % 2)

    stream = io.BytesIO(b"!<arch>\n" + member("odd", b"123") + member("data.tar", b"here"))
    to_data(stream)
    assert stream.read() == b"here"
