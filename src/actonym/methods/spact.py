"""SPAct (Dave et al., CVPR 2022): privacy without privacy labels, as what makes two frames of a video alike."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from actonym.data.clips import Clips
from actonym.errors import unknown
from actonym.losses.contrastive import found, lost, nt_xent
from actonym.methods.base import MethodCard, register
from actonym.methods.per_frame import PerFrame
from actonym.nets.heads import projecting
from actonym.nets.unet import MULTIPLE, UNet
from actonym.train.adversarial import Adversarial
from actonym.train.augment import NOISE, flip_and_shift, pick
from actonym.train.phase import Batch


@dataclass
class SPActGame(Adversarial):
    """The privacy network finds the other frame of the same video; no label of a private attribute is ever read."""

    temperature: float = 0.1
    hidden_layer: int = 2048  # of the projection
    embedding: int = 128
    crop: float = 1.0  # share of a frame's sides that a view shows, in places of its own
    pairs: int = 1  # drawn from each clip in a step: a few pieces of a few frames say little of all that is shown
    objective: str = "maximize"  # or uninformed: all views alike, which has a slope even where every twin is found
    ceiling: float | None = None  # of maximize: what a view loses beyond it counts no more for the anonymizer

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective not in ("maximize", "uninformed"):
            raise unknown("objective", self.objective, ["maximize", "uninformed"])

    def make_spy(self) -> nn.Module:
        return projecting(self.recognizers.privacy, self.hidden_layer, self.embedding)

    def told(self, clip: Tensor, batch: Batch) -> Tensor:
        """L_B, the NT-Xent loss between two frames of each video."""
        return self.contrast(clip).mean()

    def hidden(self, clip: Tensor, batch: Batch) -> Tensor:
        """-L_B, which has no upper end in the paper; or that all views look alike."""
        if self.objective == "uninformed":
            return self.contrast(clip, lost).mean()
        loss = self.contrast(clip)
        return -(loss if self.ceiling is None else loss.clamp(max=self.ceiling)).mean()

    def contrast(self, clip: Tensor, loss: Callable[[Tensor, Tensor, float], Tensor] = nt_xent) -> Tensor:
        """Of every view, `[pairs * 2B]`."""
        return torch.cat([loss(*self.views(clip), self.temperature) for _ in range(self.pairs)])

    def views(self, clip: Tensor) -> tuple[Tensor, Tensor]:
        """What the privacy network makes of two frames of each clip, `[B, D]`."""
        first, second = (self.spy(cropped(varied(frame), self.crop)) for frame in two_frames(clip))
        return first, second

    def leak(self, clips: Clips) -> float:
        """How many videos are found again among all by one frame of them, given another."""
        frames = clips.thinned(2).video.split(1, 2)
        first, second = (Clips(part, clips.action, clips.privacy, clips.subject, views=clips.views) for part in frames)
        return found(self.answers(self.spy, first), self.answers(self.spy, second))


def two_frames(clip: Tensor) -> tuple[Tensor, Tensor]:
    """Two frames of each clip at random, `[B, 3, 1, H, W]`; different ones, if there are."""
    b, _, t, _, _ = clip.shape
    first = torch.randint(t, (b,))
    second = (first + torch.randint(1, max(t, 2), (b,))) % t
    rows = torch.arange(b)
    return clip[rows, :, first][:, :, None], clip[rows, :, second][:, :, None]


def varied(frame: Tensor) -> Tensor:
    """Mirrored and moved at random, each frame by itself: a weak form of SimCLR's augmentations."""
    return flip_and_shift(frame, None, torch.rand(len(frame), NOISE))[0]


def cropped(frame: Tensor, share: float) -> Tensor:
    """Of each frame a piece somewhere; a share of 1 is all of it."""
    if share == 1:
        return frame
    rows, columns = (_stretch(len(frame), side, round(side * share)) for side in frame.shape[-2:])
    return pick(frame, rows, columns)


def _stretch(count: int, side: int, length: int) -> Tensor:
    """`count` runs of `length` places on a `side`, each beginning somewhere."""
    return torch.randint(side - length + 1, (count, 1)) + torch.arange(length)


@register("spact")
class SPAct(PerFrame):
    """A UNet on every frame keeps the action and takes away what tells two frames of one video from other videos."""

    card = MethodCard(
        title="SPAct",
        idea="A UNet rewrites every frame, against a network that finds frames of the same video; no privacy labels.",
        paper="Dave et al., SPAct: Self-supervised Privacy Preservation for Action Recognition, CVPR 2022",
        year=2022,
        needs=frozenset({"action"}),
        knobs={"train.privacy": "weight of what is hidden against the action"},
        reported={
            "": {
                "vp-hmdb51": {"top1": 0.4856, "f1": 0.642, "cmap": 0.7378},
                "vp-ucf101": {"top1": 0.7840, "f1": 0.651, "cmap": 0.7529},
            }
        },
    )
    game = SPActGame

    def __init__(self, width: int = 64, side: int = 112, fold: int = 1) -> None:
        """`width`: channels of the UNet's first level; `fold`: side of the squares of pixels that it takes as one."""
        super().__init__(UNet(width, fold), fold * MULTIPLE, side)
