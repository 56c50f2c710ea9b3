"""Packages that only some features need, by the extra that installs them."""

from __future__ import annotations

import importlib.util

from qdts.errors import InputError

EXTRAS = {"nets": ("torch", "safetensors", "threadpoolctl")}
"""What each extra of `pip install 'qdts[EXTRA]'` installs."""
COMPARED = ("LiteEFG", "open_spiel", "mctx", "jax")
"""Distributions of the programs that benchmarks compare with."""


def is_installed(module: str) -> bool:
    """Whether a module can be imported."""
    return importlib.util.find_spec(module) is not None


def verify_installed(what: str, extra: str) -> None:
    """Raise an InputError that names the first package of an extra which is not installed.

    Args:
        what: The subject of the sentence, "networks need" for instance.
        extra: One of EXTRAS.
    """
    for package in EXTRAS[extra]:
        if not is_installed(package):
            raise InputError(f"{what} {package}, which is not installed: pip install 'qdts[{extra}]'")
