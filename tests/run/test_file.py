import errno
import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from fractions import Fraction
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import av
import pytest
from make_video import BLUE, GREEN, RED, close, damage, frame_id, heard, make, quarters
from methods_to_run import Broken, Noise, Slow, Swap

from actonym.errors import ActonymError, UserError
from actonym.methods.base import resolve, save
from actonym.run import anonymize_file
from actonym.run.atomic import part_name
from actonym.video import VideoReader, VideoWriter

HERE = Path(__file__).parent
quiet = partial(anonymize_file, progress=False)


def read(path):
    with VideoReader(path) as reader:
        return list(reader), reader.info


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name, codec", [("in.mp4", "libx264"), ("in.webm", "libvpx-vp9"), ("in.avi", "mpeg4")])
def test_every_frame_in_order_at_its_time(tmp_path, name, codec):
    source = make(tmp_path / name, codec, count=40)
    method = Swap()
    record = quiet(source, tmp_path / "out.mp4", method, batch=2)
    frames, info = read(tmp_path / "out.mp4")
    assert [frame_id(image) for image, _ in frames] == list(range(40))
    assert [moment for _, moment in frames] == [Fraction(i, 25) for i in range(40)]
    assert all(map(close, quarters(frames[0][0])[:3], (BLUE, GREEN, RED)))
    assert (info.width, info.height, info.fps) == (64, 48, 25)
    assert method.seen == [(2, 3, 16, 48, 64), (1, 3, 8, 48, 64)]
    assert record.frames == 40 and record.damaged == 0
    assert names(tmp_path) == sorted([name, "out.mp4", "out.mp4.json"])


def test_the_record(tmp_path):
    source = make(tmp_path / "in.mp4")
    quiet(source, tmp_path / "out.mp4", resolve("downsample:factor=3"))
    record = json.loads((tmp_path / "out.mp4.json").read_text())
    assert record["input_sha256"] == hashlib.sha256(source.read_bytes()).hexdigest()
    assert record["output_sha256"] == hashlib.sha256((tmp_path / "out.mp4").read_bytes()).hexdigest()
    assert (record["input"], record["output"]) == ("in.mp4", "out.mp4")
    assert (record["method"], record["settings"]["factor"], record["checkpoint_sha256"]) == ("downsample", 3, None)
    assert (record["frames"], record["width"], record["height"], record["fps"]) == (20, 64, 48, 25.0)
    assert record["audio"] == "drop" and record["seconds"] > 0
    assert {"actonym", "torch", "av", "python"} <= set(record["versions"])
    assert str(tmp_path) not in (tmp_path / "out.mp4.json").read_text()


def test_the_record_goes_where_it_is_wanted(tmp_path):
    quiet(make(tmp_path / "in.mp4"), tmp_path / "out.mp4", Swap(), report=tmp_path / "what.json")
    assert names(tmp_path) == ["in.mp4", "out.mp4", "what.json"]


def test_the_record_names_the_checkpoint(tmp_path):
    folder = tmp_path / "model"
    save(resolve("downsample"), folder)
    record = quiet(make(tmp_path / "in.mp4"), tmp_path / "out.mp4", resolve(str(folder)), checkpoint=folder)
    assert record.checkpoint_sha256 == json.loads((folder / "config.json").read_text())["sha256"]


def test_small_inside_large_outside(tmp_path):
    method = Swap(working_size=24)
    quiet(make(tmp_path / "in.mp4", size=(128, 96)), tmp_path / "out.mp4", method)
    frames, _ = read(tmp_path / "out.mp4")
    assert method.seen[0][-2:] == (24, 32)
    assert frames[0][0].shape == (96, 128, 3)
    assert all(map(close, quarters(frames[0][0])[:3], (BLUE, GREEN, RED)))
    assert [frame_id(image) for image, _ in frames] == list(range(20))


