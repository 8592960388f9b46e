from pathlib import Path

import pytest
import typer.testing

from fathom.cli.fetch import fetch
from fathom.errors import FathomError
from fathom.io.files import read_json


def test_help_shows_an_example():
    app = typer.Typer()
    app.command()(fetch)
    said = typer.testing.CliRunner().invoke(app, ["--help"]).output
    assert "Example: fathom fetch django" in said


def test_an_unknown_source_gets_the_nearest_name(project):
    with pytest.raises(FathomError, match="no source 'djangoo'") as caught:
        fetch("djangoo")
    assert "'django'" in caught.value.remedy
    assert "fathom list sources" in caught.value.remedy


def test_a_file_put_by_hand_is_taken_where_the_message_says(project, capsys):
    """A wrong file is refused by its place; so the place is the one that is looked at."""
    put = project / "results" / "sources" / "by_hand" / "ted_talks.tar.gz"
    put.parent.mkdir(parents=True)
    put.write_bytes(b"<html>moved</html>")
    with pytest.raises(FathomError, match="18 bytes, not the published 352,222,045") as caught:
        fetch("ted_talks")
    assert Path(caught.value.where).resolve() == put
    assert not (project / "results" / "sources" / "ted_talks" / "source.json").exists()


def test_a_right_file_ends_in_a_record(project, capsys):
    from hashlib import sha256
    from io import BytesIO
    from zipfile import ZipFile

    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "a")
    content = packed.getvalue()
    file = project / "config" / "sources" / "ted_talks.yaml"
    text = file.read_text(encoding="utf-8").replace("352222045", str(len(content)))
    digits = text.split("sha256: ")[1][:64]
    file.write_text(text.replace(digits, sha256(content).hexdigest()), encoding="utf-8")
    put = project / "results" / "sources" / "by_hand" / "ted_talks.tar.gz"
    put.parent.mkdir(parents=True)
    put.write_bytes(content)
    fetch("ted_talks")
    record = read_json(project / "results" / "sources" / "ted_talks" / "source.json")
    assert record["by_hand"] is True
    said = capsys.readouterr()
    assert "CC-BY-NC-ND-4.0" in said.err
    assert said.out == ""
