"""I3D computes what the original computes: against a slow twin, against recorded numbers, on real actions."""

import pickle

import numpy as np
import pytest
import torch
from i3d_twin import i3d as twin
from i3d_twin import pool as twin_pool
from i3d_twin import wave

from actonym import weights
from actonym.errors import UserError
from actonym.nets.encoders import encoder, kinetics_labels
from actonym.nets.i3d import I3D, MIXED, POOLS, Unit, pool, same
from actonym.video import FileVideo
from actonym.weights.convert import i3d as from_flax

BRANCHES = (
    "0/Conv3d_0a_1x1",
    "1/Conv3d_0a_1x1",
    "1/Conv3d_0b_3x3",
    "2/Conv3d_0a_1x1",
    "2/Conv3d_0b_3x3",
    "3/Conv3d_0b_1x1",
)


def random_flax(rng):
    """Random weights in the original layout, scaled so that the numbers neither vanish nor explode."""
    tree = {"params": {}, "batch_stats": {}}

    def unit(inputs, outputs, k):
        kernel = rng.normal(0, (inputs * k**3) ** -0.5, (k, k, k, inputs, outputs)).astype("f")
        mean, var = rng.normal(0, 0.1, (1, 1, 1, 1, outputs)), rng.uniform(0.3, 1, (1, 1, 1, 1, outputs))
        norm = {"BatchNorm_0": {"bias": rng.normal(0, 0.3, outputs).astype("f")}}
        stats = {"BatchNorm_0": {"mean": mean.astype("f"), "var": var.astype("f")}}
        return {"Conv_0": {"kernel": kernel}, **norm}, stats

    def put(name, *sizes):
        tree["params"][name], tree["batch_stats"][name] = unit(*sizes)

    put("Conv3d_1a_7x7", 3, 64, 7)
    put("Conv3d_2b_1x1", 64, 64, 1)
    put("Conv3d_2c_3x3", 64, 192, 3)
    inputs = 192
    for name, (a, b, c, d, e, f) in MIXED.items():
        sizes = ((inputs, a, 1), (inputs, b, 1), (b, c, 3), (inputs, d, 1), (d, e, 3), (inputs, f, 1))
        pairs = {f"Branch_{branch}": unit(*size) for branch, size in zip(BRANCHES, sizes, strict=True)}
        tree["params"][name] = {branch: params for branch, (params, _) in pairs.items()}
        tree["batch_stats"][name] = {branch: stats for branch, (_, stats) in pairs.items()}
        inputs = a + c + e + f
    last = {"kernel": rng.normal(0, 0.03, (1, 1, 1, 1024, 7)).astype("f"), "bias": rng.normal(0, 1, 7).astype("f")}
    tree["params"]["Logits/Conv3d_0c_1x1"] = {"Conv_0": last}
    return tree


def as_clip(frames):
    return torch.from_numpy(frames).float().permute(3, 0, 1, 2)[None]


@pytest.fixture(scope="module")
def random_pair():
    tree = random_flax(np.random.default_rng(0))
    network = I3D(7)
    network.load_state_dict(from_flax(pickle.dumps(tree)))
    return tree, network.eval()


@pytest.mark.parametrize("shape", [(16, 32, 32), (17, 36, 45)], ids=["even", "odd"])
def test_the_same_numbers_as_the_slow_twin_of_the_original_layout(random_pair, shape):
    tree, network = random_pair
    clip = np.random.default_rng(1).uniform(-1, 1, (*shape, 3))
    features, logits = twin(tree, clip)
    with torch.inference_mode():
        assert np.allclose(network.features(as_clip(clip))[0], features, atol=1e-5)
        assert np.allclose(network(as_clip(clip))[0], logits, atol=1e-5)
    assert features.std() > 0.01, "the comparison means something"


