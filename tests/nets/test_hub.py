"""Networks of transformers from a folder: tiny ones, made here. Nothing is fetched."""

import json

import pytest
import torch

from actonym.errors import UserError
from actonym.nets.encoders import encoder

transformers = pytest.importorskip("transformers")

SMALL = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
CONFIGS = {
    "VideoMAE": {**SMALL, "image_size": 32, "patch_size": 16, "num_frames": 4, "tubelet_size": 2},
    "VJEPA2": {
        **{"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "mlp_ratio": 2, "crop_size": 32},
        **{"frames_per_clip": 4, "tubelet_size": 2, "pred_hidden_size": 24, "pred_num_attention_heads": 2},
        "pred_num_hidden_layers": 2,
    },
    "Timesformer": {**SMALL, "image_size": 32, "patch_size": 16, "num_frames": 4},
    "Vivit": {**SMALL, "image_size": 32, "tubelet_size": [2, 16, 16], "num_frames": 4},
}


def save(kind, folder):
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**CONFIGS[kind])
    model = getattr(transformers, f"{kind}Model")(config).eval()
    model.save_pretrained(folder)
    return model


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_folder_is_an_encoder(tmp_path, kind):
    model = save(kind, tmp_path)
    encode = encoder(str(tmp_path))
    assert (encode.size, encode.frames, encode.dim) == (32, 4, 24)
    clip = torch.rand(2, 3, 7, 40, 50)
    with torch.inference_mode():
        out = encode(clip)
        tokens = model(**{model.main_input_name: encode.prepare(clip).transpose(1, 2)}).last_hidden_state
        alone = encode(clip[1:])
    first = kind in ("Timesformer", "Vivit")
    assert out.shape == (2, 24) and torch.allclose(out, tokens[:, 0] if first else tokens.mean(1), atol=1e-5)
    assert torch.allclose(out[1:], alone, atol=1e-5), "a clip's features do not depend on its neighbours"
    assert torch.allclose(encoder(f"hub:{tmp_path}")(clip), out, atol=1e-5)


def test_the_checkpoints_own_colours_count(tmp_path):
    save("VideoMAE", tmp_path)
    assert encoder(str(tmp_path)).colours[0] == (0.485, 0.456, 0.406)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"image_mean": [0.1] * 3, "image_std": [0.2] * 3}))
    assert list(encoder(str(tmp_path)).colours[0]) == [0.1] * 3


def test_what_takes_no_video_is_refused(tmp_path):
    transformers.ViTModel(transformers.ViTConfig(**SMALL, image_size=32)).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="vit, which takes no video"):
        encoder(str(tmp_path))


def test_offline_the_way_by_hand_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="hf download nobody/nothing"):
        encoder("hub:nobody/nothing")
