import inspect

import pytest

from actonym.data import Sample, open_dataset, registry
from actonym.data.base import Span
from actonym.errors import UserError
from actonym.video import FileVideo


@pytest.mark.parametrize("name", registry())
def test_every_dataset_says_what_it_is_and_what_its_folder_holds(name):
    made = registry()[name]
    card = made.card
    assert card.title and card.about and card.licence and card.source and "\n" not in card.about + card.layout
    known = inspect.signature(made).parameters
    if "path" in known:
        assert card.layout and "partial" in known
        with pytest.raises(UserError, match=f"{name} needs its place"):
            open_dataset(name)
        with pytest.raises(UserError):
            open_dataset(f"{name}:nowhere/at/all")


def test_labels_of_a_frame_are_the_videos_where_there_are_no_others():
    sample = Sample("a", FileVideo("a.mp4"), 0, privacy=(1, 0))
    assert sample.privacy_at(3) == (1, 0)
    spans = ((Span(0, 2, (1,)),), (Span(3, 3, (0, 2)),))
    assert Sample("a", FileVideo("a.mp4"), 0, privacy=(1, 1), spans=spans).privacy_at(3) == (0, 1)
