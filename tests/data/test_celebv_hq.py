import json

import pytest
from layouts import FRAMES, film, write

from actonym.data import open_dataset
from actonym.data.base import Segment
from actonym.data.celebv_hq import ACTIONS, read_labels
from actonym.errors import UserError

TRAITS = ["Blurry", "Male", "Young", "Rosy_Cheeks", "Brown_Hair", "Pointy_Nose"]
PARTS = [
    {"emotion": "neutral", "start_sec": 0, "end_sec": 0.5},
    {"emotion": "happy", "start_sec": 1.0, "end_sec": 3.0},
]


def table(films=6):
    clips = {}
    for k in range(films):
        for part in range(2):
            emotion = {"sep_flag": True, "labels": PARTS} if part else {"sep_flag": False, "labels": "sad"}
            about = {"appearance": [1, 0, 1, 0, 0, k % 2], "action": [], "emotion": emotion}
            clips[f"film{k}_{part}"] = {"ytb_id": f"film{k}", "attributes": about}
    return {"meta_info": {"appearance_mapping": TRAITS, "action_mapping": []}, "clips": clips}


def layout(root, said=None):
    said = said or table()
    write(root / "celebvhq_info.json", json.dumps(said))
    film(*(root / "35666" / f"{name}.mp4" for name in said["clips"]))
    return root


def test_official_layout(tmp_path):
    data = open_dataset(f"celebv-hq:{layout(tmp_path)}")
    parts = {split: data.samples(split) for split in ("train", "val", "test")}
    films = {split: {s.source for s in samples} for split, samples in parts.items()}
    assert sum(map(len, films.values())) == 6 and all(films.values()), "a film is never split"
    assert data.attributes == ("young", "pointy_nose", "male", "rosy_cheeks", "brown_hair")
    samples = {s.name: s for part in parts.values() for s in part}
    assert samples["film1_0"].privacy == (1, 1, 0, 0, 0) and samples["film2_0"].privacy == (1, 0, 0, 0, 0)
    assert samples["film1_0"].text == "sad" and samples["film1_0"].video.length == FRAMES
    several = samples["film1_1"]
    assert several.text == "happy", "it lasts longest"
    assert several.segments == (Segment(0, 0.5, 0), Segment(1, 3, 1)) and several.actions == (0, 1)


def test_labels_and_clips_that_do_not_fit(tmp_path):
    layout(tmp_path)
    (tmp_path / "35666" / "film1_0.mp4").unlink()
    film(tmp_path / "35666" / "film9_0.mp4", tmp_path / "more" / "film2_0.mp4")
    with pytest.raises(UserError, match=r"1 of 12 videos are missing \(film1_0\)"):
        open_dataset(f"celebv-hq:{tmp_path}")
    problems = open_dataset(f"celebv-hq:path={tmp_path},partial=true").problems
    assert problems.unlabelled == ["film9_0"] and problems.duplicates == ["film2_0"]


def test_bad_labels(tmp_path):
    with pytest.raises(UserError, match=r"has no celebvhq_info\.json"):
        open_dataset(f"celebv-hq:{tmp_path}")
    bad = table()
    bad["meta_info"]["appearance_mapping"] = TRAITS[:-1]
    with pytest.raises(UserError, match="no appearance 'pointy_nose'"):
        read_labels(write(tmp_path / "a.json", json.dumps(bad)))
    bad = table()
    bad["clips"]["film0_0"]["attributes"]["emotion"]["labels"] = []
    with pytest.raises(UserError, match="film0_0 has no expression"):
        read_labels(write(tmp_path / "a.json", json.dumps(bad)))
    with pytest.raises(UserError, match="cannot be read as the labels of CelebV-HQ"):
        read_labels(write(tmp_path / "a.json", '{"clips": {}}'))
    bad = table()
    bad["clips"]["film0_0"]["attributes"]["emotion"]["labels"] = "bored"
    with pytest.raises(UserError, match="film0_0 has the unknown action 'bored'"):
        open_dataset(f"celebv-hq:{layout(tmp_path, bad)}")
    assert len(ACTIONS) == 8
