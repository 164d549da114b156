from itertools import pairwise

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from actonym.data.base import Segment
from actonym.data.ucf_crime import NORMAL as USUAL
from actonym.data.ucf_crime import read_labels
from actonym.errors import UserError
from actonym.losses.anomaly import magnitude_contrast, smoothness, sparsity
from actonym.nets.mgfn import MGFN, Focus, Glance, most_marked
from actonym.tasks.anomaly import (
    Anomaly,
    anomaly,
    anomaly_loss,
    anomaly_scores,
    clip_scores,
    in_segments,
    odd_frames,
    over_frames,
    pairs,
)
from actonym.tasks.base import Recipe, VideoFeatures, batch_of, draw, measure

NORMAL, ODD, DIM = 7, 3, 6
SMALL = {"dims": (8, 8, 16), "depths": (1, 1, 1), "head_dim": 4}


def footage(count, seed, times=True):
    """Every other video has a stretch that differs in one dimension."""
    generator = torch.Generator().manual_seed(seed)
    made = []
    for number in range(count):
        length = int(torch.randint(20, 50, (), generator=generator))
        features = torch.randn(length, DIM, generator=generator).abs()
        segments = ()
        if number % 2:
            first = int(torch.randint(2, length - 8, (), generator=generator))
            features[first : first + 6, 0] += 4
            segments = (Segment(first, first + 6 - 1 / 16, ODD),) if times else ()
        made.append(VideoFeatures(features, action=ODD if number % 2 else NORMAL, segments=segments, fps=16.0))
    return made


def test_a_head_learns_when_it_is_odd_from_whether():
    task = anomaly(NORMAL, Anomaly(segments=16), **SMALL)
    how = Recipe(epochs=12, batch_size=8, lr=5e-3, weight_decay=5e-4, optimizer="adam", decay_vectors=True)
    scores = measure(task, footage(24, 0, times=False), footage(8, 1, times=False), footage(16, 2), how, progress=False)
    assert scores["auc"] > 0.85 and scores["video_auc"] > 0.85


def test_auc_is_that_of_scikit_learn():
    torch.manual_seed(0)
    head, videos = MGFN(DIM, **SMALL), footage(6, 0)
    scores, labels = [], []
    for video in videos:
        for clip, score in enumerate(clip_scores(head, video)[0].tolist()):
            for frame in range(16 * clip, 16 * clip + 16):
                scores.append(score)
                labels.append(any(s.start <= frame / 16 <= s.end for s in video.segments))
    found = anomaly_scores(head, videos, NORMAL)
    assert found["auc"] == pytest.approx(roc_auc_score(labels, scores), abs=1e-5)
    assert set(anomaly_scores(head, footage(4, 0, times=False), NORMAL)) == {"video_auc"}
    with pytest.raises(UserError, match="normal and anomalous"):
        anomaly_scores(head, footage(6, 0)[::2], NORMAL)


