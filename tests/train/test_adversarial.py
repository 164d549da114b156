"""The game all adversarial methods share: who learns what, from which clips, and which epoch is kept."""

from dataclasses import replace

import pytest
import torch
from lightning_fabric import Fabric
from tiny import Tiny, clips, recognizers
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, l1_loss

from actonym.errors import UserError
from actonym.losses.privacy import certainty, maximize, uninformed
from actonym.train import Batch, run
from actonym.train.adversarial import Supervised, need_target


def batch_of(count: int = 6) -> Batch:
    data = clips(count)
    return Batch(data.video.float() / 255, data.action, data.privacy, None, torch.arange(count))


def given(step, batch) -> list[tuple[str, float]]:
    """The losses that optimizers get, in order."""
    losses: list[tuple[str, float]] = []
    step(batch, lambda name, loss, retain_graph=False: losses.append((name, float(loss.detach()))))
    return losses


@pytest.mark.parametrize("objective", ["maximize", "uninformed", "certainty"])
def test_the_losses_of_both_phases_against_sums_written_out(objective: str) -> None:
    nets, method, batch = recognizers(), Tiny(), batch_of()
    game = Supervised(method, nets, action=0.5, privacy=3.0, attacker_steps=2, objective=objective, ceiling=0.6)
    rehearsal, first, second = game.phases()
    assert rehearsal.batch_size == 2 * second.batch_size
    out = method(batch.clip).detach()
    raw = [cross_entropy(nets.action(batch.clip), batch.action)]
    raw += [binary_cross_entropy_with_logits(nets.privacy(batch.clip), batch.privacy)] * 2
    found = given(rehearsal.step, batch)
    assert [name for name, _ in found] == ["action", "privacy", "privacy"]
    assert [loss for _, loss in found] == pytest.approx([float(loss.detach()) for loss in raw])
    assert given(first.step, batch) == [("anonymizer", pytest.approx(float(l1_loss(out, batch.clip))))]

    action, logits = cross_entropy(nets.action(out), batch.action), nets.privacy(out)
    leak = binary_cross_entropy_with_logits(logits, batch.privacy)
    hidden = {
        "maximize": maximize(logits, batch.privacy, 0.6),
        "uninformed": uninformed(logits),
        "certainty": certainty(logits).mean(),
    }[objective]
    found = given(second.step, batch)
    assert [name for name, _ in found] == ["anonymizer", "action", "privacy", "privacy"]
    wanted = [float(v.detach()) for v in (0.5 * action + 3 * hidden, action, leak, leak)]
    assert [loss for _, loss in found] == pytest.approx(wanted, rel=1e-4)


def test_the_privacy_network_sees_some_frames_in_their_order() -> None:
    game = Supervised(Tiny(), recognizers(), frames=3)
    clip = torch.arange(4.0).view(1, 1, 4, 1, 1).expand(1, 3, 4, 1, 1)
    draws = {tuple(game.seen(clip)[0, 0, :, 0, 0].tolist()) for _ in range(50)}
    assert draws == {(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)}


@pytest.mark.parametrize("rule", ["action_minus_leak", "last"])
def test_every_epoch_is_a_point_of_the_path_and_the_rule_keeps_one(fabric: Fabric, rule: str) -> None:
    nets = recognizers()
    nets.validation = clips(12, mask=False)
    game = Supervised(Tiny(), nets, rehearsal=0, initialization=0, adversarial=3, rule=rule, leak_weight=2.0)
    phases = game.phases()
    history = run(phases, clips(), fabric=fabric, seed=0, progress=False).phases[0]
    path = list(zip(history.points["action"], history.points["leak"], strict=True))
    assert len(path) == 3 and all(0 <= value <= 1 for point in path for value in point)
    if rule == "last":
        assert history.validation == [] and history.best_epoch is None
    else:
        assert history.validation == pytest.approx([action - 2 * leak for action, leak in path])
        assert history.best_epoch == max(range(3), key=lambda epoch: history.validation[epoch])
        again = game.validate()
        kept = path[history.best_epoch]
        assert (again["action"], again["leak"]) == pytest.approx(kept), "the weights are those of that epoch"


