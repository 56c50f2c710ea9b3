"""A run's folder: what was asked for, checkpoints, records, metrics and the report.

    config.json                 JSON: {"format": "qdts-run", "format_version": 1, "game", "game_version", "seed",
                                "minutes" or "generations": the budget, "config": all settings}
    checkpoints/000012          the networks after generation 12 (`docs/checkpoints.md`); those of the powers of two and
                                of their middles are kept, and the last two
    records/000012              the games of generation 12 (`record.py`), as far back as V learns from in the next
                                generation, and one more
    metrics.jsonl               one JSON object for each generation
    report.html                 the same as pictures

A generation is done once its checkpoint is in place, which happens in one step. Whatever else a killed run may have
left behind is put right when it is resumed: the checkpoint itself holds the metrics of its generation. A run can also
go on from the last checkpoint but one, when the last one is removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qdts.errors import InputError
from qdts.files import write_whole
from qdts.games.game import Game
from qdts.games.registry import matching_game
from qdts.learning.config import Config, from_dict
from qdts.learning.record import Record, load_record, save_record

FORMAT, FORMAT_VERSION = "qdts-run", 1
SUFFIX = ".safetensors"
MOST_MINUTES = 1_000_000.0
Metrics = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Run:
    """A run and the folder that it is kept in."""

    folder: Path
    game: Game
    seed: int
    config: Config
    minutes: float | None = None
    generations: int | None = None
    """The budget: one of the two."""

    @property
    def report(self) -> Path:
        """The page with the pictures."""
        return self.folder / "report.html"

    def checkpoint(self, generation: int) -> Path:
        """The file of a checkpoint."""
        return self.folder / "checkpoints" / f"{generation:06d}{SUFFIX}"

    def record(self, generation: int) -> Path:
        """The file of a record."""
        return self.folder / "records" / f"{generation:06d}{SUFFIX}"

    def checkpoints(self) -> list[int]:
        """The generations whose checkpoints are there, ascending."""
        return _numbers(self.folder / "checkpoints")

    def metrics(self) -> list[Metrics]:
        """What was measured, generation by generation."""
        return _read_metrics(self.folder / "metrics.jsonl")

    def append_metrics(self, metrics: Mapping[str, Any]) -> None:
        """One more line, on the disk when this returns."""
        path = self.folder / "metrics.jsonl"
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(metrics, allow_nan=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"cannot write '{path}': {error.strerror or error}") from error

    def mend(self, last: int, its_metrics: Mapping[str, Any]) -> None:
        """Bring the folder to what it was when generation `last` was done; `its_metrics` are the checkpoint's."""
        self.make_folders()
        known = {line["generation"]: line for line in self.metrics() if line["generation"] < last}
        lines = [known[n] for n in sorted(known)] + ([dict(its_metrics)] if last else [])
        text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
        write_whole(self.folder / "metrics.jsonl", lambda file: file.write(text.encode()))
        for number in _numbers(self.folder / "records"):
            if number > last:
                self.record(number).unlink(missing_ok=True)
        for name in (".", "checkpoints", "records"):
            for file in (f"[0-9]*{SUFFIX}", "config.json", "metrics.jsonl", "report.html"):
                for stray in (self.folder / name).glob(f".{file}.*"):
                    stray.unlink(missing_ok=True)
        self.forget()

    def save_record(self, record: Record) -> None:
        """Write the games of a generation."""
        save_record(record, self.record(record.generation))

    def load_records(self, last: int) -> list[Record]:
        """The records that V will still learn from when generation `last` is done, ascending."""
        first = max(1, last - self.config.value.window + 2)
        return [load_record(self.record(n), self.game) for n in range(first, last + 1)]

    def make_folders(self) -> None:
        """Make the folders inside."""
        try:
            for name in ("checkpoints", "records"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder '{self.folder}': {error.strerror or error}") from error

    def forget(self) -> None:
        """Remove checkpoints that need not be kept, and records that neither of the last two needs to go on."""
        there = self.checkpoints()
        for number in there[:-2]:
            if not is_kept(number):
                self.checkpoint(number).unlink(missing_ok=True)
        for number in _numbers(self.folder / "records"):
            if there and number <= there[-1] - self.config.value.window:
                self.record(number).unlink(missing_ok=True)


def is_kept(generation: int) -> bool:
    """Whether the checkpoint of a generation stays: 1, 2, 3, 4, 6, 8, 12, 16, …"""
    odd = generation
    while odd % 2 == 0:
        odd //= 2
    return odd in (1, 3)


def kept_before(generation: int) -> int:
    """The last generation before this one whose checkpoint stays; 0 before the first."""
    return next((n for n in range(generation - 1, 0, -1) if is_kept(n)), 0)


def verify_budget(minutes: float | None, generations: int | None) -> None:
    """Raise an InputError unless one of the two is given, and possible."""
    if (minutes is None) == (generations is None):
        given = "neither" if minutes is None else "both"
        raise InputError(f"minutes and generations: {given} given, expected one of them")
    if minutes is not None and not 0.0 < minutes <= MOST_MINUTES:
        raise InputError(f"minutes={minutes} is not possible for a run, expected a positive number")
    if generations is not None and generations < 1:
        raise InputError(f"generations={generations} is not possible for a run, expected at least 1")


def create_run(run: Run) -> None:
    """Make the folder of a new run; it must not exist, or be empty."""
    folder = run.folder
    if folder.exists() and (
        not folder.is_dir() or any(not f.name.startswith(".config.json.") for f in folder.iterdir())
    ):
        hint = f", or --resume {folder} to go on there" if (folder / "config.json").exists() else ""
        raise InputError(f"'{folder}' exists and is not an empty folder, expected a new one{hint}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder '{folder}': {error.strerror or error}") from error
    write_config(run)
    run.make_folders()


def write_config(run: Run) -> None:
    """Write down what the run is asked to do."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "game": run.game.spec,
        "game_version": run.game.version,
        "seed": run.seed,
    }
    data |= {"minutes": run.minutes} if run.generations is None else {"generations": run.generations}
    data["config"] = run.config.as_dict()
    text = json.dumps(data, indent=2) + "\n"
    write_whole(run.folder / "config.json", lambda file: file.write(text.encode()))


def is_run(path: str | Path) -> bool:
    """Whether a path is a run's folder."""
    return (Path(path) / "config.json").is_file()


def open_run(folder: str | Path, game: Game | None = None) -> Run:
    """A run by its folder; an InputError says what is wrong with one that is none.

    The run of a game of one's own needs the game.
    """
    folder = Path(folder)
    if not is_run(folder):
        raise InputError(f"'{folder}' is not the folder of a run: it has no config.json")
    try:
        data = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if (data["format"], data["format_version"]) != (FORMAT, FORMAT_VERSION):
            raise InputError(
                f"'{folder}' holds {data['format']} {data['format_version']}, expected {FORMAT} {FORMAT_VERSION}"
            )
        game = matching_game(folder, "a run of", data["game"], data["game_version"], game)
        config = from_dict(data["config"])
        minutes, generations = data.get("minutes"), data.get("generations")
        verify_budget(minutes, generations)
        return Run(folder, game, int(data["seed"]), config, minutes, generations)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OSError, RecursionError) as error:
        raise InputError(f"the config.json of the run '{folder}' is malformed ({error!r})") from error


def spread_out(generations: Sequence[int], number: int) -> list[int]:
    """So many of some generations, spread evenly by powers between the first and the last; fewer if there are fewer."""
    if len(generations) <= number:
        return list(generations)
    wanted = np.geomspace(generations[0], generations[-1], number)
    return sorted({min(generations, key=lambda g: abs(np.log(g / goal))) for goal in wanted})


def _numbers(folder: Path) -> list[int]:
    names = (f.name.removesuffix(SUFFIX) for f in folder.glob(f"[0-9]*{SUFFIX}"))
    return sorted(int(name) for name in names if name.isdigit())


def _read_metrics(path: Path) -> list[Metrics]:
    """The whole lines of a file of metrics; what a killed run has left unfinished is not among them."""
    lines: list[Metrics] = []
    if not path.exists():
        return lines
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and isinstance(line.get("generation"), int):
            lines.append(line)
    return lines
