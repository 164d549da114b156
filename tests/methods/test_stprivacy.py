"""STPrivacy: the facts of the paper, each equation against a slow twin, and that pruning is what masking promised."""

from itertools import pairwise
from math import exp

import pytest
import torch
from torch import nn

from actonym import methods
from actonym.errors import UserError
from actonym.methods.stprivacy import (
    Predictor,
    STPrivacy,
    Training,
    mean_of_kept,
    most_probable,
    sparsity,
    start_as_identity,
)
from actonym.methods.worth import Guide
from actonym.nets.tubelets import cut
from actonym.train.phase import Batch, Recognizers


@pytest.fixture(scope="module")
def paper():
    torch.manual_seed(0)
    return methods.create("stprivacy", "paper").eval()


@pytest.fixture
def small():
    """Decided: its predictors are sure of their choice, so that rounding does not change it."""
    torch.manual_seed(0)
    method = STPrivacy(dim=24, heads=2, blocks=(1, 1, 1), layers=1, frames=4, side=16, patch=4).eval()
    for block in method.blocks:
        for layer in (block.predictor.levels[1], block.predictor.mlp[0], block.predictor.mlp[2], block.predictor.last):
            nn.init.normal_(layer.weight, std=1.0)
    return method


def clip_of(frames=4, side=16, batch=2):
    return torch.rand(batch, 3, frames, side, side, generator=torch.Generator().manual_seed(0))


def recognizers(actions=3, attributes=5):
    def net(outputs):
        return nn.Sequential(nn.AdaptiveAvgPool3d((2, 4, 4)), nn.Flatten(), nn.Linear(96, outputs))

    return Recognizers(net(actions), net(attributes), actions=actions, attributes=attributes)


def batch_of(count=4):
    clip = clip_of(batch=count)
    return Batch(clip, torch.arange(count) % 3, torch.eye(5)[:count], None, torch.arange(count))


def sort(method):
    """The decisions of inference for a method that masks: the most probable of what is still kept."""

    def decide(log_z, kept, number):
        probability = log_z[..., 0].masked_fill(kept == 0, -torch.inf)
        best = probability.topk(method.count(kept.shape[2], number), 2).indices
        return torch.zeros_like(kept).scatter(2, best, 1.0)

    return decide


# The paper's sizes.


def test_tokens_of_the_paper(paper):
    clip = clip_of(16, 112, 1)
    assert paper.tokens(clip).shape == (1, 8, 49, 384), "392 tokens"
    x, place, stays = paper.prune(paper.tokens(clip), most_probable)
    assert x.shape == (1, 8, 17, 384) and place.shape == stays.shape == (1, 8, 17)  # 0.7^3 of 49 is 16.8
    assert [paper.count(49, number) for number in (1, 2, 3)] == [34, 24, 17]
    assert paper.pixels.out_features == 2 * 16 * 16 * 3
    assert len(paper.all_layers()) == 12
    assert paper(clip).shape == clip.shape


