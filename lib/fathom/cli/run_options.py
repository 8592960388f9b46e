"""What the verbs on one run share: its options, and what they open before torch is loaded."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.cli.options import open_paths, open_project
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.rules import CTRANSLATE2_REMEDY, require_plain_gates
from fathom.config.spec import Spec
from fathom.decode.ready import SPLITS, require_device, require_name
from fathom.io.errors import FathomError

if TYPE_CHECKING:
    from fathom.decode.trained_run import TrainedRun

Gates = Annotated[
    str | None, typer.Option(help="plain, soft or hard; by default those that config asks for.")
]
Split = Annotated[
    str | None, typer.Option(help="valid or test; by default those that config asks for.")
]


@dataclass(frozen=True)
class OpenRun:
    """A run of a project at a scale.

    Attributes:
        project: everything in config/.
        spec: the run.
        paths: where its files are.
    """

    project: Project
    spec: Spec
    paths: Paths

    def one_gates(self, gates: str | None) -> str:
        """Return the gates that the user named, or those of the run's validation.

        Raises:
            FathomError: the run cannot be decoded with them.
        """
        valid = self.spec.gates
        require_name(gates or valid[0], valid, "gates", self.spec.name)
        return gates or valid[0]

    def require_decodable(self, *gates: str) -> None:
        """Refuse gates with which the decoder of the run's settings cannot translate it.

        Raises:
            FathomError: CTranslate2 shall translate, and the run is no plain Transformer then.
        """
        decoding = self.spec.decoding
        if decoding is not None and decoding.decoder == "ctranslate2":
            card = self.project.methods[self.spec.method.name]
            for name in gates:
                require_plain_gates(card, name, self.spec.name, CTRANSLATE2_REMEDY)

    def decodings(self, split: str | None, gates: str | None) -> list[tuple[str, str]]:
        """Return the split and the gates of each decoding that a verb handles.

        Args:
            split: the split that the user named.
            gates: the gates that the user named.

        Returns:
            The one that the user named, or all that config asks for.

        Raises:
            FathomError: there is no such split, or the run cannot be decoded with these gates.
        """
        if split is None and gates is None:
            from fathom.artefacts.needs import Needs

            return list(Needs(self.project, self.paths.scale).decodings(self.spec.name))
        return [(one_split(split or "test"), self.one_gates(gates))]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that tables show of the run, beside those that every run has."""
        from fathom.artefacts.needs import Needs

        return Needs(self.project, self.paths.scale).metrics(self.spec.name)

    def with_window(self, size: int | None) -> "OpenRun":
        """Return the run with another size of its window; None keeps the run's.

        Raises:
            FathomError: neither the user nor the run gives a size.
        """
        decoding = self.spec.decoding
        if decoding is None or (size is None and decoding.window is None):
            what = "the run has no window of checkpoints"
            raise FathomError(what, self.spec.name, "give --size, or set decoding.window")
        chosen = decoding.model_copy(update={"window": size or decoding.window})
        return replace(self, spec=replace(self.spec, decoding=chosen))

    def trained(self, seed: int, device: str | None) -> "TrainedRun":
        """Return a training of the run; this loads torch.

        Raises:
            FathomError: there is no such device here.
        """
        from fathom.decode.trained_run import TrainedRun
        from fathom.train.environment import choose_device

        switches = self.project.switches
        place = choose_device(device or switches.device)
        return TrainedRun(self.spec, seed, self.paths, place, switches.kernels)


def open_run(
    run: str, scale: str | None, results: str | None, device: str | None = None
) -> OpenRun:
    """Return a run of the project in whose folder the user is.

    Args:
        run: its name.
        scale: the scale's name; None for config.yaml's.
        results: the folder of results; None for config.yaml's.
        device: the device that the user named.

    Raises:
        FathomError: no such project, scale or run, the run is not built yet, or no device has
            that name.
    """
    project = open_project()
    name, paths = open_paths(project, scale, results)
    require_device(project.switches.device if device is None else device)
    spec = project.run_named(run, name)
    reason = project.not_built(spec.name, name)
    if reason:
        remedy = "`fathom list runs` shows what can be trained"
        raise FathomError(f"not built yet: {reason}", f"{spec.name}, scale {name}", remedy)
    return OpenRun(project, spec, paths)


def one_split(split: str) -> str:
    """Return a split of held-out text.

    Raises:
        FathomError: it is none of SPLITS.
    """
    require_name(split, SPLITS, "held-out split", "--split")
    return split
