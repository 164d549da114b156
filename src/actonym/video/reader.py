"""Read a file or stream frame by frame: upright RGB and its time, in the same memory whatever the length."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Self

import av
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from actonym.errors import UserError

Frame = NDArray[np.uint8]  # [H, W, 3], RGB
Matrix = list[list[int]]

TIMEOUT = (10.0, 10.0)  # seconds a stream may stay silent when opened, and when read
DAMAGED_SHARE = 0.05  # of the packets of a file; above it the file is refused
END_TOLERANCE = 0.1  # seconds (and at least two frames) that the end may fall short of what the header declares
FASTEST = 1000  # frames per second; a header that claims more is wrong
NOT_VIDEO = {"tty"}  # FFmpeg takes any text for ANSI art


@dataclass(frozen=True)
class VideoInfo:
    """What a video is before it is read. Width and height are those of the upright picture."""

    width: int
    height: int
    fps: Fraction
    frames: int | None  # as declared by the container; None: it does not say
    duration: float | None
    has_audio: bool
    time_base: Fraction  # the unit in which the source counts time
    start: Fraction  # time of the first frame on the source's own clock
    aspect: Fraction  # width of a pixel over its height


def is_live(source: str | Path) -> bool:
    """A stream rather than a file: it has no end to check, no hash, and cannot be read twice."""
    return str(source) == "-" or "://" in str(source) or Path(source).is_fifo()


def count_frames(path: str | Path) -> int:
    """How many frames a file holds, counted without decoding them."""
    with VideoReader(path) as reader:
        return reader.count()


class VideoReader:
    """Yields `(frame, time)`: uint8 `[H, W, 3]` RGB, upright, and seconds since the first frame, strictly rising.

    `short` shrinks the frames so that their short side is at most this, which costs far less here than later.

    A file that ends before the end its header declares raises: half a video must not pass for a whole one. Packets
    that cannot be decoded, as cameras and weak links produce them, are skipped and counted in `damaged`; their
    frames are missing and all others keep their times. Above 5 % damaged packets a file raises. A stream is read as
    it comes, and ends when the other side falls silent.
    """

    def __init__(self, source: str | Path, short: int | None = None) -> None:
        self.live = is_live(source)
        self.name = _public_name(source, self.live)
        self.damaged = 0
        self._packets = 0
        self._ends: dict[int, float] = {}  # of each stream, in seconds
        self._container = _open(source, self.live)
        try:
            self._stream = _video_stream(self._container, self.name)
            self._stream.thread_type = "AUTO"
            self._rest = self._demux()
            frames = self._decode()
            first = next(frames, None)
            if first is None:
                raise UserError(f"{self.name} has a video stream without a single frame")
            self._matrix = _display_matrix(first)  # asked once: a frame that was asked is not freed at once
            self.info = _info(self._container, self._stream, first, self._matrix)
        except BaseException:
            self.close()
            raise
        self._frames = chain([first], frames)
        self._size = _shrunk(first.width, first.height, short)
        self._reformatter = VideoReformatter()  # kept: making one for each frame costs more than the conversion

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._container.close()

    def __iter__(self) -> Iterator[tuple[Frame, Fraction]]:
        clock = _Clock(1 / self.info.fps, self.info.time_base)
        for frame in self._frames:
            yield self._upright(frame), clock(_stamp(frame))

    def count(self) -> int:
        """Run through the rest of the video without decoding; how many packets make frames in all."""
        for _ in self._rest:
            pass
        return self._packets

    def _upright(self, frame: av.VideoFrame) -> Frame:
        """RGB, turned and mirrored as the display matrix says; frames of a new size are brought to the first's."""
        width, height = self._size
        frame = self._reformatter.reformat(frame, width, height, "rgb24", interpolation="AREA", threads=1)
        image = np.asarray(frame.to_ndarray(), np.uint8)
        if self._matrix is None:
            return image
        (a, b), (c, d) = self._matrix
        across, down = a, d
        if abs(b) > abs(a):
            image, across, down = image.swapaxes(0, 1), c, b
        return np.ascontiguousarray(image[:: -1 if down < 0 else 1, :: -1 if across < 0 else 1])

    def _decode(self) -> Iterator[av.VideoFrame]:
        for packet in self._rest:
            try:
                frames = packet.decode()
            except av.FFmpegError:
                self.damaged += 1
                continue
            yield from frames
        self._check_damage()

    def _demux(self) -> Iterator[av.Packet]:
        """The packets of the video stream. The others are looked at too: a file may end with its sound."""
        last = None
        try:
            for packet in self._container.demux():
                index = packet.stream.index
                if packet.size and packet.pts is not None:
                    end = float((packet.pts + (packet.duration or 0)) * packet.time_base)
                    self._ends[index] = max(self._ends.get(index, end), end)
                if index == self._stream.index:
                    last = packet if packet.size else last
                    self._packets += packet.size > 0 and not packet.is_discard  # discarded: cut off by an edit list
                    yield packet
        except av.FFmpegError as error:
            if not self.live:
                raise UserError(f"{self.name} is truncated or damaged: {error.strerror}") from error
        except IndexError:  # PyAV, at the end of a file in which a stream appeared midway
            pass
        if not self.live and last is not None and (last.is_corrupt or self._falls_short()):
            raise UserError(f"{self.name} is truncated: it ends before the end that its header declares")

    def _falls_short(self) -> bool:
        """Only of containers that write down how long they are; of the others FFmpeg merely guesses."""
        formats, stream = self._container.format.name.split(","), self._stream
        rate, end = stream.average_rate or Fraction(25), self._ends.get(stream.index, 0.0)
        if "avi" in formats:
            declared = float(stream.frames / rate)
        elif "mov" in formats and stream.time_base is not None:
            declared = float(((stream.start_time or 0) + (stream.duration or 0)) * stream.time_base)
        elif "matroska" in formats:
            declared, end = (self._container.duration or 0) / av.time_base, max(self._ends.values(), default=0.0)
        else:
            return False
        return end + max(END_TOLERANCE, 2 / float(rate)) < declared

    def _check_damage(self) -> None:
        if not self.live and self.damaged > max(1, DAMAGED_SHARE * self._packets):
            raise UserError(f"{self.name} is damaged: {self.damaged} of {self._packets} packets cannot be decoded")


