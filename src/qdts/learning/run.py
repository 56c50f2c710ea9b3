"""A run: the folder that holds its settings, checkpoints, records, metrics and report.

    config.json                 JSON: {"format": "qdts-run", "format_version": 1, "game", "game_version",
                                "game_file": {"path", "sha256"} for a game from a file, its path from here, "seed",
                                "minutes" or "generations": the budget, "given": 1 if the first generation was
                                learned from given games, "config": all settings}
    checkpoints/000012          the networks after generation 12 (`docs/checkpoints.md`); generations 1, 2, 3, 4, 6, 8,
                                12, 16, … and the last two are kept
    records/000012              the games of generation 12 (`selfplay/record.py`), as far back as V learns from in the
                                next generation, and one more
    metrics.jsonl               one JSON object for each generation (`metrics.py`)
    report.html                 the same as pictures
    .lock                       locked by the process that learns in this folder
    fit.jsonl                   one JSON object for each epoch, where the run began with given games (`fit.py`)

A generation is complete once its checkpoint is in place, which is one renaming. Everything else that a killed run may
have left unfinished is repaired when it is resumed: the checkpoint itself holds the metrics of its generation. If the
last checkpoint is removed, a run resumes from the one before it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qdts.errors import InputError
from qdts.files import lock, write_whole
from qdts.games.game import Game
from qdts.games.registry import matching_game
from qdts.games.remembered import compare, recall, remember
from qdts.learning.config import Config, from_dict, grown_window
from qdts.learning.metrics import Line
from qdts.learning.selfplay.record import Record, load_record, save_record

FORMAT, FORMAT_VERSION = "qdts-run", 1
SUFFIX = ".safetensors"
LOCK = ".lock"
MOST_MINUTES = 1_000_000.0


@dataclass(frozen=True, eq=False)
class Run:
    """A run of learning and the folder that it is kept in.

    Args:
        folder: Where its files are.
        game: What is learned.
        seed: Of all random numbers.
        config: All settings.
        minutes: The budget, or None.
        generations: The budget, or None; exactly one of the two is given.
        given: How many generations, 0 or 1, were learned from given games; these have no records.

    Examples:
        >>> from qdts import Run, load_game
        >>> from qdts.learning.config import preset
        >>> run = Run(Path("nowhere"), load_game("kuhn_poker"), 0, preset(), generations=8)
        >>> run.checkpoints(), run.metrics(), run.progress(generation=3)
        ([], [], 0.25)
    """

    folder: Path
    game: Game
    seed: int
    config: Config
    minutes: float | None = None
    generations: int | None = None
    given: int = 0

    @property
    def report(self) -> Path:
        """The page with the pictures."""
        return self.folder / "report.html"

    def progress(self, generation: int, seconds: float = 0.0) -> float:
        """The share of the budget that is spent when a generation begins, after so many seconds."""
        if self.generations is not None:
            return (generation - 1) / self.generations
        assert self.minutes is not None
        return seconds / (60.0 * self.minutes)

    def checkpoint(self, generation: int) -> Path:
        """The file of a generation's checkpoint."""
        return self.folder / "checkpoints" / f"{generation:06d}{SUFFIX}"

    def record(self, generation: int) -> Path:
        """The file of a generation's record."""
        return self.folder / "records" / f"{generation:06d}{SUFFIX}"

    def checkpoints(self) -> list[int]:
        """The generations that have a checkpoint, ascending."""
        return _numbers(self.folder / "checkpoints")

    def metrics(self) -> list[Line]:
        """The metrics of each generation; `qdts.learning.metrics` defines them."""
        return read_metrics(self.folder / "metrics.jsonl")

    def append_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Add a line of metrics; it is on the disk when this returns."""
        path = self.folder / "metrics.jsonl"
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(metrics, allow_nan=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"cannot write '{path}': {error.strerror or error}") from error

    def mend(self, last: int, its_metrics: Mapping[str, Any]) -> None:
        """Restore the folder to its state after generation `last`; `its_metrics` are those in the checkpoint."""
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
        """The records up to generation `last` that P or V learns from in the next one, ascending."""
        first = max(1 + self.given, last + 2 - self._window(last + 1))
        found, there = [], self.checkpoints()
        for number in range(first, last + 1):
            try:
                found.append(load_record(self.record(number), self.game))
            except InputError as error:
                if number < last or len(there) < 2:
                    raise
                newest = self.checkpoint(last)
                raise InputError(f"{error}; without '{newest}' the run resumes from generation {there[-2]}") from error
        return found

    def _window(self, generation: int) -> int:
        """The number of generations that P or V learns from in a generation."""
        return self.config.window if self.game.hidden else grown_window(self.config, generation)

    def make_folders(self) -> None:
        """Make the folders inside."""
        try:
            for name in ("checkpoints", "records"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder '{self.folder}': {error.strerror or error}") from error

    def forget(self) -> None:
        """Remove checkpoints that are not kept, and records that neither of the last two needs to resume."""
        there = self.checkpoints()
        for number in there[:-2]:
            if not is_kept(number):
                self.checkpoint(number).unlink(missing_ok=True)
        for number in _numbers(self.folder / "records"):
            if there and number <= there[-1] - self._window(there[-1]):
                self.record(number).unlink(missing_ok=True)


def is_kept(generation: int) -> bool:
    """Whether the checkpoint of a generation is kept: 1, 2, 3, 4, 6, 8, 12, 16, …"""
    odd = generation
    while odd % 2 == 0:
        odd //= 2
    return odd in (1, 3)


def since_kept(generation: int) -> int:
    """The number of generations since the last one before it whose checkpoint is kept."""
    return generation - next((n for n in range(generation - 1, 0, -1) if is_kept(n)), 0)


def verify_budget(minutes: float | None, generations: int | None) -> None:
    """Raise an InputError unless exactly one of the two is given, and possible."""
    if (minutes is None) == (generations is None):
        given = "neither" if minutes is None else "both"
        raise InputError(f"minutes and generations: {given} given, expected one of them")
    if minutes is not None and not 0.0 < minutes <= MOST_MINUTES:
        raise InputError(f"minutes={minutes} is not possible for a run, expected a positive number")
    if generations is not None and generations < 1:
        raise InputError(f"generations={generations} is not possible for a run, expected at least 1")


@contextmanager
def created(run: Run) -> Iterator[None]:
    """Make the folder of a new run, which must not exist yet or be empty, and keep other processes out of it."""
    _verify_new(run.folder)
    try:
        run.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder '{run.folder}': {error.strerror or error}") from error
    with held(run.folder):
        _verify_new(run.folder)  # another process may have been quicker
        write_config(run)
        run.make_folders()
        yield


def _verify_new(folder: Path) -> None:
    """Raise an InputError for a folder in which there is more than what a process leaves that was killed at once."""
    begun = (LOCK, ".config.json.")
    if folder.exists() and (not folder.is_dir() or any(not f.name.startswith(begun) for f in folder.iterdir())):
        hint = f", or qdts train --resume {folder} to go on there" if (folder / "config.json").exists() else ""
        raise InputError(f"'{folder}' exists and is not an empty folder, expected a new one{hint}")


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes from learning in a run's folder; an InputError says that one does."""
    try:
        file = (folder / LOCK).open("ab")
    except OSError as error:
        raise InputError(f"cannot write '{folder / LOCK}': {error.strerror or error}") from error
    with file:
        if not lock(file):
            raise InputError(f"another process is learning in '{folder}', expected a run that nobody works on")
        yield


