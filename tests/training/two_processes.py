"""One of the processes that share the updates of a run; prints what the test compares."""

import json
import sys
from pathlib import Path

import torch
from tests.training.small_runs import latent
from tests.training.test_two_level import Run, without_dropout

from fathom.training.ranks import Ranks
from fathom.training.two_level import Parts


def main(tensors: Path) -> None:
    """Make three updates with this process's share of each."""
    ranks = Ranks.join(torch.device("cpu"))
    run = Run(without_dropout(latent()), tensors)
    run.two_level.ranks = ranks
    said = []
    for number in range(1, 4):
        whole = run.parts(number, micro=2)
        mine = Parts(whole.mine[ranks.rank :: ranks.world], whole.tokens, whole.tasks)
        result = run.two_level.update(number, mine)
        said.append([result.nll, result.loss, result.gradient_norm, whole.tokens])
    if ranks.first:
        alpha = run.network.decoder.method.alpha.tolist()
        print(json.dumps({"world": ranks.world, "updates": said, "alpha": alpha}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
