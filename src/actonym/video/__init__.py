"""Files and streams to clips and back: read, write, sample, transform."""

from actonym.video.audio import AudioTrack
from actonym.video.reader import Frame, VideoInfo, VideoReader, count_frames, is_live
from actonym.video.sample import FileVideo, clip_indices, views
from actonym.video.writer import VideoWriter, container_format

__all__ = [
    "AudioTrack",
    "FileVideo",
    "Frame",
    "VideoInfo",
    "VideoReader",
    "VideoWriter",
    "clip_indices",
    "container_format",
    "count_frames",
    "is_live",
    "views",
]
