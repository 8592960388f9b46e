"""COMET: a neural network judges a translation by source and reference (Rei et al., 2022).

The package unbabel-comet computes it, with what the extra `comet` installs. A sentence's score, of
which 1 is good, is rounded to whole millionths. The score is their mean times 100, as most papers
print it.
"""

from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from fathom.io.errors import FathomError
from fathom.scoring.metrics import Lines, Metric

MODEL = "Unbabel/wmt22-comet-da"
INSTALL = "pip install 'fathom[comet]', then pip install --no-deps unbabel-comet"
_BATCH = 16  # sentences


class Comet(Metric):
    """COMET with the model that WMT 2022 recommends."""

    name, unit, better, columns = "comet", "COMET", "higher", ("millionths", "segments")
    needs_source = uses_gpu = True

    def signature(self) -> str:
        """Return the model and the version of unbabel-comet."""
        return f"model:{MODEL}|version:{version('unbabel-comet')}"

    def count(
        self, hypotheses: Lines, references: Lines, sources: Lines | None, language: str
    ) -> np.ndarray:
        """Return the score of each sentence in millionths, and 1."""
        model = _model()
        texts = zip(sources or (), hypotheses, references, strict=True)
        data = [{"src": source, "mt": mt, "ref": reference} for source, mt, reference in texts]
        # COMET imports torch, which this room does without.
        gpus = int(import_module("torch").cuda.is_available())
        scores = model.predict(data, batch_size=_BATCH, gpus=gpus).scores
        millionths = np.rint(1e6 * np.asarray(scores)).astype(np.int64)
        return np.column_stack([millionths, np.ones_like(millionths)])

    def score(self, sums: np.ndarray) -> float:
        """Return the mean score of the sentences, times 100."""
        return 100 * float(sums[0]) / 1e6 / float(sums[1])


@cache
def _model() -> Any:
    try:
        comet = import_module("comet")
    except ModuleNotFoundError as error:
        raise FathomError(f"no package '{error.name}'", "metric comet", INSTALL) from None
    return comet.load_from_checkpoint(comet.download_model(MODEL))


METRIC = Comet()
