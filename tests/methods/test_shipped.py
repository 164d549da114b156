"""The checkpoints that come with the package."""

import pytest
import torch

from actonym import methods
from actonym.methods.base import MODEL_CARD, SHIPPED, WEIGHTS

NAMES = sorted(folder.name for folder in SHIPPED.iterdir())


def test_stprivacy_ships():
    assert "stprivacy" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_it_is_small_and_says_what_it_is(name):
    card = (SHIPPED / name / MODEL_CARD).read_text()
    assert "seed 0" in card and "videos of the stage" in card and "| kept / closed |" in card
    assert (SHIPPED / name / WEIGHTS).stat().st_size < 4 * 2**20


@pytest.mark.parametrize("name", NAMES)
def test_its_name_alone_anonymizes(name):
    """It has learned something: what it shows is neither the video nor nothing, and holds for each clip alone."""
    method = methods.resolve(name)
    clip = torch.rand(2, 3, 20, 72, 96, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        shown, alone = method(clip), method(clip[1:])
    assert shown.shape == clip.shape and torch.allclose(shown[1:], alone, atol=1e-5)
    assert (shown - clip).abs().mean() > 0.1 and shown.std() > 0.1


def test_less_is_kept_of_what_ships_when_its_knob_is_turned():
    clip = torch.rand(1, 3, 16, 64, 64, generator=torch.Generator().manual_seed(0))

    def share(keep):
        with torch.inference_mode():
            return float((methods.resolve(f"stprivacy:keep={keep}")(clip) > 0).float().mean())

    assert share(0.3) < share(0.7) < share(1.0)
