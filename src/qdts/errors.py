"""The one exception for input that a person can correct, and how its sentence is built."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST = 40
"""More choices than this are counted, not listed."""


class InputError(ValueError):
    """Something given from outside is wrong; the message names the value, what was expected and the choices."""


def unknown(kind: str, value: object, choices: Iterable[str]) -> InputError:
    """An error for a name that is not among the choices, with the nearest ones first."""
    names = sorted(choices)
    near = difflib.get_close_matches(str(value), names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    listed = f"the choices are {', '.join(names)}" if 0 < len(names) <= MOST else f"there are {len(names)} choices"
    return InputError(f"unknown {kind} '{value}': {hint}{listed}")
