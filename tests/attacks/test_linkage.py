"""Linkage against a slow twin, and what an auditor relies on: floors, ties, nothing that trains on test sources."""

import itertools
import random
from dataclasses import replace

import pytest
import torch
from videos import has

from actonym.attacks.linkage import linkage, people, retrieval
from actonym.attacks.linkers import Linked, link, nt_xent, strongest, train_metric
from actonym.attacks.places import place
from actonym.errors import UserError


def average_precision(ranked):
    hits, total = 0, 0.0
    for rank, match in enumerate(ranked, 1):
        hits += match
        total += match * hits / rank
    return total / sum(ranked)


def slow_linkage(query, gallery, action, source):
    """One query at a time, as the definition reads; ties do not occur."""
    rank1, ap = [], []
    for i in range(len(query)):
        others = [j for j in range(len(query)) if j != i and action[j] == action[i] and source[j]]
        matches = [source[j] == source[i] for j in others]
        if not source[i] or not any(matches):
            continue
        close = [torch.cosine_similarity(query[i], gallery[j], dim=0).item() for j in others]
        ranked = [match for _, match in sorted(zip(close, matches, strict=True), reverse=True)]
        rank1.append(ranked[0])
        ap.append(average_precision(ranked))
    return sum(rank1) / len(rank1), sum(ap) / len(ap), len(rank1)


@pytest.mark.parametrize("seed", range(3))
def test_linkage_is_what_the_definition_says(seed):
    generator = torch.Generator().manual_seed(seed)
    query, gallery = (torch.randn(60, 5, generator=generator, dtype=torch.double) for _ in range(2))
    action = torch.randint(0, 4, (60,), generator=generator)
    lots = random.Random(seed)
    source = [lots.choice(["", "a", "b", "c", "d", "e", "f"]) for _ in range(60)]
    found = linkage(query, gallery, action, source)
    rank1, ap, queries = slow_linkage(query, gallery, action.tolist(), source)
    assert found["queries"] == queries
    assert (found["rank1"], found["map"]) == pytest.approx((rank1, ap))


@pytest.mark.parametrize(("candidates", "matches"), [(2, 1), (5, 2), (6, 3), (4, 4)])
def test_chance_is_the_mean_over_all_rankings(candidates, matches):
    same = torch.tensor([[place < matches for place in range(candidates)]])
    rankings = set(itertools.permutations(same[0].tolist()))
    scores = retrieval(torch.zeros(1, candidates), same)[0].tolist()
    expected = sum(map(average_precision, rankings)) / len(rankings)
    assert scores == pytest.approx([matches / candidates, expected])


def test_ties_are_broken_by_lot_and_counted_exactly():
    same = torch.tensor([[True, False, True, False, False, True]])
    similarity = torch.tensor([[0.5, 0.5, 0.9, 0.1, 0.5, 0.1]])
    orders = [
        (2, *middle, *last) for middle in itertools.permutations((0, 1, 4)) for last in itertools.permutations((3, 5))
    ]
    expected = sum(average_precision(same[0, list(order)].tolist()) for order in orders) / len(orders)
    assert retrieval(similarity, same)[0].tolist() == pytest.approx([1.0, expected])


def test_clips_that_all_look_the_same_link_at_chance():
    """A black video must not be linked by the order of the files."""
    action, source = torch.tensor([0] * 6 + [1] * 4), list("aabbcc") + list("aabb")
    features = torch.full((10, 7), 0.3)
    found = linkage(features, features, action, source)
    assert found["rank1"] == pytest.approx(found["chance"]["rank1"]) == pytest.approx((6 / 5 + 4 / 3) / 10)
    assert found["map"] == pytest.approx(found["chance"]["map"])


def test_other_actions_are_no_candidates_and_nobody_is_found_without_a_match():
    features = torch.eye(4)
    with pytest.raises(UserError, match="same action and the same source"):
        linkage(features, features, torch.tensor([0, 1, 2, 3]), ["a", "a", "a", "a"])
    with pytest.raises(UserError, match="same action and the same source"):
        linkage(features, features, torch.zeros(4), ["", "", "", ""])


def test_a_query_is_never_its_own_candidate_in_a_raw_gallery():
    """Each clip's raw twin is its nearest neighbour; only the second nearest is of another source."""
    features = torch.tensor([[1.0, 0.0], [0.99, 0.1], [0.0, 1.0], [0.1, 0.99]])
    found = linkage(features, features, torch.zeros(4), ["a", "b", "a", "b"])
    assert found["rank1"] == 0


def test_people_go_before_films_and_share_no_names_with_them():
    assert people(["x", "", ""], ["x", "x", ""]) == ["subject x", "source x", ""]
    assert people(["x", ""], ()) == ["subject x", ""]


def clips(sources, seed, noise=3.0):
    """Source in four of 20 directions, drowned by noise in the rest; the raw twin has half of it."""
    generator = torch.Generator().manual_seed(seed)
    draw = [torch.randn(sources, 4, generator=generator).repeat_interleave(4, 0)]
    n = 4 * sources
    raw = torch.cat([draw[0], noise / 2 * torch.randn(n, 16, generator=generator)], 1)
    features = torch.cat([draw[0], noise * torch.randn(n, 16, generator=generator)], 1)
    features[:, :4] += 0.3 * torch.randn(n, 4, generator=generator)
    action = torch.arange(sources).repeat_interleave(4) % 3
    return Linked(features + 2, action, [f"{seed}-{k}" for k in range(sources) for _ in range(4)], raw)


