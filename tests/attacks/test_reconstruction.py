"""A decoder brings back the pictures that are in features, and nothing from features that say nothing."""

from dataclasses import replace

import pytest
import torch

from actonym.attacks.reconstruction import (
    SHARPEST,
    Pairs,
    action_pictures,
    mean_picture,
    reconstruct,
    scores,
    train_decoder,
)
from actonym.data.clips import to_bytes
from actonym.train.fit import Fit

SIZE, DIM, PARTS = 16, 12, 6
QUICK = Fit(epochs=12, rounds=1, batch_size=16, lr=5e-3)


@pytest.fixture(scope="module")
def splits():
    """Pictures of six smooth parts, more or less of each; the features are a linear function of how much."""
    torch.manual_seed(0)
    parts = torch.nn.functional.interpolate(torch.randn(PARTS, 3, 4, 4), SIZE, mode="bilinear")
    mixing = torch.randn(PARTS, DIM)

    def pairs(count):
        much = torch.rand(count, PARTS) - 0.5
        pictures = to_bytes(0.5 + 0.4 * (much @ parts.flatten(1)).view(count, 3, SIZE, SIZE))
        return Pairs(much @ mixing, pictures, torch.arange(count) % 2)

    return pairs(240), pairs(40), pairs(30)


def attack(splits, change=lambda features: features):
    """The scores on test, and the decoder."""
    train, val, test = (replace(part, features=change(part.features)) for part in splits)
    fitted = train_decoder(train, val, QUICK, width=8, progress=False)
    return scores(reconstruct(fitted, test), test.pictures), fitted


def floor(splits):
    train, _, test = splits
    return scores(mean_picture(train).expand(len(test.pictures), -1, -1, -1), test.pictures)


def test_pictures_that_are_in_features_come_back(splits):
    found, fitted = attack(splits)
    least = floor(splits)
    assert found["rank1"] > 0.9 and least["rank1"] == pytest.approx(1 / 30)
    assert found["ssim"] > least["ssim"] + 0.2 and found["psnr"] > least["psnr"] + 3
    assert fitted.validation > 0.7, "most of the variance"


@pytest.mark.parametrize("change", [torch.zeros_like, torch.randn_like], ids=["constant", "noise"])
def test_features_that_say_nothing_give_the_floor(splits, change):
    found, fitted = attack(splits, change)
    least = floor(splits)
    assert found["psnr"] == pytest.approx(least["psnr"], abs=0.2) and found["ssim"] < least["ssim"] + 0.02
    assert found["rank1"] <= 4 / 30 and 0 <= fitted.validation < 0.05


def test_no_epoch_better_than_the_mean_picture_leaves_the_mean_picture(splits):
    train, val, test = splits
    opposite = replace(val, features=-val.features)
    fitted = train_decoder(train, opposite, QUICK, width=8, progress=False)
    assert fitted.validation == 0
    assert torch.equal(reconstruct(fitted, test)[3], mean_picture(train))


def test_the_same_seed_makes_the_same_decoder(splits):
    train, val, test = splits
    how = replace(QUICK, epochs=1)
    first, again = (reconstruct(train_decoder(train, val, how, seed=3, progress=False), test) for _ in "ab")
    assert torch.equal(first, again)


def test_scores_of_perfect_and_of_equal_pictures():
    torch.manual_seed(0)
    pictures = to_bytes(torch.rand(5, 3, SIZE, SIZE))
    assert scores(pictures / 255, pictures) == pytest.approx({"ssim": 1, "psnr": SHARPEST, "rank1": 1}, abs=1e-5)
    black = torch.zeros_like(pictures)
    assert scores(black / 255, black)["rank1"] == pytest.approx(0.2), "equal pictures are told apart by lot"


def test_scores_are_those_of_a_slow_twin():
    torch.manual_seed(0)
    pictures = to_bytes(torch.rand(70, 3, SIZE, SIZE))  # more than are compared at once
    made = (0.3 * pictures / 255 + 0.7 * torch.rand(70, 3, SIZE, SIZE)).clamp(0, 1)
    made[:20] = made[20:40]
    hits, decibels = [], []
    for n in range(70):
        errors = [float((made[n] - truth / 255).square().mean()) for truth in pictures]
        hits.append(errors[n] == min(errors))
        decibels.append(-10 * torch.tensor(errors[n]).log10())
    found = scores(made, pictures)
    assert found["rank1"] == pytest.approx(sum(hits) / 70) and 0.5 < found["rank1"] < 0.8
    assert found["psnr"] == pytest.approx(float(torch.stack(decibels).mean()), abs=1e-4)


def test_the_action_prior_is_the_mean_picture_of_an_action():
    pictures = torch.stack([torch.full((3, SIZE, SIZE), level, dtype=torch.uint8) for level in (0, 0, 255, 255)])
    train = Pairs(torch.zeros(4, 1), pictures, torch.tensor([0, 0, 1, 1]))
    levels = action_pictures(train, torch.tensor([1, 0, 2]))[:, 0, 0, 0]
    assert levels == pytest.approx([2.5 / 3, 0.5 / 3, 0.5]), "an action that nobody saw has the overall mean"
