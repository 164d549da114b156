from fractions import Fraction

import av
import numpy as np
import pytest
from make_video import BLUE, GREEN, RED, close, frame_id, heard, make, picture, quarters, tone

from actonym.errors import UserError
from actonym.video import AudioTrack, VideoReader, VideoWriter


def write(path, times=None, size=(64, 48), **options):
    times = times or [Fraction(i, 25) for i in range(20)]
    with VideoWriter(path, *size, **options) as writer:
        for index, time in enumerate(times):
            writer.write(picture(index), time)
    assert writer.frames == len(times)
    with VideoReader(path) as reader:
        return list(reader), reader.info


@pytest.mark.parametrize("suffix", ["mp4", "mov", "mkv", "MP4"])
def test_what_is_written_is_read(tmp_path, suffix):
    frames, info = write(tmp_path / f"a.{suffix}")
    assert [frame_id(image) for image, _ in frames] == list(range(20))
    assert [time for _, time in frames] == [Fraction(i, 25) for i in range(20)]
    assert all(map(close, quarters(frames[5][0])[:3], (RED, GREEN, BLUE)))
    assert info.fps == 25 and not info.has_audio


@pytest.mark.parametrize("suffix", ["mp4", "mkv"])
def test_uneven_times_stay_uneven(tmp_path, suffix):
    times = [Fraction(at, 1000) for at in (0, 40, 100, 130, 500, 501, 1000)]
    frames, info = write(tmp_path / f"a.{suffix}", times, time_base=Fraction(1, 1000))
    assert [time for _, time in frames] == times
    assert info.duration == pytest.approx(1.04)


def test_a_unit_of_time_too_fine_for_the_container(tmp_path):
    frames, _ = write(tmp_path / "a.mp4", fps=Fraction(1, 60), time_base=Fraction(1, 10**9))
    assert [time for _, time in frames] == [Fraction(i, 25) for i in range(20)]


def test_times_that_do_not_rise_are_moved_by_a_tick(tmp_path):
    times = [Fraction(0), Fraction(1), Fraction(1), Fraction(2)]
    frames, _ = write(tmp_path / "a.mp4", times, time_base=Fraction(1, 1000))
    assert [float(time) for _, time in frames] == [0, 1, 1.001, 2]


@pytest.mark.parametrize("size", [(65, 49), (64, 49), (1, 1), (3, 50)])
def test_an_odd_size_gets_one_more_row_or_column(tmp_path, size):
    frames, _ = write(tmp_path / "a.mp4", size=size)
    image = frames[0][0]
    assert image.shape == (size[1] + size[1] % 2, size[0] + size[0] % 2, 3)
    if size == (65, 49):
        assert all(map(close, quarters(image)[:3], (RED, GREEN, BLUE)))
        assert close(image[12, -1], GREEN) and close(image[-1, 12], BLUE)


def test_small_frames_are_enlarged(tmp_path):
    frames, _ = write(tmp_path / "a.mp4", size=(256, 192))
    assert frames[0][0].shape == (192, 256, 3) and frame_id(frames[7][0]) == 7


def test_browsers_play_it(tmp_path):
    write(tmp_path / "a.mp4")
    content = (tmp_path / "a.mp4").read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")
    with av.open(str(tmp_path / "a.mp4")) as container:
        context = container.streams.video[0].codec_context
        assert (context.name, context.pix_fmt, context.colorspace, context.color_range) == ("h264", "yuv420p", 1, 1)


def test_pixels_that_are_not_square_stay_so(tmp_path):
    assert write(tmp_path / "a.mp4", aspect=Fraction(16, 11))[1].aspect == Fraction(16, 11)


def test_the_same_frames_make_the_same_file(tmp_path):
    write(tmp_path / "a.mp4")
    write(tmp_path / "b.mp4")
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


def test_an_ending_we_do_not_write(tmp_path):
    with pytest.raises(UserError, match=r"'a\.avi'.*\.mp4, \.mov, \.mkv"):
        VideoWriter(tmp_path / "a.avi", 64, 48)


SOUNDS = [
    ("a.mp4", "libx264", "aac", {"mp4", "mov", "mkv"}),
    ("a.webm", "libvpx-vp9", "libopus", {"mp4", "mkv"}),
    ("a.avi", "mpeg4", "libmp3lame", {"mp4", "mov", "mkv"}),
    ("b.avi", "mpeg4", "pcm_s16le", set()),
    ("a.ts", "mpeg2video", "aac", {"mp4", "mov", "mkv"}),
    ("a.mkv", "libx264", "flac", set()),
]


@pytest.mark.parametrize("name, codec, audio, copied", SOUNDS)
@pytest.mark.parametrize("suffix", ["mp4", "mov", "mkv"])
def test_sound_comes_along_when_given(tmp_path, name, codec, audio, copied, suffix):
    secret = {"title": "SECRET", "language": "deu"}
    source = make(tmp_path / name, codec, count=50, audio=audio, metadata=secret)
    target = tmp_path / f"out.{suffix}"
    with VideoReader(source) as reader:
        track = AudioTrack(source, reader.info.start)
        with VideoWriter(target, 64, 48, reader.info.fps, time_base=reader.info.time_base, audio=track) as writer:
            for image, time in reader:
                writer.write(image, time)
        track.close()
    assert track.copied == (suffix in copied)
    hertz, seconds = heard(target)
    assert abs(hertz - 440) <= 1 and seconds == pytest.approx(2, abs=0.06)
    assert b"SECRET" not in target.read_bytes() and b"deu" not in target.read_bytes()
    with VideoReader(target) as reader:
        assert [frame_id(image) for image, _ in reader] == list(range(50))


def test_sound_and_picture_stay_together(tmp_path):
    """Sound that begins 0.4 s after the picture still does."""
    source = tmp_path / "a.mkv"
    with av.open(str(source), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        sound = container.add_stream("flac", rate=48000, layout="mono")
        for _ in range(50):
            frame = av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8), "rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        for index in range(10, 50):
            container.mux(sound.encode(tone(index)))
        container.mux(sound.encode(None))
    track = AudioTrack(source)
    with VideoReader(source) as reader, VideoWriter(tmp_path / "out.mp4", 64, 48, audio=track) as writer:
        for image, time in reader:
            writer.write(image, time)
    with av.open(str(tmp_path / "out.mp4")) as container:
        loud = [frame.time for frame in container.decode(audio=0) if np.abs(frame.to_ndarray()).max() > 0.1]
    assert loud[0] == pytest.approx(0.4, abs=0.03)
