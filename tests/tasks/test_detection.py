import math
from dataclasses import replace

import pytest
import torch
from feature_videos import DIM, with_actions

from actonym.data.base import Segment
from actonym.data.thumos14 import read_labels
from actonym.errors import UserError
from actonym.losses.detection import diou_loss, focal, iou
from actonym.nets.tridet import TriDet
from actonym.tasks.base import Recipe, VideoFeatures, batch_of, measure
from actonym.tasks.detection import Detection, cut, detect, detection, detection_loss, prepare, targets
from actonym.tasks.segments import Found, mean_ap, soft_nms

SMALL = {"width": 16, "hidden": 16, "groups": 4, "bins": 4, "stem": 1}
HOW = Detection(ranges=((0, 4), (4, 8), (8, 1000)), noise=0.0)


def net(seed=0, **changes):
    torch.manual_seed(seed)
    return TriDet(DIM, 2, levels=3, **{**SMALL, **changes})


def test_a_head_learns_when_actions_begin_and_end():
    fast = replace(HOW, least_score=0.05, ranges=((0, 8), (8, 1000)))
    task = detection(2, fast, **SMALL, drop_path=0.0, positives=20)
    sets = with_actions(16, 0), with_actions(3, 1), with_actions(6, 2)
    how = Recipe(epochs=12, batch_size=4, lr=1e-2, weight_decay=0.025, warm_up=0.2, decay=True)
    scores = measure(task, *sets, how, progress=False)
    assert scores["map"] > 0.7 and scores["metric"] == "map"
    assert scores["map@0.3"] >= scores["map@0.7"]
    blind = [VideoFeatures(torch.zeros_like(v.features), segments=v.segments, fps=v.fps) for v in sets[2]]
    assert task.score(task.head(DIM), blind)["map"] < 0.3


def test_the_output_for_a_video_does_not_depend_on_its_neighbours():
    head = net().train()  # in training mode too: no statistics of the batch
    for branch in head.branch:
        branch.drop_seen.drop = branch.drop_mlp.drop = 0.0
    torch.nn.init.normal_(head.branch[0].wide.weight)
    torch.nn.init.normal_(head.stem[0].fc.weight)
    short, long = torch.randn(13, DIM), torch.randn(40, DIM)
    alone = batch_of([VideoFeatures(short)])
    both = batch_of([VideoFeatures(long), VideoFeatures(short)])
    for one, two in zip(head(alone.features, alone.mask), head(both.features, both.mask), strict=True):
        size = one.action.shape[1]
        assert two.mask[1].sum() == one.mask.sum() == size
        for key in ("action", "start", "end", "offset"):
            torch.testing.assert_close(getattr(two, key)[1, :size], getattr(one, key)[0])
        where = torch.zeros(1, dtype=torch.long), torch.tensor([size - 1]), torch.tensor([1])
        torch.testing.assert_close(two.distances(where[0] + 1, *where[1:]), one.distances(*where))


def test_every_parameter_learns_the_gated_convolutions_too():
    """They are dead in the release: all begin at zero, and a product of zeros has no gradient."""
    head = net()
    videos = with_actions(3, 0)
    optimizer = torch.optim.SGD(head.parameters(), 1.0)
    detection_loss(head, batch_of(videos), HOW).backward()
    optimizer.step()  # what is gated is no longer zero, so the gates learn too
    optimizer.zero_grad()
    detection_loss(head, batch_of(videos), HOW).backward()
    assert not [name for name, p in head.named_parameters() if p.grad is None or not p.grad.any()]


def test_gradients_reach_the_features():
    """An anonymizer learns from them."""
    batch = prepare(with_actions(2, 0), HOW)
    batch.features.requires_grad_()
    detection_loss(net(), batch, HOW).backward()
    assert batch.features.grad[batch.mask].abs().sum() > 0 and not batch.features.grad[~batch.mask].any()


def test_distances_are_those_of_a_slow_twin():
    head = net().eval()
    batch = batch_of(with_actions(2, 0))
    level = head(batch.features, batch.mask)[1]
    bins, last = 4, level.action.shape[1]
    for video, moment, label in [(0, 0, 1), (1, 3, 0), (0, last - 1, 0), (1, 9, 1)]:
        sums = []
        for side, logits, step in ((0, level.start, -1), (1, level.end, 1)):
            scores = []
            for away in range(bins + 1):
                at = moment + step * away
                seen = logits[video, at, label] if 0 <= at < last else torch.tensor(0.0)
                # the release orders the start's bins by time: the farthest is the first
                scores.append(seen + level.offset[video, moment, side, bins - away if side == 0 else away])
            sums.append(sum(away * p for away, p in enumerate(torch.stack(scores).softmax(0))))
        found = level.distances(*(torch.tensor([x]) for x in (video, moment, label)))
        torch.testing.assert_close(found[0], torch.stack(sums))


