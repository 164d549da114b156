import torch

from actonym.data import Clips
from actonym.nets.d3d import D3D
from actonym.tasks.base import Recipe, VideoFeatures, batch_of, measure
from actonym.tasks.recognition import any_clip, evenly, feature_loss, recognition, train_recognizer, utility
from actonym.train.fit import Fit, predict


def moving_bars(n, seed):
    """A bar that moves to the right (0), to the left (1), down (2) or up (3): no single frame tells which."""
    generator = torch.Generator().manual_seed(seed)
    action = torch.arange(n) % 4
    video = torch.zeros(n, 3, 8, 32, 32, dtype=torch.uint8)
    for i, kind in enumerate(action.tolist()):
        start = int(torch.randint(0, 32, (1,), generator=generator))
        for t in range(8):
            at = (start + (3 if kind % 2 == 0 else -3) * t) % 32
            band = slice(at, at + 4)
            if kind < 2:
                video[i, :, t, :, band] = 200
            else:
                video[i, :, t, band] = 200
    return Clips(video, action, torch.zeros(n, 1), [""] * n)


def test_the_small_network_learns_motion():
    train, val, test = moving_bars(96, 0), moving_bars(32, 1), moving_bars(32, 2)
    torch.manual_seed(0)
    net = D3D(4, widths=(8, 12, 16))
    how = Fit(epochs=12, lr=0.01, flip=False)  # left and right are classes here
    train_recognizer(net, train, val, how, progress=False)
    assert utility(predict(net, test), test) > 0.8


def test_top1_averages_scores_over_views():
    clips = Clips(
        torch.zeros(4, 3, 1, 2, 2, dtype=torch.uint8), torch.tensor([0, 1]), torch.zeros(2, 1), ["", ""], views=2
    )
    logits = torch.tensor([[3.0, 0.0], [0.0, 1.0], [0.0, 2.0], [1.0, 0.0]])
    assert utility(logits, clips) == 1.0
    assert utility(logits.flip(1), clips) == 0.0


def test_several_actions_at_once_are_learned():
    """One bar moves to the right or not, another down or not: two actions that may both be there."""

    def crossing(n, seed):
        one, other = moving_bars(n, seed), moving_bars(n, seed + 100)
        both = torch.stack([one.action == 0, other.action == 2], 1).float()
        still = torch.zeros_like(one.video)
        video = torch.where(both[:, 0].view(-1, 1, 1, 1, 1) > 0, one.video, still)
        video = torch.maximum(video, torch.where(both[:, 1].view(-1, 1, 1, 1, 1) > 0, other.video, still))
        return Clips(video, both, one.privacy, one.subject)

    train, val, test = crossing(96, 0), crossing(32, 1), crossing(64, 2)
    torch.manual_seed(0)
    net = D3D(2, widths=(8, 12, 16))
    fitted = train_recognizer(net, train, val, Fit(epochs=8, lr=0.01, flip=False, rounds=1), progress=False)
    assert utility(predict(net, test), test) > 0.9 and fitted.validation > 0.9


def labelled(count, seed):
    """Features of videos of different lengths; one dimension tells the action in most clips."""
    generator = torch.Generator().manual_seed(seed)
    made = []
    for n in range(count):
        features = 0.7 * torch.randn(3 + n % 7, 5, generator=generator)
        features[:, n % 3] += 1
        made.append(VideoFeatures(features, action=n % 3))
    return made


def test_a_linear_head_on_features():
    task = recognition(3)
    how = Recipe(epochs=15, batch_size=16, lr=0.03)
    scores = measure(task, labelled(60, 0), labelled(21, 1), labelled(60, 2), how, progress=False)
    assert scores["top1"] > 0.8 and scores["metric"] == "top1"


def test_five_clips_are_evenly_spaced_and_their_scores_averaged():
    video = VideoFeatures(torch.arange(10.0)[:, None], action=1)
    assert evenly([video]).video[:, 0].tolist() == [1, 3, 5, 7, 9]
    assert evenly([VideoFeatures(torch.arange(2.0)[:, None])]).video[:, 0].tolist() == [0, 0, 1, 1, 1]
    net = torch.nn.Linear(1, 2)
    videos = [VideoFeatures(torch.randn(n, 1), action=n % 2) for n in (1, 4, 9, 12)]
    right = 0
    for v in videos:
        places = [(2 * n + 1) * len(v.features) // 10 for n in range(5)]
        right += int(torch.stack([net(v.features[at]).softmax(0) for at in places]).mean(0).argmax() == v.action)
    assert recognition(2).score(net, videos)["top1"] == right / 4


def test_the_loss_on_features_counts_clips_that_are_there():
    net = torch.nn.Linear(5, 3)
    videos = labelled(4, 0)
    slow = torch.cat([-net(v.features).log_softmax(1)[:, v.action] for v in videos]).mean()
    torch.testing.assert_close(feature_loss(net, batch_of(videos)), slow)
    torch.manual_seed(0)
    batch = any_clip(videos)
    assert batch.features.shape == (4, 1, 5)
    assert all((clip == v.features).all(1).any() for clip, v in zip(batch.features[:, 0], videos, strict=True))
