"""VITA: the released settings, the worst of the ensemble, who waits for whom, and restarts that resume exactly."""

import pytest
import torch
from game import batch_of, clips, losses, recognizers
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from actonym import methods
from actonym.errors import UserError
from actonym.methods.vita import VITA, VITAGame
from actonym.train import checkpoint, make_fabric, run


def small():
    torch.manual_seed(0)
    return VITA(2, 1, 16)


def game_of(validation=None, **settings):
    nets = recognizers()
    nets.validation = validation
    settings = {"members": 3, "restart_every": 0, "objective": "maximize", **settings}
    return VITAGame(small(), nets, **settings)


@pytest.mark.parametrize("setting", ["members=0", "monitor_every=0", "monitored=-1", "batch_size=null", "crowd=0"])
def test_settings_that_cannot_be(setting):
    method = methods.create("vita", "stage", [f"train.{setting}"])
    with pytest.raises(UserError, match=f"train.{setting.partition('=')[0]} is a number from 1 up"):
        method.phases(recognizers())


def test_the_paper_preset_is_the_releases():
    with torch.device("meta"):
        method = methods.create("vita", "paper")
    settings = method.training_settings
    assert (settings["privacy"], settings["attacker_steps"], settings["threshold"]) == (0.5, 5, 0.7)
    assert (settings["restart_every"], settings["lr"], settings["privacy_lr"]) == (200, 1e-4, 1e-2)
    assert settings["objective"] == "certainty" and method.grey


def test_no_colour_comes_out():
    out = small()(torch.rand(1, 3, 2, 16, 16))
    assert torch.equal(out[:, 0], out[:, 1]) and torch.equal(out[:, 0], out[:, 2])
    assert not torch.equal(*VITA(2, 1, 16, grey=False)(torch.rand(1, 3, 2, 16, 16))[:, :2].unbind(1))


@pytest.mark.parametrize("objective", ["maximize", "certainty"])
def test_the_losses_against_sums_written_out(objective):
    game, batch = game_of(objective=objective, attacker_steps=2, privacy=0.5), batch_of()
    for member in game.budget.members:
        member.drop.p = 0.0
    given = losses(game.phases()[-1].step, batch)
    assert [name for name, _ in given] == ["anonymizer", "action", "privacy", "privacy"]
    out = game.method(batch.clip).detach()
    action = cross_entropy(game.recognizers.action(out), batch.action).item()
    logits = torch.stack([member(out) for member in game.budget.members]).detach()
    worst = []
    for clip in range(6):
        of_members = []
        for member in range(3):
            p = logits[member, clip].sigmoid()
            truth = batch.privacy[clip]
            entropy = float((p * p.log() + (1 - p) * (1 - p).log()).mean())
            correct = float((truth * p.log() + (1 - truth) * (1 - p).log()).mean())
            of_members.append(entropy if objective == "certainty" else correct)
        worst.append(max(of_members))
    assert given[0][1] == pytest.approx(action + 0.5 * sum(worst) / 6, rel=1e-4)
    each = sum(float(binary_cross_entropy_with_logits(one, batch.privacy)) for one in logits)
    assert given[2][1] == pytest.approx(each, rel=1e-4)


def test_the_anonymizer_waits_for_the_action_recognizer():
    """Accuracy 0 on validation: it waits, for as long as it has patience; accuracy 1: it does not."""
    wrong, right = clips(6), clips(6)
    game = game_of(wrong, monitor_every=2, patience=4, threshold=0.5)
    with torch.no_grad():
        game.recognizers.action[2].weight.zero_()
        game.recognizers.action[2].bias.copy_(torch.tensor([0.0, 0.0, 9.0]))
    wrong.action.fill_(0)
    right.action.fill_(2)
    step, batch = game.phases()[-1].step, batch_of()
    moved = ["anonymizer" in dict(losses(step, batch)) for _ in range(8)]
    assert moved == [False] * 4 + [True] * 2 + [False] * 2, "patience ends; the next look finds it wanting again"
    game.recognizers.validation = right
    assert ["anonymizer" in dict(losses(step, batch)) for _ in range(2)] == [True, True]
    assert game.method.training and game.recognizers.action.training, "a look leaves the networks in their mode"


def test_members_are_restarted_in_turn():
    game = game_of(restart_every=2, restarted=1)
    step, batch = game.phases()[-1].step, batch_of()

    def weights():
        return [member.head.weight.clone() for member in game.budget.members]

    changed = []
    for _ in range(8):
        before = weights()
        losses(step, batch)
        changed.append([not torch.equal(a, b) for a, b in zip(before, weights(), strict=True)])
    none = [False] * 3
    assert changed == [
        none,
        [True, False, False],
        none,
        [False, True, False],
        none,
        [False, False, True],
        none,
        changed[1],
    ]


def test_a_restarted_member_has_no_momentum():
    game = game_of(restart_every=1, restarted=1, members=2)
    phase = game.phases()[-1]
    optimizer = phase.optimizers["privacy"]

    def update(name, loss, retain_graph=False):
        if name == "privacy":
            loss.backward(inputs=list(game.budget.parameters()))
            optimizer.step()

    phase.step(batch_of(), update)
    first, second = game.budget.members
    assert not any(weight in optimizer.state for weight in first.parameters())
    assert all(weight in optimizer.state for weight in second.parameters())


def test_resumed_after_any_step_the_run_is_the_same(tmp_path):
    """The counters of the game are part of the state: restarts and waiting go on where they were."""

    def train(out, resume=False, **more):
        short = {"rehearsal": 0, "initialization": 0, "adversarial": 2, "batch_size": 4, "rule": "last"}
        game = game_of(clips(6), **short, restart_every=2, restarted=1, monitor_every=2, patience=3)
        phases = game.phases()
        if more.get("kill"):
            play = phases[0].step

            def step(batch, update):
                if int(game.budget.steps) == 4:
                    raise KeyboardInterrupt
                return play(batch, update)

            phases[0].step = step
        fabric = make_fabric(accelerator="cpu")
        run(phases, clips(), fabric=fabric, seed=0, out=out, resume=resume, progress=False, checkpoint_every=0)

    train(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "killed", kill=True)
    train(tmp_path / "killed", resume=True)
    whole, killed = (checkpoint.read(tmp_path / name / checkpoint.NAME) for name in ("whole", "killed"))
    one, other = (checkpoint.flatten(state["modules"]) for state in (whole, killed))
    assert all(torch.equal(one[key], other[key]) for key in one)
    paths = [[phase["points"] for phase in state["done"]] for state in (whole, killed)]
    assert paths[0] == paths[1] and len(paths[0][0]["leak"]) == 2, "the path is whole, too"
