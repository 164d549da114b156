"""Collective (Zhang et al., ICDM 2019): the content of the video in the style of noise."""

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from actonym.data.clips import Clips
from actonym.losses.contrastive import found
from actonym.methods.base import MethodCard, register
from actonym.methods.per_frame import PerFrame
from actonym.nets.heads import features_and_answers
from actonym.nets.itnet import MULTIPLE, ITNet
from actonym.train.adversarial import Adversarial
from actonym.train.phase import Batch


@dataclass
class CollectiveGame(Adversarial):
    """No network is fought: what is private counts as style, and the style is to be that of noise.

    Style is what the maps of an untrained network correlate like (Gatys et al., CVPR 2016; untrained ones do as well:
    Ustyuzhaninov et al., ICLR 2017), so no private label is needed; content is what the action recognizer makes of a
    clip.
    """

    attacker_steps: int = 0  # nobody attacks
    frames: int = 2  # of a clip whose style is compared, drawn anew in each step

    def make_spy(self) -> nn.Module:
        """The network of the style: of the privacy recognizer's kind, at the weights that it starts with."""
        return deepcopy(self.recognizers.privacy).requires_grad_(False)

    def hidden(self, clip: Tensor, batch: Batch) -> Tensor:
        """The style loss against fresh noise."""
        self.spy.eval()  # batch norm would even out the very thing that is compared
        some = clip[:, :, torch.randperm(clip.shape[2])[: self.frames]]
        shown, noise = (style(self.spy, part) for part in (some, torch.rand_like(some)))
        return torch.stack([apart(a, b.mean(0)) for a, b in zip(shown, noise, strict=True)]).mean()

    def kept(self, clip: Tensor, batch: Batch) -> Tensor:
        """The content loss: how far the recognizer's features are from those of the raw clip."""
        with torch.no_grad():
            wanted, _ = features_and_answers(self.recognizers.action, batch.clip)
        features, _ = features_and_answers(self.recognizers.action, clip)
        return apart(features, wanted)

    def leak(self, clips: Clips) -> float:
        """How many videos are found again by one frame of them, in the features of the style's network."""

        def features(part: Tensor) -> Tensor:
            return features_and_answers(self.spy, part)[0]

        frames = clips.thinned(2).video.split(1, 2)
        first, second = (Clips(part, clips.action, clips.privacy, clips.subject, views=clips.views) for part in frames)
        return found(self.answers(features, first), self.answers(features, second))


def style(net: nn.Module, clip: Tensor) -> list[Tensor]:
    """Gram matrices `[B, C, C]` of the clip itself and of what each convolution makes of it."""
    maps = [clip]
    convolutions = [module for module in net.modules() if isinstance(module, nn.Conv2d | nn.Conv3d)]
    hooks = [module.register_forward_hook(lambda _, inputs, out: maps.append(out)) for module in convolutions]
    try:
        net(clip)
    finally:
        for hook in hooks:
            hook.remove()
    # A network on frames has a row for each frame: they are put together again.
    return [gram(x.unflatten(0, (len(clip), -1)).transpose(1, 2).flatten(2)) for x in maps]


def gram(x: Tensor) -> Tensor:
    """Mean products of channels: `[B, C, N] -> [B, C, C]`."""
    return x @ x.transpose(1, 2) / x.shape[2]


def apart(x: Tensor, wanted: Tensor) -> Tensor:
    """The squared distance, as a share of what is wanted: layers of all sizes count alike."""
    return (x - wanted).square().mean() / wanted.square().mean().clamp_min(1e-8)


@register("collective")
class Collective(PerFrame):
    """A network on every frame that keeps the content, and gives everything the style of noise.

    No code and no full text was at hand: this follows the paper's abstract ("style of random noise, content of the raw
    data", no private labels) and the table of STPrivacy, which put it on video. The network, the loss networks and all
    numbers are ours.
    """

    card = MethodCard(
        title="Collective",
        idea="A network gives every frame the style of noise and keeps its content; no private labels. It follows the "
        "paper's abstract and those who compare with it: details are not public.",
        paper="Zhang et al., Collective Protection: Preventing Sensitive Inferences via Integrative Transformation",
        year=2019,
        needs=frozenset({"action"}),
        knobs={"train.privacy": "weight of the style against the content"},
        reported={
            "": {
                "vp-hmdb51": {"top1": 0.4688, "f1": 0.651, "cmap": 0.7412},
                "vp-ucf101": {"top1": 0.7801, "f1": 0.663, "cmap": 0.7522},
            }
        },
    )
    game = CollectiveGame

    def __init__(self, width: int = 32, blocks: int = 5, side: int = 112, kernel: int = 9) -> None:
        """`width`: channels of the first layer, of `kernel` x `kernel` pixels; `blocks`: residual blocks."""
        super().__init__(ITNet(width, blocks, kernel), MULTIPLE, side)