def write_config(run: Run) -> None:
    """Write config.json."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "game": run.game.spec,
        "game_version": run.game.version,
    }
    file = remember(run.game, run.folder)
    data |= {} if file is None else {"game_file": file}
    data["seed"] = run.seed
    data |= {"minutes": run.minutes} if run.generations is None else {"generations": run.generations}
    data |= {"given": run.given} if run.given else {}
    data["config"] = run.config.as_dict()
    text = json.dumps(data, indent=2) + "\n"
    write_whole(run.folder / "config.json", lambda file: file.write(text.encode()))


def is_run(path: str | Path) -> bool:
    """Whether a path is a run's folder."""
    return (Path(path) / "config.json").is_file()


def open_run(folder: str | Path, game: Game | None = None) -> Run:
    """Open the run in a folder.

    A run of a game from a file remembers that file and its SHA-256. Unless the game is given, the file is run, as
    `load_game` does, with a note (a `qdts.notes.Note`) that names it. Nothing else in a run's folder is ever run.

    Args:
        folder: Where `train` has put it.
        game: The game of the run. It must be given for a game from a file that was moved or has changed.

    Returns:
        The run. Nothing is loaded but its settings and its game.

    Raises:
        InputError: The folder holds no run, a run of another game or version, or one whose game's file is gone or has
            changed.

    Examples:
        >>> import tempfile, qdts
        >>> tiny = ["net.width=8", "play.games=8", "search.visits=2", "belief.games=8", "measure.most=0"]
        >>> folder = Path(tempfile.mkdtemp()) / "kuhn"
        >>> run = qdts.train("kuhn_poker", generations=1, out=folder, settings=tiny)
        >>> qdts.open_run(folder).checkpoints()
        [1]
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
        game = _game_of(folder, data, game)
        config = from_dict(data["config"])
        minutes, generations = data.get("minutes"), data.get("generations")
        verify_budget(minutes, generations)
        return Run(folder, game, int(data["seed"]), config, minutes, generations, int(data.get("given", 0)))
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OSError, RecursionError) as error:
        raise InputError(f"the config.json of the run '{folder}' is malformed ({error!r})") from error


def _game_of(folder: Path, data: Mapping[str, Any], game: Game | None) -> Game:
    """The game of a run: the one given, else the one in the file that the run remembers, else the one of its name."""
    file, given = data.get("game_file"), game is not None
    if file is not None and game is None:
        game = recall(file, folder, data["game"])
    game = matching_game(folder, "a run of", data["game"], data["game_version"], game)
    if file is not None and given:
        compare(file, folder, game)
    return game


def spread_out(generations: Sequence[int], number: int) -> list[int]:
    """At most `number` of some generations, at nearly equal ratios from the first to the last."""
    if len(generations) <= number:
        return list(generations)
    wanted = np.geomspace(generations[0], generations[-1], number)
    return sorted({min(generations, key=lambda g: abs(np.log(g / goal))) for goal in wanted})


def _numbers(folder: Path) -> list[int]:
    names = (f.name.removesuffix(SUFFIX) for f in folder.glob(f"[0-9]*{SUFFIX}"))
    return sorted(int(name) for name in names if name.isdigit())


def read_metrics(path: Path) -> list[Line]:
    """The complete lines of a file of metrics, without what a killed run has left unfinished."""
    lines: list[Line] = []
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
