"""Text that comes in pieces, from a user's own archive to tokenised scores and exports."""

import tarfile
from io import BytesIO

import pytest
from sacrebleu.metrics.bleu import BLEU

from fathom.config.load import load
from fathom.io.files import read_lines
from fathom.io.records import read_record
from fathom.results import measurements
from fathom.results.training_record import MeasurementFile
from tests.cli.conftest import call, invoke
from tests.support.refused import says
from tests.support.small_project import RUN, in_pieces, paths, write_config

ctranslate2 = pytest.importorskip("ctranslate2", reason="run `make ctranslate2`")
__all__ = ["call"]

SOURCE = """\
title: Text in pieces
kind: by_hand
file: pieces.tar.gz
steps: take your own copy
licence: CC0-1.0
notice: Invented for a test.
"""
CARD = """\
title: Text in pieces
citation: Of the tests.
licence: CC0-1.0
format: parallel
pieces: marked
pivot: eng
tasks: [deu]
translates: [eng, deu]
sources:
  pieces:
    deu: [train.tok.clean.bpe.32000.de, news13.tok.bpe.32000.de, news14.tok.bpe.32000.de]
    eng: [train.tok.clean.bpe.32000.en, news13.tok.bpe.32000.en, news14.tok.bpe.32000.en]
split: {by: file, valid: [news13.tok.bpe.32000.de], test: [news14.tok.bpe.32000.de]}
max_shared: 0.2
expected:
  deu: {train: 24, valid: 4, test: 3}
"""
LINES = {"train.tok.clean": 24, "news13.tok": 4, "news14.tok": 3}
GERMAN = ("Das Hau@@ s ist al@@ t .", "Die Ma@@ us ist &quot; al@@ t &quot; .", "Ei@@ n Hau@@ s .")
ENGLISH = ("The hou@@ se is ol@@ d .", "The mou@@ se is &quot; ol@@ d &quot; .", "A hou@@ se .")


def put_archive(folder, missing=0):
    """Put an archive of the published one's shape into the by-hand folder; return its path."""
    path = folder / "results" / "sources" / "by_hand" / "pieces.tar.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, count in LINES.items():
            for end, sentences in (("de", GERMAN), ("en", ENGLISH)):
                lines = [sentences[number % 3] for number in range(count - missing)]
                # Once only, so below the threshold.
                lines[0] += f" rare{name}{end}"
                content = "".join(f"{line} \n" for line in lines).encode()
                member = tarfile.TarInfo(f"{name}.bpe.32000.{end}")
                member.size = len(content)
                archive.addfile(member, BytesIO(content))
    return path


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = write_config(tmp_path_factory.mktemp("pieces"))
    config = folder / "config"
    (config / "sources" / "pieces.yaml").write_text(SOURCE, encoding="utf-8")
    (config / "datasets" / "small.yaml").write_text(CARD, encoding="utf-8")
    in_pieces(folder, "small")
    return folder


@pytest.fixture(scope="module")
def scored(project):
    """The project with a trained and scored run, and its exports."""
    put_archive(project)
    steps = [("fetch", "pieces"), *((verb, "small") for verb in ("prepare", "subwords", "encode"))]
    steps += [(verb, RUN) for verb in ("train", "translate", "score")]
    steps += [("likelihood", RUN, "--split", "valid")]
    steps += [
        ("export", RUN, f"as_{name}", "--format", name) for name in ("fairseq", "ctranslate2")
    ]
    invoke(project, *steps)
    return project


def test_an_archive_that_is_missing_is_asked_for_in_one_line(tmp_path, project, monkeypatch, call):
    monkeypatch.chdir(project)
    line = call("fetch", "pieces", "--results", str(tmp_path)).one_line
    put = tmp_path / "sources" / "by_hand" / "pieces.tar.gz"
    says("pieces.tar.gz must be downloaded by hand", remedy=put).check(line)


