"""Cells of a table that are made by training: each is a run in a folder of its own, resumed where it was left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qdts.games.registry import load_game
from qdts.learning.loop import Watch, resume, train
from qdts.learning.run import Run, is_run, open_run

QUICK = "measure.visits=1"
"""The searched policy is not part of these tables, and is measured as briefly as possible."""


def file_name(text: str) -> str:
    """A text as part of a file's name."""
    return "".join(c if c.isalnum() or c in "_-=." else "-" for c in text).strip("-")[:120]


def run_of(folder: Path, game: str) -> Run:
    """The run of a cell."""
    return open_run(folder, load_game(game))


def is_trained(folder: Path, game: str) -> bool:
    """Whether the run of a cell has spent its budget."""
    if not is_run(folder):
        return False
    run = run_of(folder, game)
    lines = run.metrics()
    return bool(lines) and run.minutes is not None and lines[-1]["seconds"] >= 60.0 * run.minutes


def train_cell(
    folder: Path, game: str, minutes: float, seed: int, *, settings: Sequence[str] = (), threads: int = 1,
    watch: Watch | None = None,
) -> None:  # fmt: skip
    """Train one cell, from the start or from where it was left; one that had fewer minutes gets the rest."""
    if is_run(folder):
        least = run_of(folder, game).minutes or 0.0
        resume(folder, game=load_game(game), minutes=max(least, minutes), threads=threads, watch=watch)
    else:
        train(game, minutes=minutes, seed=seed, out=folder, settings=[QUICK, *settings], threads=threads, watch=watch)
