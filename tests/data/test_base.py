import inspect

import pytest

from actonym.data import Sample, open_dataset, registry
from actonym.data.base import PLACES, Span, shown
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


def test_results_show_no_place_of_this_machine(tmp_path):
    table = tmp_path / "ward.csv"
    table.write_text("path,action\n")
    for spec, expected in {
        "stage": "stage",
        "stage:train=400,correlation=0.5": "stage:train=400,correlation=0.5",
        f"vp-jhmdb:{tmp_path}": "vp-jhmdb",
        f"vp-jhmdb:path={tmp_path},partial=true": "vp-jhmdb:partial=true",
        f"hmdb51:path={tmp_path},split=2,lists={tmp_path}": "hmdb51:split=2",
        f"csv:{table}": "csv:ward.csv",
        f"csv:path={table},val=0.2": "csv:path=ward.csv,val=0.2",
        f"ntu60:path={tmp_path},genders={table}": "ntu60:genders=ward.csv",
    }.items():
        assert shown(spec) == expected
    with pytest.raises(UserError, match="did you mean 'vp-jhmdb'"):
        shown(f"vp-jhmd:{tmp_path}")


@pytest.mark.parametrize("name", registry())
def test_settings_that_are_places_are_known_as_such(name):
    known = inspect.signature(registry()[name]).parameters.values()
    assert {one.name for one in known if one.name == "path" or one.default == ""} <= set(PLACES)
