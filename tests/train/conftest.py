from collections.abc import Iterator

import pytest
import torch
from lightning_fabric import Fabric

from actonym.train import make_fabric


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The sums of a convolution, and so its last bits, depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def fabric() -> Fabric:
    return make_fabric(accelerator="cpu")
