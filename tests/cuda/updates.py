"""Make updates of runs on a fake CUDA device; print what the device would be asked to do.

    python -m tests.cuda.updates RUN … [--ranks 2] [--tokens 4096]

Prints a line of JSON per run. The text is random, of the run's tasks and of sentence lengths as in
TED talks. Everything else is the run at the scale `paper` but for two settings: the tokens of an
update, and the layers. Updates of 2 + 2, 4 + 2 and 2 + 4 layers differ by the kernels per layer.
"""

# Before torch.
from tests.cuda import fake_device  # isort: skip

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import torch.distributed as dist
from torch import nn
from torch.testing._internal.distributed.fake_pg import FakeStore

from benchmarks.made_up_text import made_up_text
from fathom.config import schedules
from fathom.config.load import load
from fathom.config.spec import Spec
from fathom.data.tensors import Tensors
from fathom.methods.build import build
from fathom.nn.cpu import choose_matmul_precision
from fathom.nn.network import Entries
from fathom.train.ranks import Ranks
from fathom.train.two_level import TwoLevel
from fathom.train.update_batches import MaskedUpdateBatches, UpdateBatches

# Not a multiple of 64, as in most dictionaries.
ENTRIES = 32_001


def on_device(network: nn.Module) -> nn.Module:
    """Move a network as `to` does, which fake parameters refuse; tied parameters stay tied."""
    moved: dict[int, nn.Parameter] = {}
    for module in network.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                if id(parameter) not in moved:
                    there = parameter.detach().to(fake_device.DEVICE)
                    moved[id(parameter)] = nn.Parameter(there, parameter.requires_grad)
                module._parameters[name] = moved[id(parameter)]
        for name, buffer in module._buffers.items():
            module._buffers[name] = None if buffer is None else buffer.to(fake_device.DEVICE)
    return network


def update(spec: Spec, tensors: Tensors, ranks: Ranks, tokens: int) -> fake_device.Recorder:
    """Make two updates; return the record of the second, when all state is there."""
    batch = spec.training.batch.model_copy(update={"tokens": tokens, "per": "update"})
    training = spec.training.model_copy(update={"updates": 1000, "batch": batch})
    with fake_device.fake_cuda():
        network = build(spec.model, spec.method, len(tensors.tasks), *[Entries(ENTRIES)] * 2)
        if spec.start and spec.start.freeze:
            of_methods = {id(p) for each in network.methods.values() for p in each.parameters()}
            for parameter in network.parameters():
                parameter.requires_grad_(id(parameter) in of_methods)
        network = on_device(network)
        network.set_matmul(choose_matmul_precision(fake_device.DEVICE))
        schedule = schedules.learning_rate(training.schedule, spec.model.width, 1000)
        two_level = TwoLevel(network, training, schedule, 1, ranks)
        kind = UpdateBatches if spec.masking is None else MaskedUpdateBatches
        run = replace(spec, training=training)
        batches = kind(tensors, run, 1, ranks, fake_device.DEVICE, 2 * tokens)
        with fake_device.Recorder():
            two_level.update(1, batches.micro_batches(1))
        made = batches.micro_batches(2)
        with fake_device.Recorder() as recorder:
            two_level.update(2, made)
    recorder.tokens = sum(sum(batch.source_lengths) for batch in made.batches)
    return recorder


def with_layers(spec: Spec, encoder: int, decoder: int) -> Spec:
    """Return a run with other numbers of layers; a masked language model has no decoder."""
    decoder = decoder if spec.model.decoder_layers else 0
    layers = {"encoder_layers": encoder, "decoder_layers": decoder}
    return replace(spec, model=spec.model.model_copy(update=layers))


def asked(spec: Spec, ranks: Ranks, tokens: int, longest: int) -> dict[str, object]:
    """Return what a run asks of a device."""

    def measured(encoder: int, decoder: int) -> fake_device.Recorder:
        return update(with_layers(spec, encoder, decoder), tensors, ranks, tokens)

    with tempfile.TemporaryDirectory() as folder:
        tensors = made_up_text(Path(folder), spec, ENTRIES, 400, longest)
        base, *deeper = measured(2, 2), measured(4, 2), measured(2, 4)
    stacks = ("encoder", "decoder") if spec.model.decoder_layers else ("encoder",)
    per_layer = {
        stack: {
            "kernels": (deep.kernels.total() - base.kernels.total()) / 2,
            "casts": (deep.casts - base.casts) / 2,
            "megabytes": (deep.bytes - base.bytes) / 2e6,
            "names": dict((deep.kernels - base.kernels).most_common()),
        }
        for stack, deep in zip(stacks, deeper, strict=False)
    }
    logits = {size for size in base.sizes if ENTRIES <= size < ENTRIES + 64}
    waits = [f"{count} x {why}: {line}" for (why, line), count in deeper[-1].waits.items()]
    return {
        "waits": waits,
        "per_layer": per_layer,
        "logits": [*logits],
        "without_kernel": [*fake_device.without_kernel(deeper[-1].operations)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--longest", type=int, default=60, help="tokens of a sentence at most")
    parser.add_argument("--precision", choices=("fp32", "bf16"))
    options = parser.parse_args()
    if options.ranks > 1:
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=options.ranks)
    ranks = Ranks(0, options.ranks)
    project = load(Path(__file__).parents[2], check=False)
    for name in options.runs:
        spec = project.spec(name, "paper")
        if options.precision:
            training = spec.training.model_copy(update={"precision": options.precision})
            spec = replace(spec, training=training)
        counted = asked(spec, ranks, options.tokens, options.longest)
        sys.stdout.write(json.dumps({"run": name} | counted) + "\n")


if __name__ == "__main__":
    main()
