"""Hugging Face's MarianMT in a process of its own; it answers line by line.

    .venv/bin/python -m benchmarks.peer.marian_process <job file>

A line `update <n>` makes update n and answers with its seconds; `peak` answers with the MB that the
process took beyond its imports. Its best settings: attention by torch's fused kernel, torch's
smoothed loss and fused AdamW, the batch in two halves. It uses nothing of fathom.
"""

import json
import sys
import time

import torch
from torch.nn.functional import cross_entropy
from transformers import MarianConfig, MarianMTModel

from benchmarks.peer.resident import resident

PAD, EOS = 1, 2


def model(shape: dict) -> MarianMTModel:
    """Return MarianMT of a shape: its width, heads, layers, dropout and vocabularies."""
    sides = {
        f"{side}_{name}": shape[value]
        for side in ("encoder", "decoder")
        for name, value in (("attention_heads", "heads"), ("ffn_dim", "ffn"))
    }
    config = MarianConfig(
        vocab_size=shape["source_entries"],
        decoder_vocab_size=shape["target_entries"],
        share_encoder_decoder_embeddings=False,
        d_model=shape["width"],
        encoder_layers=shape["encoder_layers"],
        decoder_layers=shape["decoder_layers"],
        dropout=shape["dropout"],
        attention_dropout=shape["attention_dropout"],
        activation_dropout=shape["activation_dropout"],
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=1024,
        pad_token_id=PAD,
        eos_token_id=EOS,
        forced_eos_token_id=EOS,
        decoder_start_token_id=EOS,
        use_cache=False,
        attn_implementation="sdpa",
        **sides,
    )
    return MarianMTModel(config).to(shape["device"]).train()


class Updates:
    """The network, its optimiser and the batches."""

    def __init__(self, job: dict):
        """Build the network of a job, which holds shape, settings and the passes of all updates."""
        self.job, self.device = job, torch.device(job["shape"]["device"])
        self.network = model(job["shape"])
        self.adam = torch.optim.AdamW(
            self.network.parameters(),
            betas=job["betas"],
            eps=job["eps"],
            weight_decay=0,
            fused=True,
        )

    def now(self) -> float:
        """Return the clock of the device, in seconds."""
        if self.device.type == "cpu":
            return time.process_time()
        torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def update(self, number: int) -> float:
        """Make an update and return its seconds."""
        passes, tokens = self.job["updates"][number - 1]
        passes = [[side.to(self.device) for side in sides] for sides in passes]
        start = self.now()
        for group in self.adam.param_groups:
            group["lr"] = self.job["rates"][number - 1]
        for source, previous, target in passes:
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.job["bf16"]):
                output = self.network(
                    input_ids=source, attention_mask=source.ne(PAD), decoder_input_ids=previous
                )
                logits = output.logits.flatten(0, 1)
            loss = cross_entropy(
                logits.float(),
                target.flatten(),
                ignore_index=PAD,
                reduction="sum",
                label_smoothing=self.job["smoothing"],
            )
            (loss / tokens).backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.job["clip"])
        self.adam.step()
        self.network.zero_grad(set_to_none=True)
        return self.now() - start


def main() -> None:
    """Answer the lines of standard input."""
    torch.set_num_threads(1)
    before = resident()
    job = torch.load(sys.argv[1], weights_only=True)
    updates = Updates(job)
    for line in sys.stdin:
        command, *number = line.split()
        if command == "update":
            answer = updates.update(int(number[0]))
        elif updates.device.type == "cuda":
            answer = torch.cuda.max_memory_allocated() / 2**20
        else:
            answer = resident() - before
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
