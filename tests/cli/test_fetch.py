import random
import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
import typer.testing
import yaml

from fathom.cli.fetch import fetch
from fathom.io.files import read_json
from fathom.io.signals import Stopped
from tests.support.refused import prose, refused, says
from tests.support.stopped_jobs import HEARD, start

FILE = "Django-5.1.4-py3-none-any.whl"


@pytest.fixture
def put(project):
    """The place where a user puts the wheel by hand."""
    path = project / "results" / "sources" / "by_hand" / FILE
    path.parent.mkdir(parents=True)
    return path


def test_help_shows_an_example():
    app = typer.Typer()
    app.command()(fetch)
    printed = typer.testing.CliRunner().invoke(app, ["--help"]).output
    assert "Example: fathom fetch django" in printed


def test_an_unknown_source_gets_the_nearest_name(project):
    with refused("unknown", "source", "djangoo", nearest="django") as caught:
        fetch("djangoo")
    assert "fathom list sources" in caught.value.remedy


def test_a_wrong_file_put_by_hand_is_refused_with_its_path(project, put):
    put.write_bytes(b"<html>moved</html>")
    with refused("wrong length", 18, "8,276,471") as caught:
        fetch("django")
    assert Path(caught.value.where).resolve() == put
    assert not (project / "results" / "sources" / "django" / "source.json").exists()


def test_a_right_file_gets_a_record_and_its_notice_is_printed(project, put, edit, capsys):
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "a")
    content = packed.getvalue()
    put.write_bytes(content)
    published = (project / "config" / "sources" / "django.yaml").read_text(encoding="utf-8")
    digits = published.split("sha256: ")[1][:64]
    edit("sources/django.yaml", "8276471", str(len(content)))
    edit("sources/django.yaml", digits, sha256(content).hexdigest())
    fetch("django")
    record = read_json(project / "results" / "sources" / "django" / "source.json")
    assert record["by_hand"] is True
    printed = capsys.readouterr()
    assert "BSD-3-Clause" in printed.err
    assert printed.out == ""


class Stalling(BaseHTTPRequestHandler):
    """Sends a part of the file, and waits until the client is gone; without a stall, all of it."""

    def do_GET(self):
        server = self.server
        asked = self.headers.get("Range", "bytes=0-")
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        server.starts.append(start)
        size = len(server.content)
        self.send_response(206 if start else 200)
        self.send_header("ETag", '"one"')
        self.send_header("Content-Length", str(size - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        self.end_headers()
        if server.stalls:
            self.wfile.write(server.content[start : start + server.stalls.pop()])
            self.wfile.flush()
            self.connection.recv(1)
        else:
            self.wfile.write(server.content[start:])

    def log_message(self, *_):
        pass


@pytest.fixture
def stalling():
    """A server that stalls three times in a file of 2 MB."""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", random.Random(1).randbytes(2_000_000))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stalling)
    server.daemon_threads = True
    server.content, server.stalls, server.starts = packed.getvalue(), [400_000] * 3, []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_a_download_that_signals_stop_goes_on_where_it_was(project, stalling, call):
    address = f"http://127.0.0.1:{stalling.server_port}/a.zip"
    card = {
        "title": "A file",
        "kind": "archive",
        "mirrors": [address],
        "file": "a.zip",
        "bytes": len(stalling.content),
        "sha256": sha256(stalling.content).hexdigest(),
        "licence": "BSD-3-Clause",
        "notice": "Of the tests.",
    }
    path = project / "config" / "sources" / "slow.yaml"
    path.write_text(yaml.safe_dump(card), encoding="utf-8")
    part = project / "results" / "sources" / "slow" / "a.zip.part"
    sizes = [0]
    for number in random.Random().choices(HEARD, k=3):
        job = start(project, "fetch slow")
        code = job.stop(number, lambda: part.exists() and part.stat().st_size > sizes[-1])
        assert code == Stopped(number).code
        [*_, last] = job.log.read_text(encoding="utf-8").splitlines()
        says("stopped", number.name, remedy=prose("start again")).check(last)
        sizes.append(part.stat().st_size)
    assert call("fetch", "slow").code == 0
    assert stalling.starts == sizes
    assert part.with_name("a.zip").read_bytes() == stalling.content
    assert not part.exists()
