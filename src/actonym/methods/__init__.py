"""One file per method. A file dropped here is found, listed, tested and benched: see CONTRIBUTING.md."""

from importlib import import_module
from pkgutil import iter_modules

from actonym.methods.base import (
    LatentMethod,
    Method,
    MethodCard,
    PixelMethod,
    create,
    load,
    register,
    registry,
    resolve,
    save,
)

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "LatentMethod",
    "Method",
    "MethodCard",
    "PixelMethod",
    "create",
    "load",
    "register",
    "registry",
    "resolve",
    "save",
]
