"""The frame attack: the attribute attack on single frames."""

from dataclasses import replace

from torch import Tensor

from actonym.data.clips import Clips


def single_frames(clips: Clips, count: int = 4) -> Clips:
    """`count` evenly spaced frames of each clip, each a clip of one frame and a view of its video."""
    video = _apart(clips.thinned(count).video)
    views = clips.views * video.shape[1]
    return replace(clips, video=video.flatten(0, 1), mask=None, privacy_frames=None, views=views)


def labelled_frames(clips: Clips, count: int = 4, crops: int = 1) -> Clips:
    """`count` evenly spaced frames of each clip, each a video of its own with the labels of that very frame.

    `crops` consecutive clips are crops of the same frames: these stay the views of a frame.
    """
    thin = clips.thinned(count)
    if thin.privacy_frames is None:
        raise ValueError("these clips have no labels of single frames")
    video, labels = _apart(thin.video), thin.privacy_frames
    frames = video.shape[1]
    video = video.unflatten(0, (-1, crops)).transpose(1, 2).flatten(0, 2)  # crops of one frame lie next to each other
    copies = clips.views // crops * frames  # frames of one video
    return replace(
        clips,
        video=video,
        action=clips.action.repeat_interleave(copies, 0),
        privacy=labels[::crops].flatten(0, 1),
        privacy_frames=None,
        subject=[name for name in clips.subject for _ in range(copies)],
        source=[name for name in clips.source for _ in range(copies)],
        mask=None,
        views=crops,
    )


def _apart(video: Tensor) -> Tensor:
    """`[N, 3, T, H, W]` to `[N, T, 3, 1, H, W]`."""
    return video.transpose(1, 2).unsqueeze(3)
