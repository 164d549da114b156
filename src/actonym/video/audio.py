"""The sound of a file on its way into another one, packet by packet, without its metadata."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av

from actonym.video.reader import audio_stream

# What is copied into which container. The headers of these codecs have no room for tags; others are encoded anew.
COPIED = {"mp4": {"aac", "mp3", "opus"}, "mov": {"aac", "mp3"}, "matroska": {"aac", "mp3", "opus"}}


class AudioTrack:
    """The first audio stream of `source`, shifted so that the source's time `start` becomes zero.

    It is copied as it is where the container takes it, and encoded as AAC otherwise. `packets` hands it out up to a
    time, so that sound and picture are interleaved and neither waits in memory for the other.
    """

    def __init__(self, source: str | Path, start: Fraction = Fraction(0)) -> None:
        self._input = av.open(f"file:{source}", metadata_errors="ignore")
        stream = audio_stream(self._input)
        if stream is None:
            raise ValueError(f"{source} has no sound")
        self._source = stream
        self._start = start
        self._waiting: av.Packet | None = None

    def attach(self, output: "av.container.OutputContainer") -> None:
        """Make room for the track in a container about to be written."""
        codec = self._source.codec_context.codec.canonical_name
        self.copied = codec in COPIED[output.format.name]
        if self.copied:
            self._target = output.add_stream_from_template(self._source)
        else:
            self._target = output.add_stream("aac", rate=self._source.codec_context.sample_rate)
            self._target.layout = "mono" if self._source.codec_context.layout.nb_channels == 1 else "stereo"
        self._packets = self._copy() if self.copied else self._encode()

    def packets(self, until: float | None) -> list[av.Packet]:
        """The next packets up to `until` seconds; all that are left if it is None."""
        ready: list[av.Packet] = []
        while (packet := self._waiting or next(self._packets, None)) is not None:
            if until is not None and packet.dts is not None and packet.dts * packet.time_base > until:
                self._waiting = packet
                return ready
            self._waiting = None
            ready.append(packet)
        return ready

    def close(self) -> None:
        self._input.close()

    def _copy(self) -> Iterator[av.Packet]:
        shift = round(self._start / (self._source.time_base or 1))
        for packet in self._input.demux(self._source):
            if packet.dts is None or packet.pts is None or packet.pts < shift:
                continue
            packet.pts -= shift
            packet.dts -= shift
            packet.stream = self._target
            yield packet

    def _encode(self) -> Iterator[av.Packet]:
        """A gap in the sound closes up; what cannot be decoded is left out."""
        at = None  # counted in samples
        for packet in self._input.demux(self._source):
            try:
                frames = packet.decode()
            except av.FFmpegError:
                continue
            for frame in frames:
                if at is None:
                    time = Fraction(0) if frame.time is None else Fraction(frame.time) - self._start
                    if time < 0:
                        continue
                    at = round(time * frame.sample_rate)
                frame.pts, frame.time_base = at, Fraction(1, frame.sample_rate)
                at += frame.samples
                yield from self._target.encode(frame)
        yield from self._target.encode(None)
