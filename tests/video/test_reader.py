import gc
import os
import threading
import weakref
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
from make_video import BLUE, GREEN, RED, close, damage, frame_id, make, quarters, tone

from actonym.errors import UserError
from actonym.video import VideoReader, count_frames

KINDS = [
    ("a.mp4", "libx264", "yuv420p"),
    ("a.mov", "libx264", "yuv444p"),
    ("a.mkv", "libx265", "yuv420p10le"),
    ("a.avi", "mpeg4", "yuv420p"),
    ("b.avi", "mjpeg", "yuvj420p"),
    ("a.webm", "libvpx-vp9", "yuv420p"),
    ("a.ts", "mpeg2video", "yuv420p"),
]


def read(path, **options):
    with VideoReader(path, **options) as reader:
        return list(reader), reader


@pytest.mark.parametrize("name, codec, pix_fmt", KINDS)
def test_colours_order_and_times_of_every_kind(tmp_path, name, codec, pix_fmt):
    frames, reader = read(make(tmp_path / name, codec, pix_fmt=pix_fmt))
    assert [frame_id(image) for image, _ in frames] == list(range(20))
    assert [time for _, time in frames] == [Fraction(i, 25) for i in range(20)]
    for image, _ in frames:
        assert image.shape == (48, 64, 3) and image.dtype == np.uint8
        assert all(map(close, quarters(image)[:3], (RED, GREEN, BLUE)))
    assert (reader.info.width, reader.info.height, reader.info.fps) == (64, 48, 25)
    assert not reader.info.has_audio and reader.damaged == 0
    assert count_frames(tmp_path / name) == 20


@pytest.mark.parametrize("size", [(65, 49), (33, 48), (64, 17)])
def test_odd_sizes(tmp_path, size):
    frames, reader = read(make(tmp_path / "odd.webm", "libvpx-vp9", size=size))
    assert frames[0][0].shape == (size[1], size[0], 3)
    assert (reader.info.width, reader.info.height) == size


@pytest.mark.parametrize(
    "rotation, corners",
    [
        ((90, False), (GREEN, None, RED, BLUE)),  # counter-clockwise
        ((180, False), (None, BLUE, GREEN, RED)),
        ((270, False), (BLUE, RED, None, GREEN)),
        ((0, True), (GREEN, RED, None, BLUE)),
        ((180, True), (BLUE, None, RED, GREEN)),
    ],
)
def test_the_camera_was_turned_or_mirrored(tmp_path, rotation, corners):
    frames, reader = read(make(tmp_path / "turned.mp4", rotation=rotation))
    turned = rotation[0] % 180 == 90
    assert frames[0][0].shape == ((64, 48, 3) if turned else (48, 64, 3))
    assert frames[0][0].shape[:2] == (reader.info.height, reader.info.width)
    assert frames[0][0].flags.c_contiguous
    for got, wanted in zip(quarters(frames[0][0]), corners, strict=True):
        assert wanted is None or close(got, wanted)


def test_uneven_times_are_kept(tmp_path):
    times = [Fraction(at, 1000) for at in (0, 40, 100, 130, 500, 501, 1000)]
    frames, _ = read(make(tmp_path / "uneven.mkv", times=times, options={"bf": "0"}))
    assert [time for _, time in frames] == times


def test_time_starts_with_the_first_frame(tmp_path):
    times = [3 + Fraction(i, 25) for i in range(10)]
    frames, reader = read(make(tmp_path / "late.mkv", times=times))
    assert [time for _, time in frames] == [Fraction(i, 25) for i in range(10)]
    assert reader.info.start == 3


def test_a_clock_that_was_set_back_goes_on(tmp_path):
    first, second = (make(tmp_path / f"{count}.ts", "mpeg2video", count=count) for count in (100, 20))
    both = tmp_path / "both.ts"
    both.write_bytes(first.read_bytes() + second.read_bytes())
    frames, _ = read(both)
    stamps = [time for _, time in frames]
    assert len(stamps) == 120
    assert all(0 < after - before < 0.2 for before, after in pairwise(stamps))


def test_shrunk_on_the_way(tmp_path):
    frames, reader = read(make(tmp_path / "a.mp4", size=(128, 96), rotation=(90, False)), short=24)
    assert frames[0][0].shape == (32, 24, 3)
    assert (reader.info.width, reader.info.height) == (96, 128)
    assert close(quarters(frames[0][0])[0], GREEN)
    frames, _ = read(tmp_path / "a.mp4", short=500)
    assert frames[0][0].shape == (128, 96, 3)


def test_sound_is_noticed(tmp_path):
    with VideoReader(make(tmp_path / "a.mp4", audio="aac")) as reader:
        assert reader.info.has_audio


def test_a_new_size_midway_is_brought_to_the_first(tmp_path):
    small, large = make(tmp_path / "1.ts", "mpeg2video"), make(tmp_path / "2.ts", "mpeg2video", size=(128, 96))
    both = tmp_path / "both.ts"
    both.write_bytes(small.read_bytes() + large.read_bytes())
    frames, _ = read(both)
    assert {image.shape for image, _ in frames} == {(48, 64, 3)}
    assert close(quarters(frames[-1][0])[0], RED)