def test_targets_are_those_of_a_slow_twin():
    head = net()
    videos = with_actions(3, 4)
    batch = batch_of(videos)
    positive = 0
    for level, reach in zip(head(batch.features, batch.mask), HOW.ranges, strict=True):
        wanted, distance = targets(videos, level, reach, HOW.radius)
        for b, video in enumerate(videos):
            for t in range(level.action.shape[1]):
                x, fitting = t * level.stride, []
                for s in video.segments:
                    left, right = x - (s.start - 0.5), (s.end - 0.5) - x  # one clip a second, seen at its middle
                    middle = (s.start + s.end) / 2 - 0.5
                    inside = left > 0 and right > 0 and abs(x - middle) < HOW.radius * level.stride
                    if inside and reach[0] <= max(left, right) <= reach[1]:
                        fitting.append((s.end - s.start, s.label, left, right))
                labels = [fitting and min(fitting)[1] == k for k in range(2)]
                assert wanted[b, t].bool().tolist() == [bool(x) for x in labels]
                if fitting:
                    positive += 1
                    torch.testing.assert_close(distance[b, t] * level.stride, torch.tensor(min(fitting)[2:]))
    assert positive > 5


def test_losses_are_those_of_slow_twins():
    torch.manual_seed(0)
    logits, wanted = torch.randn(5, 3), (torch.rand(5, 3) > 0.5).float()
    for i in range(5):
        for k in range(3):
            p = torch.sigmoid(logits[i, k])
            p, balance = (p, 0.25) if wanted[i, k] else (1 - p, 0.75)
            torch.testing.assert_close(focal(logits, wanted)[i, k], -balance * (1 - p) ** 2 * p.log())
    found, true = torch.rand(6, 2) + 0.1, torch.rand(6, 2) + 0.1
    for (a, b), (c, d), share, loss in zip(found, true, iou(found, true), diou_loss(found, true), strict=True):
        start, end, low, high = -a, b, -c, d
        both = torch.minimum(end, high) - torch.maximum(start, low)
        union = torch.maximum(end, high) - torch.minimum(start, low)
        torch.testing.assert_close(share, both / union)
        torch.testing.assert_close(loss, 1 - both / union + (((start + end) - (low + high)) / 2 / union) ** 2)


def test_the_loss_is_that_of_a_slow_twin():
    head, videos = net().eval(), with_actions(2, 3)
    batch = batch_of(videos)
    total = 0.0
    for level, reach in zip(head(batch.features, batch.mask), HOW.ranges, strict=True):
        wanted, distance = targets(videos, level, reach, HOW.radius)
        for b, t in level.mask.nonzero().tolist():
            for k in range(2):
                here = focal(level.action[b, t, k], wanted[b, t, k])
                if wanted[b, t, k]:
                    found = level.distances(torch.tensor([b]), torch.tensor([t]), torch.tensor([k]))
                    here = here * iou(found, distance[b, t][None])[0] ** 0.2 + diou_loss(found, distance[b, t][None])[0]
                total = total + here
    torch.testing.assert_close(detection_loss(head, batch, HOW), total / 100)


def test_training_videos_are_cut_and_keep_their_times():
    torch.manual_seed(0)
    video = with_actions(1, 0, length=(60, 61))[0]
    how = Detection(longest=30, crop=(0.5, 1.0), truncated=0.5)
    for _ in range(20):
        part = cut(video, how)
        assert 15 <= len(part.features) <= 30 and part.segments
        first = next(n for n in range(60) if torch.equal(video.features[n], part.features[0]))
        for segment in part.segments:
            whole = min(video.segments, key=lambda s: abs(s.start - segment.start - first))
            assert segment.label == whole.label and segment.end - segment.start >= (whole.end - whole.start) / 2
            assert segment.start + first >= whole.start - 1e-4 and segment.end + first <= whole.end + 1e-4