def test_turned_odd_and_uneven(tmp_path):
    times = [Fraction(at, 1000) for at in (0, 40, 100, 130, 500, 501, 1000)]
    quiet(make(tmp_path / "in.mkv", rotation=(90, False), times=times), tmp_path / "out.mp4", Swap())
    frames, _ = read(tmp_path / "out.mp4")
    assert frames[0][0].shape == (64, 48, 3) and close(quarters(frames[0][0])[0], GREEN)
    assert [moment for _, moment in frames] == times
    odd = make(tmp_path / "odd.webm", "libvpx-vp9", size=(65, 49))
    record = quiet(odd, tmp_path / "odd.mp4", Swap(working_size=24))
    assert read(tmp_path / "odd.mp4")[0][0][0].shape == (50, 66, 3)
    assert (record.width, record.height) == (65, 49)


def test_sound_and_metadata_are_dropped(tmp_path):
    secret = {"title": "SECRET", "location": "+52.5200+013.4050/", "comment": "SECRET", "artist": "SECRET"}
    source = make(tmp_path / "in.mov", audio="aac", metadata=secret)
    assert b"SECRET" in source.read_bytes() and b"52.52" in source.read_bytes()
    for name in ("out.mp4", "out.mkv", "out.mov"):
        quiet(source, tmp_path / name, Swap())
        content = (tmp_path / name).read_bytes()
        assert b"SECRET" not in content and b"52.52" not in content
        with av.open(str(tmp_path / name)) as container:
            assert len(container.streams) == 1 and "title" not in container.metadata


def test_sound_is_kept_when_asked_for(tmp_path):
    source = make(tmp_path / "in.mp4", audio="aac", count=50, metadata={"title": "SECRET"})
    assert quiet(source, tmp_path / "out.mp4", Swap(), audio="keep").audio == "keep"
    assert heard(tmp_path / "out.mp4")[0] == 440
    assert b"SECRET" not in (tmp_path / "out.mp4").read_bytes()
    quiet(make(tmp_path / "mute.mp4"), tmp_path / "mute_out.mp4", Swap(), audio="keep")
    assert not read(tmp_path / "mute_out.mp4")[1].has_audio
    with pytest.raises(UserError, match="drop or keep"):
        quiet(source, tmp_path / "other.mp4", Swap(), audio="mute")


def test_damaged_packets_are_in_the_record(tmp_path):
    source = damage(make(tmp_path / "in.avi", "mjpeg", count=40, pix_fmt="yuvj420p"), [7])
    record = quiet(source, tmp_path / "out.mp4", Swap())
    assert (record.frames, record.damaged) == (39, 1)


def test_bad_input_touches_nothing(tmp_path):
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("text " * 99)
    cut = make(tmp_path / "cut.mkv", count=50)
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    before = names(tmp_path)
    for name in ("missing.mp4", *before):
        with pytest.raises(UserError):
            quiet(tmp_path / name, tmp_path / "out.mp4", Swap())
        assert names(tmp_path) == before


def test_an_output_that_must_not_be(tmp_path):
    source = make(tmp_path / "in.mp4")
    content = source.read_bytes()
    (tmp_path / "symlink.mp4").symlink_to(source)
    os.link(source, tmp_path / "hardlink.mp4")
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.mp4").write_text("old")
    (tmp_path / "new.mp4.json").write_text("old")
    (tmp_path / "dangling.mp4").symlink_to(tmp_path / "nowhere")
    cases = [
        ("in.mp4", True, "is the input itself"),
        ("symlink.mp4", True, "is the input itself"),
        ("hardlink.mp4", True, "is the input itself"),
        ("folder/../in.mp4", True, "is the input itself"),
        ("folder", True, r"is a folder; .*folder/in\.mp4"),
        ("old.mp4", False, "exists; use --force"),
        ("new.mp4", False, r"new\.mp4\.json exists; use --force"),
        ("dangling.mp4", False, "exists; use --force"),
        ("out.avi", False, "must end in"),
        ("nowhere/out.mp4", False, "there is no folder"),
    ]
    before = names(tmp_path)
    for name, force, message in cases:
        with pytest.raises(UserError, match=message):
            quiet(source, tmp_path / name, Swap(), force=force)
    with pytest.raises(UserError, match="is the input itself"):
        quiet(source, tmp_path / "out.mp4", Swap(), report=source, force=True)
    with pytest.raises(UserError, match="same file"):
        quiet(source, tmp_path / "out.mp4", Swap(), report=tmp_path / "out.mp4")
    assert names(tmp_path) == before and source.read_bytes() == content
    assert (tmp_path / "old.mp4").read_text() == "old"


