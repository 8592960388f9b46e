"""Random ids in the files of a data set, for updates that are measured without any text."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from fathom.config.schema.dataset import SPLITS
from fathom.config.spec import Spec
from fathom.data.indexed import prefix, writing
from fathom.data.tensors import Tensors
from fathom.data.vocabulary import EOS, SPECIAL
from fathom.nn.network import Entries

if TYPE_CHECKING:
    from fairseq.data.dictionary import Dictionary

# Of the lengths of sentences: lognormal, as of TED talks.
_MEAN, _SPREAD = 3.1, 0.65
_HELD_OUT = 50  # sentences of each task and held-out split


def made_up_text(folder: Path, spec: Spec, entries: int, sentences: int, longest: int) -> Tensors:
    """Write random ids in the files of a data set: sentences of each task, split and side.

    Held-out text has a few sentences. The longest have `longest` pieces with their end symbol.
    """
    draws = np.random.default_rng(1)
    sides = ("source",) if spec.masking else ("source", "target")
    for task in spec.data.tasks:
        (folder / task).mkdir(parents=True)
        for split in SPLITS:
            count = sentences if split == "train" else _HELD_OUT
            lengths = np.clip(draws.lognormal(_MEAN, _SPREAD, count), 3, longest).astype(int)
            for side in sides:
                with writing(prefix(folder, task, split, side), entries) as add:
                    for length in lengths:
                        add([*draws.integers(len(SPECIAL), entries, length - 1).tolist(), EOS])
    tasks, dictionary = tuple(spec.data.tasks), cast("Dictionary", Entries(entries))
    starts = (EOS,) * len(tasks)
    return Tensors(folder, tasks, sides, dictionary, dictionary, (), (), starts, 9.0, "", "")