class _Clock:
    """Seconds since the first frame. A missing stamp is filled in, and a clock that was set back goes on."""

    def __init__(self, step: Fraction, tick: Fraction) -> None:
        self._step, self._tick = step, tick
        self._origin = Fraction(0)
        self._last: Fraction | None = None

    def __call__(self, stamp: Fraction | None) -> Fraction:
        if self._last is None:
            self._origin, time = stamp or Fraction(0), Fraction(0)
        elif stamp is None or stamp - self._origin < self._last - 1:
            time = self._last + self._step
            self._origin = self._origin if stamp is None else stamp - time
        else:
            time = max(stamp - self._origin, self._last + self._tick)
        self._last = time
        return time


def _public_name(source: str | Path, live: bool) -> str:
    """What messages call it: a file's own name, a stream's address without user and password."""
    return re.sub(r"//[^/@]*@", "//", str(source)) if live else Path(source).name


def _open(source: str | Path, live: bool) -> "av.container.InputContainer":
    name = "pipe:0" if str(source) == "-" else str(source)
    if not live:
        _check_file(Path(source))
        name = f"file:{source}"  # a name with a colon is no protocol
    try:
        container = av.open(name, metadata_errors="ignore", timeout=TIMEOUT if live else None)
    except av.FFmpegError as error:
        what = "cannot be opened" if live else "is not a video, or is truncated"
        raise UserError(f"{_public_name(source, live)} {what}: {error.strerror}") from error
    if container.format.name in NOT_VIDEO:
        container.close()
        raise UserError(f"{Path(source).name} is not a video")
    return container


def _check_file(path: Path) -> None:
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise UserError(f"{path} is empty")
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist") from error
    except IsADirectoryError as error:
        raise UserError(f"{path} is a folder, not a video") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error


def _video_stream(container: "av.container.InputContainer", name: str) -> av.VideoStream:
    for stream in container.streams.video:
        if not stream.disposition & av.stream.Disposition.attached_pic and stream.codec_context is not None:
            return stream
    raise UserError(f"{name} has no video stream")


def audio_stream(container: "av.container.InputContainer") -> av.AudioStream | None:
    """The first that can be decoded."""
    return next((stream for stream in container.streams.audio if stream.codec_context is not None), None)


def _info(
    container: "av.container.InputContainer", stream: av.VideoStream, first: av.VideoFrame, matrix: Matrix | None
) -> VideoInfo:
    width, height = first.width, first.height
    aspect = stream.sample_aspect_ratio or Fraction(1)
    if matrix is not None and abs(matrix[0][1]) > abs(matrix[0][0]):
        width, height, aspect = height, width, 1 / aspect
    duration, rates = container.duration, (stream.average_rate, stream.guessed_rate)
    return VideoInfo(
        width=width,
        height=height,
        fps=next((rate for rate in rates if rate and rate <= FASTEST), Fraction(25)),
        frames=stream.frames or None,
        duration=duration / av.time_base if duration and duration > 0 else None,
        has_audio=audio_stream(container) is not None,
        time_base=stream.time_base or Fraction(1, 90000),
        start=_stamp(first) or Fraction(0),
        aspect=aspect,
    )


def _stamp(frame: av.VideoFrame) -> Fraction | None:
    return None if frame.pts is None or frame.time_base is None else Fraction(frame.pts * frame.time_base)


def _display_matrix(frame: av.VideoFrame) -> Matrix | None:
    """Where the camera says the picture's x and y go, or nothing if it was held upright."""
    try:
        data = frame.side_data["DISPLAYMATRIX"]  # type: ignore[typeddict-item]
    except KeyError:
        return None
    return np.frombuffer(data, np.int32).reshape(3, 3)[:2, :2].tolist()


def _shrunk(width: int, height: int, short: int | None) -> tuple[int, int]:
    scale = 1.0 if short is None else min(1.0, short / min(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))
