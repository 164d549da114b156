"""The catalogue says everything that is needed to pull, and promises only what can be done."""

import re

import pytest

from actonym.errors import UserError
from actonym.weights import catalogue
from actonym.weights.convert import CONVERT


@pytest.mark.parametrize("entry", catalogue.entries().values(), ids=lambda entry: entry.name)
def test_entries_are_complete(entry):
    assert entry.what and entry.licence and entry.files
    assert entry.version in entry.archive and entry.archive.endswith((".whl", ".tar.gz"))
    for sha256 in (entry.sha256, *(carried.sha256 for carried in entry.files)):
        assert re.fullmatch("[0-9a-f]{64}", sha256)
    assert all(carried.convert in CONVERT for carried in entry.files)
    assert len({carried.name for carried in entry.files}) == len(entry.files)
    assert all(other in catalogue.entries() for other in entry.also)


def test_what_the_mission_needs_is_listed():
    pullable = {
        "i3d-kinetics400",
        "vgg16-lpips",
        "yunet",
        "sface",
        "centerface",
        "open-nsfw",
        "gender-age",
        "dlib-face",
    }
    brought = {"deit", "videomae", "vjepa2", "internvideo", "x-clip", "actionclip", "zoedepth", "r2plus1d-18", "vgg19"}
    assert pullable | {"minilm", "mobilenetv2"} <= set(catalogue.entries())
    assert brought <= set(catalogue.elsewhere())


def test_a_name_that_cannot_be_pulled_says_why():
    with pytest.raises(UserError, match="did you mean 'yunet'"):
        catalogue.entry("yunnet")
    with pytest.raises(UserError, match="hub:MCG-NJU/videomae-base"):
        catalogue.entry("videomae")