@pytest.mark.parametrize("sizes", [(5, 7, 1), (5, 7, 3), (3, 4, 7, 2)], ids=["1x1x1", "3x3x3", "first"])
def test_a_unit_in_eval_mode_is_its_convolution_batch_norm_and_relu(sizes):
    torch.manual_seed(0)
    unit = Unit(*sizes).double()
    for values in (unit.bn.weight, unit.bn.bias, unit.bn.running_mean, unit.bn.running_var):
        values.data.uniform_(0.5, 2)
    x = torch.randn(2, sizes[0], 5, 8, 9, dtype=torch.double)
    unit.eval()
    padded = same(x, (7, 7, 7), (2, 2, 2)) if len(sizes) > 3 else x
    assert torch.allclose(unit(x), unit.bn(unit.conv3d(padded)).relu(), atol=1e-12)


@pytest.mark.parametrize("shape", [(5, 8, 9), (4, 7, 2), (1, 1, 1)])
@pytest.mark.parametrize(("kernel", "stride"), POOLS.values())
def test_pools_see_what_tensorflow_pads(shape, kernel, stride):
    x = torch.randn(2, 3, *shape) - 5  # a pad of zeros would be the maximum
    expected = twin_pool(x.permute(0, 2, 3, 4, 1).numpy()[1], kernel, stride)
    assert np.array_equal(pool(x, kernel, stride)[1].permute(1, 2, 3, 0), expected)


def test_size_of_the_network():
    network = I3D()
    parameters = sum(p.numel() for p in network.parameters())
    scales = sum(p.numel() for name, p in network.named_parameters() if name.endswith("bn.weight"))
    assert parameters - scales == 12_689_984, "as the original, whose batch norms have no scale"
    keys = set(network.state_dict())
    assert {"Conv3d_1a_7x7.conv3d.weight", "Mixed_5c.b2b.bn.running_var", "logits.conv3d.bias"} <= keys


@pytest.mark.parametrize("shape", [(4, 64, 64), (30, 160, 160)])
def test_short_clips_and_other_sizes_give_features(random_pair, shape):
    with torch.inference_mode():
        assert random_pair[1].features(torch.zeros(1, 3, *shape)).shape == (1, 1024)


@pytest.fixture(scope="module")
def pulled():
    try:
        return encoder("i3d")
    except UserError as absent:
        pytest.skip(str(absent))


def test_the_original_weights_give_the_recorded_numbers(pulled):
    """Recorded from the twin in float64 on the original file, before any conversion, for the clip `wave(16, 224)`."""
    clip = as_clip(wave(16, 224))
    with torch.inference_mode():
        features, logits = pulled.network.features(clip)[0], pulled.network(clip)[0]
    assert logits.topk(5).indices.tolist() == [302, 394, 264, 287, 300]
    assert logits.topk(5).values.tolist() == pytest.approx([10.5522, 10.1951, 9.5388, 9.3016, 8.3528], abs=1e-3)
    assert features[:4].tolist() == pytest.approx([0.23943, 0.30509, 0.26394, 0.43402], abs=1e-4)
    assert float(features.sum()) == pytest.approx(235.9407, abs=1e-2)


@pytest.mark.parametrize(
    ("video", "label"),
    [
        ("golf/Ariya_Swing_golf", "golf driving"),
        ("pullup/10_Pull_Ups_pullup", "pull ups"),
        ("shoot_bow/11408ErikaRecurvefront", "archery"),
    ],
)
def test_real_actions_get_sensible_labels(pulled, shared, video, label):
    folder, start = (shared / "data" / "jhmdb_train" / "videos" / video).parent, video.split("/")[1]
    path = sorted(folder.glob(f"{start}*"))[0]
    file = FileVideo(path)
    clip = file.frames(range(file.length))[None].float() / 255
    with torch.inference_mode():
        best = int(pulled.logits(clip).argmax())
    assert kinetics_labels()[best] == label


def test_labels_are_those_of_kinetics():
    try:
        labels = kinetics_labels()
    except UserError as absent:
        pytest.skip(str(absent))
    assert len(labels) == 400 and labels == sorted(labels) and labels[5] == "archery"
    assert weights.path("kinetics400-labels").suffix == ".txt"
