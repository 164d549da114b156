"""Nudity scores against hand-made ones, and the real filter where its weights are."""

import pytest
import torch
from videos import has, video

from actonym.attacks.nudity import nudity, nudity_leak
from actonym.nets import open_nsfw


def brightness(frames):
    return frames.float().mean((1, 2, 3)) / 255


def test_the_filter_looks_at_the_anonymized_video():
    shades = (40, 80, 160, 240)
    raw = [video((shade,) * 3) for shade in shades]
    turned = [video((shade,) * 3) for shade in reversed(shades)]
    same = nudity(zip(raw, raw, strict=True), [0, 0, 1, 1], score=brightness)
    assert same["correlation"] == pytest.approx(1) and (same["auc"], same["ap"]) == (1, 1)
    away = nudity(zip(raw, turned, strict=True), [0, 0, 1, 1], score=brightness)
    assert away["rank_correlation"] == pytest.approx(-1) and away["auc"] == 0
    assert away["raw"] == {"auc": 1, "ap": 1} and away["chance"] == {"auc": 0.5, "ap": 0.5}


def test_constant_scores_and_labels_of_one_class_make_nothing_up():
    flat = nudity_leak([0.1, 0.5, 0.9], [0.2, 0.2, 0.2], [0, 1, 1])
    assert flat["correlation"] is None and flat["auc"] == 0.5
    assert "auc" not in nudity_leak([0.1, 0.5], [0.1, 0.5], [0, 0])
    assert "auc" not in nudity_leak([0.1, 0.5], [0.1, 0.5])


@pytest.mark.skipif(not has("open-nsfw"), reason="no weights: actonym weights pull open-nsfw")
def test_open_nsfw_sees_nothing_in_grey_and_each_frame_by_itself():
    pytest.importorskip("onnxruntime")
    frames = torch.full((3, 3, 60, 80), 128, dtype=torch.uint8)
    frames[1] = torch.randint(0, 256, (3, 60, 80), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    scores = open_nsfw.nudity(frames, batch=2)
    assert scores.shape == (3,) and scores.max() < 0.5
    assert scores[0] == pytest.approx(scores[2].item(), abs=1e-5) and abs(scores[1] - scores[0]) > 1e-4
