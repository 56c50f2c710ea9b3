"""The loop of generations: play, learn, measure, checkpoint; from the start, or from where a run was left."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Protocol

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.registry import load_game
from qdts.interrupt import interruptible
from qdts.learning.compilation import compile_ahead
from qdts.learning.config import preset, read_settings
from qdts.learning.experience.searched import search_options
from qdts.learning.learner import Learner
from qdts.learning.measuring import Measuring
from qdts.learning.metrics import Line, line
from qdts.learning.nodes.clock import Stopwatch
from qdts.learning.report.page import write_report
from qdts.learning.run import Run, created, held, is_kept, open_run, since_kept, verify_budget, write_config
from qdts.memory import peak_memory
from qdts.nets.checkpoint import Checkpoint, load_checkpoint, save_checkpoint

REPORT_PAUSE = 5.0
"""Seconds between two reports."""


class Watch(Protocol):
    """Follows a run."""

    def compiling(self, made: int, of: int) -> None:
        """So many of the kernels are compiled that the run needs and were not in the cache."""

    def begin(self, run: Run) -> None:
        """The run begins, or is resumed."""

    def doing(self, what: str, share: float) -> None:
        """Work goes on, and a share of it is done."""

    def done(self, metrics: Line, progress: float) -> None:
        """A generation is complete, and a share of the budget is spent."""


class Nobody:
    """Follows nothing."""

    def compiling(self, made: int, of: int) -> None:
        """Nothing."""

    def begin(self, run: Run) -> None:
        """Nothing."""

    def doing(self, what: str, share: float) -> None:
        """Nothing."""

    def done(self, metrics: Line, progress: float) -> None:
        """Nothing."""


def train(
    game: Game | str,
    *,
    minutes: float | None = None,
    generations: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    preset_name: str = "default",
    settings: Sequence[str] = (),
    device: str = "cpu",
    threads: int = 1,
    watch: Watch | None = None,
) -> Run:
    """Learn a game from nothing by generations of self-play and training.

    Args:
        game: A game or its name with parameters.
        minutes: The budget: minutes of self-play and training; 1 if no budget is given.
        generations: The budget in generations, instead of minutes.
        seed: Of all random numbers.
        out: The folder of the run, which must be new or empty; without it, a new one in `runs`.
        preset_name: The preset of settings.
        settings: Changes to it, such as `search.visits=32`.
        device: Where networks run: cpu or cuda.
        threads: That self-play and fits share; what is learned does not depend on them but by rounding.
        watch: Follows the run.

    Returns:
        The run.

    Raises:
        InputError: Something that is given is not possible.

    Examples:
        >>> import tempfile, qdts
        >>> tiny = ["net.width=8", "play.games=8", "search.visits=2", "belief.games=8", "measure.visits=2"]
        >>> run = qdts.train("kuhn_poker", generations=2, out=tempfile.mkdtemp(), settings=tiny)
        >>> [line["games"] for line in run.metrics()]
        [8, 16]
        >>> qdts.load_agent(run).game.spec
        'kuhn_poker'
    """
    game = load_game(game) if isinstance(game, str) else game
    if minutes is None and generations is None:
        minutes = 1.0
    verify_budget(minutes, generations)
    if seed < 0:
        raise InputError(f"seed={seed} is not possible for a run, expected a number that is not negative")
    config = read_settings(settings, preset(preset_name))
    folder = Path(out) if out is not None else new_folder(game, seed)
    run = Run(folder, game, seed, config, minutes, generations)
    search_options(game, config, 0.0)  # a wrong search is an error before there is a folder
    learner = Learner(game, config, seed, threads=threads, device=device)
    with created(run):
        return _continue(run, learner, {}, watch or Nobody())


def resume(
    folder: str | Path,
    *,
    game: Game | None = None,
    minutes: float | None = None,
    generations: int | None = None,
    device: str = "cpu",
    threads: int = 1,
    watch: Watch | None = None,
) -> Run:
    """Resume a run from its last complete generation.

    Args:
        folder: Of the run.
        game: The game of the run. It must be given for a game from a file that was moved or has changed since.
        minutes: Another budget, for a run with a budget of minutes.
        generations: Another budget, for a run with a budget of generations.
        device: Where networks run: cpu or cuda.
        threads: That self-play and fits share.
        watch: Follows the run.

    Returns:
        The run, when its budget is spent.

    Raises:
        InputError: The folder holds no run, a file of it is damaged, or the budget is not possible.

    Examples:
        >>> import tempfile, qdts
        >>> tiny = ["net.width=8", "play.games=8", "search.visits=2", "belief.games=8", "measure.most=0"]
        >>> run = qdts.train("kuhn_poker", generations=1, out=tempfile.mkdtemp(), settings=tiny)
        >>> qdts.resume(run.folder, generations=2).checkpoints()
        [1, 2]
    """
    run = open_run(folder, game)
    if minutes is not None and run.minutes is None:
        raise InputError(f"'{folder}' has a budget of {run.generations} generations, expected generations, not minutes")
    if generations is not None and run.generations is None:
        raise InputError(f"'{folder}' has a budget of {run.minutes} minutes, expected minutes, not generations")
    minutes = run.minutes if minutes is None else minutes
    generations = run.generations if generations is None else generations
    verify_budget(minutes, generations)
    run = replace(run, minutes=minutes, generations=generations)
    learner = Learner(run.game, run.config, run.seed, threads=threads, device=device)
    with held(run.folder):
        last = _restore(run, learner)
        write_config(run)
        generation = last.get("generation", 0)
        learner.source.resume(last, run.load_records(generation) if learner.source.has_records else [])
        run.mend(generation, last)
        return _continue(run, learner, last, watch or Nobody())


def _restore(run: Run, learner: Learner) -> Line:
    """Give the learner the networks of the last checkpoint; returns its metrics, none if there is no checkpoint."""
    there = run.checkpoints()
    if not there:
        return {}
    file = run.checkpoint(there[-1])
    try:
        checkpoint = load_checkpoint(file, run.game)
    except InputError as error:
        hint = f"; without this file the run resumes from generation {there[-2]}" if len(there) > 1 else ""
        raise InputError(f"{error}{hint}") from error
    learner.networks.restore(checkpoint.tensors, f"'{file}'")
    return {**checkpoint.metrics, "generation": there[-1]}


def new_folder(game: Game, seed: int) -> Path:
    """A folder that does not exist yet: `runs/leduc_poker-1`, then `runs/leduc_poker-1-2`, …"""
    name = "".join(c if c.isalnum() or c in "_-=." else "-" for c in game.spec).strip("-")
    first = Path("runs") / f"{name}-{seed}"
    number, folder = 2, first
    while folder.exists():
        folder, number = first.with_name(f"{first.name}-{number}"), number + 1
    return folder


def _continue(run: Run, learner: Learner, last: Line, watch: Watch) -> Run:
    """Spend the rest of the budget. However it ends, complete generations are kept, and the report shows them."""
    learner.use_threads()
    compile_ahead(watch.compiling)
    watch.begin(run)
    try:
        measuring = Measuring(run, learner, last.get("seconds", 0.0), watch.doing)
        measuring.begin()
        watch.doing("warming up", 0.0)
        learner.warm_up()
        _loop(run, learner, last, measuring, watch)
    finally:
        write_report(run)
    return run


def _loop(run: Run, learner: Learner, last: Line, measuring: Measuring, watch: Watch) -> None:
    """Generation after generation: play, learn, measure, checkpoint. The clock of the budget runs in `with budget`."""
    budget, games, reported = Stopwatch(last.get("seconds", 0.0)), last.get("games", 0), 0.0
    for generation in count(last.get("generation", 0) + 1):
        progress = run.progress(generation, budget.seconds)
        if progress >= 1.0:
            return
        with budget:
            experience = learner.gather(generation, progress, watch.doing)
        if experience.record is not None:
            run.save_record(experience.record)
        with budget:
            losses = learner.learn(experience, generation, progress, watch.doing)
            played = experience.metrics
            del experience
            if is_kept(generation):
                learner.learn_average_belief(generation, since_kept(generation), watch.doing)
        over = run.progress(generation + 1, budget.seconds) >= 1.0
        if over and not is_kept(generation):
            with budget:
                learner.learn_average_belief(generation, since_kept(generation), watch.doing)
        games += played.pop("games")
        measured = measuring.measure(generation, budget.seconds, over=over)
        memory = peak_memory()
        metrics = line(
            generation=generation,
            games=games,
            seconds=budget.seconds,
            **played,
            **losses,
            **measured,
            **({} if memory is None else {"memory": memory}),
        )
        save_generation(run, learner, metrics)
        if time.monotonic() - reported > REPORT_PAUSE:
            write_report(run)
            reported = time.monotonic()
        watch.done(metrics, min(1.0, run.progress(generation + 1, budget.seconds)))
        if measuring.interrupted:
            raise KeyboardInterrupt


def save_generation(run: Run, learner: Learner, metrics: Line) -> None:
    """Put a generation into the run's folder; Ctrl-C waits for it."""
    config = {section: run.config.as_dict()[section] for section in ("net", "play", "belief")}
    generation = metrics["generation"]
    with interruptible() as interrupt:
        checkpoint = Checkpoint(run.game, generation, config, metrics, learner.networks.tensors())
        save_checkpoint(checkpoint, run.checkpoint(generation))
        run.append_metrics(metrics)
        run.forget()
    if interrupt.requested:
        raise KeyboardInterrupt
