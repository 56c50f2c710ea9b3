"""Learning from given games: what is learned is the first generation of a run, which self-play continues."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from qdts.errors import InputError
from qdts.files import write_whole
from qdts.games.game import Game
from qdts.games.registry import load_game
from qdts.interrupt import interruptible
from qdts.learning.compilation import compile_ahead
from qdts.learning.config import preset, read_settings
from qdts.learning.fitting import Epoch, Fitting
from qdts.learning.learner import Learner
from qdts.learning.loop import Nobody, Watch, new_folder, save_generation
from qdts.learning.measuring import Measuring
from qdts.learning.metrics import Line, line
from qdts.learning.report.page import write_report
from qdts.learning.run import SUFFIX, Run, created, is_run, verify_budget, write_config
from qdts.learning.selfplay.game_text import read_games
from qdts.learning.selfplay.given import GivenGames, games_in, joined_games
from qdts.learning.selfplay.record import load_record

LEAST = 10
"""Games that are needed."""
FILE = "fit.jsonl"
"""The file of a run with a line for each epoch."""


Report = Callable[[Epoch], None]


def fit(
    game: Game | str,
    records: Sequence[str | Path],
    *,
    epochs: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    preset_name: str = "default",
    settings: Sequence[str] = (),
    device: str = "cpu",
    threads: int = 1,
    watch: Watch | None = None,
    report: Report | None = None,
) -> Run:
    r"""Learn P, V and H from given games, and begin a run with them.

    Args:
        game: A game or its name with parameters.
        records: Files of games: records of self-play, text (one game a line: `qdts.learning.selfplay.game_text`), or
            the folders of runs, whose records are meant.
        epochs: The most epochs.
        minutes: The most minutes of learning.
        seed: Of all random numbers.
        out: The folder of the run, which must be new or empty; without it, a new one in `runs`.
        preset_name: The preset of settings.
        settings: Changes to it, such as `net.width=64`.
        device: Where networks run: cpu or cuda.
        threads: That fits share.
        watch: Follows the run.
        report: Called after each epoch.

    Returns:
        The run, with one generation. `qdts.resume(run.folder, minutes=10)` continues it.

    Raises:
        InputError: Something that is given is not possible, or a file is damaged or holds no games of this game.

    Examples:
        >>> import tempfile, qdts
        >>> from pathlib import Path
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "games.txt").write_text("deal K, deal J, Bet, Pass\n" * 20 + "2 0 1 1 => 2 -2\n" * 20)
        >>> run = qdts.fit("kuhn_poker", [folder / "games.txt"], epochs=2, out=folder / "run", settings=["net.width=8"])
        >>> run.checkpoints()
        [1]
        >>> qdts.resume(run.folder, minutes=0.01).checkpoints()[0]
        1
    """
    game = load_game(game) if isinstance(game, str) else game
    _verify(epochs, minutes, seed)
    config = read_settings(settings, preset(preset_name))
    given = read_given(game, [Path(file) for file in records])
    if len(given) < LEAST:
        raise InputError(f"{len(given)} games are too few to learn from, expected at least {LEAST}")
    run = Run(Path(out) if out is not None else new_folder(game, seed), game, seed, config, minutes=1.0, given=1)
    learner = Learner(game, config, seed, threads=threads, device=device)
    with created(run):
        return _fit(run, learner, given, epochs, minutes, watch or Nobody(), report or (lambda _: None))


def _verify(epochs: int | None, minutes: float | None, seed: int) -> None:
    if epochs is not None and epochs < 1:
        raise InputError(f"epochs={epochs} is not possible, expected at least 1")
    if minutes is not None:
        verify_budget(minutes, None)
    if seed < 0:
        raise InputError(f"seed={seed} is not possible for a run, expected a number that is not negative")


def read_given(game: Game, files: Sequence[Path]) -> GivenGames:
    """The games of all files; a run's folder stands for its records."""
    if not files:
        raise InputError("no file of games is given, expected at least one")
    found: list[GivenGames] = []
    for file in files:
        if file.is_dir():
            there = sorted((file / "records").glob(f"*{SUFFIX}"))
            if not is_run(file) or not there:
                what = "has no records: its games were not kept" if is_run(file) else "is a folder and no run"
                raise InputError(f"'{file}' {what}, expected a file of games or a run that was learned by search")
            found += [games_in(load_record(path, game)) for path in there]
        elif file.suffix == SUFFIX:
            found.append(games_in(load_record(file, game)))
        else:
            found.append(read_games(game, file))
    return joined_games(found)


def _fit(
    run: Run, learner: Learner, given: GivenGames, epochs: int | None, minutes: float | None, watch: Watch,
    report: Report,
) -> Run:  # fmt: skip
    """Learn until the losses on held-out games no longer fall, and save what is best; Ctrl-C at any time keeps it."""
    learner.use_threads()
    compile_ahead(watch.compiling)
    watch.begin(run)
    fitting = Fitting(learner, given, epochs, minutes)
    interrupted = False
    try:
        for epoch in fitting.epochs(watch.doing):
            report(epoch)
    except KeyboardInterrupt:
        if not fitting.history:
            raise
        interrupted = True
    with interruptible() as interrupt:
        seconds = fitting.finish()
        run = Run(run.folder, run.game, run.seed, run.config, minutes=max(seconds, 1e-3) / 60.0, given=1)
        write_config(run)
        text = "".join(json.dumps(asdict(epoch)) + "\n" for epoch in fitting.history)
        write_whole(run.folder / FILE, lambda file: file.write(text.encode()))
    interrupted |= interrupt.requested
    measured: Line = {}
    try:
        if not interrupted:
            measuring = Measuring(run, learner, seconds, watch.doing)
            measuring.begin()
            measured = measuring.measure(1, seconds, over=True)
            interrupted = measuring.interrupted
    except KeyboardInterrupt:
        interrupted = True
    losses = fitting.history[-1].learned
    metrics = line(generation=1, games=len(given), seconds=seconds, entropy=fitting.entropy, **losses, **measured)
    save_generation(run, learner, metrics)
    write_report(run)
    watch.done(metrics, 1.0)
    if interrupted:
        raise KeyboardInterrupt
    return run


def read_epochs(run: Run) -> list[dict[str, Any]]:
    """The epochs of a run that began with given games; none for any other."""
    file = run.folder / FILE
    return [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()] if file.is_file() else []
