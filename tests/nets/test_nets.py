import pytest
import torch

from actonym.errors import UserError
from actonym.nets.d3d import D3D, box_sum, fold, motion
from actonym.nets.mobilenet import MobileNetV2
from actonym.nets.recognizers import NETS, build
from actonym.nets.vit import Attention, VideoViT


@pytest.mark.parametrize("name", NETS)
def test_every_network_maps_clips_to_logits(name):
    net = build(name, 7, 16, 64).eval()
    assert net(torch.rand(2, 3, 16, 64, 64)).shape == (2, 7)


def test_the_small_network_takes_odd_sizes_and_short_clips():
    net = D3D(3, "both").eval()
    assert net(torch.rand(1, 3, 3, 37, 50)).shape == (1, 3)


@pytest.mark.parametrize(("size", "dim", "heads"), [("tiny", 192, 3), ("small", 384, 6), ("base", 768, 12)])
def test_vit_has_the_papers_sizes(size, dim, heads):
    """16x112x112 in tubelets of 2x16x16 is 8 x 49 = 392 tokens; a ViT of depth 12 has 12 (12 d^2 + 13 d) weights."""
    with torch.device("meta"):
        net = VideoViT(51, size)
    assert net.position.shape == (1, 392, dim)
    assert len(net.layers) == 12 and net.layers[0].attention.heads == heads
    body = sum(p.numel() for layer in net.layers for p in layer.parameters())
    assert body == 12 * (12 * dim**2 + 13 * dim)


def test_attention_against_a_slow_twin():
    torch.manual_seed(0)
    attention, x = Attention(12, 3), torch.randn(2, 5, 12)
    q, k, v = attention.qkv(x).chunk(3, -1)
    out = torch.zeros(2, 5, 12)
    for b in range(2):
        for head in range(3):
            part = slice(4 * head, 4 * head + 4)
            for i in range(5):
                weights = torch.softmax(torch.stack([q[b, i, part] @ k[b, j, part] / 2 for j in range(5)]), 0)
                out[b, i, part] = sum(weights[j] * v[b, j, part] for j in range(5))
    assert torch.allclose(attention(x), attention.out(out), atol=1e-5)


def test_clip_that_does_not_divide_into_tubelets_is_refused():
    with pytest.raises(ValueError, match="does not divide"):
        VideoViT(5, "tiny", 16, 100)


def test_fold_keeps_every_pixel():
    clip = torch.arange(2 * 3 * 2 * 8 * 12.0).view(2, 3, 2, 8, 12)
    folded = fold(clip)
    assert folded.shape == (2, 12, 2, 4, 6)
    assert torch.equal(folded.flatten().sort().values, clip.flatten().sort().values)
    assert torch.equal(folded[0, :4, 0, 1, 2], clip[0, 0, 0, 2:4, 4:6].flatten())


def test_box_sum_against_pooling():
    grey = torch.rand(2, 1, 3, 9, 7)
    pooled = torch.nn.functional.avg_pool3d(grey, (1, 5, 5), 1, (0, 2, 2), count_include_pad=False)
    assert torch.allclose(box_sum(grey) / box_sum(torch.ones_like(grey)), pooled, atol=1e-6)


def test_motion_points_where_things_go():
    """Stripes that move to the right by half a pixel per frame: half a pixel to the right wherever they are steep.

    Slopes are taken over two pixels, which makes stripes this fine a sixth too flat and the flow as much too large.
    """
    x = torch.arange(40.0)
    stripes = torch.stack([torch.sin(x - 0.5 * t) for t in range(6)]).view(1, 1, 6, 1, 40).expand(1, 1, 6, 32, 40)
    right, down, _ = motion(stripes)[0, :, :, 5:-5, 5:-5]
    steep = torch.cos(x - 0.25).abs()[5:-5] > 0.7
    assert abs(right[0][:, steep].median() - 0.5) < 0.12
    assert down.abs().max() < 0.05


def test_a_motion_network_is_blind_to_a_still_picture():
    torch.manual_seed(0)
    net = D3D(4, "motion").eval()
    one, other = (torch.rand(1, 3, 1, 32, 32).expand(1, 3, 16, 32, 32) for _ in range(2))
    assert torch.allclose(net(one), net(other), atol=1e-5)


def test_unknown_network_suggests_the_nearest():
    with pytest.raises(UserError, match="did you mean 'vit-tiny'"):
        build("vit-tyni", 5, 16, 64)


def test_mobilenet_has_the_weights_of_the_public_one():
    """3,504,872 in torchvision's, with a thousand classes."""
    with torch.device("meta"):
        net = MobileNetV2()
    assert sum(p.numel() for p in net.parameters()) == 3_504_872
    assert net.features[18][0].weight.shape == (1280, 320, 1, 1) and "features.1.conv.1.weight" in net.state_dict()


def test_frames_of_mobilenet_are_seen_by_themselves():
    torch.manual_seed(0)
    net, clip = MobileNetV2(3).eval(), torch.rand(2, 3, 4, 32, 32)
    slow = torch.stack([net(clip[:, :, t : t + 1]) for t in range(4)]).mean(0)
    assert torch.allclose(net(clip), slow, atol=1e-5)


def test_what_all_videos_have_in_common_is_nothing_to_the_contrast_network():
    """The same traces, faint under one picture or loud by themselves, give the same answers."""
    torch.manual_seed(0)
    net = build("frame-contrast", 3, 2, 16)
    net.net.drop.p = 0.0
    traces, picture = torch.rand(6, 3, 2, 16, 16), torch.rand(3, 1, 16, 16)
    faint = 0.9 * picture + 0.05 * traces
    assert torch.allclose(net(traces), net(faint), atol=1e-2)
    assert not torch.allclose(net(traces), net(traces.flip(0)), atol=1e-2)


def test_what_holds_still_over_a_clip_is_apart_from_what_moves():
    torch.manual_seed(0)
    net, seen = build("moving", 3, 8, 16).eval(), []
    net.net.register_forward_hook(lambda _, given, out: seen.append(given[0]))
    clips, pattern = torch.rand(2, 3, 8, 16, 16), torch.rand(2, 3, 1, 16, 16)
    net(clips), net(clips + pattern)
    (frames, moving), (covered, same) = (both.chunk(2, 1) for both in seen)
    times = [1, 3, 5, 7]  # the middles of four quarters
    assert torch.equal(frames, clips[:, :, times]) and not torch.allclose(frames, covered, atol=0.1)
    assert torch.allclose(moving, same, atol=1e-5)
    assert torch.allclose(moving, 0.5 + 2 * (clips[:, :, times] - clips.mean(2, keepdim=True)), atol=1e-5)


def test_the_moving_network_learns_from_frames_drawn_anew():
    torch.manual_seed(0)
    net, clip = build("moving", 3, 16, 16).train(), torch.arange(16.0).view(1, 1, 16, 1, 1).expand(1, 3, 16, 16, 16)
    seen = set()
    net.net.register_forward_hook(lambda _, given, out: seen.update(given[0][0, 0, :, 0, 0].tolist()))
    for _ in range(40):
        net(clip)
    assert len(seen) >= 12  # of 16 frames, two in each of 40 turns: all but a few