def ranked(truth, seed, count):
    """Segments near the true ones and others, with random scores."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for segments in truth:
        true = torch.tensor([(s.start, s.end) for s in segments])
        times = true[torch.randint(len(true), (count,), generator=generator)]
        times = (times + torch.randn(count, 2, generator=generator)).sort(1).values
        label = torch.randint(3, (count,), generator=generator)
        found.append(Found(times, label, torch.rand(count, generator=generator)))
    return found


def ratio(one, other):
    both = max(0.0, min(one[1], other[1]) - max(one[0], other[0]))
    return both / ((one[1] - one[0]) + (other[1] - other[0]) - both)


def slow_ap(label, found, truth, threshold):
    """Word by word: sort, match greedily, then the best precision at or beyond each recall."""
    true = [[(s.start, s.end) for s in segments if s.label == label] for segments in truth]
    guesses = sorted(
        (
            (float(f.score[i]), v, f.times[i].tolist())
            for v, f in enumerate(found)
            for i in range(len(f))
            if f.label[i] == label
        ),
        reverse=True,
    )
    used, hits, curve = set(), 0, []
    total = sum(map(len, true))
    for rank, (_, video, (start, end)) in enumerate(guesses, 1):
        best, choice = threshold, None
        for j, (low, high) in enumerate(true[video]):
            if (video, j) not in used and ratio((start, end), (low, high)) >= best:
                best, choice = ratio((start, end), (low, high)), (video, j)
        if choice:
            used.add(choice)
            hits += 1
        curve.append((hits / total, hits / rank))
    area, before = 0.0, 0.0
    for i, (recall, _) in enumerate(curve):
        area += (recall - before) * max(p for _, p in curve[i:])
        before = recall
    return area


@pytest.mark.parametrize("seed", range(3))
def test_map_is_that_of_a_slow_twin(seed):
    truth = [video.segments for video in with_actions(4, seed, classes=3)]
    found = ranked(truth, seed, 15)
    scores = mean_ap(found, truth, (0.3, 0.5, 0.7))
    labels = {s.label for segments in truth for s in segments}
    for threshold in (0.3, 0.5, 0.7):
        slow = sum(slow_ap(label, found, truth, threshold) for label in labels) / len(labels)
        assert scores[f"map@{threshold}"] == pytest.approx(slow)
    assert scores["map"] == pytest.approx(sum(scores[f"map@{t}"] for t in (0.3, 0.5, 0.7)) / 3)


def test_map_of_known_cases():
    truth = [[Segment(0, 10, 0), Segment(20, 30, 0), Segment(20.0001, 30, 0), Segment(5, 5, 1)]]

    def score(*times):
        return mean_ap(
            [Found(torch.tensor(times), torch.zeros(len(times)).long(), -torch.arange(len(times)) / 9)], truth
        )

    assert score((0.0, 10.0), (20.0, 30.0))["map"] == 1  # one that is there twice, and one of no length, do not count
    assert score((0.0, 10.0), (0.0, 10.0), (20.0, 30.0))["map"] == pytest.approx((1 + 2 / 3) / 2)
    assert score((0.0, 5.0))["map@0.5"] == 0.5 and score((0.0, 5.0))["map@0.6"] == 0
    empty = Found(torch.zeros(0, 2), torch.zeros(0).long(), torch.zeros(0))
    assert mean_ap([empty], truth)["map"] == 0
    with pytest.raises(UserError, match="true segments"):
        mean_ap([empty], [[]])


def test_soft_nms_is_that_of_a_slow_twin():
    found = ranked([video.segments for video in with_actions(1, 0)], 0, 20)[0]
    kept = soft_nms(found, sigma=0.5, least=0.05)
    slow = []
    for label in range(3):
        left = [[float(s), t] for s, t, k in zip(found.score, found.times, found.label, strict=True) if k == label]
        left = [entry for entry in left if entry[0] >= 0.05]
        while left:
            score, times = left.pop(max(range(len(left)), key=lambda i: left[i][0]))
            slow.append((score, label))
            for entry in left:
                entry[0] *= math.exp(-(ratio(times.tolist(), entry[1].tolist()) ** 2) / 0.5)
            left = [entry for entry in left if entry[0] >= 0.05]
    slow.sort(reverse=True)
    assert kept.label.tolist() == [label for _, label in slow]
    assert kept.score.tolist() == pytest.approx([score for score, _ in slow])
    assert len(soft_nms(found, most=3)) == 3


def test_segments_stay_within_the_video_and_shorter_videos_than_a_level_work():
    for length in (1, 2, 5):
        video = VideoFeatures(torch.randn(length, DIM), fps=16.0)
        found = detect(net(prior=0.5), video, HOW)
        assert len(found) and found.times.min() >= 0 and found.times.max() <= length
        assert (found.score[:-1] >= found.score[1:]).all()


def test_the_true_segments_of_thumos14_score_one(shared):
    labels = [label for label in read_labels(shared / "annotations" / "thumos14") if label.split == "test"]
    truth = [label.segments for label in labels]

    def found(segments, shift):
        times = torch.tensor([(s.start + shift, s.end + shift) for s in segments], dtype=torch.double)
        return Found(times, torch.tensor([s.label for s in segments]), torch.rand(len(segments)))

    assert len(truth) > 200
    # a few overlap so much that one may take the other's place
    assert mean_ap([found(segments, 0) for segments in truth], truth)["map"] > 0.99
    assert mean_ap([found(segments, 100) for segments in truth], truth)["map"] < 0.1
