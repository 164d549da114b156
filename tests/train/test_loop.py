"""The loop in one process."""

from pathlib import Path

import pytest
import torch
from lightning_fabric import Fabric
from tiny import Tiny, clips, recognizer, recognizers, same, weights
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, mse_loss
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import Dataset

from actonym.errors import ActonymError
from actonym.train import Batch, Phase, Update, make_fabric, run
from actonym.train.batches import Batches
from actonym.train.schedule import cosine


def classify(net: nn.Module, **changes: object) -> Phase:
    """A recognizer of the action."""

    def step(batch: Batch, update: Update) -> dict[str, Tensor]:
        loss = cross_entropy(net(batch.clip), batch.action)
        update("net", loss)
        return {"loss": loss}

    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-2)
    return Phase(**{"name": "net", "epochs": 8, "step": step, "optimizers": {"net": optimizer},  # type: ignore[arg-type]
                    "modules": {"net": net}, "batch_size": 8, **changes})  # fmt: skip


def test_losses_fall_and_modules_end_in_eval_mode(fabric: Fabric) -> None:
    torch.manual_seed(0)
    net = recognizer(2, noisy=True)
    history = run([classify(net)], clips(), fabric=fabric, seed=0, progress=False)
    losses = history.phases[0].losses["loss"]
    assert len(losses) == 8 and losses[-1] < 0.6 * losses[0]
    assert not any(module.training for module in net.modules())
    assert not history.converged and history.seconds > 0


def test_the_seed_decides_everything(fabric: Fabric) -> None:
    def trained(seed: int) -> dict[str, Tensor]:
        torch.manual_seed(0)
        net = recognizer(2, noisy=True)
        phase = classify(net, epochs=2)
        torch.manual_seed(seed + 100)  # whatever was drawn before does not matter
        run([phase], clips(), fabric=fabric, seed=seed, progress=False)
        return weights([net])

    assert same(trained(0), trained(0))
    assert not same(trained(0), trained(1))


def test_adversarial_steps_equal_a_plain_torch_loop(fabric: Fabric) -> None:
    """Bit for bit: each update moves its own optimizer's parameters, with no gradient left over from another."""
    data, method, opponents = clips(), Tiny(), recognizers()
    phase = method.phases(opponents)[1]
    phase.validate, phase.augment = None, None
    run([phase], data, fabric=fabric, seed=3, progress=False)

    twin, others = Tiny(), recognizers()
    nets = {"method": twin, "action": others.action, "privacy": others.privacy}
    optimizers = {
        "method": torch.optim.AdamW(twin.parameters(), lr=1e-2),
        "action": torch.optim.AdamW(others.action.parameters(), lr=1e-2),
        "privacy": torch.optim.SGD(others.privacy.parameters(), lr=1e-1, momentum=0.9),
    }
    base = {name: optimizer.param_groups[0]["lr"] for name, optimizer in optimizers.items()}
    batches = Batches(data, phase, 0, 3, fabric)

    def step(name: str, loss: Tensor) -> None:
        optimizers[name].zero_grad()
        loss.backward()
        clip_grad_norm_(nets[name].parameters(), 1.0)
        optimizers[name].step()

    def only(name: str) -> None:
        for key, net in nets.items():
            net.requires_grad_(key == name)

    done, total = 0, 2 * batches.steps
    for epoch in range(2):
        for batch in batches.epoch(epoch):
            for name, optimizer in optimizers.items():
                optimizer.param_groups[0]["lr"] = base[name] * cosine(done / total)
            only("method")
            clip = twin(batch.clip)
            leak = binary_cross_entropy_with_logits(others.privacy(clip), batch.privacy)
            step("method", cross_entropy(others.action(clip), batch.action) - leak)
            seen = twin(batch.clip).detach()
            only("privacy")
            for _ in range(2):
                step("privacy", binary_cross_entropy_with_logits(others.privacy(seen), batch.privacy))
            only("action")
            step("action", cross_entropy(others.action(seen), batch.action))
            done += 1
    assert same(weights([method, opponents.action, opponents.privacy]), weights(nets.values()))


