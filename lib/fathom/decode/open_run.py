"""A run that a user names, at a scale; torch is loaded when its network is asked for."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.spec import Spec
from fathom.decode.ready import require_device, require_name
from fathom.io.errors import FathomError

if TYPE_CHECKING:
    from fathom.decode.trained_run import TrainedRun


@dataclass(frozen=True)
class OpenRun:
    """A run of a project at a scale."""

    project: Project
    spec: Spec
    paths: Paths
    device: str  # its name, such as "auto"

    @classmethod
    def of(cls, project: Project, paths: Paths, run: str, device: str | None) -> Self:
        """Return a run that a user names; without a device, on that of the switches."""
        device = project.switches.device if device is None else device
        require_device(device)
        spec = project.run_named(run, paths.scale)
        if project.spec(spec.name, paths.scale) != spec:
            # It was named by its folder. All that is made of it, and said, is of that scale.
            of_scale = (each for each in project.scales if project.spec(spec.name, each) == spec)
            paths = replace(paths, scale=next(of_scale))
        reason = project.not_built(spec.name, paths.scale)
        if reason:
            remedy = "`fathom list runs` shows what can be trained"
            where = f"{spec.name}, scale {paths.scale}"
            raise FathomError(f"not built yet: {reason}", where, remedy)
        return cls(project, spec, paths, device)

    def one_gates(self, gates: str | None) -> str:
        """Return the gates that the user named, or those of the run's validation."""
        valid = self.spec.gates
        require_name(gates or valid[0], valid, "gates", self.spec.name)
        return gates or valid[0]

    def trained(self, seed: int, device: str | None = None) -> "TrainedRun":
        """Return a training of the run, here or on another device; this loads torch."""
        from fathom.decode.trained_run import TrainedRun
        from fathom.train.environment import choose_device

        return TrainedRun(self.spec, seed, self.paths, choose_device(device or self.device))
