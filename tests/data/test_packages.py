from pathlib import Path

import pytest

from fathom.data.answers import Limits
from fathom.data.packages import download
from tests.data.small_archives import installable
from tests.support.refused import refused

pytestmark = pytest.mark.slow


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that pip takes for its only index."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_pip_brings_the_wheel_without_what_it_requires(index, tmp_path):
    source = installable(index, requires="not-to-be-had")
    wheel = download(source, tmp_path, tmp_path / "by_hand")
    assert wheel.name == "invented_messages-1.0-py3-none-any.whl"
    assert wheel.read_bytes() == (index / wheel.name).read_bytes()


def test_a_relative_folder_is_one_of_the_working_folder(index, tmp_path, monkeypatch):
    source = installable(index)
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    wheel = download(source, Path("results"), Path("by_hand"))
    assert wheel.samefile(tmp_path / "results" / wheel.name)


def test_another_file_under_the_same_name_is_refused(index, tmp_path):
    source = installable(index)
    with (index / source.file).open("ab") as stream:
        stream.write(b"altered")
    with refused("other wheel") as caught:
        download(source, tmp_path, tmp_path / "by_hand")
    assert caught.value.where == "invented-messages==1.0"
    assert str(tmp_path / "by_hand") in caught.value.remedy
    assert list(tmp_path.glob("*.whl")) == []


def test_a_version_that_the_index_lacks_is_named(index, tmp_path):
    source = installable(index).model_copy(update={"version": "2.0"})
    with refused("no version"):
        download(source, tmp_path, tmp_path / "by_hand")


def test_a_name_that_the_index_lacks_is_named(index, tmp_path):
    source = installable(index).model_copy(update={"package": "never-heard-of"})
    with refused("no package"):
        download(source, tmp_path, tmp_path / "by_hand")


def test_an_index_out_of_reach_is_reported_without_its_address(index, tmp_path, monkeypatch, site):
    source = installable(index)
    address = site.put("/simple/", status=404)
    site.close()
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", address)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with refused("no index") as caught:
        download(source, tmp_path, tmp_path / "by_hand")
    assert "127.0.0.1" not in str(caught.value)


def test_pip_has_a_time_limit(index, tmp_path):
    """An index that sends a byte now and then kept pip, and the fetch, for ever."""
    source = installable(index)
    with refused("client is slow", "pip", where="invented-messages==1.0"):
        download(source, tmp_path, tmp_path / "by_hand", Limits(rate_over=0.01, rate=1e6))
