"""SPAct: the paper's settings, its objective against a slow twin, and that no privacy label is read."""

import pytest
import torch
from game import batch_of, clips, losses, recognizers
from torch.nn.functional import cross_entropy

from actonym import methods
from actonym.errors import UserError
from actonym.losses.contrastive import lost, nt_xent
from actonym.methods.spact import SPAct, SPActGame, cropped, two_frames, varied
from actonym.train import make_fabric, run


def test_the_paper_preset_is_the_papers():
    with torch.device("meta"):
        method = methods.create("spact", "paper")
    assert method.net.first[0].out_channels == 64
    settings = method.training_settings
    assert settings["temperature"] == 0.1 and settings["lr"] == settings["recognizer_lr"] == 1e-4
    assert (settings["action"], settings["privacy"], settings["initialization_lr"]) == (1.0, 1.0, 1e-3)
    assert (settings["hidden_layer"], settings["embedding"]) == (2048, 128)
    assert "privacy" not in method.card.needs


def test_the_losses_against_sums_written_out():
    method, nets, batch = SPAct(2, 16), recognizers(), batch_of()
    game = SPActGame(method, nets, hidden_layer=8, embedding=4, ceiling=2.0, privacy=0.5)
    given = losses(game.phases()[-1].step, batch)
    assert [name for name, _ in given] == ["anonymizer", "action", "privacy"]

    torch.manual_seed(5)
    method.train()
    out = method(batch.clip)

    def contrast():
        first, second = two_frames(out)
        return nt_xent(game.spy(varied(first)), game.spy(varied(second)), 0.1)

    hidden = -sum(min(view, 2.0) for view in contrast().tolist()) / 12
    action = cross_entropy(nets.action(out), batch.action).item()
    assert given[0][1] == pytest.approx(action + 0.5 * hidden, rel=1e-4)
    assert given[1][1] == pytest.approx(action, rel=1e-4)
    assert given[2][1] == pytest.approx(contrast().mean().item(), rel=1e-4), "no ceiling for the network itself"


def test_the_anonymizer_may_ask_that_all_views_look_alike():
    method, nets, batch = SPAct(2, 16), recognizers(), batch_of()
    game = SPActGame(method, nets, hidden_layer=8, embedding=4, objective="uninformed", privacy=0.5)
    given = losses(game.phases()[-1].step, batch)
    torch.manual_seed(5)
    out = method.train()(batch.clip)
    first, second = two_frames(out)
    hidden = lost(game.spy(varied(first)), game.spy(varied(second)), 0.1).mean()
    action = cross_entropy(nets.action(out), batch.action)
    assert given[0][1] == pytest.approx(float((action + 0.5 * hidden).detach()), rel=1e-4)
    with pytest.raises(UserError, match="objective"):
        SPActGame(method, nets, objective="certainty")


def test_several_pairs_of_a_clip_count_alike():
    method, nets, batch = SPAct(2, 16), recognizers(), batch_of()
    game = SPActGame(method, nets, hidden_layer=8, embedding=4, pairs=3)
    torch.manual_seed(5)
    told = game.told(batch.clip, batch)
    torch.manual_seed(5)
    game.pairs = 1
    assert torch.allclose(told, torch.stack([game.told(batch.clip, batch) for _ in range(3)]).mean())


def test_views_are_pieces_of_their_frames_in_places_of_their_own():
    frame = torch.arange(3 * 64.0).view(3, 1, 1, 8, 8).expand(3, 3, 1, 8, 8)
    assert torch.equal(cropped(frame, 1.0), frame)
    torch.manual_seed(0)
    corners = set()
    for _ in range(40):
        pieces = cropped(frame, 0.5)
        assert pieces.shape == (3, 3, 1, 4, 4)
        for number, piece in enumerate(pieces[:, 0, 0]):
            row, column = divmod(int(piece[0, 0]) - 64 * number, 8)
            assert torch.equal(piece, frame[number, 0, 0, row : row + 4, column : column + 4])
            corners.add((row, column))
    assert {row for row, _ in corners} == {column for _, column in corners} == set(range(5))


def test_two_frames_are_different_frames_of_the_same_clip():
    clip = (torch.arange(3)[:, None] * 10 + torch.arange(4)).view(3, 1, 4, 1, 1).expand(3, 3, 4, 1, 1)
    pairs = set()
    for _ in range(60):
        first, second = (frame[:, 0, 0, 0, 0] for frame in two_frames(clip))
        assert torch.equal(first // 10, torch.arange(3)) and torch.equal(second // 10, torch.arange(3))
        pairs |= {(int(a) % 10, int(b) % 10) for a, b in zip(first, second, strict=True)}
    assert pairs == {(a, b) for a in range(4) for b in range(4) if a != b}
    only = torch.rand(2, 3, 1, 4, 4)
    assert all(torch.equal(frame, only) for frame in two_frames(only))


@pytest.mark.parametrize("name", ["spact", "ted-spad"])
@pytest.mark.parametrize("preset", ["stage", "paper"])
def test_privacy_labels_change_nothing(name, preset):
    """Not a weight, not a point of the path, not the epoch that is kept; with all that a preset turns on."""
    small = ["method.width=2", "method.fold=1", "method.side=16", "train.batch_size=6"]
    small += [f"train.{key}=1" for key in ("rehearsal", "drill", "initialization")] + ["train.adversarial=2"]
    small += ["train.hidden_layer=8", "train.embedding=4", "train.window=2"]

    def trained(garbage):
        torch.manual_seed(0)
        method, nets = methods.create(name, preset, small), recognizers()
        nets.validation = clips(8, garbage)
        game = method.game(method, nets, **method.training_settings)
        history = run(game.phases(), clips(12, garbage), fabric=make_fabric(accelerator="cpu"), seed=0, progress=False)
        return method.state_dict(), history.phases[-1]

    (one, first), (other, second) = trained(False), trained(True)
    assert all(torch.equal(one[key], other[key]) for key in one)
    assert first.points == second.points and first.best_epoch == second.best_epoch


def test_leak_is_finding_a_video_by_its_frame():
    method, nets = SPAct(2, 16), recognizers()
    game = SPActGame(method, nets, hidden_layer=8, embedding=4)
    game.spy.eval()
    still = clips(8)
    still.video[:] = still.video[:, :, :1].clone()
    assert game.leak(still) == 1.0, "all frames of a video are the same"
    still.video[:] = 0
    assert game.leak(still) <= 1 / 8 + 1e-6