def test_parameters_of_the_paper(paper):
    """12 layers of a ViT-S, as many as an image transformer's, and what is STPrivacy's own."""
    d = 384
    layer = 12 * d * d + 13 * d
    predictor = 2 * d + (d * d + d) + (d * d // 2 + d // 2) + (d // 2 * d // 4 + d // 4) + (d // 4 * 2 + 2)
    own = (1536 * d + d) + 392 * d + (d * 1536 + 1536)
    assert sum(p.numel() for p in paper.parameters()) == 12 * layer + 3 * predictor + own


def test_dropped_tubelets_are_black(paper):
    out = paper(clip_of(16, 112, 1))
    tubelets = out.unfold(2, 2, 2).unfold(3, 16, 16).unfold(4, 16, 16).abs().amax((1, 5, 6, 7))
    assert ((tubelets > 0).flatten(2).sum(2) <= 17).all() and (tubelets > 0).any()


def test_the_paper_preset_trains_as_the_paper_does(paper):
    plan = Training(paper, recognizers(), **methods.create("stprivacy", "paper").training_settings)
    wait, first, second = plan.phases()
    assert wait.epochs + first.epochs == 80 and second.epochs == 40
    assert (plan.action, plan.privacy, plan.lr) == (0.5, 0.5, 0.001 * 64 / 512)
    assert all(group["weight_decay"] == 0.05 for group in second.optimizers["anonymizer"].param_groups)
    resting = {id(p) for p in paper.all_layers()[0].parameters()}
    assert not resting & {id(p) for group in wait.optimizers["anonymizer"].param_groups for p in group["params"]}
    fast, slow = first.optimizers["anonymizer"].param_groups
    assert slow["lr"] == pytest.approx(0.1 * fast["lr"])
    assert second.schedule(0) == 1 and second.schedule(1) == pytest.approx(0)


# Equations.


def test_equations_1_to_5():
    torch.manual_seed(0)
    predictor = Predictor(12)
    x, kept = torch.randn(2, 3, 4, 12), torch.randint(0, 2, (2, 3, 4)).float()
    kept[0, 1] = 0  # a row with nothing left
    found = predictor(x, kept)
    # Equation 1: three linear layers of width D/3, on the normalized token (so the release; the paper is silent).
    norm, linear, _ = predictor.levels
    centred = x - x.mean(-1, keepdim=True)
    normal = centred / (centred.square().mean(-1, keepdim=True) + 1e-6).sqrt() * norm.weight + norm.bias
    thirds = [normal @ linear.weight[4 * k : 4 * k + 4].T + linear.bias[4 * k : 4 * k + 4] for k in range(3)]
    levels = torch.cat([part * 0.5 * (1 + torch.erf(part / 2**0.5)) for part in thirds], -1)
    for b in range(2):
        left = [levels[b, r, m, 8:] for r in range(3) for m in range(4) if kept[b, r, m]]
        for row in range(3):
            own = [levels[b, row, m, 4:8] for m in range(4) if kept[b, row, m]]
            spatial = torch.stack(own).mean(0) if own else torch.zeros(4)
            for n in range(4):
                evidence = torch.cat([levels[b, row, n, :4], spatial, torch.stack(left).mean(0)])
                z = torch.softmax(predictor.last(predictor.mlp(evidence)), -1)
                assert torch.allclose(found[b, row, n].exp(), z, atol=1e-5)


def test_equation_6_draws_and_multiplies(small):
    torch.manual_seed(0)
    _, history = small.decisions(small.tokens(clip_of()), small.draw)
    assert all(set(kept.unique().tolist()) <= {0.0, 1.0} for kept in history)
    assert all((later <= earlier).all() for earlier, later in pairwise(history))


def test_equation_6_against_a_slow_twin(small):
    """Keep where log z_keep + g_keep is the larger; the slope is that of the softmax of both, at temperature 1."""
    log_z = torch.randn(2, 3, 4, 2).log_softmax(-1).requires_grad_()
    torch.manual_seed(7)
    drawn = small.draw(log_z, torch.ones(2, 3, 4), 1)
    torch.manual_seed(7)
    noise = -torch.empty_like(log_z).exponential_().log()
    for place in torch.cartesian_prod(torch.arange(2), torch.arange(3), torch.arange(4)).tolist():
        b, row, n = place
        keep, drop = (log_z[b, row, n] + noise[b, row, n]).tolist()
        assert drawn[b, row, n].item() == float(keep > drop)
        (slope,) = torch.autograd.grad(drawn[b, row, n], log_z, retain_graph=True)
        soft = 1 / (1 + exp(drop - keep))
        assert slope[b, row, n].tolist() == pytest.approx([soft * (1 - soft), -soft * (1 - soft)], abs=1e-5)


def test_equation_11(small):
    """The last tokens times a matrix are the pixels of their tubelets, where these are."""
    clip = clip_of()
    out, x, history = small.masked(clip, sort(small))
    kept = history[-1]
    for b, row, n in ((0, 0, 0), (0, 1, 5), (1, 0, 9), (1, 1, 15)):
        pixels = (small.pixels.weight @ x[b, row, n] + small.pixels.bias + 0.5).clamp(0, 1)
        down, across = 4 * (n // 4), 4 * (n % 4)
        shown = out[b, :, 2 * row : 2 * row + 2, down : down + 4, across : across + 4]
        assert torch.allclose(shown.flatten(), pixels * kept[b, row, n], atol=1e-5)
    assert 0 < kept.mean() < 1


def test_equation_7():
    torch.manual_seed(0)
    history = [torch.randint(0, 2, (2, 3, 5)).float() for _ in range(3)]
    slow = 0.0
    for m, kept in enumerate(history, 1):
        for b in range(2):
            for row in range(3):
                slow += (float(kept[b, row].sum()) / 5 - 0.7**m) ** 2 / (3 * 3 * 2)
    assert float(sparsity(history, 0.7)) == pytest.approx(slow, rel=1e-5)


def test_equation_7_pulls_the_kept_share_to_alpha():
    """From keeping nearly everything, and from keeping little."""
    for start in (0.99, 0.3):
        torch.manual_seed(0)
        method = STPrivacy(dim=24, heads=2, blocks=(1, 1, 1), layers=1, frames=4, side=32, patch=4)
        for block in method.blocks:
            block.predictor.start_at(start)
        clip = clip_of(side=32, batch=4)
        optimizer = torch.optim.Adam([p for b in method.blocks for p in b.predictor.parameters()], 0.01)
        for _ in range(80):
            loss = sparsity(method.decisions(method.tokens(clip), method.draw)[1], method.keep)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        shares = torch.stack([kept.mean() for kept in method.decisions(method.tokens(clip), method.draw)[1]])
        # 256 draws with p = 0.7: a standard deviation of 0.03 around each share
        assert torch.allclose(shares, torch.tensor([0.7, 0.49, 0.343]), atol=0.09), shares


def test_equation_12_and_13(small):
    """The losses that the optimizers get, against sums written out."""
    batch, nets = batch_of(), recognizers()
    plan = Training(small, nets, wait=0, initialization=1, adversarial=1, action=0.5, privacy=0.25)
    first, second = plan.phases()
    given = {}

    def record(name, loss, retain_graph=False):
        given.setdefault(name, loss.detach())

    classify = first.modules["classify"]
    torch.manual_seed(3)
    first.step(batch, record)
    torch.manual_seed(3)
    _, x, history = small.masked(batch.clip)
    slow = sparsity(history, 0.7)
    for b in range(4):
        left = [token for token, there in zip(x[b].flatten(0, 1), history[-1][b].flatten(), strict=True) if there]
        answers = classify(torch.stack(left).mean(0) if left else torch.zeros(24))
        slow = slow - answers.log_softmax(0)[batch.action[b]] / 4
    assert torch.allclose(given.pop("anonymizer"), slow) and not given
    torch.manual_seed(3)
    second.step(batch, record)
    torch.manual_seed(3)
    out, _, history = small.masked(batch.clip)
    action = nn.functional.cross_entropy(nets.action(out), batch.action)
    leak = nn.functional.binary_cross_entropy_with_logits(nets.privacy(out), batch.privacy)
    assert torch.allclose(given["anonymizer"], sparsity(history, 0.7) + 0.5 * action - 0.25 * leak)
    assert torch.allclose(given["action"], action) and torch.allclose(given["privacy"], leak)


def test_recognizers_learn_from_the_whole_crowd(small):
    """The anonymizer plays with half of it; the rest is shown as inference shows it."""
    batch, nets = batch_of(), recognizers()
    game = Training(small, nets, wait=0, initialization=0, crowd=2, batch_size=2).phases()[-1]
    assert game.batch_size == 4
    given = {}
    torch.manual_seed(3)
    game.step(batch, lambda name, loss: given.setdefault(name, loss.detach()))
    torch.manual_seed(3)
    out, _, _ = small.masked(batch.clip[:2])
    shown = torch.cat([out, small(batch.clip[2:])])
    assert torch.allclose(given["action"], nn.functional.cross_entropy(nets.action(shown), batch.action))
    told = nn.functional.binary_cross_entropy_with_logits(nets.privacy(shown), batch.privacy)
    assert torch.allclose(given["privacy"], told)


def test_decisions_that_hold_still(small):
    """Of a place for all rows, by their mean log-probability; drawn as often as equation 6 has it; gradients flow."""
    small.still = True
    kept = torch.ones(4, 2, 16)
    x = small.tokens(batch_of().clip)
    log_z = small.judged(small.blocks[0], x, kept)
    rows = small.blocks[0].predictor(x, kept)
    slow = torch.stack([(rows[:, 0] + rows[:, 1])[..., k] / 2 for k in range(2)], -1).exp()
    assert torch.allclose(log_z[:, 0].exp(), slow / slow.sum(-1, keepdim=True), atol=1e-6)
    assert torch.equal(log_z[:, 0], log_z[:, 1]) and not torch.equal(rows[:, 0], rows[:, 1])
    with torch.inference_mode():
        small.rewrite = False
        shown = small(torch.ones(4, 3, 4, 16, 16))
    assert torch.equal(shown, shown[:, :, :1].expand_as(shown)) and shown.min() == 0 < shown.max()
    told = torch.tensor([0.7, 0.3]).log().expand(500, 4, 16, 2).clone().requires_grad_()
    drawn = small.draw(told, torch.ones(500, 4, 16), 1)
    assert torch.equal(drawn, drawn[:, :1].expand_as(drawn))
    # 8000 places: a standard deviation of 0.005
    assert drawn.mean().item() == pytest.approx(0.7, abs=0.02)
    (drawn * torch.rand(500, 4, 16)).sum().backward()
    assert told.grad.abs().sum() > 0


def test_what_is_added_holds_still(small):
    """The same all the time at a place: with maps that show tokens as they are, what changes is what changed."""
    small.still, small.keep = True, 1.0
    first = small.tokens(clip_of())
    with torch.inference_mode():
        shown = small.anonymized(first, first)
        own = small.layers[0](first.flatten(1, 2)).view_as(first)
    slow = [
        [sum(own[b, row, n] - first[b, row, n] for row in range(2)) / 2 for n in range(16)] for b in range(len(first))
    ]
    for row in range(2):
        assert torch.allclose(shown[:, row], first[:, row] + torch.stack([torch.stack(one) for one in slow]), atol=1e-5)
    assert not torch.allclose(shown, own, atol=1e-3), "else the layers hold still by themselves"


def test_maps_to_and_from_tokens_may_learn_slower(small):
    game = Training(small, recognizers(), wait=0, initialization=0, adversarial_lr=0.01, maps=0.1).phases()[-1]
    rates = {id(p): group["lr"] for group in game.optimizers["anonymizer"].param_groups for p in group["params"]}
    assert len(rates) == len(list(small.parameters())), "each is there once"
    slow = [name for name, p in small.named_parameters() if rates[id(p)] == pytest.approx(0.001)]
    assert sorted(slow) == [
        "pixels.bias",
        "pixels.weight",
        "position",
        "tubelets.project.bias",
        "tubelets.project.weight",
    ]


# Pruning.


@pytest.mark.parametrize("keep", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("rewrite", [True, False])
@pytest.mark.parametrize("still", [True, False])
def test_pruned_inference_equals_masked_inference(small, keep, rewrite, still):
    small.keep, small.rewrite, small.still = keep, rewrite, still
    clip = clip_of().double()  # in floats places that are as good as each other might be chosen by rounding
    with torch.inference_mode():
        shown, _, history = small.double().masked(clip, sort(small))
        assert torch.allclose(small(clip), shown, atol=1e-9)
    assert history[-1].mean() == pytest.approx(small.count(16, 3) / 16)


def test_without_rewriting_what_is_kept_is_the_raw_video(small):
    small.rewrite = False
    clip = clip_of()
    out = small(clip)
    shown = out > 0
    assert torch.equal(out[shown], clip[shown]) and 0 < shown.float().mean() < 0.5


def test_fewer_tokens_are_computed_in_each_block(small):
    counts = []
    for layer in small.all_layers():
        layer.register_forward_hook(lambda _, inputs, out: counts.append(inputs[0].shape[1]))
    small(clip_of())
    assert counts == [32, 22, 16, 10]  # two rows of 16, then of 11, 8 and 5


def test_keep_is_changed_without_training(small):
    def share(keep):
        small.keep = keep
        return float((small(clip_of()) != 0).float().mean())

    assert share(0.3) < share(0.7) < share(1.0)
    sure = -torch.tensor([3e-9, 1e-9, 2e-9]).view(1, 1, 3, 1)  # as probabilities all are 1
    assert most_probable(sure, None, 2)[0].tolist() == [[[1, 2]]]


def test_decisions_have_gradients(small):
    small.train()
    out, _, _ = small.masked(clip_of())
    out.mean().backward()
    for block in small.blocks:
        assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in block.predictor.parameters())


# Practice.


def test_wide_pictures_keep_their_proportions(small):
    assert small.tokens(torch.rand(1, 3, 4, 16, 24)).shape[2] == 4 * 6
    assert small(torch.rand(1, 3, 9, 30, 50)).shape == (1, 3, 9, 30, 50)


def test_identity_start_shows_the_video(small):
    start_as_identity(small)
    smooth = torch.nn.functional.interpolate(torch.rand(1, 1, 2, 3, 3), (4, 16, 16), mode="trilinear")
    smooth = smooth.expand(-1, 3, -1, -1, -1)
    with torch.inference_mode():
        shown, _, _ = small.masked(smooth, lambda log_z, kept, number: torch.ones_like(kept))
    # 24 of 96 waves; layers that have learned nothing add next to nothing
    assert (shown - smooth).square().mean() < 0.02 * smooth.var()


def test_grey_start_shows_brightness(small):
    start_as_identity(small, grey=True)
    smooth = torch.nn.functional.interpolate(torch.rand(1, 3, 2, 2, 2), (4, 16, 16), mode="trilinear")
    with torch.inference_mode():
        shown, _, _ = small.masked(smooth, lambda log_z, kept, number: torch.ones_like(kept))
    grey = smooth.mean(1, keepdim=True)
    assert (shown - shown.mean(1, keepdim=True)).square().mean() < 0.02 * smooth.var(), "no colours"
    assert (shown - grey).square().mean() < 0.05 * grey.var()


def test_what_the_small_preset_adds(small):
    nets = recognizers()
    more = {"classification": 0.5, "guidance": 2.0, "reconstruction": 3.0}
    plan = Training(small, nets, wait=0, rehearsal=1, drill=2, frames=2, attacker_steps=3, alert=True, **more)
    rehearsal, drill, initialization, game = plan.phases()
    assert game.steady == {"privacy"} and not any(phase.steady for phase in (rehearsal, drill, initialization))
    given = []

    def record(name, loss, retain_graph=False):
        given.append((name, loss.detach()))

    rehearsal.step(batch_of(), record)
    assert [name for name, _ in given] == ["action", "privacy"]
    drill.step(batch_of(), record)
    assert [name for name, _ in given[2:]] == ["privacy"] and list(drill.optimizers) == ["privacy"]
    logged = initialization.step(batch_of(), record)
    parts = [0.5 * logged["action"], 2 * logged["guidance"], 3 * logged["pixels"]]
    assert [name for name, _ in given[-2:]] == ["anonymizer", "action"], "the guide learns too"
    assert torch.allclose(given[-2][1], sum(parts)) and torch.allclose(given[-1][1], logged["guide"])
    game.step(batch_of(), record)
    assert [name for name, _ in given[-5:]] == ["anonymizer", "action", "privacy", "privacy", "privacy"]


def test_the_guide_keeps_what_the_recognizer_looks_at(small):
    """One that looks at one corner: its tubelets stay, and the predictors are told so, block by block."""
    nets = recognizers()
    nets.action = nn.Sequential(Corner(), nn.Flatten(), nn.Linear(3 * 4 * 4 * 4, 3))
    worth = Training(small, nets).worth(batch_of()) + 1e-6 * torch.rand(4, 1, 16)
    guide = Guide(worth)
    _, place, stays = small.prune(small.tokens(batch_of().clip), guide)
    assert place.shape[2] == 5 and (place[..., 0] == 0).all()
    assert torch.equal(stays, torch.ones(4, 2, 5)) and not stays.requires_grad, "no predictor has decided"
    assert len(guide.told) == 3 and guide.loss().requires_grad


def test_steering_leaves_decisions_to_the_predictors_and_tells_them_what_would_be_better(small):
    game = {"steering": 2.0, "noise": False, "action": 0.0, "privacy": 0.0}
    plan, batch = Training(small, recognizers(), **game), batch_of()
    guide = Guide(plan.worth(batch), most_probable)
    x = small.tokens(batch.clip)
    assert torch.equal(small.prune(x, guide)[1], small.prune(x, most_probable)[1])
    given = {}
    logged = plan.play(batch, lambda name, loss, **_: given.update({name: loss.detach()}))
    assert torch.allclose(given["anonymizer"], 2 * logged["guidance"]) and logged["guidance"] > 0
    with pytest.raises(UserError, match="not drawn"):
        Training(small, recognizers(), steering=1.0).phases()


def test_a_game_without_noise_is_played_with_what_inference_shows(small):
    game = Training(small, recognizers(), noise=False, betas=(0.5, 0.9)).phases()[-1]
    given = {}
    logged = game.step(batch_of(), lambda name, loss, **_: given.update({name: loss.detach()}))
    nets = game.step.__self__.recognizers
    shown = small(batch_of().clip)
    action = nn.functional.cross_entropy(nets.action(shown), batch_of().action)
    leak = nn.functional.binary_cross_entropy_with_logits(nets.privacy(shown), batch_of().privacy)
    assert torch.allclose(given["anonymizer"], 0.5 * action - 0.5 * leak, atol=1e-5)
    assert torch.allclose(given["action"], action, atol=1e-5) and "sparsity" not in logged
    assert game.optimizers["anonymizer"].param_groups[0]["betas"] == (0.5, 0.9)


def test_what_is_shown_of_a_tubelet_says_whether_it_had_better_go(small):
    """Decisions that are not drawn have the slope of their probabilities, of every block, on what they keep."""
    clip = clip_of()
    out, _, kept = small.pruned(clip, most_probable, True)
    assert set(kept.unique().tolist()) == {0.0, 1.0} and kept.mean() == pytest.approx(5 / 16)
    out.sum().backward()
    for block in small.blocks:
        assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in block.predictor.parameters())
    # The slope of the last block's decision, by hand: that of the pixels that it shows.
    first = small.tokens(clip).detach()
    probability = []

    def choose(log_z, place, count):
        probability.append(log_z)
        log_z.retain_grad()
        return most_probable(log_z, place, count)

    out, _, _ = small.pruned(clip, choose, False)
    out.sum().backward()
    best, _ = most_probable(probability[-1], None, 5)
    _, place, _ = small.prune(first, most_probable)
    raw = cut(clip, small.tubelet)
    for b, row, k in ((0, 0, 0), (1, 1, 4)):
        light = raw[b, row, place[b, row, k]].sum()
        log_z = probability[-1][b, row, best[b, row, k], 0]
        slope = probability[-1].grad[b, row, best[b, row, k], 0]
        assert slope.item() == pytest.approx((light * log_z.exp()).item(), rel=1e-4)
    small.keep = 1.0
    assert not small.prune(first, most_probable)[2].requires_grad, "where nothing can go there is nothing to decide"


class Corner(nn.Module):
    """Of every frame the first four pixels of the first four lines."""

    def forward(self, clip):
        return clip[..., :4, :4]


def test_settings_that_cannot_be():
    with pytest.raises(UserError, match="does not divide into tubelets"):
        methods.create("stprivacy:side=50")
    with pytest.raises(UserError, match="divisible by 3"):
        methods.create("stprivacy:dim=64")
    with pytest.raises(UserError, match="keep is a share above 0"):
        methods.create("stprivacy:keep=0")
    with pytest.raises(ValueError, match="keep is a share"):
        methods.create("stprivacy").keep = 2
    with pytest.raises(UserError, match="objective"):
        Training(methods.create("stprivacy"), recognizers(), objective="minimize").phases()


def test_mean_of_kept_of_nothing_is_zero():
    assert torch.equal(mean_of_kept(torch.rand(1, 2, 3, 4), torch.zeros(1, 2, 3), (1, 2)), torch.zeros(1, 1, 1, 4))


def test_between_shows_what_sparsification_leaves(small):
    left = small.between(clip_of())["after sparsification"]
    small.rewrite = False
    assert torch.equal(left, small(clip_of())) and small.between(clip_of()) == {}
