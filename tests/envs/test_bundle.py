"""One file with which a machine without a network installs fathom."""

import shutil
import subprocess
import sys
import tarfile

import pytest

from envs import bundle
from tests.support.specs import ROOT


@pytest.mark.parametrize("needs_cuda", [True, False])
def test_the_packages_of_cuda_come_where_torch_is_a_build_for_it(monkeypatch, needs_cuda):
    monkeypatch.setattr(sys, "executable", shutil.which("true" if needs_cuda else "false"))
    assert ("envs/cuda.lock" in bundle.locks()) == needs_cuda
    assert all((ROOT / lock).is_file() for lock in bundle.locks() if not lock.startswith("."))


def test_it_has_the_files_of_the_commit_packages_and_sources(tmp_path, monkeypatch):
    def source(results):
        path = results / "text.tar"
        path.parent.mkdir()
        path.write_text("text")
        yield path

    monkeypatch.setattr(bundle, "packages", lambda folder: (folder / "one.whl").touch())
    monkeypatch.setattr(bundle, "sources", source)
    out = tmp_path / "bundle.tar"
    monkeypatch.setattr(sys, "argv", ["bundle.py", "--out", str(out)])
    bundle.main()
    assert [path.name for path in tmp_path.iterdir()] == ["bundle.tar"]
    with tarfile.open(out) as written:
        names = {member.name for member in written}
        script = written.getmember("fathom/install-offline")
    assert {"fathom/wheels/one.whl", "fathom/results/sources/by_hand/text.tar"} < names
    assert {f"fathom/{name}" for name in bundle.code()} < names
    assert script.mode & 0o100


def test_without_packages_there_is_nothing_to_install_from(tmp_path):
    shutil.copy(ROOT / "install-offline", tmp_path)
    done = subprocess.run(
        [tmp_path / "install-offline"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, len(done.stderr.strip().split("\n"))) == (1, "", 1)
    assert "make bundle" in done.stderr
