"""Train in two processes, started from a program as `actonym train --devices 2` is; writes to OUT what each one got."""

import sys
from pathlib import Path

import torch.distributed
from safetensors.torch import save_file
from tiny import Tiny, clips, recognizer, recognizers, weights
from torch import Tensor
from torch.nn.functional import cross_entropy

from actonym.train import Batch, Phase, Recognizers, Update
from actonym.train.method import train_method


class Watched(Tiny):
    """A phase more than Tiny: batch norm and dropout, whose numbers are each process's own.

    Its net begins with other weights in each process, and each process writes down those it has in every step.
    """

    def __init__(self, out: str) -> None:
        super().__init__()
        self.out = Path(out)

    def phases(self, recognizers: Recognizers) -> list[Phase]:
        rank = torch.distributed.get_rank()
        torch.manual_seed(rank)
        net = recognizer(2, noisy=True)

        def step(batch: Batch, update: Update) -> dict[str, Tensor]:
            save_file(weights([net]), self.out / f"rank{rank}.safetensors")
            loss = cross_entropy(net(batch.clip), batch.action)
            update("net", loss)
            return {"loss": loss}

        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
        noisy = Phase("noisy", 2, step, {"net": optimizer}, {"net": net}, batch_size=8)
        return [*super().phases(recognizers), noisy]


def main(out: str) -> None:
    method = Watched(out)
    folder = Path(out) / "method"
    train_method(method, clips(), recognizers(), out=folder, devices=2, accelerator="cpu", progress=False)
    save_file(weights([method]), Path(out) / "method.safetensors")


if __name__ == "__main__":
    main(sys.argv[1])
