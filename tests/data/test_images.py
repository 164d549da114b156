import cv2
import numpy as np
import pytest
from layouts import picture, write

from actonym.data import images
from actonym.data.images import ImagesVideo, list_pictures, picture_folders
from actonym.errors import UserError


def test_pictures_are_frames_in_the_order_of_their_numbers(tmp_path):
    for k in (10, 9, 1):
        picture(tmp_path / f"frame_{k}.jpg", (20 * k, 0, 0))
    video = ImagesVideo(list_pictures(tmp_path))
    frames = video.frames([0, 2])
    assert video.length == 3 and frames.shape == (3, 2, 24, 32) and video.mask([0]) is None
    assert abs(int(frames[0, 0, 5, 5]) - 20) < 4 and abs(int(frames[0, 1, 5, 5]) - 200) < 4, "red comes first"


def test_pictures_of_another_size_are_brought_to_the_first(tmp_path):
    picture(tmp_path / "1.png", (9, 9, 9))
    cv2.imwrite(str(tmp_path / "2.png"), np.zeros((5, 7, 3), np.uint8))
    assert ImagesVideo(list_pictures(tmp_path)).frames([0, 1]).shape == (3, 2, 24, 32)


def test_bad_pictures(tmp_path):
    with pytest.raises(UserError, match=r"bad\.jpg is not a picture"):
        ImagesVideo([write(tmp_path / "bad.jpg", "rubbish")]).frames([0])
    with pytest.raises(UserError, match=r"none\.jpg cannot be read"):
        ImagesVideo([tmp_path / "none.jpg"]).frames([0])
    with pytest.raises(UserError, match="no pictures"):
        _ = ImagesVideo(list).length


def test_folders_of_pictures(tmp_path):
    picture(tmp_path / "x" / "a" / "b" / "1.jpg", (0, 0, 0))
    write(tmp_path / "x" / "c" / "notes.txt", "")
    assert list(picture_folders(tmp_path, parts=2)) == ["a/b"]


def test_pictures_of_one_kind_among_others(tmp_path):
    picture(tmp_path / "a" / "rgb_1.png", (90, 0, 0))
    picture(tmp_path / "a" / "depth_1.png", (0, 0, 0))
    picture(tmp_path / "b" / "depth_1.png", (0, 0, 0))
    assert [path.name for path in list_pictures(tmp_path / "a", "rgb_")] == ["rgb_1.png"]
    assert list(picture_folders(tmp_path, parts=1, prefix="rgb_")) == ["a"]


def test_a_still_image_is_read_once_for_a_whole_clip(tmp_path, monkeypatch):
    picture(tmp_path / "1.png", (90, 0, 0))
    calls = []
    monkeypatch.setattr(images, "read_picture", lambda path: calls.append(path) or np.zeros((4, 6, 3), np.uint8))
    assert ImagesVideo([tmp_path / "1.png"]).frames([0] * 16).shape == (3, 16, 4, 6) and len(calls) == 1
