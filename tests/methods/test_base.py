import json
from pathlib import Path

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


@pytest.fixture
def shipped(learnable, tmp_path, monkeypatch):
    """A version of the package in which a trained `tint` ships."""
    from actonym.methods import base

    monkeypatch.setattr(base, "SHIPPED", tmp_path / "shipped")
    return methods.save(methods.create("tint:start=0.25"), tmp_path / "shipped" / "tint")


def test_an_untrained_learned_method_is_refused(learnable):
    command = "actonym train tint:start=0.5 --data ... --out DIR, then --method DIR"
    with pytest.raises(UserError, match=command) as error:
        methods.resolve("tint:start=0.5")
    assert "\n" not in str(error.value)
    with pytest.raises(UserError, match="no trained tint ships"):
        methods.resolve("tint@shipped")
    assert methods.create("tint").keep == 0.75, "made by hand, to be trained, it is what was asked for"


@pytest.mark.parametrize("name", ["tint", "tint@shipped"])
def test_the_checkpoint_that_ships_is_used_for_the_name(shipped, name):
    found = methods.resolve(name)
    assert torch.equal(found.gain, methods.load(shipped).gain) and found.keep == 0.75 and not found.training
    assert methods.resolve(f"{name}:keep=0.25").keep == 0.25


def test_what_ships_cannot_be_made_otherwise(shipped):
    with pytest.raises(UserError, match="tint has no start that can be turned after training; such knobs of it: keep"):
        methods.resolve("tint:start=0.5")
    with pytest.raises(UserError, match="tint must be trained"):
        methods.resolve("tint@dark")


def test_a_folder_of_a_methods_name_is_no_checkpoint_of_it(tmp_path, monkeypatch):
    (tmp_path / "blur").mkdir()
    monkeypatch.chdir(tmp_path)
    assert methods.resolve("blur:strength=weak").share == methods.create("blur:strength=weak").share


def test_a_knob_is_turned_on_a_checkpoint(learnable, tmp_path):
    folder = methods.save(methods.create("tint"), tmp_path / "mine")
    turned = methods.resolve(f"{folder}:keep=0.25")
    assert turned.keep == 0.25 and methods.resolve(str(folder)).keep == 0.75
    clip = torch.rand(1, 3, 4, 8, 8)
    assert not torch.equal(turned(clip), methods.resolve(str(folder))(clip))
    assert methods.load(methods.save(turned, tmp_path / "saved")).keep == 0.25, "a method is saved as it stands"


@pytest.mark.parametrize("value", ["0", "1.5", "much", "nan", "[1]"])
def test_a_knob_that_cannot_be_turned_so_far(learnable, tmp_path, value):
    folder = methods.save(methods.create("tint"), tmp_path / "mine")
    with pytest.raises(UserError, match="keep is a share above 0"):
        methods.resolve(f"{folder}:keep={value}")


def test_settings_of_the_training_stand_behind_the_name(learnable):
    assert methods.create("tint:train.epochs=5").training_settings == {"epochs": 5, "lr": 0.5}
    with pytest.raises(UserError, match=r"did you mean 'train.epochs'"):
        methods.create("tint:train.epoch=5")


def test_a_variant_says_only_what_differs(learnable):
    for preset, keep in (("stage", 0.75), ("paper", 0.5)):
        dark = methods.create("tint@dark", preset)
        assert abs(dark.gain.mean() - 0.1) < 0.05 and dark.keep == keep
        assert dark.training_settings == methods.create("tint", preset).training_settings
    assert methods.create("tint@paper", "stage").keep == 0.5
    assert methods.create("tint", "dark").keep == 0.75, "as a preset it is laid over its base"
    with pytest.raises(UserError, match="did you mean 'dark'"):
        methods.create("tint@darc")
    assert methods.create("tint@slow").training_settings == {"epochs": 2, "lr": 0.05}
    with pytest.raises(UserError, match="tint@slow is a variant of the preset stage, not of paper"):
        methods.create("tint@slow", "paper")


def test_the_card_of_what_ships_says_what_was_measured():
    from runpy import run_path

    root = Path(__file__).parents[2]
    result = json.loads((root / "results" / "stage" / "vita-seed0.json").read_text())
    describe = run_path(str(root / "scripts" / "ship_method.py"))["describe"]
    card = describe(methods.create("vita"), result)
    assert card.startswith("# VITA\n") and "seed 0, trained in 13 minutes" in card
    assert f"| {result['raw']['cmap']:.3f} | {result['privacy']['cmap']:.3f} |" in card
    assert f"{result['kept']:.3f} / {result['closed']:.3f}" in card and "It is one of" not in card
    others = [{**result, "seed": seed, "kept": 0.8 + seed / 10, "closed": 0.5} for seed in range(3)]
    whole = describe(methods.create("vita"), result, [*others, {**result, "method": "raw"}])
    assert (
        whole.startswith(card) and "one of 3" in whole and "these keep 0.900 ± 0.100 and close 0.500 ± 0.000" in whole
    )
