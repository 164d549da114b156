"""Any video network of `transformers` as an encoder: VideoMAE, V-JEPA 2, TimeSformer, ViViT, ...

By hub id or local folder. Code that a hub repository brings along is never executed.
"""

import json
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from actonym.errors import UserError
from actonym.nets.encoder import IMAGENET, SYMMETRIC, Colours, Encoder

# Colours of the families, for checkpoints that come without a preprocessor_config.json.
COLOURS: dict[str, Colours] = {
    "videomae": IMAGENET,
    "vjepa2": IMAGENET,
    "timesformer": ((0.45, 0.45, 0.45), (0.225, 0.225, 0.225)),
    "vivit": SYMMETRIC,
}
CLASS_TOKEN = {"timesformer", "vivit"}  # their classifiers read the first token; the others have none
PROCESSORS = ("preprocessor_config.json", "video_preprocessor_config.json")


class HubNet(nn.Module):
    """A transformers model as a network from prepared clips to features."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.kind: str = model.config.model_type

    def features(self, clip: Tensor) -> Tensor:
        """The class token where the network has one, else the mean of all tokens."""
        given: dict[str, Any] = {self.model.main_input_name: clip.transpose(1, 2)}
        if self.kind == "vjepa2":
            given["skip_predictor"] = True  # the predictor is of use in pre-training only
        tokens = self.model(**given).last_hidden_state
        return tokens[:, 0] if self.kind in CLASS_TOKEN else tokens.mean(1)

    def forward(self, clip: Tensor) -> Tensor:
        raise UserError(f"{self.kind} from the hub gives features, not logits")


def hub_encoder(source: str) -> Encoder:
    """The encoder with that hub id, or in that folder."""
    try:
        from transformers import AutoConfig, AutoModel
    except ImportError as error:
        raise UserError("networks of the hub need transformers; run: pip install 'actonym[hub]'") from error
    if Path(source).is_dir() and not (Path(source) / "config.json").is_file():
        raise UserError(f"{source} is no network of transformers: it has no config.json")
    try:
        config = AutoConfig.from_pretrained(source)
        frames, size = _frames(config, source), _size(config)
        model = AutoModel.from_pretrained(source)
    except (OSError, ValueError) as error:
        raise UserError(_why(source, error)) from error
    colours = _colours(source, config.model_type)
    return Encoder(HubNet(model), size, frames, config.hidden_size, colours, exact=True)


def _frames(config: Any, source: str) -> int:
    for name in ("num_frames", "frames_per_clip"):
        if hasattr(config, name):
            return int(getattr(config, name))
    raise UserError(f"{source} is a {config.model_type}, which takes no video")


def _size(config: Any) -> int:
    size = getattr(config, "image_size", None) or config.crop_size
    return int(size if isinstance(size, int) else size[0])


def _colours(source: str, kind: str) -> Colours:
    """What the checkpoint says about its colours, else what its family uses."""
    for name in PROCESSORS:
        path = _file(source, name)
        said = json.loads(path.read_text()) if path else {}
        if said.get("image_mean") and said.get("image_std"):
            return said["image_mean"], said["image_std"]
    if kind not in COLOURS:
        raise UserError(f"{source} does not say how its colours are normalized (no {PROCESSORS[0]})")
    return COLOURS[kind]


def _file(source: str, name: str) -> Path | None:
    """A small file of a checkpoint, if it has it."""
    if Path(source).is_dir():
        path = Path(source) / name
        return path if path.is_file() else None
    from huggingface_hub import hf_hub_download

    try:
        return Path(hf_hub_download(source, name))
    except OSError:  # not in the repository, or not in the cache while offline
        return None


def _why(source: str, error: Exception) -> str:
    if Path(source).is_dir():
        return f"could not load {source}: {error}"
    return (
        f"could not load {source} from the hub or its cache; fetch it with `hf download {source}` where there is a "
        f"network (HF_HUB_OFFLINE=0 lets actonym do so), or give a folder: {str(error).splitlines()[0]}"
    )
