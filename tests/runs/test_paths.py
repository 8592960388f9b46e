"""What a hash names is shared by all scales."""

from pathlib import Path

from fathom.config.paths import Paths
from fathom.io.hashes import identity, short
from tests.support.small_corpus import small_data
from tests.support.specs import small_spec


def test_two_scales_share_what_a_hash_names():
    spec = small_spec()
    one, other = (Paths(Path("results"), scale) for scale in ("paper", "three_seeds"))
    assert one.run(spec, 1) == other.run(spec, 1)
    assert one.tensors(spec.data) == other.tensors(spec.data)
    assert one.artefact("p", "table1", "csv") != other.artefact("p", "table1", "csv")


def test_a_run_is_below_its_paper_and_its_seed():
    spec = small_spec(paper="p", run="r")
    folder = Paths(Path("results"), "s").run(spec, 3)
    assert folder == Path("results/runs/p") / spec.folder / "3"


def test_two_searches_have_two_folders():
    paths = Paths(Path("results"), "s")
    one, other = small_spec(), small_spec({"decoding": {"beam": 5}})
    folders = {paths.decoding(spec, 1, "test", "plain").name for spec in (one, other)}
    assert len(folders) == 2
    assert all(name.startswith("test.plain-") for name in folders)
    assert paths.run(one, 1) == paths.run(other, 1)


def test_a_run_that_starts_from_nothing_has_no_folder_to_start_from():
    assert Paths(Path("results"), "s").start(small_spec(), 1) is None


def test_the_text_of_another_data_sets_pieces_is_that_data_sets_corpus():
    paths = Paths(Path("results"), "s")
    own = small_data()
    assert paths.pieces_corpus(own) == paths.corpus(own)
    pieces = {"tasks": [["sun", "bos"]], "pivot": "eng"}
    borrowed = small_data(pieces=pieces)
    folder = paths.pieces_corpus(borrowed).name
    assert folder == f"other-{short(identity(pieces))}"
    assert paths.pieces_corpus(borrowed) == paths.corpus_named(folder) != paths.corpus(borrowed)
    assert paths.subwords(borrowed).name.startswith("other-")
    assert paths.tensors(borrowed).name.startswith("small-")


def test_a_command_names_what_it_needs_and_a_folder_that_is_not_the_usual_one():
    usual, other = Paths(Path("results"), "mine"), Paths(Path("/my results"), "mine")
    assert usual.command("train", "p/r", 2) == "fathom train p/r --scale mine --seed 2"
    assert other.command("encode", "d") == "fathom encode d --scale mine --results '/my results'"
