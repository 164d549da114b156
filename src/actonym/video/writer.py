"""Write a video that browsers play: H.264, yuv420p, nothing of the source in it but what it is given."""

from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter

from actonym.errors import UserError
from actonym.video.audio import AudioTrack
from actonym.video.reader import Frame

FORMATS = {".mp4": "mp4", ".mov": "mov", ".mkv": "matroska"}
QUALITY = {"preset": "veryfast", "crf": "20", "bf": "0"}  # B-frames make mp4 misstate how long uneven times last
FINEST = Fraction(1, 1_000_000)  # seconds; mp4 cannot count in much smaller ones
BT709 = 1  # matrix, primaries and transfer of the output, written into it so that every player agrees


def container_format(path: str | Path) -> str:
    """The container that a file name asks for."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise UserError(f"cannot write {Path(path).name!r}: the output must end in {', '.join(FORMATS)}")
    return FORMATS[suffix]


class VideoWriter:
    """Takes frames `[H, W, 3]` of any size with their times, and enlarges them to `width` x `height`.

    Times are kept to the source's `time_base`, so a variable frame rate stays variable. H.264 with yuv420p has only
    even sizes: an odd width or height gets one more column or row, a copy of the last one. Sound comes along only as
    the `audio` track that is given. No metadata is written, not even the names of the libraries.

    Left through an exception, the file is closed but worthless: who opened it removes it.
    """

    def __init__(
        self,
        path: str | Path,
        width: int,
        height: int,
        fps: Fraction = Fraction(25),
        *,
        format: str | None = None,
        time_base: Fraction | None = None,
        aspect: Fraction = Fraction(1),
        audio: AudioTrack | None = None,
    ) -> None:
        self.frames = 0
        self._width, self._height = width, height
        self._time_base = max(time_base or 1 / fps, FINEST)
        self._last = -1
        self._audio = audio
        format = format or container_format(path)
        options = {"fflags": "+bitexact"} | ({} if format == "matroska" else {"movflags": "+faststart"})
        self._container = av.open(f"file:{path}", "w", format=format, container_options=options)
        self._stream = self._container.add_stream("libx264", rate=fps, options=QUALITY)
        self._stream.width, self._stream.height = width + width % 2, height + height % 2
        self._stream.pix_fmt = "yuv420p"
        context = self._stream.codec_context
        context.thread_count = 0  # as many as there are cores; one is the default
        context.time_base = self._time_base
        context.sample_aspect_ratio = aspect
        context.colorspace = context.color_primaries = context.color_trc = BT709
        context.color_range = ColorRange.MPEG
        self._reformatter = VideoReformatter()
        if audio is not None:
            audio.attach(self._container)

    def write(self, frame: Frame, time: Fraction | float) -> None:
        """Add one frame, uint8 RGB, at `time` seconds. Times must rise."""
        picture = self._picture(np.ascontiguousarray(frame))
        self._last = picture.pts = max(self._last + 1, round(Fraction(time) / self._time_base))
        picture.time_base = self._time_base
        if self._audio is not None:
            self._container.mux(self._audio.packets(until=float(time)))
        self._container.mux(self._stream.encode(picture))
        self.frames += 1

    def _picture(self, frame: Frame) -> av.VideoFrame:
        right, bottom = self._width % 2, self._height % 2
        picture = av.VideoFrame.from_ndarray(frame, "rgb24")
        if right or bottom:
            exact = self._reformatter.reformat(picture, self._width, self._height, interpolation="BILINEAR", threads=1)
            padded: Frame = np.pad(exact.to_ndarray(), ((0, bottom), (0, right), (0, 0)), mode="edge")
            picture = av.VideoFrame.from_ndarray(padded, "rgb24")
        return self._reformatter.reformat(
            picture,
            self._stream.width,
            self._stream.height,
            "yuv420p",
            dst_colorspace=Colorspace.ITU709,
            dst_color_range=ColorRange.MPEG,
            interpolation="BILINEAR",
            threads=1,
        )

    def close(self) -> None:
        """Flush the encoder and finish the file."""
        self._container.mux(self._stream.encode(None))
        if self._audio is not None:
            self._container.mux(self._audio.packets(until=None))
        self._container.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._abandon()

    def _abandon(self) -> None:
        """Let go of the file. What went wrong is already on its way up; a second failure here would hide it."""
        with suppress(av.FFmpegError):
            self._container.close()
