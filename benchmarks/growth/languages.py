"""The same sentences as the text of another number of languages, to measure what languages cost."""

import shutil
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fairseq.data.indexed_dataset import (
    MMapIndexedDataset,
    MMapIndexedDatasetBuilder,
    best_fitting_int_dtype,
    data_file_path,
    index_file_path,
)

from benchmarks.peer.workload import Workload
from fathom.batches.tensors import SIDES, SPLITS, dictionary_path, prefix
from fathom.io.files import sha256
from fathom.io.integrity import read_record, write_record


@dataclass(frozen=True)
class Dealt(Workload):
    """A workload whose text is dealt over another number of languages.

    Attributes:
        languages: how many.
    """

    languages: int = 8

    @cached_property
    def folder(self) -> Path:
        """The folder of the dealt text, which is temporary."""
        out = Path(tempfile.mkdtemp(prefix="fathom-bench-"))
        deal(Workload(self.results, self.device).folder, self.languages, out)
        return out


def deal(folder: Path, languages: int, out: Path) -> None:
    """Write the sentences of an encoded text, dealt in turn over some languages.

    Args:
        folder: of the encoded text.
        languages: their number.
        out: the folder to write.
    """
    record = read_record(folder / "tensors.json")
    names = [f"l{number:02}" for number in range(languages)]
    for side in SIDES:
        shutil.copy(dictionary_path(folder, side), dictionary_path(out, side))
    for split in SPLITS:
        for side in SIDES:
            texts = [
                MMapIndexedDataset(str(prefix(folder, t, split, side))) for t in record["tasks"]
            ]
            sentences = [text[number] for text in texts for number in range(len(text))]
            dtype = best_fitting_int_dtype(record["dictionaries"][side])
            for number, name in enumerate(names):
                path = prefix(out, name, split, side)
                path.parent.mkdir(exist_ok=True)
                builder = MMapIndexedDatasetBuilder(data_file_path(str(path)), dtype=dtype)
                for sentence in sentences[number::languages]:
                    builder.add_item(sentence)
                builder.finalize(index_file_path(str(path)))
    files = [path for path in out.rglob("*") if path.is_file()]
    hashes = {path.relative_to(out).as_posix(): sha256(path) for path in files}
    write_record(out / "tensors.json", record | {"tasks": names, "files": hashes})