@pytest.mark.parametrize(
    "name, codec, pix_fmt, flags",
    [
        ("index_behind.mp4", "libx264", "yuv420p", {}),
        ("index_in_front.mp4", "libx264", "yuv420p", {"movflags": "faststart"}),
        ("a.mkv", "libx264", "yuv420p", {}),
        ("a.webm", "libvpx-vp9", "yuv420p", {}),
        ("a.avi", "mjpeg", "yuvj420p", {}),
    ],
)
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_truncated_files_raise(tmp_path, name, codec, pix_fmt, flags, share):
    path = make(tmp_path / name, codec, count=50, pix_fmt=pix_fmt, container_options=flags)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(UserError, match="truncated"):
        read(path)


def test_what_an_edit_list_cuts_off_is_not_missing(tmp_path):
    """As phones write it when a video was trimmed: all frames are in the file, the header shows half of them."""
    content = bytearray(make(tmp_path / "a.mp4", count=50).read_bytes())
    at = content.index(b"elst") + 12
    content[at : at + 4] = (1000).to_bytes(4, "big")  # milliseconds
    (tmp_path / "a.mp4").write_bytes(content)
    assert [frame_id(image) for image, _ in read(tmp_path / "a.mp4")[0]] == list(range(25))
    assert count_frames(tmp_path / "a.mp4") == 25


def test_a_damaged_packet_is_skipped_and_counted(tmp_path):
    path = damage(make(tmp_path / "a.avi", "mjpeg", count=40, pix_fmt="yuvj420p"), [7])
    frames, reader = read(path)
    assert reader.damaged == 1
    assert [frame_id(image) for image, _ in frames] == [i for i in range(40) if i != 7]
    assert [time for _, time in frames] == [Fraction(i, 25) for i in range(40) if i != 7]


def test_much_damage_raises(tmp_path):
    path = damage(make(tmp_path / "a.avi", "mjpeg", count=40, pix_fmt="yuvj420p"), [3, 7, 9, 20])
    with pytest.raises(UserError, match="4 of 40 packets"):
        read(path)


def test_no_video(tmp_path):
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("not a video at all\n" * 99)
    (tmp_path / "text.txt").write_text("not a video at all\n" * 99)
    with av.open(str(tmp_path / "sound.wav"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=48000, layout="mono")
        container.mux(stream.encode(tone(0)))
    cases = {
        "missing.mp4": "does not exist",
        "empty.mp4": "is empty",
        "text.mp4": "not a video",
        "text.txt": "not a video",
        "sound.wav": "no video stream",
        ".": "is a folder",
    }
    for name, message in cases.items():
        with pytest.raises(UserError, match=message) as caught:
            VideoReader(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_zero_frames(tmp_path):
    path = make(tmp_path / "a.avi", "mjpeg", count=3, pix_fmt="yuvj420p")
    damage(path, [0, 1, 2])
    with pytest.raises(UserError, match=r"damaged|without a single frame"):
        VideoReader(path)


def test_a_name_with_a_colon_is_no_address(tmp_path):
    assert len(read(make(tmp_path / "12:30.mp4"))[0]) == 20


def test_a_password_is_not_repeated():
    with pytest.raises(UserError, match=r"rtsp://127\.0\.0\.1:9/cam") as caught:
        VideoReader("rtsp://user:secret@127.0.0.1:9/cam")
    assert "secret" not in str(caught.value)


def test_a_pipe(tmp_path):
    content = make(tmp_path / "a.ts", "mpeg2video").read_bytes()
    os.mkfifo(tmp_path / "pipe")
    feeder = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[content])
    feeder.start()
    frames, reader = read(tmp_path / "pipe")
    feeder.join()
    assert reader.live and [frame_id(image) for image, _ in frames] == list(range(20))


def test_memory_does_not_grow_with_length(tmp_path):
    """Nothing is kept of a frame that was handed out, not even until the garbage collector comes by."""
    gc.collect()
    gc.disable()
    try:
        alive: list[weakref.ref] = []
        with VideoReader(make(tmp_path / "a.mp4", count=40, rotation=(90, False))) as reader:
            for image, _ in reader:
                alive.append(weakref.ref(image))
                assert sum(ref() is not None for ref in alive) <= 3
            assert sum(type(thing) is av.VideoFrame for thing in gc.get_objects()) <= 10
    finally:
        gc.enable()


REAL = Path(__file__).resolve().parents[3] / "shared/data/jhmdb_train/videos"


@pytest.mark.skipif(not REAL.is_dir(), reason="the real clips are not here")
def test_real_clips():
    for path in sorted(REAL.rglob("*.avi"))[::60]:
        frames, reader = read(path)
        assert 15 <= len(frames) <= 40 and reader.damaged == 0 and frames[0][0].shape == (240, 320, 3)
        assert len(frames) == count_frames(path)
