"""What is measured: text, shapes and methods, with ours as `fathom train` builds it.

On a CPU these are the runs of the tiny scale; on CUDA the paper's own width, depth, tokens and
precision, over the tiny scale's text. The text is made by the project's own workflow, if it is not
there yet.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import torch

from fathom.config.load import load as load_project
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.spec import Spec
from fathom.data.tensors import Tensors, load
from fathom.train.loop import Training, TrainPaths
from fathom.train.progress import Reporter
from fathom.train.update_batches import MicroBatches

ROOT = Path(__file__).parents[2]
SCALE, PAPER = "tiny", "paper"
STATIC, LATENT = "latent_depth/m2o_diverse_12_12", "latent_depth/m2o_diverse_ll_both_24_24"
GROUP_DROPOUT = "lamgd/m2o_diverse_lamgd"
ONE_TO_MANY = "latent_depth/o2m_diverse_12_12"
SEED = 1


@dataclass(frozen=True)
class Shape:
    """A method and a depth that are measured.

    Attributes:
        name: in tables.
        run: the run whose method it is.
        layers: of encoder and decoder.
    """

    name: str
    run: str
    layers: tuple[int, int]


STATIC_SHAPES = {
    "cpu": (Shape("static 3/3", STATIC, (3, 3)), Shape("static 12/12", STATIC, (12, 12))),
    "cuda": (Shape("static 24/24", STATIC, (24, 24)),),
}
METHOD_SHAPES = {
    "cpu": (
        Shape("latent 6/6", LATENT, (6, 6)),
        Shape("latent 12/12", LATENT, (12, 12)),
        Shape("group dropout 6/6", GROUP_DROPOUT, (6, 6)),
    ),
    "cuda": (
        Shape("latent 24/24", LATENT, (24, 24)),
        Shape("group dropout 6/6", GROUP_DROPOUT, (6, 6)),
    ),
}


def shape_named(name: str) -> Shape:
    """Return a shape by its name."""
    tables = (*STATIC_SHAPES.values(), *METHOD_SHAPES.values())
    return {shape.name: shape for shapes in tables for shape in shapes}[name]


@dataclass(frozen=True)
class Workload:
    """The text and the device of a benchmark.

    Attributes:
        results: the folder of the project's results, whose text is used.
        device: where networks are.
        base: the run whose text, batches and optimiser all shapes have.
    """

    results: Path
    device: torch.device
    base: str = field(default=STATIC, kw_only=True)

    @cached_property
    def project(self) -> Project:
        """The project."""
        return load_project(ROOT, check=False)

    @cached_property
    def folder(self) -> Path:
        """The folder of the encoded text."""
        return Paths(self.results, SCALE).tensors(self.project.spec(self.base, SCALE).data)

    @cached_property
    def tensors(self) -> Tensors:
        """The encoded text."""
        return load(self.folder)

    @property
    def static_shapes(self) -> Sequence[Shape]:
        """The shapes that a peer has too."""
        return STATIC_SHAPES[self.device.type]

    @property
    def method_shapes(self) -> Sequence[Shape]:
        """The shapes that no peer has."""
        return METHOD_SHAPES[self.device.type]

    def prepare(self) -> None:
        """Make the text by the project's workflow, and print the command, if it is not there."""
        if (self.folder / "tensors.json").exists():
            return
        command = [str(Path(sys.executable).with_name("snakemake"))]
        command += [str(self.folder / "tensors.json"), "--config", f"results={self.results}"]
        sys.stderr.write(f"bench: making the text first: {' '.join(command)}\n")
        # Only tables go to the standard output.
        subprocess.run(command, check=True, cwd=ROOT, stdout=sys.stderr)

    def spec(self, shape: Shape) -> Spec:
        """Return the run that is trained: of the scale on a CPU, of the paper's size on CUDA.

        All shapes have the text, the batches and the optimiser of one run, so that only layers and
        methods differ.
        """
        base, own = (self.project.spec(name, SCALE) for name in (self.base, shape.run))
        if self.device.type == "cuda":
            paper = self.project.spec(self.base, PAPER)
            base = replace(base, model=paper.model, training=paper.training)
        layers = dict(zip(("encoder_layers", "decoder_layers"), shape.layers, strict=True))
        model = base.model.model_copy(update=layers)
        return replace(base, model=model, method=own.method, gates=own.gates)

    def training(self, spec: Spec, **changes: object) -> Training:
        """Return a training at update 0, as `fathom train` builds it, diagnostics included.

        Args:
            spec: the run.
            changes: switches that differ from those in config.yaml, and from the exact products
                that the peers have.
        """
        changes = {"device": str(self.device), "save_minutes": 0, "matmul": "exact"} | changes
        switches = self.project.switches.model_copy(update=changes)
        folder = Path(tempfile.mkdtemp(prefix="fathom-bench-"))
        reporter = Reporter(sys.stderr.write, folder / "train.log")
        paths = TrainPaths(self.folder, folder)
        return Training(spec, SEED, self.tensors, paths, switches, reporter)

    def updates(self, training: Training, count: int) -> list[MicroBatches]:
        """Return the batches of the first updates of a training."""
        return [training.batches.micro_batches(number) for number in range(1, count + 1)]
