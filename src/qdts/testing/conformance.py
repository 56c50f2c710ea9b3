"""The conformance suite: does a game keep the laws that search, solvers and learning rely on?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from qdts.games.game import Game
from qdts.testing import laws, reachable
from qdts.testing.completions import Completions
from qdts.testing.laws import Seat
from qdts.testing.positions import Positions, enumerate_positions, sample_positions
from qdts.testing.rows import distinct
from qdts.testing.transcript import check_interpreted


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
) -> Report:
    """Check that a game keeps every law; raise a ConformanceError that names the law, the game and the world or view.

    Args:
        game: The game.
        golden: A file with its counts and a playthrough, as `qdts.testing.golden` writes it.
        limit: With at most this many positions (worlds at a depth), all are looked at; else those of random games.
        samples: How many random games are played where there are more.
        seed: Decides which.
        interpreted: Also play with the rules as plain Python, on vectors that don't allow an index out of range.
    """
    positions = enumerate_positions(game, limit) or sample_positions(game, samples, seed)
    seats = [laws.take_seat(game, positions, player) for player in range(game.players)]
    laws.check_basics(game, positions)
    laws.check_hidden(game, seats)
    completions = 0
    for seat in seats:
        laws.check_views(game, positions, seat)
        found = _check_completions(game, positions, seat, samples, seed)
        if game.hidden and game.memory == "perfect":
            laws.check_memory(game, positions, seat)
        views = seat.views[seat.first]
        laws.check_features(game, seat.player, np.concatenate([positions.worlds, found.worlds, views, found.between]))
        laws.check_text(game, laws.spread(views))
        completions += len(found.worlds)
    laws.check_midway(game, positions, seats)
    laws.check_text(game, laws.spread(positions.worlds))
    reachable.check_replay(game, positions.worlds)
    if golden is not None:
        _check_golden(game, golden)
    if interpreted:
        check_interpreted(game, seed)
    return Report(
        spec=game.spec,
        mode="enumerated" if positions.whole else "sampled",
        histories=int(positions.histories.sum()),
        worlds=len(distinct(positions.worlds)[1]),
        views=sum(len(seat.first) for seat in seats),
        completions=completions,
    )


def _check_completions(game: Game, positions: Positions, seat: Seat, samples: int, seed: int) -> Completions:
    if positions.whole:
        return reachable.check_all_completions(game, positions, seat)
    return reachable.check_some_completions(game, positions, seat, samples, np.random.default_rng(seed))


def _check_golden(game: Game, file: Path) -> None:
    from qdts.testing import golden  # here, so that `python -m qdts.testing.golden` finds it not yet imported

    golden.check(game, file)