def test_frames_get_the_score_of_their_clip():
    video = VideoFeatures(torch.zeros(3, 2), frames=4, stride=2, length=9, fps=2.0, segments=[Segment(1, 2, ODD)])
    assert over_frames(torch.tensor([1.0, 2.0, 3.0]), video).tolist() == [1, 1, 2, 2, 3, 3, 3, 3, 3]
    assert odd_frames(video).tolist() == [0, 0, 1, 1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("length", [1, 5, 32, 33, 100])
def test_segments_are_means_of_equal_parts(length):
    video = VideoFeatures(torch.randn(length, 3))
    bounds = np.linspace(0, length, 33).astype(int)
    cut = in_segments(video, 32)
    for n, (first, last) in enumerate(pairwise(bounds)):
        part = video.features[first:last] if last > first else video.features[first : first + 1]
        torch.testing.assert_close(cut.features[n], part.mean(0))
    assert cut.total == video.total


def test_the_contrast_is_that_of_a_slow_twin():
    torch.manual_seed(0)
    normal, odd = 50 * torch.rand(3, 2), 50 * torch.rand(4, 2)

    def mean(values):
        return sum(values) / len(values)

    def within(x):
        return mean([float((a - b).pow(2).sum()) for i, a in enumerate(x) for j, b in enumerate(x) if i != j])

    between = mean([max(0.0, 30 - float((a - b).norm())) ** 2 for a in odd for b in normal])
    slow = within(normal) + within(odd) + 0.01 * between
    assert magnitude_contrast(normal, odd, 30, 0.01).item() == pytest.approx(slow, rel=1e-5)
    equal = torch.ones(2, 2, requires_grad=True)
    magnitude_contrast(equal, torch.ones(2, 2)).backward()  # at distance 0
    assert equal.grad.isfinite().all()


def test_sparsity_and_smoothness_by_hand():
    scores = torch.tensor([[0.0, 0.5, 0.25], [1.0, 1.0, 0.0]])
    assert smoothness(scores).item() == pytest.approx(0.25 + 0.0625 + 0 + 1)
    assert sparsity(scores).item() == pytest.approx((0.25 + 0.0625 + 1 + 1) ** 0.5)


def test_the_loss_has_its_parts_and_gradients_reach_the_features():
    torch.manual_seed(0)
    head, how = MGFN(DIM, **SMALL).eval(), Anomaly(segments=8, margin=30.0)
    with torch.no_grad():  # fresh norm layers make all segments about as large, and rounding would choose among them
        for weights in head.parameters():
            weights.add_(0.3 * torch.randn_like(weights))
    batch = batch_of([in_segments(video, 8) for video in footage(4, 0)])
    batch.features.requires_grad_()
    loss = anomaly_loss(head, batch, NORMAL, how)
    scores, seen = head(batch.features)
    said, sizes = [], []
    for n in range(4):
        top = sorted(range(8), key=lambda t: -seen[n, t].norm().item())[:3]
        said.append(torch.stack([scores[n, t] for t in top]).mean())
        sizes.append(torch.stack([seen[n, t].abs().sum() for t in top]))
    slow = -sum(torch.log(p if n % 2 else 1 - p) for n, p in enumerate(said)) / 4
    slow = slow + 0.001 * magnitude_contrast(torch.stack(sizes[::2]), torch.stack(sizes[1::2]), 30.0, 0.001)
    slow = slow + 8e-3 * sparsity(scores[1::2]) + 8e-4 * smoothness(scores[1::2])
    torch.testing.assert_close(loss, slow)
    loss.backward()
    assert (batch.features.grad.abs().sum((1, 2)) > 0).all()
    assert not [name for name, p in head.named_parameters() if p.grad is None]


def test_batches_are_pairs_of_a_normal_and_an_odd_video():
    videos = footage(5, 0)  # three normal, two odd
    made = pairs(videos, NORMAL)
    assert [tuple(v.action for v in pair) for pair in made] == [(NORMAL, ODD)] * 3
    assert {id(v) for pair in made for v in pair} == {id(v) for v in videos}
    batch = draw(anomaly(NORMAL), videos, 2)
    assert batch.features.shape == (4, 32, DIM)
    with pytest.raises(UserError, match="normal and anomalous"):
        pairs(videos[::2], NORMAL)
    with pytest.raises(UserError, match="normal and anomalous"):
        anomaly_loss(MGFN(DIM, **SMALL), batch_of([in_segments(v, 4) for v in videos[::2]]), NORMAL, Anomaly())


def test_dropped_segments_are_passed_over():
    torch.manual_seed(0)
    seen = torch.arange(1.0, 6)[None, :, None]
    scores = torch.arange(5.0)[None] / 10
    assert most_marked(scores, seen, 2)[0].item() == pytest.approx(0.35)
    drawn = {round(most_marked(scores, seen, 2, drop=0.5)[0].item(), 3) for _ in range(30)}
    assert len(drawn) > 3 and most_marked(scores[:, :1], seen[:, :1], 3)[1].shape == (1, 1)


def test_paper_sizes():
    """64/128/1024 wide, 3/3/2 deep, glance then focus; the magnitude is looked at."""
    head = MGFN(1024)
    kinds = [type(m).__name__ for m in head.modules() if isinstance(m, (Glance, Focus))]
    assert kinds == ["Glance"] * 3 + ["Focus"] * 5
    assert head.score.in_features == 1024
    scores, seen = head.eval()(torch.randn(1, 5, 1024))
    assert scores.shape == (1, 5) and seen.shape == (1, 5, 1024) and (scores >= 0).all() and (scores <= 1).all()


def test_focus_is_a_convolution_whose_weights_channels_share():
    torch.manual_seed(0)
    focus = Focus(4, 2).eval()
    x = torch.randn(1, 4, 7)
    values = focus.values(focus.norm(x))
    slow = torch.zeros_like(values)
    for channel in range(4):
        head = channel % 2
        for t in range(7):
            near = [(t + d, focus.near.weight[head, 0, d + 2]) for d in range(-2, 3) if 0 <= t + d < 7]
            slow[0, channel, t] = sum(w * values[0, channel, at] for at, w in near) + focus.near.bias[head]
    torch.testing.assert_close(focus(x), focus.out(slow))


def test_all_odd_test_videos_of_ucf_crime_say_when(shared):
    """So the AUC over frames is what its test videos are scored by."""
    labels = [label for label in read_labels(shared / "annotations" / "ucf_crime") if label.split == "test"]
    odd = [label for label in labels if label.action != USUAL]
    assert (len(labels), len(odd)) == (290, 140) and all(label.segments for label in odd)
