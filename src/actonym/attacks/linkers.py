"""Who tries to link clips: frozen features as they are, whitened, and under a metric trained on other sources."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from actonym.attacks.linkage import has_pairs, linkage, source_numbers

Metric = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]  # query and gallery features to what their cosine compares

SHRINKAGES = (0.01, 0.1, 1.0)  # ours: share of the mean variance added to every direction before whitening
DIMS = 128  # ours: what the trained metric projects to
TEMPERATURE = 0.1  # of NT-Xent, as in SPAct and SPLAVU
BATCH = 1024  # clips
LOOK = 5  # epochs between two looks at the validation sources


@dataclass(frozen=True)
class Linked:
    """Features of the clips of one split as the attacker gets them, and their labels."""

    features: Tensor  # [N, D], anonymized
    action: Tensor  # int64 [N]
    source: Sequence[str]
    raw: Tensor | None = None  # [N, D] of the same clips before they were anonymized

    def other(self, raw: bool) -> Tensor:
        """The gallery."""
        if raw and self.raw is None:
            raise ValueError("a raw gallery needs raw features")
        return self.raw if raw and self.raw is not None else self.features


def link(
    test: Linked, train: Linked | None = None, val: Linked | None = None, *, name: str = "features", seed: int = 0
) -> list[dict[str, Any]]:
    """Every linkage attacker on one kind of features, named `features/similarity/gallery`.

    The gallery is anonymized, and also raw where raw features are given. Frozen features are compared by their cosine.
    With `train` and `val`, clips of other sources that went through the same anonymizer, they are also whitened and
    mapped by a trained metric; what can be chosen there is chosen on `val`. Without two clips of one source and action
    in `val` there is nothing to choose by, and these two are left out.
    """
    tried = []
    for gallery in ("anonymized", "raw") if test.raw is not None else ("anonymized",):
        raw = gallery == "raw"
        metrics: dict[str, Metric] = {"cosine": lambda query, other: (query, other)}
        if train is not None and val is not None and has_pairs(val.action, val.source):
            metrics["whitened"] = whitened(train, val, raw=raw)
            metrics["metric"] = train_metric(train, val, raw=raw, seed=seed)
        for similarity, metric in metrics.items():
            tried.append({"name": f"{name}/{similarity}/{gallery}", **score(metric, test, raw)})
    return tried


def strongest(tried: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The attacker that counts: the best rank-1, the better mAP where two are equal."""
    return max(tried, key=lambda entry: (entry["rank1"], entry["map"]))


def score(metric: Metric, clips: Linked, raw: bool = False) -> dict[str, Any]:
    """`linkage` of clips under a metric."""
    return linkage(*metric(clips.features, clips.other(raw)), clips.action, clips.source)


def whitened(train: Linked, val: Linked, *, raw: bool = False) -> Metric:
    """Centred and whitened as the training sources are; the shrinkage that suits the validation sources best."""
    metrics = [_metric(*_whitening(train, raw, shrinkage)) for shrinkage in SHRINKAGES]
    return max(metrics, key=lambda metric: score(metric, val, raw)["map"])


def train_metric(
    train: Linked, val: Linked, *, raw: bool = False, epochs: int = 50, lr: float = 0.02, seed: int = 0
) -> Metric:
    """A linear map that draws clips of one source and action together and pushes the action's other clips away.

    NT-Xent over all pairs of a source within its action, from the best of several starts: whitened features, or
    features in which what varies within a source is evened out. The epoch with the best mAP on the validation sources
    is kept, the untrained start among them.
    """
    starts = [make(train, raw, shrinkage) for make in (_whitening, _discriminant) for shrinkage in SHRINKAGES]
    means, start = max(starts, key=lambda start: score(_metric(*start), val, raw)["map"])
    chosen = _metric(means, start)
    best = score(chosen, val, raw)["map"]
    query, other = ((x - mean).float() for x, mean in zip((train.features, train.other(raw)), means, strict=True))
    numbers = source_numbers(train.source)
    matrix = start[:, :DIMS].float().clone().requires_grad_()
    optimizer = torch.optim.Adam([matrix], lr * matrix.detach().std().item())
    generator = torch.Generator().manual_seed(seed)
    for epoch in range(1, epochs + 1):
        for clips in _batches(train.action, generator):
            optimizer.zero_grad()
            nt_xent(query[clips] @ matrix, other[clips] @ matrix, train.action[clips], numbers[clips]).backward()
            optimizer.step()
        if epoch % LOOK == 0:
            metric = _metric(means, matrix.detach().double().clone())
            reached = score(metric, val, raw)["map"]
            if reached > best:
                best, chosen = reached, metric
    return chosen


