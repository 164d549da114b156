"""What recognizers and attackers look at: the clips themselves, or what a frozen encoder makes of them."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from tqdm import tqdm

from actonym.attacks.frame import single_frames
from actonym.data.cache import cache_dir
from actonym.data.clips import STATIC, Clips, to_floats
from actonym.nets.encoder import Encoder, weights_hash
from actonym.nets.encoders import encoder
from actonym.nets.recognizers import sees_frames

Look = Callable[[Clips, str, str], Clips]  # clips, attack (or "action") and network -> what that network sees

BATCH = 4  # clips that go through an encoder at once
BLOCK = 64  # clips whose features are kept together: a run that was stopped has lost no more


def pixels(frames: int) -> Look:
    """Single frames for the frame attack, some frames for a net that sees frames one by one, else all."""

    def look(clips: Clips, attack: str, net: str) -> Clips:
        if attack == "frame":
            return single_frames(clips, frames)
        return clips.thinned(frames) if sees_frames(net) and attack != "action" else clips

    return look


def stored(frames: int) -> Look:
    """Features of a store: clips are the views of a video, and the frame attack sees `frames` of the static ones."""

    def look(clips: Clips, attack: str, net: str) -> Clips:
        seen = clips.video[:, -STATIC:][:, :frames] if attack == "frame" else clips.video[:, :-STATIC]
        return replace(clips, video=seen.flatten(0, 1), views=seen.shape[1])

    return look


class Frozen:
    """The features of a frozen encoder, kept in the user's cache: a second run takes seconds.

    The frame attack sees static clips, one frame repeated, through the same encoder.
    """

    def __init__(self, spec: str, frames: int, progress: bool = True, precision: str = "32-true") -> None:
        self.spec, self.frames, self.progress = spec, frames, progress
        # At once: weights that are absent are told before hours of work.
        self.encoder: Encoder = encoder(spec, precision)

    def __call__(self, clips: Clips, attack: str, net: str) -> Clips:
        seen = single_frames(clips, self.frames) if attack == "frame" else clips
        return replace(seen, video=self.features(seen.video), mask=None)

    def features(self, video: Tensor) -> Tensor:
        """`[N, D]` of uint8 clips `[N, 3, T, H, W]`."""
        with tqdm(total=len(video), desc=f"features of {self.spec}", disable=not self.progress, leave=False) as bar:
            return torch.cat([self._block(block, bar) for block in video.split(BLOCK)])

    def _block(self, video: Tensor, bar: tqdm) -> Tensor:
        path = cache_dir("features") / f"{self._key(video)}.safetensors"
        if path.is_file():
            bar.update(len(video))
        else:
            part = path.with_suffix(f".{os.getpid()}.part")  # another process may be making the same
            save_file({"features": self._encode(video, bar)}, part)
            part.replace(path)
        return load_file(path)["features"]

    @torch.inference_mode()
    def _encode(self, video: Tensor, bar: tqdm) -> Tensor:
        found = []
        for clips in video.split(BATCH):
            found.append(self.encoder.encode(to_floats(clips)))
            bar.update(len(clips))
        return torch.cat(found).clone()

    def _key(self, video: Tensor) -> str:
        """All that decides the features: the clips, the encoder's weights and its precision."""
        made = self.spec, tuple(video.shape), self._fingerprint, self.encoder.precision
        digest = hashlib.sha256(repr(made).encode())
        digest.update(video.contiguous().numpy().data)
        return digest.hexdigest()[:32]

    @cached_property
    def _fingerprint(self) -> str:
        return weights_hash(self.encoder)
