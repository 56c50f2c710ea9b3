"""The conformance suite: does a game keep the laws that search, solvers and learning rely on?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from qdts.games.game import Game
from qdts.testing import laws, reachable
from qdts.testing.completions import Completions
from qdts.testing.faults import Law
from qdts.testing.laws import Seat
from qdts.testing.positions import Positions, enumerate_positions, sample_positions
from qdts.testing.rows import distinct
from qdts.testing.transcript import check_same, interpreted_lines


@dataclass(frozen=True)
class Report:
    """What was checked; whatever was not in order has been raised."""

    spec: str
    mode: Literal["enumerated", "sampled"]
    """Whether every history was looked at, or those of random games."""
    histories: int
    worlds: int
    """Distinct ones."""
    views: int
    """Distinct ones of all players, at any time of the game."""
    completions: int
    """Worlds that were found by filling the holes of views."""


def check_game(
    game: Game,
    *,
    golden: Path | None = None,
    limit: int = 300_000,
    samples: int = 200,
    seed: int = 0,
    interpreted: bool = False,
    begin: Callable[[Law], None] = lambda _: None,
) -> Report:
    """Check that a game keeps every law; raise a ConformanceError that names the law, the game and the world or view.

    Args:
        game: The game.
        golden: A file with its counts and a playthrough, as `qdts.testing.golden` writes it.
        limit: With at most this many positions (worlds at a depth), all are looked at; else those of random games.
        samples: How many random games are played where there are more.
        seed: Decides which.
        interpreted: Also play with the rules as plain Python, on vectors that don't allow an index out of range. This
            comes first, since compiled rules that reach too far spoil whatever lies there.
        begin: Called with each law, in order, when all before it are known to be kept.
    """
    if interpreted:
        begin(Law.GUARD)
        plain = interpreted_lines(game, seed)
    begin(Law.BASICS)
    positions = enumerate_positions(game, limit) or sample_positions(game, samples, seed)
    seats = [laws.take_seat(game, positions, player) for player in range(game.players)]
    laws.check_basics(game, positions)
    begin(Law.HIDDEN)
    laws.check_hidden(game, seats)
    begin(Law.VIEWS)
    for seat in seats:
        laws.check_views(game, positions, seat)
    begin(Law.COMPLETIONS)
    found = [_check_completions(game, positions, seat, samples, seed) for seat in seats]
    reachable.check_replay(game, positions.worlds)
    if game.hidden and game.weights == "chance" and positions.whole:
        begin(Law.WEIGHTS)
        for seat, filled in zip(seats, found, strict=True):
            reachable.check_weights(game, positions, seat, filled)
    if game.hidden and game.memory == "perfect":
        begin(Law.MEMORY)
        for seat in seats:
            laws.check_memory(game, positions, seat)
    begin(Law.MIDWAY)
    laws.check_midway(game, positions, seats)
    begin(Law.FEATURES)
    for seat, filled in zip(seats, found, strict=True):
        views = seat.views[seat.first]
        laws.check_features(game, seat.player, np.concatenate([positions.worlds, filled.worlds, views, filled.between]))
    begin(Law.TEXT)
    for vectors in (positions.worlds, *(seat.views[seat.first] for seat in seats)):
        laws.check_text(game, laws.spread(vectors))
    for seat in seats:
        laws.check_names(game, positions, seat)
    if golden is not None:
        begin(Law.GOLDEN)
        _check_golden(game, golden)
    if interpreted:
        begin(Law.COMPILED)
        check_same(game, seed, plain)
    return Report(
        spec=game.spec,
        mode="enumerated" if positions.whole else "sampled",
        histories=int(positions.histories.sum()),
        worlds=len(distinct(positions.worlds)[1]),
        views=sum(len(seat.first) for seat in seats),
        completions=sum(len(filled.worlds) for filled in found),
    )


def _check_completions(game: Game, positions: Positions, seat: Seat, samples: int, seed: int) -> Completions:
    if positions.whole:
        return reachable.check_all_completions(game, positions, seat)
    return reachable.check_some_completions(game, positions, seat, samples, np.random.default_rng(seed))


def _check_golden(game: Game, file: Path) -> None:
    from qdts.testing import golden  # here, so that `python -m qdts.testing.golden` finds it not yet imported

    golden.check(game, file)
