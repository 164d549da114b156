"""Small networks and clips to play with."""

import torch
from torch import nn

from actonym.data.clips import Clips
from actonym.nets.frame import FrameNet
from actonym.train.phase import Batch, Recognizers


def recognizers(actions=3, attributes=5):
    torch.manual_seed(1)
    action = nn.Sequential(nn.AdaptiveAvgPool3d((2, 4, 4)), nn.Flatten(), nn.Linear(96, actions))

    def privacy():
        return FrameNet(attributes, (4, 8))

    return Recognizers(action, privacy(), lambda: action, privacy, actions=actions, attributes=attributes)


def clips(count=12, garbage=False, seed=0):
    generator = torch.Generator().manual_seed(seed)
    video = torch.randint(0, 256, (count, 3, 4, 16, 16), dtype=torch.uint8, generator=generator)
    privacy = torch.randint(0, 2, (count, 5), generator=generator).float()
    if garbage:
        privacy = torch.full_like(privacy, 7.5) - 3 * privacy
    return Clips(video, torch.arange(count) % 3, privacy, [""] * count)


def batch_of(count=6):
    data = clips(count)
    return Batch(data.video / 255, data.action, data.privacy, None, torch.arange(count))


def losses(step, batch, seed=5):
    """What each optimizer is given, in order."""
    given = []
    torch.manual_seed(seed)
    step(batch, lambda name, loss, retain_graph=False: given.append((name, float(loss.detach()))))
    return given
