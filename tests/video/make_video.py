"""Small videos whose every frame says which it is: red, green and blue quarters, and its number in black and white."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

RED, GREEN, BLUE = (200, 30, 30), (30, 200, 30), (30, 30, 200)


def picture(index: int, width: int = 64, height: int = 48) -> np.ndarray:
    image = np.zeros((height, width, 3), np.uint8)
    image[: height // 2, : width // 2] = RED
    image[: height // 2, width // 2 :] = GREEN
    image[height // 2 :, : width // 2] = BLUE
    for bit, cell in enumerate(_cells(image)):
        cell[:] = 220 if index >> bit & 1 else 30
    return image


def frame_id(image: np.ndarray) -> int:
    return sum((cell.mean() > 125) << bit for bit, cell in enumerate(_cells(image)))


def _cells(image: np.ndarray) -> list[np.ndarray]:
    """Six fields of the lower right quarter, one for each bit of the frame's number."""
    height, width = image.shape[:2]
    corner = image[height // 2 :, width // 2 :]
    return [part for row in np.array_split(corner, 2, axis=0) for part in np.array_split(row, 3, axis=1)]


def quarters(image: np.ndarray) -> list[tuple[int, ...]]:
    """Colours of the quarters: upper left, upper right, lower left, lower right."""
    height, width = image.shape[:2]
    places = [(y, x) for y in (height // 4, height * 3 // 4) for x in (width // 4, width * 3 // 4)]
    return [tuple(int(value) for value in image[place]) for place in places]


def close(got: Sequence[int], wanted: Sequence[int], by: int = 12) -> bool:
    return all(abs(int(a) - b) <= by for a, b in zip(got, wanted, strict=True))


def make(
    path: Path,
    codec: str = "libx264",
    size: tuple[int, int] = (64, 48),
    count: int = 20,
    times: Sequence[Fraction] | None = None,
    pix_fmt: str = "yuv420p",
    rotation: tuple[float, bool] | None = None,
    metadata: dict[str, str] | None = None,
    audio: str | None = None,
    options: dict[str, str] | None = None,
    container_options: dict[str, str] | None = None,
) -> Path:
    width, height = size
    tick = Fraction(1, 25 if times is None else 1000)
    times = times or [Fraction(i, 25) for i in range(count)]
    with av.open(str(path), "w", options=container_options or {}) as container:
        container.metadata.update(metadata or {})
        stream = container.add_stream(codec, rate=25, options=options or {})
        stream.width, stream.height, stream.pix_fmt = width, height, pix_fmt
        stream.codec_context.time_base = tick
        if rotation is not None:
            stream.set_display_rotation(rotation[0], hflip=rotation[1])
        sound = None if audio is None else container.add_stream(audio, rate=48000, layout="mono")
        if sound is not None:
            sound.metadata.update(metadata or {})
        for index, time in enumerate(times):
            frame = av.VideoFrame.from_ndarray(picture(index, width, height), "rgb24")
            frame.pts, frame.time_base = round(time / tick), tick
            container.mux(stream.encode(frame))
            if sound is not None:
                container.mux(sound.encode(tone(index)))
        container.mux(stream.encode(None))
        if sound is not None:
            container.mux(sound.encode(None))
    return path


def tone(index: int, rate: int = 48000, hertz: int = 440) -> av.AudioFrame:
    """The part of a steady tone that sounds during frame `index` at 25 frames per second."""
    at = np.arange(index * rate // 25, (index + 1) * rate // 25)
    wave = (8000 * np.sin(2 * np.pi * hertz * at / rate)).astype(np.int16)
    frame = av.AudioFrame.from_ndarray(wave[None], "s16", "mono")
    frame.sample_rate, frame.pts, frame.time_base = rate, int(at[0]), Fraction(1, rate)
    return frame


def heard(path: Path) -> tuple[int, float]:
    """The loudest frequency of a file's sound, and how many seconds there are of it."""
    with av.open(str(path)) as container:
        frames = list(container.decode(audio=0))
    wave = np.concatenate([frame.to_ndarray()[0] for frame in frames]).astype(float)
    rate = frames[0].sample_rate
    return round(int(np.abs(np.fft.rfft(wave)).argmax()) * rate / len(wave)), len(wave) / rate


def damage(path: Path, packets: Sequence[int]) -> Path:
    """Overwrite the payload of some video packets."""
    with av.open(str(path)) as container:
        places = [(packet.pos, packet.size) for packet in container.demux(video=0) if packet.size]
    content = bytearray(path.read_bytes())
    for number in packets:
        at, size = places[number]
        content[at : at + size] = b"\xff" * size
    path.write_bytes(content)
    return path