def test_an_update_leaves_no_gradient_in_other_parameters(fabric: Fabric) -> None:
    first, second = nn.Linear(4, 4), nn.Linear(4, 1)
    before = weights([second])
    seen: list[bool] = []

    def step(batch: Batch, update: Update) -> dict[str, Tensor]:
        update("first", second(first(batch.clip[..., 0, 0, :4])).mean())
        seen.append(all(p.grad is None for p in second.parameters()))
        return {}

    optimizers = {
        "first": torch.optim.SGD(first.parameters(), 0.1),
        "second": torch.optim.SGD(second.parameters(), 0.1),
    }
    run([Phase("p", 1, step, optimizers, {"first": first, "second": second})], clips(), fabric=fabric, seed=0,
        progress=False)  # fmt: skip
    assert seen and all(seen) and same(before, weights([second]))


def test_one_graph_can_serve_two_updates(fabric: Fabric) -> None:
    first, second = nn.Linear(4, 4), nn.Linear(4, 1)
    before = weights([first, second])

    def step(batch: Batch, update: Update) -> dict[str, Tensor]:
        loss = second(first(batch.clip[..., 0, 0, :4])).square().mean()
        update("first", loss, retain_graph=True)
        update("second", loss)
        return {"loss": loss}

    optimizers = {
        "first": torch.optim.SGD(first.parameters(), 0.1),
        "second": torch.optim.SGD(second.parameters(), 0.1),
    }
    run([Phase("p", 1, step, optimizers, {"first": first, "second": second})], clips(), fabric=fabric, seed=0,
        progress=False)  # fmt: skip
    after = weights([first, second])
    assert not any(torch.equal(before[key], after[key]) for key in before)


def test_the_schedule_scales_each_groups_own_rate_and_is_undone(fabric: Fabric) -> None:
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD([{"params": [net.weight], "lr": 1.0}, {"params": [net.bias], "lr": 0.1}])
    rates: list[tuple[float, float]] = []

    def step(batch: Batch, update: Update) -> dict[str, Tensor]:
        rates.append(tuple(group["lr"] for group in optimizer.param_groups))
        return {}

    run([Phase("p", 2, step, {"net": optimizer}, {"net": net}, batch_size=12, schedule=cosine)], clips(),
        fabric=fabric, seed=0, progress=False)  # fmt: skip
    assert rates == [(cosine(p), 0.1 * cosine(p)) for p in (0, 0.25, 0.5, 0.75)]
    assert [group["lr"] for group in optimizer.param_groups] == [1.0, 0.1]


def test_the_schedule_leaves_a_steady_optimizer_alone(fabric: Fabric) -> None:
    nets = {"falling": nn.Linear(4, 1), "steady": nn.Linear(4, 1)}
    optimizers = {name: torch.optim.SGD(net.parameters(), 0.5) for name, net in nets.items()}
    rates: list[tuple[float, float]] = []

    def step(batch: Batch, update: Update) -> dict[str, Tensor]:
        rates.append((optimizers["falling"].param_groups[0]["lr"], optimizers["steady"].param_groups[0]["lr"]))
        return {}

    phase = Phase("p", 2, step, dict(optimizers), nets, batch_size=12, schedule=cosine, steady=frozenset({"steady"}))
    run([phase], clips(), fabric=fabric, seed=0, progress=False)
    assert rates == [(0.5 * cosine(p), 0.5) for p in (0, 0.25, 0.5, 0.75)]


def test_patience_stops_and_the_best_weights_come_back(fabric: Fabric) -> None:
    scores = iter([0.1, 0.5, 0.55, 0.3, 0.2, 0.9])
    net = recognizer(2)
    kept: list[dict[str, Tensor]] = []
    modes: list[bool] = []

    def validate() -> float:
        kept.append(weights([net]))
        modes.append(net.training)
        return next(scores)

    phase = classify(net, validate=validate, patience=3, min_gain=0.1)
    history = run([phase], clips(), fabric=fabric, seed=0, progress=False).phases[0]
    assert history.validation == [0.1, 0.5, 0.55, 0.3, 0.2]  # 0.55 is the best, but no gain to wait for
    assert history.best_epoch == 2 and history.converged and not any(modes)
    assert same(weights([net]), kept[2]) and not same(weights([net]), kept[-1])


def test_still_rising_is_not_converged(fabric: Fabric) -> None:
    scores = iter(range(8))
    phase = classify(recognizer(2), validate=lambda: float(next(scores)), patience=2)
    history = run([phase], clips(), fabric=fabric, seed=0, progress=False)
    assert not history.converged and history.phases[0].best_epoch == 7


