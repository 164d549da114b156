import pytest
import torch

from actonym.errors import UserError
from actonym.tasks import retrieval as module
from actonym.tasks.base import VideoFeatures
from actonym.tasks.retrieval import neighbours, retrieval, whole


def library(count, seed, actions=3, spread=1.0):
    generator = torch.Generator().manual_seed(seed)
    centres = torch.eye(actions, 8)
    return [
        VideoFeatures(centres[n % actions] + spread * torch.randn(4, 8, generator=generator), action=n % actions)
        for n in range(count)
    ]


def test_scores_are_those_of_a_slow_twin():
    queries, gallery = library(12, 0), library(20, 1)
    firsts, precisions = [], []
    for query in queries:
        mean = query.features.mean(0)
        ranked = sorted(gallery, key=lambda v: -float(torch.cosine_similarity(mean, v.features.mean(0), dim=0)))
        right = [video.action == query.action for video in ranked]
        firsts.append(right.index(True))
        places = [n for n, ok in enumerate(right, 1) if ok]
        precisions.append(sum((k + 1) / place for k, place in enumerate(places)) / len(places))
    found = retrieval(queries, gallery, ranks=(1, 2, 5))
    for k in (1, 2, 5):
        assert found[f"r@{k}"] == pytest.approx(sum(first < k for first in firsts) / 12)
    assert found["map"] == pytest.approx(sum(precisions) / 12)
    assert found["r@1"] < 1 and found["queries"] == 12


def test_features_that_are_all_alike_find_at_chance():
    same = [VideoFeatures(torch.ones(2, 4), action=n // 50) for n in range(100)]
    scores = [retrieval(same, same, seed=seed)["r@1"] for seed in range(6)]
    assert set(scores) == {0.5} and 0.4 < retrieval(same, same)["map"] < 0.6


def test_queries_without_a_match_are_left_out_and_counted():
    gallery = library(9, 0)
    strange = VideoFeatures(torch.randn(3, 8), action=99)
    assert retrieval([*library(6, 1), strange], gallery)["left_out"] == 1
    with pytest.raises(UserError, match="no video of any query"):
        retrieval([strange], gallery)
    with pytest.raises(UserError, match="queries and a gallery"):
        retrieval([], gallery)


def test_faiss_and_torch_find_the_same(monkeypatch):
    pytest.importorskip("faiss")
    queries, gallery = whole(library(10, 0)), whole(library(30, 1))
    quick = neighbours(queries, gallery, 7)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert torch.equal(quick, neighbours(queries, gallery, 7))


def test_without_faiss_all_is_there(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    gallery = whole(library(30, 1))
    assert neighbours(gallery, gallery, 1)[:, 0].tolist() == list(range(30))
    assert neighbours(gallery, gallery).shape == (30, 30)
