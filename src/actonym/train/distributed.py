"""Several processes with the same weights.

Not DistributedDataParallel: a method has several networks and optimizers in one graph, with a recognizer frozen in one
update and trained in the next, and a wrapper per network would wait for gradients that never come. Instead each update
averages the gradients of its own optimizer's parameters, all in one message.
"""

from typing import TYPE_CHECKING, cast

import torch
import torch.distributed
from torch import Tensor, nn

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def mean(fabric: "Fabric", tensor: Tensor) -> Tensor:
    return cast(Tensor, fabric.all_reduce(tensor, reduce_op="mean"))


def average_gradients(fabric: "Fabric", parameters: list[nn.Parameter]) -> None:
    """The mean of the gradients over the processes. A parameter without one on some process counts as zero there."""
    if fabric.world_size == 1:
        return
    parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    present = torch.tensor([p.grad is not None for p in parameters], device=fabric.device)
    flat = torch.cat([present.to(parts[0].dtype), *(part.flatten() for part in parts)])
    flat = mean(fabric, flat)
    shares, values = flat[: len(parts)], flat[len(parts) :].split([p.numel() for p in parameters])
    for parameter, share, value in zip(parameters, shares.tolist(), values, strict=True):
        # None everywhere stays None: the optimizer must skip it, as it would in one process.
        parameter.grad = value.view_as(parameter).clone() if share else None


def share_weights(fabric: "Fabric", module: nn.Module) -> None:
    """Every process gets rank 0's parameters and buffers."""
    if fabric.world_size > 1:
        for tensor in module.state_dict().values():
            torch.distributed.broadcast(tensor, src=0)


def share_buffers(fabric: "Fabric", module: nn.Module) -> None:
    """Every process gets rank 0's buffers (running statistics, which follow each process's own clips)."""
    if fabric.world_size == 1:
        return
    buffers: list[Tensor] = [b for b in module.buffers() if b.is_floating_point()]
    if buffers:
        flat = torch.cat([b.flatten().float() for b in buffers])
        torch.distributed.broadcast(flat, src=0)
        for buffer, value in zip(buffers, flat.split([b.numel() for b in buffers]), strict=True):
            buffer.copy_(value.view_as(buffer))
