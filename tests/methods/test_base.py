import json

import pytest
import torch

from actonym import methods
from actonym.errors import UserError


def test_unknown_method_suggests_the_nearest():
    with pytest.raises(UserError, match="did you mean 'downsample'"):
        methods.create("downsampel")


def test_unknown_setting_suggests_the_nearest():
    with pytest.raises(UserError, match="did you mean 'factor'"):
        methods.create("downsample:facter=2")


def test_settings_in_the_name_win_over_assignments_and_preset():
    assert methods.create("downsample").factor == 4
    assert methods.create("downsample", assignments=["method.factor=3"]).factor == 3
    assert methods.create("downsample:factor=2", assignments=["method.factor=3"]).factor == 2


def test_bad_value_is_one_line():
    with pytest.raises(UserError, match="factor must be at least 1"):
        methods.create("downsample:factor=0.5")


@pytest.fixture
def checkpoint(tmp_path):
    return methods.save(methods.create("blur:strength=weak"), tmp_path / "checkpoint")


def test_checkpoint_keeps_settings(checkpoint):
    assert methods.load(checkpoint).share == methods.create("blur:strength=weak").share
    assert methods.resolve(str(checkpoint)).name == "blur"


def test_tampered_weights_are_refused(checkpoint):
    from safetensors.torch import save_file

    save_file({"weight": torch.zeros(3)}, checkpoint / "model.safetensors")
    with pytest.raises(UserError, match="SHA-256"):
        methods.load(checkpoint)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"method": "blur"}'])
def test_damaged_config_is_refused(checkpoint, damage):
    (checkpoint / "config.json").write_text(damage)
    with pytest.raises(UserError, match=r"config\.json"):
        methods.load(checkpoint)


def test_weights_of_another_shape_are_refused(checkpoint):
    """The hash may be right and the content still wrong: an extra tensor does not fit the method."""
    from safetensors.torch import save_file

    from actonym.methods.base import sha256

    save_file({"weight": torch.zeros(3)}, checkpoint / "model.safetensors")
    config = json.loads((checkpoint / "config.json").read_text())
    config["sha256"] = sha256(checkpoint / "model.safetensors")
    (checkpoint / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="does not fit the method 'blur'"):
        methods.load(checkpoint)


def test_missing_weights_and_foreign_folder(checkpoint, tmp_path):
    (checkpoint / "model.safetensors").unlink()
    with pytest.raises(UserError, match="missing"):
        methods.load(checkpoint)
    (tmp_path / "other").mkdir()
    with pytest.raises(UserError, match="is no checkpoint"):
        methods.resolve(str(tmp_path / "other"))


def test_two_methods_cannot_share_a_name():
    from actonym.methods.base import PixelMethod, register

    class Other(PixelMethod):
        pass

    with pytest.raises(ValueError, match="two methods"):
        register("raw")(Other)
