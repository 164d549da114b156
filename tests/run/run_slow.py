"""A run in a process of its own, to be interrupted from outside: SOURCE TARGET METHOD [LIMIT OF FILE SIZE]."""

import resource
import sys

import methods_to_run
import torch

from actonym.errors import ActonymError
from actonym.run import anonymize_file

source, target, method, *limit = sys.argv[1:]
torch.set_num_threads(1)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit[0]), int(limit[0])))
try:
    anonymize_file(source, target, getattr(methods_to_run, method)(), batch=1, progress=False)
except ActonymError as error:
    sys.exit(str(error))
