"""Networks on frames: the papers' sizes, and that frames and planes are never mixed."""

from functools import partial

import pytest
import torch

from actonym.nets import itnet, unet
from actonym.nets.itnet import ITNet
from actonym.nets.per_frame import per_frame
from actonym.nets.unet import UNet, UNetPlusPlus


def test_frames_and_planes_keep_their_places():
    """A plain reshape of [B, C, T] would make pictures of the red planes of three frames."""
    clip = torch.arange(2 * 3 * 5.0).view(2, 3, 5, 1, 1).expand(2, 3, 5, 4, 4)
    seen = []
    out = per_frame(lambda images: (seen.append(images), images)[1], clip)
    assert torch.equal(out, clip)
    assert torch.equal(seen[0][7, :, 0, 0], clip[1, :, 2, 0, 0]), "picture 7 is frame 2 of clip 1, in three colours"


@pytest.mark.parametrize(("h", "w"), [(16, 16), (17, 30), (5, 40)])
def test_odd_sizes_are_filled_and_cut(h, w):
    clip, sizes = torch.rand(1, 3, 2, h, w), []
    out = per_frame(lambda images: (sizes.append(images.shape[-2:]), images)[1], clip, 16)
    assert torch.equal(out, clip)
    assert sizes[0][0] % 16 == 0 and sizes[0][1] % 16 == 0


NETS = [(UNet, unet.MULTIPLE), (UNetPlusPlus, unet.MULTIPLE), (ITNet, itnet.MULTIPLE)]
NETS += [(partial(net, fold=2), 2 * unet.MULTIPLE) for net in (UNet, UNetPlusPlus)]


@pytest.mark.parametrize(("net", "multiple"), NETS)
def test_images_to_images(net, multiple):
    torch.manual_seed(0)
    images = torch.rand(2, 3, 2 * multiple, 3 * multiple)
    out = net(4).eval()(images)
    assert out.shape == images.shape and out.min() >= 0 and out.max() <= 1 and out.std() > 0


@pytest.mark.parametrize("net", [UNet, UNetPlusPlus])
def test_folded_pixels_come_back_to_their_places(net):
    """Only the fourth channel of the last layer is lit: the red, lower right pixel of every square of four."""
    net = net(2, fold=2).eval()
    torch.nn.init.zeros_(net.last.weight)
    net.last.bias.data.fill_(-100)[3] = 100
    (red, *others) = net(torch.rand(1, 3, 32, 32))[0]
    assert torch.equal(red[1::2, 1::2], torch.ones(16, 16)) and red.sum() == 16 * 16
    assert all(plane.sum() == 0 for plane in others)


@pytest.mark.parametrize("fold", [0, -1, 1.5])
def test_a_fold_that_cannot_be(fold):
    with pytest.raises(ValueError, match="fold must be a whole number of pixels, at least 1"):
        UNet(2, fold)
    with pytest.raises(ValueError, match="fold must be"):
        UNetPlusPlus(2, fold)


def convolutions(net):
    with torch.device("meta"):
        return [m for m in net().modules() if isinstance(m, torch.nn.Conv2d | torch.nn.ConvTranspose2d)]


def test_unet_of_the_paper():
    """64-128-256-512-512; on the way up what comes across is joined."""
    pairs = [(3, 64), (64, 64), (64, 128), (128, 128), (128, 256), (256, 256), (256, 512), *[(512, 512)] * 3]
    pairs += [(1024, 512), (512, 256), (512, 256), (256, 128), (256, 128), (128, 64), (128, 64), (64, 64), (64, 3)]
    assert [(c.in_channels, c.out_channels) for c in convolutions(UNet)] == pairs


def test_unet_plus_plus_has_fifteen_nodes():
    with torch.device("meta"):
        net = UNetPlusPlus()
    assert len(net.nodes) == 15
    assert [net.nodes[f"{level},0"][0].out_channels for level in range(5)] == [32, 64, 128, 256, 512]
    assert net.nodes["0,4"][0].in_channels == 4 * 32 + 64, "four nodes before it and one below"
    assert net.nodes["2,1"][0].in_channels == 128 + 256


def test_unet_plus_plus_against_a_slow_twin():
    torch.manual_seed(0)
    net = UNetPlusPlus(2).eval()
    images = torch.rand(1, 3, 16, 16)

    def node(level, column):
        if column == 0:
            return net.nodes[f"{level},0"](images if level == 0 else torch.max_pool2d(node(level - 1, 0), 2))
        below = torch.nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)(node(level + 1, column - 1))
        return net.nodes[f"{level},{column}"](torch.cat([node(level, k) for k in range(column)] + [below], 1))

    assert torch.allclose(net(images), torch.sigmoid(net.last(node(0, 4))), atol=1e-6)


def test_itnet_of_the_paper():
    """conv9-32, conv3/2-64, conv3/2-128, 5 residual blocks, 2 up-convolutions, conv9-3."""
    found = [(c.kernel_size[0], c.stride[0], c.out_channels) for c in convolutions(ITNet)]
    assert found == [(9, 1, 32), (3, 2, 64), (3, 2, 128), *[(3, 1, 128)] * 10, (3, 2, 64), (3, 2, 32), (9, 1, 3)]
