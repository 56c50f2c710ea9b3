"""The loop of generations: play, learn, checkpoint, measure; from the start, or from where a run was left."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.registry import load_game
from qdts.interrupt import apart, interruptible
from qdts.learning.answers import network_of
from qdts.learning.compilation import compile_ahead
from qdts.learning.config import preset, read_settings
from qdts.learning.decisions import options_at
from qdts.learning.measure import Measured, is_measurable, measure, measure_search
from qdts.learning.report import write_report
from qdts.learning.run import Metrics, Run, create_run, is_kept, kept_before, open_run, verify_budget, write_config
from qdts.learning.trainer import Trainer
from qdts.nets.checkpoint import Checkpoint, load_checkpoint, save_checkpoint

REPORT_PAUSE = 5.0
"""Seconds between two reports."""


class Watch(Protocol):
    """Whoever follows a run."""

    def compiling(self, made: int, of: int) -> None:
        """So many of the kernels are compiled that the run needs and were not in the cache."""

    def begin(self, run: Run) -> None:
        """It begins, or goes on."""

    def doing(self, what: str, share: float) -> None:
        """What is being done, and which share of it is done."""

    def done(self, metrics: Metrics, progress: float) -> None:
        """A generation is done, and so much of the budget is spent."""


class Nobody:
    """Follows nothing."""

    def compiling(self, made: int, of: int) -> None:
        """Nothing."""

    def begin(self, run: Run) -> None:
        """Nothing."""

    def doing(self, what: str, share: float) -> None:
        """Nothing."""

    def done(self, metrics: Metrics, progress: float) -> None:
        """Nothing."""


def train(
    game: Game | str,
    *,
    minutes: float | None = None,
    generations: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    preset_name: str | None = None,
    settings: Sequence[str] = (),
    device: str = "cpu",
    threads: int = 1,
    watch: Watch | None = None,
) -> Run:
    """Learn a game from nothing: so many minutes of self-play and fitting, or so many generations.

    The run is kept in the folder `out`. `settings` are texts such as `search.visits=32`.
    """
    game = load_game(game) if isinstance(game, str) else game
    if minutes is None and generations is None:
        minutes = 1.0
    verify_budget(minutes, generations)
    if seed < 0:
        raise InputError(f"seed={seed} is not possible for a run, expected a number that is not negative")
    config = read_settings(settings, preset(game.name, preset_name))
    folder = Path(out) if out is not None else new_folder(game, seed)
    run = Run(folder, game, seed, config, minutes, generations)
    options_at(game, config, 0.0)  # what is wrong with the search is told before there is a folder
    trainer = Trainer(game, config, seed, threads=threads, device=device)
    create_run(run)
    return _go_on(run, trainer, 0, {}, watch or Nobody())


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
    """Go on with a run from its last whole generation, to the end of its budget or of another one."""
    run = open_run(folder, game)
    if minutes is not None and run.minutes is None:
        raise InputError(f"'{folder}' has a budget of {run.generations} generations, expected generations, not minutes")
    if generations is not None and run.generations is None:
        raise InputError(f"'{folder}' has a budget of {run.minutes} minutes, expected minutes, not generations")
    minutes = run.minutes if minutes is None else minutes
    generations = run.generations if generations is None else generations
    verify_budget(minutes, generations)
    run = Run(run.folder, run.game, run.seed, run.config, minutes, generations)
    trainer, last, metrics = _restored(run, threads=threads, device=device)
    write_config(run)
    for record in run.load_records(last):
        trainer.remember(record)
    run.mend(last, metrics)
    return _go_on(run, trainer, last, metrics, watch or Nobody())


def _restored(run: Run, *, threads: int = 1, device: str = "cpu") -> tuple[Trainer, int, Metrics]:
    """A trainer with the networks of the last checkpoint, its generation and metrics; a new one if there is none."""
    trainer = Trainer(run.game, run.config, run.seed, threads=threads, device=device)
    there = run.checkpoints()
    if not there:
        return trainer, 0, {}
    file = run.checkpoint(there[-1])
    try:
        checkpoint = load_checkpoint(file, run.game)
    except InputError as error:
        hint = f"; without this file the run goes on from generation {there[-2]}" if len(there) > 1 else ""
        raise InputError(f"{error}{hint}") from error
    trainer.learner.restore(checkpoint.tensors, f"'{file}'")
    return trainer, there[-1], dict(checkpoint.metrics)


def new_folder(game: Game, seed: int) -> Path:
    """A folder that does not exist yet: `runs/leduc_poker-1`, then `runs/leduc_poker-1-2`, …"""
    name = "".join(c if c.isalnum() or c in "_-=." else "-" for c in game.spec).strip("-")
    first = Path("runs") / f"{name}-{seed}"
    number, folder = 2, first
    while folder.exists():
        folder, number = first.with_name(f"{first.name}-{number}"), number + 1
    return folder


def is_due(generation: int) -> bool:
    """Whether a generation is measured: all up to 16, then 16 for each doubling."""
    return generation <= 16 or generation % (1 << (generation.bit_length() - 5)) == 0


def _go_on(run: Run, trainer: Trainer, last: int, metrics: Metrics, watch: Watch) -> Run:
    """Whatever ends it, Ctrl-C for one, all whole generations are kept and the report tells of them."""
    trainer.use_threads()
    compile_ahead(watch.compiling)
    watch.begin(run)
    try:
        watch.doing("listing the game", 0.0)
        measurable = apart(lambda: is_measurable(run.game, run.config.measure.most))
        watch.doing("warming up", 0.0)
        trainer.warm_up()
        _learn(run, trainer, last, metrics, measurable, watch)
    finally:
        write_report(run)
    return run


def _learn(run: Run, trainer: Trainer, last: int, metrics: Metrics, measurable: bool, watch: Watch) -> None:
    spent = float(metrics.get("seconds", 0.0))
    games = int(metrics.get("games", 0))
    reported = 0.0
    for generation in range(last + 1, 1_000_000_000):
        progress = _progress(run, generation, spent)
        if progress >= 1.0:
            break
        began = time.perf_counter()
        record = trainer.play(generation, progress, watch.doing)
        spent += time.perf_counter() - began
        run.save_record(record)
        began = time.perf_counter()
        residual = trainer.take_in(record)
        losses = trainer.learn(record, progress, watch.doing)
        since = generation - kept_before(generation)
        if is_kept(generation):
            trainer.learn_average_belief(generation, since, watch.doing)
        spent += time.perf_counter() - began
        over = _progress(run, generation + 1, spent) >= 1.0
        if over and not is_kept(generation):
            began = time.perf_counter()
            trainer.learn_average_belief(generation, since, watch.doing)
            spent += time.perf_counter() - began
        games += len(record)
        metrics = {
            "generation": generation,
            "games": games,
            "seconds": spent,
            **trainer.told(record, progress),
            **losses,
            "value_residual": residual,
        }
        if measurable and (over or is_due(generation)):
            watch.doing("measuring", 0.0)
            metrics |= _measured(trainer)
        if over and measurable:
            metrics["nash_conv_search"] = measure_search(
                trainer.learner, run.config, run.config.measure.visits, threads=trainer.threads,
                report=lambda share: watch.doing("measuring the searched policy", share),
            )  # fmt: skip
        _keep(run, trainer, metrics)
        if time.monotonic() - reported > REPORT_PAUSE:
            write_report(run)
            reported = time.monotonic()
        watch.done(metrics, min(1.0, _progress(run, generation + 1, spent)))


def _keep(run: Run, trainer: Trainer, metrics: Metrics) -> None:
    """Put a generation into the run's folder; Ctrl-C waits for it."""
    config = {section: run.config.as_dict()[section] for section in ("net", "play", "belief")}
    generation = metrics["generation"]
    with interruptible() as interrupt:
        checkpoint = Checkpoint(run.game, generation, config, metrics, trainer.learner.tensors())
        save_checkpoint(checkpoint, run.checkpoint(generation))
        run.append_metrics(metrics)
        run.forget()
    if interrupt.asked:
        raise KeyboardInterrupt


def _progress(run: Run, generation: int, spent: float) -> float:
    """Which share of the budget is spent when a generation begins."""
    if run.generations is not None:
        return (generation - 1) / run.generations
    assert run.minutes is not None
    return spent / (60.0 * run.minutes)


def _measured(trainer: Trainer) -> dict[str, Any]:
    found: Measured = measure(network_of(trainer.learner, trainer.config))
    slow = measure(network_of(trainer.learner, trainer.config, average=True), policy_only=True)
    return {
        "nash_conv": found.nash_conv,
        "nash_conv_average": slow.nash_conv,
        "value_error": found.value_error,
        "belief_error": found.belief_error,
        "outcome_residual": trainer.outcome_residual(),
    }