def test_an_archive_with_fewer_lines_is_refused_and_another_one_after_the_first(
    project, tmp_path, monkeypatch, call
):
    monkeypatch.chdir(project)
    put = put_archive(tmp_path, missing=1)
    results = ("--results", str(tmp_path / "results"))
    assert call("fetch", "pieces", *results).code == 0
    answer = call("prepare", "small", *results)
    assert answer.code == 1
    for split, count in {"train": 24, "valid": 4, "test": 3}.items():
        says(f"task deu, split {split}: {count - 1} pairs, expected {count}").check(answer.err)
    (tmp_path / "results" / "sources" / "pieces" / "pieces.tar.gz").unlink()
    put.write_bytes(put.read_bytes()[:-1])
    size = put.stat().st_size
    says(f"not the {size + 1} of the first fetch (first.json)").check(
        call("fetch", "pieces", *results).err
    )


@pytest.mark.slow
def test_the_dictionary_is_one_with_a_threshold_and_the_pieces_are_the_archives(scored):
    data = load(scored).spec(f"sample/{RUN}", "small").data
    folder = paths(scored).subwords(data)
    pieces = [line.split(" ")[0] for line in read_lines(folder / "dictionary.source.txt")]
    source, target = (folder / f"dictionary.{side}.txt" for side in ("source", "target"))
    assert source.read_bytes() == target.read_bytes()
    assert {"al@@", "t", "hou@@", "&quot;"} < set(pieces)
    assert not [piece for piece in pieces if piece.startswith("rare")]
    assert (4 + len(pieces)) % 8 == 0


@pytest.mark.slow
def test_hypotheses_and_references_are_tokenised_text_with_whole_words(scored):
    spec = load(scored).spec(f"sample/{RUN}", "small")
    [path] = paths(scored).decoding(spec, 1, "test", "plain").glob("deu.txt")
    hypotheses = read_lines(path)
    assert len(hypotheses) == 3
    assert not [line for line in hypotheses if "@@" in line]
    references = [
        "Das Haus ist alt . rarenews14.tokde",
        "Die Maus ist &quot; alt &quot; .",
        "Ein Haus .",
    ]
    scores = measurements.read(
        MeasurementFile(spec, 1, paths(scored), "scores", "test", "plain").path
    )
    for metric in ("none", "13a"):
        expected = BLEU(tokenize=metric, force=True).corpus_score(hypotheses, [references]).score
        record = scores.measurements[f"bleu.test.plain.{metric}"]
        assert record.tasks["deu"].value == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_a_users_own_text_is_given_in_pieces(scored, monkeypatch, call):
    monkeypatch.chdir(scored)
    words = ("translate", RUN, "--task", "deu")
    answer = call(*words, typed=b"The hou@@ se is ol@@ d .\n")
    assert (answer.code, len(answer.lines)) == (0, 1)
    assert "@@" not in answer.out


@pytest.mark.slow
def test_exports_have_no_model_of_pieces_and_ctranslate2_reads_them(scored):
    names = {path.name for path in (scored / "as_fairseq").iterdir()}
    texts = {"README.md", "dict.source.txt", "dict.target.txt"}
    assert names == texts | {"checkpoint.pt", "export.json"}
    assert not list((scored / "as_ctranslate2").glob("*.model"))
    translator = ctranslate2.Translator(str(scored / "as_ctranslate2"), device="cpu")
    (result,) = translator.translate_batch([["The", "hou@@", "se", "."]], max_decoding_length=5)
    assert len(result.hypotheses[0]) <= 5


@pytest.mark.slow
def test_all_of_it_is_recorded_and_verified(scored, monkeypatch, call):
    monkeypatch.chdir(scored)
    corpus = load(scored).spec(f"sample/{RUN}", "small").data.corpus_folder
    record = read_record(scored / "results" / "corpora" / corpus / "corpus.json")
    assert record["definition"]["pieces"] == "marked"
    assert call("verify").code == 0
    path = scored / "results" / "corpora" / corpus / "deu" / "test.deu"
    content = path.read_bytes()
    path.write_bytes(content.replace(b"@@ ", b""))
    says("not the file that was recorded", where="test.deu").check(call("verify").out)
    path.write_bytes(content)
