"""A world small enough to train in a moment: clips of 3x4x16x16 and an adversarial method with three networks."""

from collections.abc import Iterable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, mse_loss

from actonym.data.clips import Clips
from actonym.methods import MethodCard, PixelMethod
from actonym.train import Batch, Phase, Recognizers, Update
from actonym.train.schedule import cosine


def clips(count: int = 24, mask: bool = True) -> Clips:
    """The action is how bright a clip is, the attribute how red."""
    generator = torch.Generator().manual_seed(7)
    action = torch.randint(0, 2, (count,), generator=generator)
    privacy = torch.randint(0, 2, (count, 1), generator=generator).float()
    video = 100 * torch.rand(count, 3, 4, 16, 16, generator=generator) + 60 * action.view(-1, 1, 1, 1, 1)
    video[:, 0] += 80 * privacy.view(-1, 1, 1, 1)
    people = (torch.rand(count, 1, 4, 16, 16, generator=generator) > 0.5).to(torch.uint8) if mask else None
    return Clips(video.to(torch.uint8), action, privacy, [f"s{i}" for i in range(count)], people)


def recognizer(outputs: int, noisy: bool = False) -> nn.Module:
    """With `noisy`, batch norm and dropout: what makes resuming hard."""
    extra = [nn.BatchNorm3d(4), nn.Dropout(0.2)] if noisy else []
    conv = nn.Conv3d(3, 4, 3, stride=2, padding=1)
    return nn.Sequential(conv, *extra, nn.ReLU(), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(4, outputs))


def recognizers(noisy: bool = False) -> Recognizers:
    torch.manual_seed(1)
    return Recognizers(recognizer(2, noisy), recognizer(1, noisy))


class Tiny(PixelMethod):
    """An anonymizer of one convolution, trained against both recognizers. Not registered: it is no method for users."""

    name = "tiny"
    card = MethodCard(title="Tiny", idea="", paper="", year=2024)

    def __init__(self, epochs: int = 2, average: float | None = None, patience: int | None = None) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.epochs, self.average, self.patience = epochs, average, patience
        self.conv = nn.Conv3d(3, 3, 3, padding=1)

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.conv(clip).sigmoid()

    def phases(self, recognizers: Recognizers) -> list[Phase]:
        action, privacy = recognizers.action, recognizers.privacy
        optimizers = {
            "method": torch.optim.AdamW(self.parameters(), lr=1e-2),
            "action": torch.optim.AdamW(action.parameters(), lr=1e-2),
            "privacy": torch.optim.SGD(privacy.parameters(), lr=1e-1, momentum=0.9),
        }

        def rebuild(batch: Batch, update: Update) -> dict[str, Tensor]:
            loss = mse_loss(self(batch.clip), batch.clip)
            update("method", loss)
            return {"rebuild": loss}

        def play(batch: Batch, update: Update) -> dict[str, Tensor]:
            clip = self(batch.clip)
            utility = cross_entropy(action(clip), batch.action)
            leak = binary_cross_entropy_with_logits(privacy(clip), batch.privacy)
            update("method", utility - leak)
            seen = self(batch.clip).detach()
            for _ in range(2):
                update("privacy", binary_cross_entropy_with_logits(privacy(seen), batch.privacy))
            update("action", cross_entropy(action(seen), batch.action))
            return {"utility": utility, "leak": leak}

        def validate() -> float:
            return -(float(self.conv.weight.abs().mean() - 0.15) ** 2)

        modules: dict[str, nn.Module] = {"method": self, "action": action, "privacy": privacy}
        return [
            Phase("rebuild", self.epochs, rebuild, {"method": optimizers["method"]}, {"method": self}, batch_size=8),
            Phase(
                "play",
                self.epochs,
                play,
                optimizers,
                modules,
                batch_size=8,
                schedule=cosine,
                validate=validate,
                average=self.average,
                patience=self.patience,
            ),
        ]


def weights(modules: Iterable[nn.Module]) -> dict[str, Tensor]:
    return {f"{i}.{k}": v.clone() for i, module in enumerate(modules) for k, v in module.state_dict().items()}


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    """Bit for bit."""
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


def lines(folder: Path) -> list[str]:
    return (folder / "log.csv").read_text().splitlines()