def test_the_path_survives_a_resumed_run(fabric: Fabric, tmp_path) -> None:
    def train(resume: bool):
        nets = recognizers()
        nets.validation = clips(12, mask=False)
        game = Supervised(Tiny(), nets, rehearsal=0, initialization=1, adversarial=2)
        return run(game.phases(), clips(), fabric=fabric, seed=0, out=tmp_path, resume=resume, progress=False)

    before, after = train(False), train(True)
    assert before.phases[1].points == after.phases[1].points and len(after.phases[1].points["leak"]) == 2
    assert after.phases[0].points == {}


def test_without_validation_clips_the_last_epoch_is_kept() -> None:
    assert all(phase.validate is None for phase in Supervised(Tiny(), recognizers()).phases())


def test_settings_that_cannot_be() -> None:
    for settings in ({"objective": "minimize"}, {"optimizer": "adem"}, {"rule": "best"}):
        with pytest.raises(UserError, match="unknown"):
            Supervised(Tiny(), recognizers(), **settings)
    with pytest.raises(UserError, match="--target"):
        need_target("vita+dann", recognizers())
    world = clips(2)
    assert need_target("vita+dann", replace(recognizers(), target=world)) is world


def test_the_privacy_network_is_drilled_alone() -> None:
    nets, batch = recognizers(), batch_of()
    game = Supervised(Tiny(), nets, drill=3, drill_lr=0.01, initialization=0)
    _, drill, _ = game.phases()
    assert (drill.name, drill.epochs, drill.batch_size) == ("drill", 3, 16)
    assert [group["lr"] for group in drill.optimizers["privacy"].param_groups] == [0.01]
    told = binary_cross_entropy_with_logits(nets.privacy(batch.clip), batch.privacy)
    assert given(drill.step, batch) == [("privacy", pytest.approx(float(told.detach())))]


def test_the_game_is_played_on_a_window_and_the_start_on_some_frames() -> None:
    seen: list[list[float]] = []

    class Watched(Tiny):
        def forward(self, clip, mask=None):
            seen.append(clip[0, 0, :, 0, 0].tolist())
            return super().forward(clip)

    game = Supervised(Watched(), recognizers(), window=3, initialization_frames=2)
    _, first, second = game.phases()
    batch = batch_of()
    numbered = torch.arange(4.0)[:, None, None].expand_as(batch.clip)
    for step, count in ((first.step, 2), (second.step, 3)):
        seen.clear()
        for _ in range(40):
            given(step, replace(batch, clip=numbered / 4))
        draws = {tuple(round(4 * number) for number in frames) for frames in seen}
        if count == 3:
            assert draws == {(0, 1, 2), (1, 2, 3)}
        else:
            assert draws == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}


def test_an_alert_privacy_network_keeps_its_learning_rate_in_the_game_alone() -> None:
    for alert, steady in ((False, set()), (True, {"privacy"})):
        *others, last = Supervised(Tiny(), recognizers(), alert=alert, drill=1).phases()
        assert last.steady == steady
        assert not any(phase.steady for phase in others)


def test_the_privacy_network_learns_from_the_whole_crowd() -> None:
    nets, method, batch = recognizers(), Tiny(), batch_of()
    game = Supervised(method, nets, crowd=2, attacker_steps=3, initialization=0)
    second = game.phases()[-1]
    assert second.batch_size == 2 * game.batch_size
    found = given(second.step, replace(batch, clip=batch.clip[:, :, :2]))  # all of the frames: nothing is drawn
    assert [name for name, _ in found] == ["anonymizer", "action", "privacy", "privacy", "privacy"]
    out = method(batch.clip[:, :, :2]).detach()
    action = cross_entropy(nets.action(out[:3]), batch.action[:3])
    told = binary_cross_entropy_with_logits(nets.privacy(out), batch.privacy)
    hidden = maximize(nets.privacy(out[:3]), batch.privacy[:3])
    wanted = [float(v.detach()) for v in (action + hidden, action, told, told, told)]
    assert [loss for _, loss in found] == pytest.approx(wanted, rel=1e-4)
