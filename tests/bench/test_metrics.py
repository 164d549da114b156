from itertools import product

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, f1_score, top_k_accuracy_score
from torch import Tensor

from actonym.bench.metrics import action_scores, closed, kept, privacy_scores, random_f1
from actonym.errors import UserError
from actonym.train.score import class_mean_ap

GRID = list(product([2, 17, 60], [1, 3], [0, 1]))  # videos, views, seed


def slow_views(scores: Tensor, videos: int, views: int) -> np.ndarray:
    return np.stack([np.mean([scores[n * views + v].numpy() for v in range(views)], axis=0) for n in range(videos)])


def slow_ap(scores: np.ndarray, labels: np.ndarray) -> float:
    """Area under the precision-recall steps, one step per distinct score."""
    total, recall_before = 0.0, 0.0
    for threshold in sorted(set(scores.tolist()), reverse=True):
        said = scores >= threshold
        hits = (said & (labels == 1)).sum()
        recall = hits / labels.sum()
        total += (recall - recall_before) * hits / said.sum()
        recall_before = recall
    return total


def labels_of(videos: int, attributes: int, generator: torch.Generator) -> Tensor:
    labels = (torch.rand(videos, attributes, generator=generator) < 0.4).float()
    labels[0], labels[1] = 0, 1  # both classes are there
    return labels


