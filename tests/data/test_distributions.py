import os
import shutil
from pathlib import Path

import pytest

from fathom.data.distributions import debian, npm
from fathom.data.fetch import fetch, fetched_file
from fathom.io.integrity import read_record
from tests.data.small_archives import debian_of, source, tar_of
from tests.support.refused import refused, says

KINDS = [
    ("debian", debian, "invented-l10n-fr=1:2.0~deb1"),
    ("npm", npm, "@invented/texts@2.0.0"),
]
PROGRAMS = {"debian": "apt-get", "npm": "npm"}


@pytest.fixture
def client(tmp_path, monkeypatch):
    """A function that puts a program on the search path, in place of the client of a kind."""
    programs = tmp_path / "programs"
    programs.mkdir()
    shell = shutil.which("sh")
    monkeypatch.setenv("PATH", os.pathsep.join([str(programs), str(Path(shell).parent)]))

    def put(kind, script):
        program = programs / PROGRAMS[kind]
        program.write_text(f"#!{shell}\n{script}\n")
        program.chmod(0o755)

    return put


@pytest.fixture
def package(tmp_path):
    """A function that returns a package of a kind as a source, and its file."""

    def make(kind):
        if kind == "debian":
            file = debian_of(tmp_path / "invented.deb", {"./usr/share/a": b"a"})
            named = {"package": "invented-l10n-fr", "version": "1:2.0~deb1"}
        else:
            file = tar_of(tmp_path / "invented.tgz", {"package/a.json": b"{}"})
            named = {"package": "@invented/texts", "version": "2.0.0"}
        return source(file, "invented", kind=kind, **named), file

    return make


@pytest.mark.parametrize(("kind", "_download", "asked"), KINDS)
def test_a_package_is_what_its_client_downloads_and_a_record(
    client, package, tmp_path, lines, kind, _download, asked
):
    invented, file = package(kind)
    arguments = tmp_path / "arguments"
    client(kind, f'echo "$2" > {arguments}; cp {file} ./name-of-the-client{file.suffix}')
    folder = tmp_path / "sources" / "invented"
    fetch(invented, folder, tmp_path / "by_hand", lines.append)
    assert arguments.read_text() == f"{asked}\n"
    assert fetched_file(invented, folder).read_bytes() == file.read_bytes()
    record = read_record(folder / "source.json")
    assert record["package"] == asked
    assert record["files"] == {file.name: invented.sha256}
    assert not list(folder.glob(".client-*"))


@pytest.mark.parametrize(("kind", "_download", "asked"), KINDS)
def test_another_file_under_the_same_version_is_refused(
    client, package, tmp_path, lines, kind, _download, asked
):
    invented, file = package(kind)
    client(kind, f"cp {file} ./other{file.suffix}; echo >> ./other{file.suffix}")
    with refused("wrong length", where=asked):
        fetch(invented, tmp_path / "sources", tmp_path / "by_hand", lines.append)


@pytest.mark.parametrize(("kind", "download", "asked"), KINDS)
def test_a_machine_without_the_client_is_one_message(
    client, package, tmp_path, monkeypatch, kind, download, asked
):
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    with refused("no client", PROGRAMS[kind], where=asked, remedy="by_hand"):
        download(package(kind)[0], tmp_path, tmp_path / "by_hand")


@pytest.mark.parametrize(
    ("kind", "download", "printed", "message"),
    [
        ("debian", debian, "E: Version '2' for 'x' was not found", says("not in apt's lists")),
        (
            "debian",
            debian,
            "E: Failed to fetch http://x 404  Not Found",
            says("no longer there"),
        ),
        ("debian", debian, "E: Unable to locate package x", says("no package for apt")),
        (
            "debian",
            debian,
            "E: Failed to fetch http://x Could not connect",
            says("no mirror"),
        ),
        ("npm", npm, "npm error code ETARGET", says("no version of npm")),
        ("npm", npm, "npm error code E404", says("no package of npm")),
        ("npm", npm, "npm error network request to x failed", says("no registry")),
        ("npm", npm, "npm error code EOTHER", says("client ended")),
    ],
)
def test_why_a_client_failed_is_said_in_one_message(
    client, package, tmp_path, kind, download, printed, message
):
    client(kind, f'echo "{printed}" >&2; exit 100')
    with refused() as caught:
        download(package(kind)[0], tmp_path, tmp_path / "by_hand")
    message.check([str(caught.value)])
    assert "http://x" not in str(caught.value)
    assert str(tmp_path / "by_hand") in caught.value.remedy


def test_a_version_that_is_gone_names_how_to_record_the_new_one(client, package, tmp_path):
    client("debian", "echo 404 Not Found; exit 100")
    with refused("no longer there", remedy="apt-cache show"):
        debian(package("debian")[0], tmp_path, tmp_path / "by_hand")
