"""Against a slow twin, clip by clip and pixel by pixel."""

import torch
from torch import Tensor

from actonym.train.augment import NOISE, flip_and_shift


def slow(video: Tensor, noise: Tensor, shift: float, flip: bool) -> Tensor:
    out = torch.empty_like(video)
    _, _, _, height, width = video.shape
    for i, numbers in enumerate(noise.tolist()):
        down, right = (int(n * (2 * round(s * shift) + 1)) - round(s * shift)
                       for n, s in zip(numbers[1:3], (height, width), strict=True))  # fmt: skip
        for y in range(height):
            for x in range(width):
                mirrored = width - 1 - x if flip and numbers[0] < 0.5 else x
                from_y, from_x = min(max(y + down, 0), height - 1), min(max(mirrored + right, 0), width - 1)
                out[i, :, :, y, x] = video[i, :, :, from_y, from_x]
    return out


def test_equals_the_slow_twin_and_moves_the_mask_along() -> None:
    generator = torch.Generator().manual_seed(0)
    video = torch.randint(0, 256, (8, 3, 2, 9, 12), dtype=torch.uint8, generator=generator)
    noise = torch.rand(8, NOISE, generator=generator)
    noise[0, :3], noise[1, :3] = torch.tensor([0.0, 0.0, 0.0]), torch.tensor([0.999, 0.9999999, 0.9999999])
    for flip in (True, False):
        moved, mask = flip_and_shift(video, video[:, :1] % 2, noise, shift=0.25, flip=flip)
        assert mask is not None and moved.dtype == mask.dtype == torch.uint8
        assert torch.equal(moved, slow(video, noise, 0.25, flip))
        assert torch.equal(mask, moved[:, :1] % 2)
    assert flip_and_shift(video, None, noise)[1] is None


def test_without_shift_and_flip_nothing_changes() -> None:
    video = torch.randint(0, 256, (4, 3, 2, 8, 8), dtype=torch.uint8)
    assert torch.equal(flip_and_shift(video, None, torch.rand(4, NOISE), shift=0, flip=False)[0], video)
