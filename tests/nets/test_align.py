"""Faces brought to one place: turned, scaled, never mirrored."""

import math

import pytest
import torch

from actonym.nets.align import ARCFACE, DLIB, chip, padded, similarity


@pytest.mark.parametrize(("angle", "scale"), [(0, 1), (0.5, 2), (-2, 0.3)])
def test_a_turned_face_comes_back(angle, scale):
    reference = torch.tensor(ARCFACE, dtype=torch.double) * 112
    c, s = scale * math.cos(angle), scale * math.sin(angle)
    points = reference @ torch.tensor([[c, -s], [s, c]], dtype=torch.double).T + torch.tensor([30.0, -7.0])
    matrix = similarity(points, reference)
    assert torch.allclose(points @ matrix[:, :2].T + matrix[:, 2], reference)


def test_a_mirrored_face_is_not_mirrored_back():
    reference = torch.tensor(ARCFACE, dtype=torch.double)
    assert similarity(reference * torch.tensor([-1.0, 1.0]), reference)[:, :2].det() >= 0


@pytest.mark.parametrize("side", [40, 600])
def test_a_chip_shows_what_lies_at_the_points(side):
    """Five coloured discs, near and far: each comes to its place in the chip, large faces too."""
    reference = torch.tensor(DLIB)
    frame = torch.zeros(3, side * 2, side * 2, dtype=torch.uint8)
    points = reference * side + side / 3
    rows, columns = torch.meshgrid(torch.arange(side * 2), torch.arange(side * 2), indexing="ij")
    colours = torch.tensor([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0], [0, 255, 255]], dtype=torch.uint8)
    for (x, y), colour in zip(points.tolist(), colours, strict=True):
        disc = (columns - x) ** 2 + (rows - y) ** 2 < (side / 12) ** 2
        frame[:, disc] = colour[:, None]
    found = chip(frame, points, padded(DLIB, 0.25), 80)
    for (x, y), colour in zip(padded(DLIB, 0.25), colours, strict=True):
        seen = found[:, round(y * 80), round(x * 80)]
        assert (seen.float() - colour.float()).abs().max() < 60


def test_padding_is_a_margin():
    assert padded(((0.0, 0.0), (1.0, 0.5)), 0.25) == ((pytest.approx(1 / 6),) * 2, (pytest.approx(5 / 6), 0.5))


def test_chips_are_cut_where_dlib_would_cut_them():
    """dlib's own five points (corners of the eyes, below the nose) of a face, and ours, lead to the same chip."""
    dlib = pytest.importorskip("dlib")
    corners = [(0.8595675, 0.2134982), (0.6460605, 0.2289674), (0.1205751, 0.2137275), (0.3340851, 0.2290642)]
    side, shift = 200, 60
    theirs = [
        dlib.point(round(x * side + shift), round(y * side + shift)) for x, y in [*corners, (0.4901123, 0.6277975)]
    ]
    shape = dlib.full_object_detection(dlib.rectangle(shift, shift, shift + side, shift + side), theirs)
    picture = torch.nn.functional.interpolate(
        torch.rand(1, 3, 12, 12, generator=torch.Generator().manual_seed(0)), (320, 320), mode="bilinear"
    )[0]
    frame = (picture * 255).to(torch.uint8)
    expected = torch.from_numpy(dlib.get_face_chip(frame.permute(1, 2, 0).contiguous().numpy(), shape, 100, 0.2))
    ours = chip(frame, torch.tensor(DLIB) * side + shift, padded(DLIB, 0.2), 100).permute(1, 2, 0)
    assert (ours.float() - expected.float()).abs().mean() < 6
