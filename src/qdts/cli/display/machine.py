"""The machine that figures come from."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from qdts.packages import COMPARED, EXTRAS


def machine() -> dict[str, Any]:
    """Versions and hardware; a load above 1 means that others are at work too."""
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in ("qdts", "numba", "numpy", *EXTRAS["nets"], *COMPARED)},
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()