def test_averaged_weights_are_validated_and_kept(fabric: Fabric) -> None:
    """Against a hand-made moving average, buffers too."""
    net = recognizer(2, noisy=True)
    phase = classify(net, epochs=2, average=0.9)
    inner, average = phase.step, {}
    first = weights([net])

    def step(batch: Batch, update: Update) -> dict[str, Tensor]:
        values = inner(batch, update)
        now = weights([net])
        for key, value in now.items():
            average[key] = average[key] * 0.9 + value * 0.1 if key in average else value
        return values

    phase.step = step
    run([phase], clips(), fabric=fabric, seed=0, progress=False)
    end = weights([net])
    assert all(torch.allclose(end[key], average[key], atol=1e-6) for key in end if end[key].is_floating_point())
    assert not same(end, first)
    checked: list[dict[str, Tensor]] = []
    phase.validate = lambda: float(checked.append(weights([net])) or len(checked))
    run([phase], clips(), fabric=fabric, seed=0, progress=False)
    assert same(weights([net]), checked[-1])


def test_a_dataset_trains_as_clips_do(fabric: Fabric) -> None:
    data = clips()

    class Items(Dataset):
        def __len__(self) -> int:
            return len(data)

        def __getitem__(self, i: int) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
            return data.video[i], data.action[i], data.privacy[i], None if data.mask is None else data.mask[i]

    def trained(source: object, workers: int) -> dict[str, Tensor]:
        torch.manual_seed(0)
        net = recognizer(2)
        run([classify(net, epochs=2)], source, fabric=fabric, seed=0, progress=False, workers=workers)  # type: ignore[arg-type]
        return weights([net])

    assert same(trained(data, 0), trained(Items(), 0))
    assert same(trained(data, 0), trained(Items(), 1))


def test_a_diverging_loss_is_one_clear_error(fabric: Fabric) -> None:
    net = recognizer(2)
    phase = classify(net)
    phase.step = lambda batch, update: {"loss": net(batch.clip).sum() * float("nan")}
    with pytest.raises(ActonymError, match="diverged: loss is nan"):
        run([phase], clips(), fabric=fabric, seed=0, progress=False)
    with pytest.raises(ActonymError, match="validation of net is nan"):
        run([classify(net, validate=lambda: float("nan"))], clips(), fabric=fabric, seed=0, progress=False)


def test_two_modules_of_one_name_are_refused(fabric: Fabric) -> None:
    with pytest.raises(ValueError, match="two modules are called 'net'"):
        run([classify(recognizer(2)), classify(recognizer(2))], clips(), fabric=fabric, seed=0, progress=False)


def test_low_precision_sees_the_weights_as_they_are_after_an_update() -> None:
    """Autocast keeps low-precision copies of the weights for the length of its context: they must not go stale."""
    fabric = make_fabric(precision="bf16-mixed", accelerator="cpu")
    net = nn.Linear(16, 16)
    outputs: list[Tensor] = []

    def step(batch: Batch, update: Update) -> dict[str, Tensor]:
        loss = mse_loss(net(batch.clip).float(), batch.clip)
        update("net", loss)
        outputs.append(net(batch.clip))
        with torch.autocast("cpu", outputs[-1].dtype, cache_enabled=False):
            outputs.append(net(batch.clip))
        return {"loss": loss}

    optimizer = torch.optim.SGD(net.parameters(), 1.0)
    history = run([Phase("p", 4, step, {"net": optimizer}, {"net": net})], clips(), fabric=fabric, seed=0,
                  progress=False)  # fmt: skip
    assert outputs[0].dtype is torch.bfloat16
    assert all(torch.equal(*pair) for pair in zip(outputs[::2], outputs[1::2], strict=True))
    losses = history.phases[0].losses["loss"]
    assert losses[-1] < losses[0]


def test_tensorboard_is_written_where_it_is_installed(
    fabric: Fabric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[str, int]] = []

    class Writer:
        def __init__(self, folder: Path, purge_step: int) -> None:
            assert folder == tmp_path / "tensorboard" and purge_step == 0

        def add_scalar(self, tag: str, value: float, step: int) -> None:
            written.append((tag, step))

        def close(self) -> None: ...

    module = type(torch)("torch.utils.tensorboard")
    module.SummaryWriter = Writer  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "torch.utils.tensorboard", module)
    net = recognizer(2)
    first, second = classify(net, epochs=1), classify(net, epochs=1, name="more")
    run([first, second], clips(), fabric=fabric, seed=0, out=tmp_path, progress=False)
    assert written == [("net/loss", 3), ("net/lr", 3), ("more/loss", 6), ("more/lr", 6)]
