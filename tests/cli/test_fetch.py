from hashlib import sha256
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
import typer.testing

from fathom.cli.fetch import fetch
from fathom.io.files import read_json
from tests.support.refused import refused

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
