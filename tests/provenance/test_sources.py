"""The commit and the hash of the sources, as result files record them."""

import re
import subprocess

from fathom.results.code_sources import PACKAGE, commit, hashed, sources


def test_the_sources_have_a_hash_and_in_a_clone_a_commit():
    recorded = sources()
    assert re.fullmatch(r"[0-9a-f]{64}", recorded["sources_sha256"])
    assert set(recorded) == {"commit", "sources_sha256"}


def clone(folder):
    """Make a clone with a file and a commit."""
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org")
    (folder / "one.py").write_text("1\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "One")):
        subprocess.run([*git, *words], cwd=folder, check=True)


def test_a_commit_says_whether_files_differ(tmp_path):
    assert commit(tmp_path) is None
    clone(tmp_path)
    clean = commit(tmp_path)
    assert re.fullmatch(r"[0-9a-f]{40}", clean)
    (tmp_path / "one.py").write_text("2\n", encoding="utf-8")
    assert commit(tmp_path) == f"{clean}-dirty"


def test_a_package_that_another_clone_holds_and_does_not_track_has_no_commit(tmp_path):
    """It was recorded with the commit of the repository in which its environment was."""
    clone(tmp_path)
    package = tmp_path / "venv" / "site-packages" / "fathom"
    package.mkdir(parents=True)
    (package / "one.py").write_text("1\n", encoding="utf-8")
    assert commit(package) is None


def test_any_byte_of_a_python_file_changes_the_hash(tmp_path):
    (tmp_path / "one.py").write_text("1\n", encoding="utf-8")
    before = hashed(tmp_path)
    (tmp_path / "notes.txt").write_text("1\n", encoding="utf-8")
    assert hashed(tmp_path) == before
    (tmp_path / "one.py").write_text("1 \n", encoding="utf-8")
    assert hashed(tmp_path) != before
    assert PACKAGE.name == "fathom"
