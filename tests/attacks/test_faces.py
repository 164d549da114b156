"""Faces that are still found, counted by hand; and CenterFace on real faces where its weights are."""

import pytest
import torch
from videos import faces, find, has, video

from actonym.attacks.faces import detect, face_rates, main_faces, stills
from actonym.errors import UserError
from actonym.nets import centerface


def test_rates_count_faces_frames_and_videos():
    here, near, there = [0, 0, 10, 10], [2, 0, 12, 10], [20, 0, 30, 10]
    raw = [[faces(here, there), faces(here)], [faces(), faces(here)], [faces(), faces()]]
    anonymized = [[faces(near), faces()], [faces(there), faces(there)], [faces(), faces(here)]]
    rates = face_rates(raw, anonymized)
    assert rates["faces"] == {"raw": 4, "still": 1, "rate": 0.25}
    assert rates["frames"] == {"raw": 3, "still": 1, "rate": pytest.approx(1 / 3)}
    assert rates["videos"] == {"raw": 2, "still": 1, "rate": 0.5}
    assert rates["new"] == 3, "one where raw has no face, one beside raw's face, one in a video without faces"
    assert (rates["of_frames"], rates["of_videos"]) == (6, 3)


def test_a_face_that_has_moved_away_is_not_the_same():
    raw, barely, away = (video((255, 0, 0), at) for at in ((4, 4), (7, 4), (9, 4)))
    assert detect([(raw, barely)], find=find)["frames"]["rate"] == 1, "5 of 11 columns in common"
    assert detect([(raw, away)], find=find)["frames"]["rate"] == 0, "3 of 13 columns in common"
    assert detect([(raw, away)], find=find)["new"] == 4


def test_black_videos_have_no_faces_and_no_rate_is_made_up():
    black, raw = video(None), video((255, 0, 0))
    assert detect([(raw, black)], find=find)["videos"] == {"raw": 1, "still": 0, "rate": 0.0}
    assert detect([(black, black)], find=find)["videos"]["rate"] is None


def test_videos_that_are_no_pair_are_refused():
    with pytest.raises(UserError, match="4 frames and the anonymized one 5"):
        detect([(video(None), video(None, frames=5))], find=find)
    with pytest.raises(UserError, match="32x24 and 40x24"):
        detect([(video(None), video(None, size=(24, 40)))], find=find)


def test_video_references_are_read_at_evenly_spaced_frames():
    class Counting:
        length = 10

        def frames(self, indices):
            return torch.tensor(indices, dtype=torch.uint8).view(1, -1, 1, 1).expand(3, -1, 2, 2)

        def mask(self, indices):
            return None

    assert stills(Counting(), 3)[:, 0, 0, 0].tolist() == [1, 5, 8]
    assert stills(Counting()).shape == (10, 3, 2, 2)
    assert stills(Counting(), 99).shape[0] == 10


def test_main_faces_are_the_largest_of_frames_spread_over_the_video():
    small, large = faces([0, 0, 2, 2]), faces([0, 0, 2, 2], [10, 10, 20, 20])
    chosen = main_faces([small, faces(), large, large, faces(), small], 2)
    assert [place for place, _ in chosen] == [2, 5]
    assert chosen[0][1].shape == (1, 5, 2) and chosen[0][1][0, 0].tolist() == [15, 15]
    assert main_faces([faces()], 2) == []


def maps(height, width):
    return [torch.zeros(channels, height, width).numpy() for channels in (1, 2, 2, 10)]


def test_decoding_knows_x_from_y():
    """A face at column 5, row 2 of the heat map, 40 wide and 24 high, its nose in the lower left."""
    heat, sizes, offsets, points = maps(8, 12)
    heat[0, 2, 5] = 0.9
    sizes[:, 2, 5] = torch.tensor([24 / 4, 40 / 4]).log()
    offsets[:, 2, 5] = [0.25, -0.5]
    points[4:6, 2, 5] = [0.75, 0.1]
    found = centerface.decode([heat, sizes, offsets, points], 0.5, torch.tensor([1.0, 1.0]))
    x, y = (5 - 0.5 + 0.5) * 4, (2 + 0.25 + 0.5) * 4
    assert found.boxes[0].tolist() == pytest.approx([x - 20, y - 12, x + 20, y + 12], abs=1e-4)
    assert found.points[0, 2].tolist() == pytest.approx([x - 20 + 4, y - 12 + 18], abs=1e-4)
    halved = centerface.decode([heat, sizes, offsets, points], 0.5, torch.tensor([0.5, 1.0]))
    assert halved.boxes[0].tolist() == pytest.approx([(x - 20) / 2, y - 12, (x + 20) / 2, y + 12], abs=1e-4)
    assert len(centerface.decode([heat, sizes, offsets, points], 0.95, torch.tensor([1.0, 1.0]))) == 0


def test_of_overlapping_boxes_the_surest_stays():
    boxes = torch.tensor([[0, 0, 10, 10], [1, 0, 11, 10], [6, 0, 16, 10], [40, 0, 50, 10]], dtype=torch.float32)
    kept = centerface.suppress(boxes, torch.tensor([0.6, 0.9, 0.7, 0.5]))
    assert kept.tolist() == [1, 3], "box 2 overlaps box 1 by a third"
    assert centerface.iou(boxes[:1], boxes[1:])[0].tolist() == pytest.approx([9 / 11, 4 / 16, 0])


@pytest.mark.skipif(not has("centerface"), reason="no weights: actonym weights pull centerface")
def test_centerface_finds_a_real_face_at_odd_sizes_and_none_in_black(shared):
    pytest.importorskip("onnxruntime")
    from actonym.video import FileVideo

    clip = shared / "data/jhmdb_train/videos/clap/boomsnapclap!_clap_u_nm_np1_fr_med_2.avi"
    frame = FileVideo(clip).frames([10]).transpose(0, 1)
    whole, cut = centerface.find(frame)[0], centerface.find(frame[:, :, 7:, 13:])[0]
    assert len(whole) == len(cut) == 1
    shift = torch.tensor([13.0, 7.0])
    assert centerface.iou(whole.boxes, cut.boxes + shift.repeat(2)).item() > 0.8
    eyes, mouth = whole.points[0, :2], whole.points[0, 3:]
    assert eyes[0, 0] < eyes[1, 0] and mouth[0, 0] < mouth[1, 0] and (eyes[:, 1] < mouth[:, 1]).all()
    assert len(centerface.find(torch.zeros_like(frame))[0]) == 0