def test_force_overwrites(tmp_path):
    (tmp_path / "out.mp4").write_text("old")
    (tmp_path / "out.mp4.json").write_text("old")
    quiet(make(tmp_path / "in.mp4"), tmp_path / "out.mp4", Swap(), force=True)
    assert len(read(tmp_path / "out.mp4")[0]) == 20
    assert json.loads((tmp_path / "out.mp4.json").read_text())["frames"] == 20


@pytest.mark.parametrize(
    "way, message",
    [
        ("raises", "broken failed on frames 4 to 7: RuntimeError: out of memory"),
        ("nan", "values from nan to nan"),
        ("too bright", "instead of 0..1"),
        ("too dark", "instead of 0..1"),
        ("short", r"returned \(1, 3, 3, 48, 64\) for a clip of \(1, 3, 4, 48, 64\)"),
        ("small", "for a clip of"),
        ("nothing", "returned NoneType"),
    ],
)
def test_a_method_that_breaks_its_word_leaves_nothing(tmp_path, way, message):
    (tmp_path / "out.mp4").write_text("old")
    make(tmp_path / "in.mp4")
    with pytest.raises(ActonymError, match=message):
        quiet(tmp_path / "in.mp4", tmp_path / "out.mp4", Broken(way), batch=1, force=True)
    assert names(tmp_path) == ["in.mp4", "out.mp4"] and (tmp_path / "out.mp4").read_text() == "old"


@pytest.mark.parametrize("place", ["write", "close"])
def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch, place):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(VideoWriter, place, full)
    with pytest.raises(ActonymError, match="the disk is full"):
        quiet(make(tmp_path / "in.mp4"), tmp_path / "out.mp4", Swap())
    assert names(tmp_path) == ["in.mp4"]


def test_frames_that_got_lost_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr("actonym.run.file.count_frames", lambda path: 19)
    with pytest.raises(ActonymError, match="holds 19 of 20 frames"):
        quiet(make(tmp_path / "in.mp4"), tmp_path / "out.mp4", Swap())
    assert names(tmp_path) == ["in.mp4"]


@pytest.mark.parametrize("failing", ["out.mp4", "out.mp4.json"])
def test_output_and_record_come_together_or_not_at_all(tmp_path, monkeypatch, failing):
    replace = os.replace

    def fails(part, target):
        if Path(target).name == failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        replace(part, target)

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(ActonymError, match="Input/output error"):
        quiet(make(tmp_path / "in.mp4"), tmp_path / "out.mp4", Swap())
    assert names(tmp_path) == ["in.mp4"]


def test_the_unfinished_file_is_private_and_the_finished_one_is_not(tmp_path):
    modes = []

    class Looks(Swap):
        def forward(self, clip, mask=None):
            modes.append(stat.S_IMODE(part_name(tmp_path / "out.mp4").stat().st_mode))
            return super().forward(clip, mask)

    before = os.umask(0o022)
    try:
        quiet(make(tmp_path / "in.mp4"), tmp_path / "out.mp4", Looks())
    finally:
        os.umask(before)
    assert set(modes) == {0o600}
    assert stat.S_IMODE((tmp_path / "out.mp4").stat().st_mode) == 0o644


def test_what_a_killed_run_left_is_removed(tmp_path):
    part_name(tmp_path / "out.mp4").write_text("half a video")
    part_name(tmp_path / "out.mp4.json").write_text("half a record")
    assert all(path.name.endswith(".part") for path in tmp_path.iterdir())
    quiet(make(tmp_path / "in.mp4"), tmp_path / "out.mp4", Swap())
    assert names(tmp_path) == ["in.mp4", "out.mp4", "out.mp4.json"]


