"""A slow twin of I3D in numpy and float64, in the layout of the original weights: frames, rows, columns, channels.

Written from the description of the original network and of TensorFlow's SAME padding, and shares no line with ours.
"""

import numpy as np

REST = [
    ("pool", (1, 3, 3), (1, 2, 2)),
    ("unit", "Conv3d_2b_1x1"),
    ("unit", "Conv3d_2c_3x3"),
    ("pool", (1, 3, 3), (1, 2, 2)),
    *(("mixed", name) for name in ("Mixed_3b", "Mixed_3c")),
    ("pool", (3, 3, 3), (2, 2, 2)),
    *(("mixed", f"Mixed_4{letter}") for letter in "bcdef"),
    ("pool", (2, 2, 2), (2, 2, 2)),
    *(("mixed", f"Mixed_5{letter}") for letter in "bc"),
]


def windows(x, kernel, stride, fill):
    """For each place in the kernel, what it sees at all output places."""
    out = [-(-n // s) for n, s in zip(x.shape, stride, strict=False)]
    total = [max((o - 1) * s + k - n, 0) for o, s, k, n in zip(out, stride, kernel, x.shape, strict=False)]
    x = np.pad(x, [(t // 2, t - t // 2) for t in total] + [(0, 0)], constant_values=fill)
    for place in np.ndindex(*kernel):
        yield place, x[tuple(slice(p, p + (o - 1) * s + 1, s) for p, o, s in zip(place, out, stride, strict=True))]


def conv(x, kernel, stride=(1, 1, 1)):
    return sum(seen @ kernel[place].astype(float) for place, seen in windows(x, kernel.shape[:3], stride, 0.0))


def pool(x, kernel, stride):
    return np.max([seen for _, seen in windows(x, kernel, stride, -np.inf)], 0)


def unit(params, stats, x, stride=(1, 1, 1)):
    y = conv(x, params["Conv_0"]["kernel"], stride)
    stats = {name: value.reshape(-1).astype(float) for name, value in stats["BatchNorm_0"].items()}
    y = (y - stats["mean"]) / np.sqrt(stats["var"] + 1e-3) + params["BatchNorm_0"]["bias"]
    return np.maximum(y, 0)


def mixed(params, stats, x):
    def branch(x, *names):
        for name in names:
            x = unit(params[name], stats[name], x)
        return x

    return np.concatenate(
        [
            branch(x, "Branch_0/Conv3d_0a_1x1"),
            branch(x, "Branch_1/Conv3d_0a_1x1", "Branch_1/Conv3d_0b_3x3"),
            branch(x, "Branch_2/Conv3d_0a_1x1", "Branch_2/Conv3d_0b_3x3"),
            branch(pool(x, (3, 3, 3), (1, 1, 1)), "Branch_3/Conv3d_0b_1x1"),
        ],
        -1,
    )


def i3d(tree, clip):
    """One clip [T, H, W, 3] in -1..1: features [1024] and logits. Maps smaller than the window are pooled whole."""
    params, stats = tree["params"], tree["batch_stats"]
    x = unit(params["Conv3d_1a_7x7"], stats["Conv3d_1a_7x7"], clip.astype(float), (2, 2, 2))
    for kind, *rest in REST:
        if kind == "pool":
            x = pool(x, *rest)
        else:
            x = {"unit": unit, "mixed": mixed}[kind](params[rest[0]], stats[rest[0]], x)
    t, h, w = (min(n, most) for n, most in zip(x.shape, (2, 7, 7), strict=False))
    places = np.ndindex(x.shape[0] - t + 1, x.shape[1] - h + 1, x.shape[2] - w + 1)
    pooled = np.array([x[a : a + t, b : b + h, c : c + w].mean((0, 1, 2)) for a, b, c in places])
    last = params["Logits/Conv3d_0c_1x1"]["Conv_0"]
    return pooled.mean(0), (pooled @ last["kernel"][0, 0, 0] + last["bias"]).mean(0)


def wave(frames, side):
    """A clip [T, H, W, 3] in -1..1 that is the same on every machine."""
    t, h, w, c = np.ogrid[:frames, :side, :side, :3]
    return np.sin(0.11 * h + 0.07 * w + 0.5 * t + 2.0 * c) * np.cos(0.003 * h * w + 0.2 * t)
