"""The frame attack: the attribute attack on single frames."""

from dataclasses import replace

from torch import Tensor

from actonym.data.clips import Clips, evenly
from actonym.data.room import changed


def single_frames(clips: Clips, count: int = 4) -> Clips:
    """`count` evenly spaced frames of each clip, each a clip of one frame and a view of its video."""
    places = evenly(clips.video.shape[2], count)
    video = changed(clips.video, lambda part: _apart(part[:, :, places]).flatten(0, 1))
    return replace(clips, video=video, mask=None, privacy_frames=None, views=clips.views * len(places))


def labelled_frames(clips: Clips, count: int = 4, crops: int = 1) -> Clips:
    """`count` evenly spaced frames of each clip, each a video of its own with the labels of that very frame.

    `crops` consecutive clips are crops of the same frames: these stay the views of a frame.
    """
    if clips.privacy_frames is None:
        raise ValueError("these clips have no labels of single frames")
    places = evenly(clips.video.shape[2], count)

    def frames(part: Tensor) -> Tensor:
        """Of some clips with all their crops: crops of one frame lie next to each other."""
        single = _apart(part.flatten(0, 1)[:, :, places])
        return single.unflatten(0, (-1, crops)).transpose(1, 2).flatten(0, 2)

    video = changed(clips.video.unflatten(0, (-1, crops)), frames)
    copies = clips.views // crops * len(places)  # frames of one video
    return replace(
        clips,
        video=video,
        action=clips.action.repeat_interleave(copies, 0),
        privacy=clips.privacy_frames[::crops, places].flatten(0, 1),
        privacy_frames=None,
        subject=[name for name in clips.subject for _ in range(copies)],
        source=[name for name in clips.source for _ in range(copies)],
        mask=None,
        views=crops,
    )


def _apart(video: Tensor) -> Tensor:
    """`[N, 3, T, H, W]` to `[N, T, 3, 1, H, W]`."""
    return video.transpose(1, 2).unsqueeze(3)
