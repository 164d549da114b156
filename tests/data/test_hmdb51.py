from collections import Counter

import pytest
from layouts import FRAMES, hmdb51, hmdb51_clips

from actonym.data import load_clips, open_dataset
from actonym.data.hmdb51 import ACTIONS, film, read_labels
from actonym.errors import UserError


def test_official_layout(tmp_path):
    data = open_dataset(f"hmdb51:{hmdb51(tmp_path)}")
    parts = {split: data.samples(split) for split in ("train", "val", "test")}
    assert {split: len(samples) for split, samples in parts.items()} == {"train": 12, "val": 4, "test": 4}
    assert not {s.source for s in parts["train"]} & {s.source for s in parts["val"]}, "a film is never split"
    assert {s.source for s in parts["test"]} == {"other_film"}
    sample = parts["test"][-1]
    assert data.actions[sample.action] == "climb_stairs" and sample.text == "climb stairs" and sample.domain == "hmdb51"
    assert sample.video.length == FRAMES and data.problems.whole
    assert load_clips(data, "test", frames=4, size=16).video.shape == (4, 3, 4, 16, 16)


def test_half_a_folder_is_an_error_unless_asked_for(tmp_path):
    hmdb51(tmp_path)
    gone = next((tmp_path / "clap").glob("film_0*"))
    gone.unlink()
    with pytest.raises(UserError, match=rf"hmdb51: 1 of 20 videos are missing \(clap/{gone.stem}\).*partial=true"):
        open_dataset(f"hmdb51:{tmp_path}")
    data = open_dataset(f"hmdb51:path={tmp_path},partial=true")
    assert data.problems.missing == [f"clap/{gone.stem}"] and len(data.samples("train")) in (11, 12)


def test_wrong_input(tmp_path):
    with pytest.raises(UserError, match="hmdb51 needs its place"):
        open_dataset("hmdb51")
    with pytest.raises(UserError, match="is not a folder"):
        open_dataset(f"hmdb51:{tmp_path / 'none'}")
    with pytest.raises(UserError, match="has no testTrainMulti_7030_splits"):
        open_dataset(f"hmdb51:{tmp_path}")
    hmdb51(tmp_path, clips={"clap/a_clap_u_nm_np1_fr_med_0": "3"})
    with pytest.raises(UserError, match="is in part '3'"):
        open_dataset(f"hmdb51:{tmp_path}")
    with pytest.raises(UserError, match="no official split of HMDB51 4"):
        open_dataset(f"hmdb51:path={tmp_path},split=4")
    (tmp_path / "testTrainMulti_7030_splits" / "wave_test_split1.txt").unlink()
    with pytest.raises(UserError, match="no list of split 1 for wave"):
        open_dataset(f"hmdb51:{tmp_path}")


def test_no_video_at_all(tmp_path):
    hmdb51(tmp_path / "lists", hmdb51_clips())
    (tmp_path / "videos").mkdir()
    with pytest.raises(UserError, match="none of its 20 videos is there"):
        open_dataset(f"hmdb51:path={tmp_path / 'videos'},lists={tmp_path / 'lists'},partial=true")


def test_film_of_a_clip():
    assert film("I_run_climb_stairs_f_cm_np1_ba_med_3", "climb_stairs") == "I_run"
    assert film("climb_it_climb_f_cm_np1_ba_med_3", "climb") == "climb_it"


@pytest.mark.parametrize("split", [1, 2, 3])
def test_the_real_lists(shared, split):
    labels = read_labels(shared / "annotations" / "hmdb51", split)
    counts = Counter(label.split for label in labels)
    assert len(labels) == 6766 and counts["train"] == 3570 and counts["test"] == 1530
    assert {label.action for label in labels} == set(ACTIONS)
    assert all(label.name.startswith(f"{label.action}/{label.source}_") for label in labels), "every film is recognized"
