"""Imported before anything else of networks: says in one sentence what is missing where torch is not installed."""

from __future__ import annotations

import importlib.util

from qdts.errors import InputError

NEEDED = ("torch", "safetensors")


def verify_installed() -> None:
    """Raise an InputError unless everything is there that networks need."""
    for package in NEEDED:
        if importlib.util.find_spec(package) is None:
            raise InputError(f"networks need {package}, which is not installed: pip install 'qdts[nets]'")


verify_installed()