def test_two_runs_do_not_share_an_output(tmp_path):
    make(tmp_path / "in.mp4")

    class Again(Swap):
        def forward(self, clip, mask=None):
            with pytest.raises(UserError, match="another run is writing"):
                quiet(tmp_path / "in.mp4", tmp_path / "out.mp4", Swap())
            return super().forward(clip, mask)

    quiet(tmp_path / "in.mp4", tmp_path / "out.mp4", Again())
    assert names(tmp_path) == ["in.mp4", "out.mp4", "out.mp4.json"]


def start(source, target, method, *more):
    command = [sys.executable, str(HERE / "run_slow.py"), str(source), str(target), method, *map(str, more)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def started_writing(process, target):
    deadline = time.monotonic() + 60
    while not part_name(target).exists():
        assert process.poll() is None and time.monotonic() < deadline, process.stderr.read()
        time.sleep(0.02)
    time.sleep(0.5)


def test_a_run_that_is_ended_leaves_nothing(tmp_path):
    """Terminated, interrupted, killed: all at once, to save the time of starting them."""
    source = make(tmp_path / "in.mp4", count=60)
    targets = {number: tmp_path / f"{number.name}.mp4" for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)}
    running = {number: start(source, target, "Slow") for number, target in targets.items()}
    for number, process in running.items():
        started_writing(process, targets[number])
        process.send_signal(number)
        process.communicate(timeout=30)
        assert process.returncode != 0
    killed = targets[signal.SIGKILL]
    assert names(tmp_path) == sorted(["in.mp4", part_name(killed).name, f".{killed.name}.json.actonym.part"])
    quiet(source, killed, Swap())
    assert names(tmp_path) == ["SIGKILL.mp4", "SIGKILL.mp4.json", "in.mp4"]


def test_a_file_system_that_takes_no_more(tmp_path):
    source = make(tmp_path / "in.mp4", count=60, size=(256, 192))
    process = start(source, tmp_path / "out.mp4", "Noise", 50_000)
    message = process.communicate(timeout=60)[1]
    assert process.returncode == 1 and "the disk is full" in message
    assert names(tmp_path) == ["in.mp4"]


def test_ctrl_c_ends_a_stream_and_keeps_what_it_has(tmp_path):
    content = make(tmp_path / "in.ts", "mpeg2video", count=60).read_bytes()
    os.mkfifo(tmp_path / "pipe")
    more = threading.Event()

    def feed():
        with (tmp_path / "pipe").open("wb") as pipe:
            pipe.write(content)
            pipe.flush()
            more.wait(30)

    class Interrupted(Slow):
        def forward(self, clip, mask=None):
            os.kill(os.getpid(), signal.SIGINT)
            more.set()
            return super().forward(clip, mask)

    feeder = threading.Thread(target=feed)
    feeder.start()
    record = quiet(tmp_path / "pipe", tmp_path / "out.mp4", Interrupted(), batch=1)
    feeder.join()
    assert 2 <= record.frames < 60 and (record.input, record.input_sha256) == ("pipe stream", None)
    assert len(read(tmp_path / "out.mp4")[0]) == record.frames
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(UserError, match="sound of a stream"):
        quiet(tmp_path / "pipe", tmp_path / "other.mp4", Swap(), audio="keep")


def test_a_video_from_the_network(tmp_path):
    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    make(tmp_path / "in.mp4")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://user:secret@127.0.0.1:{server.server_port}/in.mp4"
        record = quiet(address, tmp_path / "out.mp4", Swap())
        server.shutdown()
    assert (record.frames, record.input, record.input_sha256) == (20, "http stream", None)
    assert "secret" not in (tmp_path / "out.mp4.json").read_text()


def test_the_bar_says_frames_per_second(tmp_path, capsys):
    anonymize_file(make(tmp_path / "in.mp4"), tmp_path / "out.mp4", Swap())
    out, err = capsys.readouterr()
    assert not out and "20/20" in err and "frames/s" in err
    quiet(tmp_path / "in.mp4", tmp_path / "other.mp4", Swap())
    assert capsys.readouterr() == ("", "")


def test_noise_is_noise(tmp_path):
    """The method of the full-disk test makes what it is meant to."""
    source = make(tmp_path / "in.mp4", size=(256, 192))
    quiet(source, tmp_path / "out.mp4", Noise())
    assert (tmp_path / "out.mp4").stat().st_size > 50_000
