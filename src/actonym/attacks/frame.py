"""The frame attack: the attribute attack on single frames, their scores averaged over the clip."""

from dataclasses import replace

from actonym.data.clips import Clips


def single_frames(clips: Clips, count: int = 4) -> Clips:
    """`count` evenly spaced frames of each clip, each a clip of one frame and a view of its video."""
    video = clips.thinned(count).video
    n, c, t, h, w = video.shape
    frames = video.transpose(1, 2).reshape(n * t, c, 1, h, w)
    return replace(clips, video=frames, mask=None, views=clips.views * t)