def nt_xent(query: Tensor, other: Tensor, action: Tensor, source: Tensor) -> Tensor:
    """NT-Xent with several positives: clips of the same source against all others of the same action, never itself."""
    logits = normalize(query, dim=1) @ normalize(other, dim=1).T / TEMPERATURE
    candidates = (action[:, None] == action[None]) & ~torch.eye(len(action), dtype=torch.bool)
    positives = candidates & (source[:, None] == source[None]) & (source >= 0)
    logs = logits.masked_fill(~candidates, -torch.inf)
    asked = positives.any(1)
    if not asked.any():
        return logits.sum() * 0
    logs = logs[asked] - logs[asked].logsumexp(1, keepdim=True)
    positives = positives[asked]
    return -(logs.masked_fill(~positives, 0).sum(1) / positives.sum(1)).mean()


def _whitening(train: Linked, raw: bool, shrinkage: float) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """Means of queries and gallery, and one matrix `[D, K]` that whitens both, directions of most variance first."""
    means, centred = _centred(train, raw)
    return means, _even(centred, shrinkage)


def _discriminant(train: Linked, raw: bool, shrinkage: float) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """The same, whitening only what varies within a source and action (Fisher's discriminant with shrinkage)."""
    means, centred = _centred(train, raw)
    pairs = list(zip(train.action.tolist(), train.source, strict=True)) * (2 if raw else 1)
    places = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    group = torch.tensor([places[pair] for pair in pairs])
    sums = torch.zeros(int(group.max()) + 1, centred.shape[1], dtype=torch.double).index_add_(0, group, centred)
    within = centred - (sums / torch.bincount(group)[:, None])[group]
    main = torch.linalg.svd(centred, full_matrices=False).Vh[: 2 * DIMS].T
    evened = main @ _even(within @ main, shrinkage)
    return means, evened @ torch.linalg.svd(centred @ evened, full_matrices=False).Vh.T


def _centred(train: Linked, raw: bool) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """The means of queries and gallery, and the features of both around them."""
    sides = train.features.double(), train.other(raw).double()
    means = sides[0].mean(0), sides[1].mean(0)
    return means, torch.cat([sides[0] - means[0], sides[1] - means[1]]) if raw else sides[0] - means[0]


def _even(features: Tensor, shrinkage: float) -> Tensor:
    """The matrix that gives every direction of centred features about the same variance."""
    _, singular, directions = torch.linalg.svd(features, full_matrices=False)
    variance = singular.square() / len(features)
    return directions.T / (variance + shrinkage * variance.mean() + torch.finfo(torch.float32).tiny).sqrt()


def _metric(means: tuple[Tensor, Tensor], matrix: Tensor) -> Metric:
    return lambda query, other: ((query.double() - means[0]) @ matrix, (other.double() - means[1]) @ matrix)


def _batches(action: Tensor, generator: torch.Generator) -> Iterator[Tensor]:
    """Whole actions in random order, together at most `BATCH` clips; of a larger action as many clips by lot."""
    batch: list[Tensor] = []
    actions = action.unique()
    for one in actions[torch.randperm(len(actions), generator=generator)]:
        clips = (action == one).nonzero().flatten()
        clips = clips[torch.randperm(len(clips), generator=generator)[:BATCH]]
        if sum(map(len, batch)) + len(clips) > BATCH:
            yield torch.cat(batch)
            batch = []
        batch.append(clips)
    yield torch.cat(batch)