def test_whitening_and_a_trained_metric_link_what_the_cosine_does_not():
    train, val, test = clips(40, 0), clips(16, 1), clips(30, 2)
    tried = {entry["name"]: entry for entry in link(test, train, val, name="noise")}
    assert set(tried) == {
        f"noise/{how}/{where}" for how in ("cosine", "whitened", "metric") for where in ("anonymized", "raw")
    }
    for where in ("anonymized", "raw"):
        cosine, whitened, metric = (tried[f"noise/{how}/{where}"]["rank1"] for how in ("cosine", "whitened", "metric"))
        assert cosine + 0.1 < whitened and whitened + 0.1 < metric and metric > 0.8
    assert strongest(list(tried.values()))["rank1"] == max(entry["rank1"] for entry in tried.values())


def test_a_metric_is_the_same_for_the_same_seed_and_sees_no_test_source():
    train, val, test = clips(20, 0), clips(10, 1), clips(10, 2)
    first, second = (train_metric(train, val, epochs=3, seed=5)(test.features, test.features)[0] for _ in range(2))
    assert torch.equal(first, second)


def test_without_pairs_to_choose_by_only_the_cosine_is_tried():
    test, bare = clips(6, 2), Linked(torch.eye(3), torch.arange(3), ["x", "y", "z"])
    assert [entry["name"] for entry in link(replace(test, raw=None), clips(6, 0), bare)] == [
        "features/cosine/anonymized"
    ]


def test_noise_stays_at_chance_whatever_is_trained():
    generator = torch.Generator().manual_seed(0)
    splits = [
        Linked(torch.randn(n, 12, generator=generator), torch.arange(n) % 3, [f"{n}-{k // 6}" for k in range(n)])
        for n in (180, 90, 240)
    ]
    for entry in link(splits[2], splits[0], splits[1]):
        assert abs(entry["rank1"] - entry["chance"]["rank1"]) < 0.06


def test_nt_xent_is_the_mean_over_positives():
    generator = torch.Generator().manual_seed(0)
    query, other = (torch.randn(7, 3, generator=generator, dtype=torch.double) for _ in range(2))
    action, source = torch.tensor([0, 0, 0, 0, 1, 1, 1]), torch.tensor([0, 0, 1, 1, 2, 2, -1])
    losses = []
    for i in range(7):
        logits = {
            j: torch.cosine_similarity(query[i], other[j], dim=0) / 0.1
            for j in range(7)
            if j != i and action[j] == action[i]
        }
        positives = [j for j in logits if source[j] == source[i] >= 0]
        if positives:
            total = torch.stack(list(logits.values())).logsumexp(0)
            losses.append(sum(total - logits[j] for j in positives) / len(positives))
    assert nt_xent(query, other, action, source).item() == pytest.approx((sum(losses) / len(losses)).item())


def test_a_place_is_known_by_its_background_whoever_walks_through():
    generator = torch.Generator().manual_seed(0)
    rooms = torch.randint(0, 256, (3, 3, 1, 6, 8), generator=generator, dtype=torch.uint8)
    rooms = rooms.repeat_interleave(8, -2).repeat_interleave(8, -1)
    videos = []
    for room in (0, 1, 2, 0, 1, 2):
        video = rooms[room].repeat(1, 9, 1, 1)
        for t in range(9):  # somebody crosses
            video[:, t, 10:40, 7 * t : 7 * t + 8] = 40 * (len(videos) // 3)
        videos.append(place(video))
    features = torch.stack(videos)
    found = linkage(features, features, torch.zeros(6), list("abcabc"))
    assert found["rank1"] == 1 and found["chance"]["rank1"] == pytest.approx(0.2)
    assert linkage(features, features, torch.zeros(6), list("aabbcc"))["rank1"] == 0


@pytest.mark.slow
def test_raw_clips_of_real_films_are_linked_far_above_chance(shared):
    """Frozen I3D, the clips of four actions in the validation and test films."""
    from actonym.data import open_dataset
    from actonym.nets.encoders import encoder
    from actonym.video import clip_indices

    if not has("i3d-kinetics400"):
        pytest.skip("no weights: actonym weights pull i3d-kinetics400")
    data = open_dataset(f"vp-jhmdb:{shared / 'data/jhmdb_train'}")
    chosen = [data.actions.index(name) for name in ("brush_hair", "kick_ball", "shoot_bow", "wave")]
    samples = [one for split in ("val", "test") for one in data.samples(split) if one.action in chosen]
    net, features = encoder("i3d"), []
    for sample in samples:
        clip = sample.video.frames(clip_indices(sample.video.length, 16)[0].tolist())
        with torch.inference_mode():
            features.append(net.encode(clip[None].float() / 255)[0])
    seen, action = torch.stack(features), torch.tensor([sample.action for sample in samples])
    found = linkage(seen, seen, action, [sample.source for sample in samples])
    assert found["queries"] > 20 and found["rank1"] > max(0.6, found["chance"]["rank1"] + 0.2)
