"""Numpy pickles load, whatever NumPy wrote them; a pickle that could do harm does not."""

import pickle

import numpy as np
import pytest

from actonym.errors import UserError
from actonym.weights import numpy_pickle


def test_a_tree_of_arrays_comes_back():
    tree = {"a": {"kernel": np.arange(6, dtype=np.float32).reshape(2, 3)}, "n": [1, "two"], "s": np.float64(3)}
    for protocol in range(3, pickle.HIGHEST_PROTOCOL + 1):
        back = numpy_pickle(pickle.dumps(tree, protocol))
        assert np.array_equal(back["a"]["kernel"], tree["a"]["kernel"]) and back["n"] == [1, "two"] and back["s"] == 3


@pytest.mark.parametrize("module", ["numpy.core.multiarray", "numpy._core.multiarray"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_and_new_names_of_numpy(module):
    data = pickle.dumps(np.ones(2), 3)  # protocol 3 writes names as plain lines
    for name in (b"numpy._core.multiarray", b"numpy.core.multiarray"):
        data = data.replace(b"c" + name + b"\n", b"c" + module.encode() + b"\n")
    assert module.encode() in data
    assert np.array_equal(numpy_pickle(data), np.ones(2))


class Harm:
    def __reduce__(self):
        import os

        return os.mkdir, ("harm",)


def test_what_could_do_harm_is_refused_and_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"refused .*mkdir"):
        numpy_pickle(pickle.dumps({"a": np.ones(2), "b": Harm()}))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("data", [b"", b"not a pickle", pickle.dumps(np.ones(9))[:-20]])
def test_broken_bytes_are_one_clear_error(data):
    with pytest.raises(UserError, match="not a pickle of numpy arrays"):
        numpy_pickle(data)
