from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score

from actonym.attacks.attribute import mean_ap, train_attacker
from actonym.attacks.frame import single_frames
from actonym.data import Clips
from actonym.nets.frame import FrameNet
from actonym.train.fit import Fit, predict


def bright_or_dark(n, seed):
    """Attribute 0: bright; attribute 1: red. Learnable from any frame."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 2, (n, 2), generator=generator)
    video = torch.randint(0, 100, (n, 3, 4, 16, 16), dtype=torch.uint8, generator=generator)
    video += (60 * labels[:, 0]).view(n, 1, 1, 1, 1).to(torch.uint8)
    video[:, 0] += (60 * labels[:, 1]).view(n, 1, 1, 1).to(torch.uint8)
    return Clips(video, torch.zeros(n, dtype=torch.long), labels.float(), [""] * n)


def test_single_frames_are_views_of_their_video():
    clips = bright_or_dark(3, 0)
    frames = single_frames(clips, 2)
    assert frames.video.shape == (6, 3, 1, 16, 16) and frames.views == 2 and len(frames) == 3
    assert torch.equal(frames.video[2, :, 0], clips.video[1, :, 0]), "view 0 of video 1"
    assert torch.equal(frames.video[3, :, 0], clips.video[1, :, 2]), "view 1 of video 1"


def test_attackers_learn_from_clips_and_from_frames():
    train, val, test = (bright_or_dark(n, seed) for seed, n in enumerate((96, 32, 64)))
    how = Fit(epochs=8, batch_size=16, lr=0.01)
    for see in (lambda clips: clips, lambda clips: single_frames(clips, 2)):
        torch.manual_seed(0)
        net = FrameNet(2, (8, 16))
        fitted = train_attacker(net, see(train), see(val), how, progress=False)
        assert mean_ap(predict(net, see(test)), see(test)) > 0.9
        assert fitted.epochs == 8 and fitted.seconds > 0 and fitted.validation > 0.9


def test_an_attacker_of_noise_stays_at_chance():
    """Labels that have nothing to do with the video: on 200 test videos the AP of a coin is 0.5 +- 0.1."""
    train, val, test = (bright_or_dark(n, seed) for seed, n in enumerate((96, 32, 200)))
    generator = torch.Generator().manual_seed(9)
    train, val, test = (
        Clips(c.video, c.action, torch.randint(0, 2, c.privacy.shape, generator=generator).float(), c.subject)
        for c in (train, val, test)
    )
    torch.manual_seed(0)
    net = FrameNet(2, (8, 16))
    train_attacker(net, train, val, Fit(epochs=3, lr=0.01), progress=False)
    assert abs(mean_ap(predict(net, test), test) - 0.5) < 0.12


@pytest.mark.parametrize("attributes", [1, 3])
def test_mean_ap_is_the_mean_over_attributes_that_somebody_has(attributes):
    torch.manual_seed(0)
    logits, labels = torch.randn(20, attributes), torch.randint(2, (10, attributes)).float()
    labels[:, 2:] = 0
    clips = Clips(torch.zeros(20, 3, 1, 2, 2, dtype=torch.uint8), torch.zeros(10), labels, [""] * 10, views=2)
    scores = logits.sigmoid().view(10, 2, -1).mean(1)
    expected = np.mean([average_precision_score(labels[:, k], scores[:, k]) for k in range(min(2, attributes))])
    assert mean_ap(logits, clips) == pytest.approx(expected)
    assert mean_ap(logits, replace(clips, privacy=labels * 0)) == 0
