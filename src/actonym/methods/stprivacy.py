"""STPrivacy (Li et al., ICCV 2023): drop the tubelets that the action does not need, rewrite the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import log
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, gumbel_softmax, mse_loss
from torch.optim import AdamW, Optimizer

from actonym.errors import UserError, unknown
from actonym.losses.action import action_loss
from actonym.losses.privacy import maximize, uninformed
from actonym.methods.base import MethodCard, PixelMethod, register
from actonym.methods.worth import Choose, Guide, Worth
from actonym.nets.inflate import load_image_weights
from actonym.nets.tubelets import best_of, cut, filled, grid_of, join, picked, show_waves
from actonym.nets.vit import Layer, Tubelets, initialize, resize_positions
from actonym.train.adversarial import check_count, first_of, some_frames
from actonym.train.phase import Batch, Phase, Recognizers, Update
from actonym.train.schedule import constant, cosine, one_cycle
from actonym.video.transform import resize, resize_short

FAINT = 0.01  # by which what a layer adds is scaled at an `identity` start
BETAS = (0.9, 0.999)  # AdamW's own

Weights = list[nn.Parameter]
# Log-probabilities `[B, L, N, 2]`, what is still kept `[B, L, N]` and the number of the block to its decisions.
Decide = Callable[[Tensor, Tensor, int], Tensor]


class Predictor(nn.Module):
    """How probably each token is kept or dropped, from what it and its surroundings hold."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        if dim % 3:
            raise ValueError(f"dim must be divisible by 3 (local, spatial, spatio-temporal), not {dim}")
        # One linear layer of width D is the three of width D/3 that equations 1-3 have.
        self.levels = nn.Sequential(nn.LayerNorm(dim, eps=1e-6), nn.Linear(dim, dim), nn.GELU())
        hidden = [nn.Linear(dim, dim // 2), nn.GELU(), nn.Linear(dim // 2, dim // 4), nn.GELU()]
        self.mlp, self.last = nn.Sequential(*hidden), nn.Linear(dim // 4, 2)

    def start_at(self, keep: float) -> None:
        """Before it has learned anything it keeps the share that it is to keep (ours; L_Spars is small at once)."""
        with torch.no_grad():
            self.last.bias.copy_(torch.tensor([log(min(keep, 0.99) / (1 - min(keep, 0.99))), 0.0]))

    def forward(self, x: Tensor, kept: Tensor) -> Tensor:
        """Tokens `[B, L, N, D]` and what is kept `[B, L, N]` to log-probabilities `[B, L, N, 2]`; 0 is keep."""
        local, spatial, whole = self.levels(x).chunk(3, -1)  # equation 1
        spatial = mean_of_kept(spatial, kept, (2,)).expand_as(local)  # equation 2
        whole = mean_of_kept(whole, kept, (1, 2)).expand_as(local)  # equation 3
        evidence = torch.cat([local, spatial, whole], -1)  # equation 4
        return self.last(self.mlp(evidence)).log_softmax(-1)  # equation 5


def mean_of_kept(x: Tensor, kept: Tensor, dims: tuple[int, ...]) -> Tensor:
    """The mean over `dims` of the tokens that are kept; 0 where none is."""
    weight = kept[..., None]
    return (x * weight).sum(dims, keepdim=True) / weight.sum(dims, keepdim=True).clamp_min(1e-6)


class Sparsification(nn.Module):
    """A block: transformer layers, then a predictor."""

    def __init__(self, dim: int, heads: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(layers))
        self.predictor = Predictor(dim)


@register("stprivacy")
class STPrivacy(PixelMethod):
    """Three sparsification blocks choose tubelets, an anonymization block rewrites the pixels of what is left.

    Training masks what was dropped, with decisions drawn at random; then `forward` sorts tokens by their probability
    and really drops them, so that each block computes less. So may training, with decisions that are not drawn.
    """

    card = MethodCard(
        title="STPrivacy",
        idea="A video transformer drops the tubelets that the action does not need and rewrites the others, against "
        "a privacy recognizer that sees the whole video.",
        paper="Li et al., STPrivacy, ICCV 2023",
        year=2023,
        needs=frozenset({"action", "privacy"}),
        knobs={"keep": "share of the tubelets that each of the three blocks keeps; may be changed after training"},
        live=frozenset({"keep"}),
        reported={
            "": {
                "vp-hmdb51": {"top1": 0.5073, "f1": 0.613, "cmap": 0.7248},
                "vp-ucf101": {"top1": 0.8255, "f1": 0.634, "cmap": 0.7379},
            }
        },
    )

    def __init__(
        self,
        keep: float = 0.7,
        dim: int = 384,
        heads: int = 6,
        blocks: Sequence[int] = (3, 3, 3),
        layers: int = 3,
        frames: int = 16,
        side: int = 112,
        length: int = 2,
        patch: int = 16,
        rewrite: bool = True,
        still: bool = False,
    ) -> None:
        """`blocks`: layers of each sparsification block; `layers`: those of the anonymization block. A tubelet has
        `length` frames of `patch` x `patch` pixels.

        Without `rewrite` the tubelets that are left show the raw video (the paper's separate sparsification). With
        `still` a place is kept or dropped for a whole clip, by what its rows say on average, and what the layers add to
        it is the same all the time. Holes that open and close are more motion than any action: a recognizer that loses
        0.3 on raw clips of the stage loses 0.4 with a third of the tubelets, chosen once, and 8 if each row chooses its
        own by the same predictors. So is noise that is rewritten with every tubelet.
        """
        super().__init__()
        self.keep = keep
        self.tubelet = (length, patch, patch)
        if frames % length or side % patch:
            raise ValueError(f"a clip of {frames} x {side} x {side} does not divide into tubelets of {self.tubelet}")
        self.rewrite, self.still = rewrite, still
        self.working_frames, self.working_size = frames, side
        self.grid = (side // patch, side // patch)
        self.tubelets = Tubelets(dim, self.tubelet)
        self.position = nn.Parameter(torch.zeros(1, frames // length, self.grid[0] * self.grid[1], dim))
        self.blocks = nn.ModuleList(Sparsification(dim, heads, count) for count in blocks)
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(layers))
        self.pixels = nn.Linear(dim, 3 * length * patch * patch)
        nn.init.trunc_normal_(self.position, std=0.02)
        self.apply(initialize)
        for block in self.sparsification:
            block.predictor.start_at(keep)

    @property
    def keep(self) -> float:
        """Alpha: the share of the tubelets that each block keeps. It may be changed at any time."""
        return self._keep

    @keep.setter
    def keep(self, share: float) -> None:
        if not isinstance(share, int | float) or isinstance(share, bool) or not 0 < share <= 1:
            raise ValueError(f"keep is a share above 0 and at most 1, not {share!r}")
        self._keep = share

    def tokens(self, clip: Tensor) -> Tensor:
        """Section 3.1: `[B, 3, T, H, W] -> [B, L, N, D]`. Wider pictures have more tokens."""
        length, down, across = grid_of(clip, self.tubelet)
        x = self.tubelets(clip * 2 - 1).unflatten(1, (length, down * across))
        return x + resize_positions(self.position, self.grid, (down, across))

    # Inference: what is dropped is gone.

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        return self._resized(clip, self.rewrite)

    def between(self, clip: Tensor) -> dict[str, Tensor]:
        """What is kept, before it is rewritten (figure 3)."""
        return {"after sparsification": self._resized(clip, False)} if self.rewrite else {}

    def _resized(self, clip: Tensor, rewrite: bool) -> Tensor:
        """Any size and length: at the short side it was made for, in clips of its length."""
        size, count = (clip.shape[-2], clip.shape[-1]), clip.shape[2]
        small = resize_short(clip, self.working_size or min(size))
        parts = [filled(part, (self.working_frames, *self.tubelet[1:])) for part in small.split(self.working_frames, 2)]
        out = torch.cat([self.anonymize(part, rewrite) for part in parts], 2)
        out = out[:, :, :count, : small.shape[-2], : small.shape[-1]]
        return resize(out, size).clamp(0, 1)

    def anonymize(self, clip: Tensor, rewrite: bool) -> Tensor:
        return self.pruned(clip, most_probable, rewrite)[0]

    def pruned(self, clip: Tensor, choose: Choose, rewrite: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Sparsify, gather what is kept, rewrite it; what was dropped comes out black. Also the last tokens,
        `[B, L, K, D]`, and what is kept, `[B, L, N]`."""
        first, raw = self.tokens(clip), cut(clip, self.tubelet)
        x, place, stays = self.prune(first, choose)
        x = self.anonymized(x, picked(first, place)) if rewrite else x
        shown = (self.shown(x) if rewrite else picked(raw, place)) * stays[..., None]
        out = torch.zeros_like(raw).scatter(2, place[..., None].expand_as(shown), shown.to(raw.dtype))
        kept = torch.zeros_like(first[..., 0]).scatter(2, place, stays.detach())
        return join(out, grid_of(clip, self.tubelet), self.tubelet), x, kept

    def prune(self, x: Tensor, choose: Choose) -> tuple[Tensor, Tensor, Tensor]:
        """The tokens that all blocks keep, `[B, L, K, D]`, their places among the N of their row, and for each a 1 with
        the slope of what has decided so: what is shown of it then says whether it had better go."""
        b, length, spatial, _ = x.shape
        place = torch.arange(spatial, device=x.device).expand(b, length, spatial)
        stays = torch.ones_like(x[..., 0])
        for number, block in enumerate(self.sparsification, 1):
            x = _through(block.layers, x.flatten(1, 2)).unflatten(1, (length, -1))
            log_z = self.judged(block, x, torch.ones_like(x[..., 0]))
            best, chosen = choose(log_z, place, self.count(spatial, number))
            x, place, stays = picked(x, best), place.gather(2, best), stays.gather(2, best) * chosen
        return x, place, stays

    def judged(self, block: Sparsification, x: Tensor, kept: Tensor) -> Tensor:
        """The log-probabilities of a block; those of all rows of a clip alike if it is to hold still."""
        log_z = block.predictor(x, kept)
        return log_z.mean(1, keepdim=True).log_softmax(-1).expand_as(log_z) if self.still else log_z

    def count(self, spatial: int, number: int) -> int:
        """How many of a row's tokens are left after block `number`."""
        return max(1, round(self.keep**number * spatial))

    def anonymized(self, x: Tensor, first: Tensor, kept: Tensor | None = None) -> Tensor:
        """Tokens `[B, L, K, D]` rewritten; `first` are those that it began with. What is added may hold still."""
        x = _through(self.layers, x.flatten(1, 2), kept).view_as(first)
        return first + (x - first).mean(1, keepdim=True) if self.still else x

    def shown(self, x: Tensor) -> Tensor:
        """Equation 11. Pixels end at 0 and 1 (the paper does not say so); what is cut off still has a gradient."""
        pixels = self.pixels(x) + 0.5
        return pixels + (pixels.clamp(0, 1) - pixels).detach()

    # Training: what is dropped is masked.

    def decisions(self, x: Tensor, decide: Decide) -> tuple[Tensor, list[Tensor]]:
        """Progressive sparsification: tokens `[B, L * N, D]`, and after each block what is kept, `[B, L, N]`."""
        rows = x.shape[1:3]
        kept = torch.ones_like(x[..., 0])
        x = x.flatten(1, 2)
        history = []
        for number, block in enumerate(self.sparsification, 1):
            x = _through(block.layers, x, kept.flatten(1) if number > 1 else None)
            kept = kept * decide(self.judged(block, x.unflatten(1, rows), kept), kept, number)
            history.append(kept)
        return x, history

    def masked(self, clip: Tensor, decide: Decide | None = None) -> tuple[Tensor, Tensor, list[Tensor]]:
        """The clip as `anonymize` would show it, its last tokens, and the decisions; all differentiable."""
        first = self.tokens(clip)
        x, history = self.decisions(first, decide or self.draw)
        kept = history[-1]
        x = x.view_as(first)
        if self.rewrite:
            x = self.anonymized(x, first, kept.flatten(1))
        pixels = self.shown(x) if self.rewrite else cut(clip, self.tubelet)
        return join(pixels * kept[..., None], grid_of(clip, self.tubelet), self.tubelet), x, history

    def draw(self, log_z: Tensor, kept: Tensor, number: int) -> Tensor:
        """Equation 6, once for each place if it is to hold still. Where all is to be kept nothing is drawn."""
        if self.keep == 1:
            return torch.ones_like(kept)
        rows = log_z[:, :1] if self.still else log_z
        return gumbel_softmax(rows, hard=True)[..., 0].expand_as(kept)

    @property
    def sparsification(self) -> list[Sparsification]:
        return cast("list[Sparsification]", list(self.blocks))

    def all_layers(self) -> list[Layer]:
        """The transformer, first to last."""
        parts = (*(block.layers for block in self.sparsification), self.layers)
        return [cast("Layer", layer) for part in parts for layer in part]

    def maps(self) -> Weights:
        """From pixels to tokens and back."""
        return [self.position, *self.tubelets.parameters(), *self.pixels.parameters()]

    def phases(self, recognizers: Recognizers) -> list[Phase]:
        return Training(self, recognizers, **self.training_settings).phases()


def most_probable(log_z: Tensor, place: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The choice of inference. Where all may stay nothing is decided."""
    kept = log_z[..., 0]
    best = best_of(kept, count)  # by the logarithm, which tells apart what is all but sure
    chosen = kept.gather(2, best).exp()
    free = count == kept.shape[2]
    return best, torch.ones_like(chosen) if free else 1 + (chosen - chosen.detach())


def others(module: nn.Module, some: Weights) -> Weights:
    """The parameters of a module that are not among some."""
    known = {id(parameter) for parameter in some}
    return [parameter for parameter in module.parameters() if id(parameter) not in known]


def _through(layers: nn.ModuleList, x: Tensor, kept: Tensor | None = None) -> Tensor:
    for layer in layers:
        x = layer(x, kept)
    return x


def sparsity(history: Sequence[Tensor], keep: float) -> Tensor:
    """L_Spars (equation 7): in every row of tubelets the share that block m leaves should be alpha^m."""
    shares = torch.stack([kept.mean(2) for kept in history], 1)  # [B, M, L]
    wanted = shares.new_tensor([keep**number for number in range(1, len(history) + 1)])
    return (shares - wanted[None, :, None]).square().mean()


@dataclass
class Training:
    """How it learns: the preset's `train` section."""

    method: STPrivacy
    recognizers: Recognizers
    wait: int = 2  # epochs in which the predictors learn alone, the first of the initialization
    initialization: int = 78
    adversarial: int = 40
    batch_size: int = 64
    lr: float = 1.25e-4
    backbone: float = 0.1  # factor on `lr` for all but the predictors, in the initialization
    adversarial_lr: float | None = None  # of the anonymizer in the game; None: `lr`
    maps: float = 1.0  # factor on it for the maps from pixels to tokens and back
    recognizer_lr: float = 1.25e-4
    weight_decay: float = 0.05
    action: float = 0.5  # lambda_Action
    privacy: float = 0.5  # lambda_Privacy
    sparsity: float = 1.0
    objective: str = "maximize"  # or uninformed: see losses/privacy.py
    ceiling: float | None = None  # of `maximize`
    attacker_steps: int = 1  # of the privacy recognizer, in the game, for one of the anonymizer
    crowd: int = 1  # times as many clips are shown to the recognizers, those beyond the first part pruned
    alert: bool = False  # the learning rate of the privacy recognizer stays while the anonymizer's falls
    frames: int | None = None  # that many, drawn anew in each step, are what the privacy recognizer sees; None: all
    rehearsal: int = 0  # epochs in which the recognizers learn on raw video, before all else
    drill: int = 0  # epochs in which the privacy recognizer then goes on alone: nobody learns from a weak one
    drill_lr: float = 3e-3
    classification: float = 1.0  # weight of L'_Action in the initialization
    guidance: float = 0.0  # weight, in the initialization, of keeping what the action recognizer looks at
    steering: float = 0.0  # the same in the game
    aversion: float = 0.0  # weight, in both, of what the privacy recognizer looks at: see worth.py
    reconstruction: float = 0.0  # weight of the pixels' error in the initialization
    noise: bool = True  # False: the game is played with the decisions of inference, and pruned as there
    betas: Sequence[float] = BETAS  # of the anonymizer's AdamW in the game
    start: str | None = None  # `identity`, `grey`, or a file with the weights of an image transformer; None: `images`

    def phases(self) -> list[Phase]:
        if self.objective not in ("maximize", "uninformed"):
            raise unknown("objective", self.objective, ["maximize", "uninformed"])
        if self.frames is not None:
            check_count("frames", self.frames)
        if self.steering and self.noise:
            raise UserError("train.steering is for decisions that are not drawn: set train.noise=false too")
        if self.start in ("identity", "grey"):
            start_as_identity(self.method, grey=self.start == "grey")
        elif images := self.start or self.recognizers.images:
            load_image_weights(Path(images), self.method.tubelets, self.method.position, self.method.all_layers())
        nets: dict[str, nn.Module] = {"action": self.recognizers.action, "privacy": self.recognizers.privacy}
        spy: dict[str, Optimizer] = {"privacy": self._adamw(self.drill_lr, self.recognizers.privacy)}
        lr, maps = self.lr if self.adversarial_lr is None else self.adversarial_lr, self.method.maps()
        anonymizer = self._two_rates(lr, others(self.method, maps), self.maps, maps, self.betas)
        phases = [
            Phase("rehearsal", self.rehearsal, self.rehearse, self._each(nets), nets, 2 * self.batch_size, one_cycle),
            Phase("drill", self.drill, self.drilled, spy, nets, 2 * self.batch_size, one_cycle),
            *self._initialization(),
            Phase(
                "adversarial",
                self.adversarial,
                self.play,
                {"anonymizer": anonymizer, **self._each(nets)},
                {"anonymizer": self.method, **nets, **({"worth": self.worth} if self.steering else {})},
                self.crowd * self.batch_size,
                cosine,
                frozenset({"privacy"} if self.alert else ()),
            ),
        ]
        return [phase for phase in phases if phase.epochs]

    def _initialization(self) -> list[Phase]:
        """The predictors alone, then everything (the released schedule; the paper has 80 epochs and no more to say)."""
        classify = nn.Linear(self.method.position.shape[-1], self.recognizers.actions)
        predictors = [block.predictor for block in self.method.sparsification]
        for predictor in predictors:
            predictor.start_at(self.method.keep)
        learned = list((fast := nn.ModuleList([classify, *predictors])).parameters())
        modules: dict[str, nn.Module] = {"anonymizer": self.method, "classify": classify}
        make = partial(Phase, batch_size=self.batch_size, modules=modules, step=partial(self.initialize, classify))
        waiting: dict[str, Optimizer] = {"anonymizer": self._adamw(self.lr, fast)}
        both = self._two_rates(self.lr, learned, self.backbone, others(self.method, learned), BETAS)
        moving: dict[str, Optimizer] = {"anonymizer": both}
        if self.guidance:
            modules |= {"action": (guide := self.recognizers.action), "worth": self.worth}
            waiting["action"], moving["action"] = (self._adamw(self.recognizer_lr, guide) for _ in range(2))
        return [
            make("predictors", self.wait, optimizers=waiting, schedule=constant),
            make("initialization", self.initialization, optimizers=moving, schedule=cosine),
        ]

    def rehearse(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        """Recognizers that know nothing yet would lead the anonymizer nowhere (ours; the paper's know ImageNet)."""
        return self._learn(batch.clip, batch, update, 1)

    def drilled(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        return {"leak": self._learn_privacy(batch.clip, batch, update)}

    def initialize(self, classify: nn.Linear, batch: Batch, update: Update) -> dict[str, Tensor]:
        """Equation 12: L_Spars + L'_Action, the method recognizing the action by itself; a guide keeps no more."""
        if self.guidance:
            guide = Guide(self.worth(batch))
            out, x, kept = self.method.pruned(batch.clip, guide, self.method.rewrite)
            pooled, logged = x.mean((1, 2)), {"guidance": guide.loss()}
            loss = self.guidance * logged["guidance"]
        else:
            out, x, history = self.method.masked(batch.clip)
            kept = history[-1]
            pooled = mean_of_kept(x, kept, (1, 2)).flatten(1)
            logged = {"sparsity": sparsity(history, self.method.keep), "kept": kept.mean()}
            loss = self.sparsity * logged["sparsity"]
        logged["action"] = action_loss(classify(pooled), batch.action)
        loss = loss + self.classification * logged["action"]
        if self.reconstruction:
            clip = batch.clip.mean(1, keepdim=True).expand_as(batch.clip) if self.start == "grey" else batch.clip
            box = self.method.tubelet
            target = join(cut(clip, box) * kept[..., None].detach(), grid_of(clip, box), box)
            logged["pixels"] = mse_loss(out, target)
            loss = loss + self.reconstruction * logged["pixels"]
        update("anonymizer", loss)
        if self.guidance:
            logged["guide"] = action_loss(self.recognizers.action(out.detach()), batch.action)
            update("action", logged["guide"])
        return logged

    @cached_property
    def worth(self) -> Worth:
        every = 1 if self.frames is None else self.method.tubelet[0]
        return Worth(self.recognizers, self.method.tubelet, self.aversion, every)

    def play(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        """Equation 13 for the anonymizer; then each recognizer, on what it shows."""
        crowd, batch = batch, first_of(batch, self.crowd)
        out, loss, logged = self._shown(batch)
        logged["action"] = action_loss(self.recognizers.action(out), batch.action)
        logits = self.recognizers.privacy(self._seen(out))
        hidden = maximize(logits, batch.privacy, self.ceiling) if self.objective == "maximize" else uninformed(logits)
        update("anonymizer", loss + self.action * logged["action"] + self.privacy * hidden)
        shown = self._crowded(out.detach(), crowd.clip)
        return {**logged, **self._learn(shown, crowd, update, self.attacker_steps)}

    def _shown(self, batch: Batch) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """What the game is played with, and what else the anonymizer minimizes: drawn decisions must be few, those of
        inference are, but may be told what would be better."""
        if self.noise:
            out, _, history = self.method.masked(batch.clip)
            logged = {"sparsity": sparsity(history, self.method.keep), "kept": history[-1].mean()}
            return out, self.sparsity * logged["sparsity"], logged
        guide = Guide(self.worth(batch), most_probable) if self.steering else None
        out = self.method.pruned(batch.clip, guide or most_probable, self.method.rewrite)[0]
        logged = {"guidance": guide.loss()} if guide else {}
        return out, self.steering * logged["guidance"] if guide else out.new_zeros(()), logged

    def _crowded(self, out: Tensor, clips: Tensor) -> Tensor:
        """What was shown of the first clips, and the others as they will be shown when nothing is masked any more."""
        with torch.no_grad():
            return torch.cat([out, self.method(clips[len(out) :])]) if len(clips) > len(out) else out

    def _learn(self, clip: Tensor, batch: Batch, update: Update, steps: int) -> dict[str, Tensor]:
        """One step of the action recognizer, some of the privacy recognizer; returns the latter's loss."""
        update("action", action_loss(self.recognizers.action(clip), batch.action))
        for _ in range(steps):
            leak = self._learn_privacy(clip, batch, update)
        return {"leak": leak}

    def _learn_privacy(self, clip: Tensor, batch: Batch, update: Update) -> Tensor:
        leak = binary_cross_entropy_with_logits(self.recognizers.privacy(self._seen(clip)), batch.privacy)
        update("privacy", leak)
        return leak

    def _seen(self, clip: Tensor) -> Tensor:
        return some_frames(clip, self.frames)

    def _two_rates(self, lr: float, quick: Weights, factor: float, slow: Weights, betas: Sequence[float]) -> AdamW:
        groups: list[dict[str, Any]] = [{"params": quick}, {"params": slow, "lr": lr * factor}]
        return AdamW(groups, lr, (betas[0], betas[1]), weight_decay=self.weight_decay)

    def _adamw(self, lr: float, module: nn.Module) -> AdamW:
        return AdamW(module.parameters(), lr, weight_decay=self.weight_decay)

    def _each(self, nets: dict[str, nn.Module]) -> dict[str, Optimizer]:
        return {name: self._adamw(self.recognizer_lr, net) for name, net in nets.items()}


def start_as_identity(method: STPrivacy, grey: bool = False) -> None:
    """The first picture is the video (ours), or `grey`.

    Small transformers that begin at random show grey for a long time, and grey is a trap: it hides everything. Layers
    that add what they have not learned yet are noise in which no recognizer finds the action: they begin faint.
    """
    for layer in method.all_layers():
        layer.start_faint(FAINT)
    show_waves(method.tubelets.project, method.pixels, method.tubelet, grey)


STPrivacy.game = Training