@pytest.mark.parametrize("videos, views, seed", GRID)
def test_action_scores_agree_with_scikit_learn(videos: int, views: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(videos * views, 7, generator=generator)
    action = torch.randint(7, (videos,), generator=generator)
    scores = slow_views(logits.softmax(-1), videos, views)
    found = action_scores(logits, action, views)
    for key, k in (("top1", 1), ("top5", 5)):
        assert found[key] == pytest.approx(top_k_accuracy_score(action, scores, k=k, labels=range(7)))


def test_views_are_averaged_as_probabilities_not_as_logits() -> None:
    logits = torch.tensor([[9.0, 0.0], [0.0, 2.0], [0.0, 2.0]])  # mean logit says 0, mean probability says 1
    assert action_scores(logits, torch.tensor([1]), views=3)["top1"] == 1.0


def test_fewer_than_five_actions_have_a_top5_of_one() -> None:
    assert action_scores(torch.eye(3), torch.tensor([1, 2, 0]))["top5"] == 1.0


@pytest.mark.parametrize("videos, views, seed", GRID)
@pytest.mark.parametrize("ties", [False, True])
def test_privacy_scores_agree_with_scikit_learn_and_a_slow_twin(videos: int, views: int, seed: int, ties: bool) -> None:
    generator = torch.Generator().manual_seed(seed)
    names = ["face", "gender", "nudity"]
    labels = labels_of(videos, 3, generator)
    probabilities = torch.rand(videos * views, 3, generator=generator)
    if ties:
        probabilities = (probabilities * 4).round() / 4
    found = privacy_scores(probabilities, labels, names, views)
    scores, truth = slow_views(probabilities, videos, views), labels.numpy()
    for i, name in enumerate(names):
        entry, p = found["per_attribute"][name], truth[:, i].mean()
        assert entry["ap"] == pytest.approx(average_precision_score(truth[:, i], scores[:, i]), abs=1e-5)
        assert entry["ap"] == pytest.approx(slow_ap(scores[:, i], truth[:, i]), abs=1e-5)
        assert entry["f1"] == pytest.approx(f1_score(truth[:, i], scores[:, i] > 0.5, zero_division=0), abs=1e-5)
        assert entry["prevalence"] == pytest.approx(p)
        assert entry["ap_gain"] == pytest.approx(entry["ap"] - p, abs=1e-6)
        assert entry["f1_gain"] == pytest.approx(entry["f1"] - p / (0.5 + p), abs=1e-6)
    for mean, key in (("cmap", "ap"), ("f1", "f1"), ("cmap_gain", "ap_gain"), ("f1_gain", "f1_gain")):
        assert found[mean] == pytest.approx(np.mean([found["per_attribute"][name][key] for name in names]))


def test_an_attribute_with_one_class_is_left_out_of_the_means() -> None:
    labels = torch.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    found = privacy_scores(torch.tensor([[0.9, 0.1, 0.9], [0.2, 0.1, 0.9]]), labels, ["face", "gender", "nudity"])
    assert found["cmap"] == found["f1"] == 1.0
    assert found["per_attribute"]["gender"] == {
        "ap": None, "f1": None, "ap_gain": None, "f1_gain": None, "prevalence": 1.0,
    }  # fmt: skip
    assert found["per_attribute"]["nudity"]["prevalence"] == 0.0
    with pytest.raises(UserError, match="both classes"):
        privacy_scores(torch.tensor([[0.5], [0.5]]), torch.ones(2, 1), ["face"])


@pytest.mark.parametrize("bad", [torch.tensor([[2.0], [-1.0]]), torch.tensor([[float("nan")], [0.5]])])
def test_logits_are_refused_as_probabilities(bad: Tensor) -> None:
    with pytest.raises(ValueError, match="probabilities"):
        privacy_scores(bad, torch.tensor([[1.0], [0.0]]), ["face"])


def test_views_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        action_scores(torch.zeros(5, 3), torch.tensor([0, 1]), views=2)


def test_the_random_predictor_is_that_of_laf_privacy() -> None:
    assert random_f1(0.583) == pytest.approx(0.538, abs=5e-4)
    assert random_f1(0.587) == pytest.approx(0.540, abs=5e-4)
    coin = torch.rand(200_000, 1, generator=torch.Generator().manual_seed(0))
    labels = (torch.rand(200_000, 1, generator=torch.Generator().manual_seed(1)) < 0.3).float()
    found = privacy_scores(coin, labels, ["face"])
    assert abs(found["cmap_gain"]) < 0.01 and abs(found["f1_gain"]) < 0.01


def test_kept_and_closed_of_stprivacy_on_vp_hmdb51() -> None:
    assert kept(0.5073, 0.5144) == pytest.approx(0.986, abs=5e-4)
    assert closed(0.7248, 0.7558, 0.583) == pytest.approx(0.18, abs=5e-3)


def test_kept_and_closed_at_their_edges() -> None:
    assert kept(0.3, 0.0) is None
    assert closed(0.4, 0.5, 0.5) is None and closed(0.4, 0.45, 0.5) is None
    assert closed(0.4, 0.8, 0.5) == pytest.approx(4 / 3)  # below chance: more than all is closed
    assert closed(0.9, 0.8, 0.5) == pytest.approx(-1 / 3)  # leaks more than raw


@pytest.mark.parametrize("videos, views, seed", GRID)
def test_several_actions_agree_with_scikit_learn(videos: int, views: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(videos * views, 4, generator=generator)
    labels = torch.cat([labels_of(videos, 3, generator), torch.ones(videos, 1)], 1)  # the last action is always there
    scores = slow_views(logits.sigmoid(), videos, views)
    found = action_scores(logits, labels, views)
    each = [average_precision_score(labels[:, k].numpy(), scores[:, k]) for k in range(3)]
    assert found == {"cmap": pytest.approx(sum(each) / 3, abs=1e-5)}
    with pytest.raises(UserError, match="no action is in some"):
        action_scores(logits, torch.ones(videos, 4), views)


def test_the_leak_of_each_kind_of_attributes() -> None:
    names = ["object: ball", "object: cup", "scene: sea", "scene: hall"]
    generator = torch.Generator().manual_seed(0)
    scores, labels = torch.rand(40, 4, generator=generator), labels_of(40, 4, generator)
    labels[:, 3] = 1
    found = privacy_scores(scores, labels, names)
    each = {name: found["per_attribute"][name] for name in names}
    assert found["per_group"]["object"]["cmap"] == pytest.approx((each[names[0]]["ap"] + each[names[1]]["ap"]) / 2)
    assert found["per_group"]["scene"] == {"cmap": each[names[2]]["ap"], "f1": each[names[2]]["f1"]}
    assert found["cmap"] == pytest.approx(sum(each[name]["ap"] for name in names[:3]) / 3)
    labels[:, 2] = 1
    assert privacy_scores(scores, labels, names)["per_group"]["scene"] == {"cmap": None, "f1": None}
    assert "per_group" not in privacy_scores(scores, labels, ["face", "gender", "a: b", "c"])


@pytest.mark.parametrize("classes", [1, 2, 5])
@pytest.mark.parametrize("views", [1, 3])
def test_what_chooses_a_checkpoint_agrees_with_scikit_learn(classes: int, views: int) -> None:
    generator = torch.Generator().manual_seed(classes)
    logits = torch.randn(20 * views, classes, generator=generator)
    labels = labels_of(20, classes, generator)
    scores = slow_views(logits.sigmoid(), 20, views)
    each = [average_precision_score(labels[:, k].numpy(), scores[:, k]) for k in range(classes)]
    assert class_mean_ap(logits, labels, views) == pytest.approx(sum(each) / classes, abs=1e-5)
    never = torch.cat([labels, torch.zeros(20, 1)], 1)
    wide = torch.cat([logits, logits[:, :1]], 1)
    assert class_mean_ap(wide, never, views) == pytest.approx(sum(each) / classes, abs=1e-5)
    assert class_mean_ap(logits, torch.zeros_like(labels), views) == 0
