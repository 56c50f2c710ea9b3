"""The conformance suite: does a game keep the laws that search, solvers and learning rely on?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from qdts.games.game import Game
from qdts.hashing import distinct_rows
from qdts.testing import laws, reachable
from qdts.testing.completions import Completions
from qdts.testing.faults import Law
from qdts.testing.laws import Seat
from qdts.testing.positions import Positions, enumerate_positions, sample_positions
from qdts.testing.smaller import smaller_games
from qdts.testing.transcript import check_same, interpreted_lines

CONFIDENCE = 0.95
"""The probability with which a fault of the reported frequency would have been found."""


@dataclass(frozen=True)
class Report:
    """What was checked. Whatever was not in order has been raised."""

    spec: str
    mode: Literal["enumerated", "sampled"]
    """Whether every history was looked at, or those of random games."""
    histories: int
    worlds: int
    """Distinct worlds."""
    views: int
    """Distinct views of all players, at any time of the game."""
    completions: int
    """Worlds that were found by filling the holes of views."""
    games: int | None = None
    """How many random games were played, where histories were sampled."""
    checked: tuple[Law, ...] = ()
    """The laws that were checked, in order."""
    skipped: Mapping[Law, str] = field(default_factory=dict)
    """The laws that were not checked, and why."""
    exact: Report | None = None
    """What was checked before on every history of a smaller game of the same family."""

    @property
    def detectable(self) -> float | None:
        """How frequent a fault must be to be found with probability CONFIDENCE; None if every history was looked at.

        A fault that shows in a share p of random games stays unseen in n of them with probability (1 − p)ⁿ, so n games
        find it with probability 1 − α if p ≥ 1 − α^(1/n).

        Examples:
            >>> report = Report("my_game", "sampled", 5_000, 4_800, 6_100, 4_000, games=200)
            >>> round(1 / report.detectable)
            67
        """
        return None if self.games is None else 1.0 - float((1.0 - CONFIDENCE) ** (1.0 / self.games))


Begin = Callable[[Law], None]
Turn = Callable[[Game, bool], None]


def check_game(
    game: Game,
    *,
    golden: Path | None = None,
    limit: int = 300_000,
    samples: int = 200,
    seed: int = 0,
    interpreted: bool = False,
    exact_first: bool = False,
    begin: Begin = lambda _: None,
    turn: Turn = lambda _game, _exact: None,
) -> Report:
    """Check that a game keeps every law.

    Args:
        game: The game.
        golden: A file with its counts and a playthrough, as `qdts.testing.golden` writes it.
        limit: With at most this many positions (worlds at a depth), all are looked at; else those of random games.
        samples: How many random games are played where there are more positions.
        seed: Seeds the random games.
        interpreted: Also play with the rules as plain Python, on vectors that don't allow an index out of range. This
            comes first, since compiled rules that reach too far spoil whatever lies there.
        exact_first: Where the game is too large to enumerate, first check a smaller game of its family on every
            history, if there is one (`Family.small`, else the lower bounds of its parameters).
        begin: Called with each law, in order, when all before it are known to be kept.
        turn: Called where a game is too large to enumerate, before each game that is checked then: with the game, and
            whether every history of it is looked at.

    Returns:
        What was checked, which laws were skipped and why.

    Raises:
        ConformanceError: A law is broken; it names the law, the game, and the world or view.
        InputError: The game is too large to look at all positions, and has no `replay`.

    Examples:
        >>> from qdts import load_game
        >>> report = check_game(load_game("kuhn_poker"))
        >>> report.mode, report.histories, report.views
        ('enumerated', 58, 60)
    """
    plain = _interpreted(game, seed, begin) if interpreted else None
    begin(Law.BASICS)
    positions, exact = enumerate_positions(game, limit), None
    if positions is None:
        if exact_first:
            exact = _check_smaller(game, limit, seed, interpreted, begin, turn)
        turn(game, False)
        begin(Law.BASICS)
        positions = sample_positions(game, samples, seed)
    run = _Check(game, positions, samples, seed, begin)
    return run.report(golden, plain, exact)


def _interpreted(game: Game, seed: int, begin: Begin) -> list[str]:
    begin(Law.GUARD)
    return interpreted_lines(game, seed)


def _check_smaller(game: Game, limit: int, seed: int, interpreted: bool, begin: Begin, turn: Turn) -> Report | None:
    """Check the first smaller game that can be enumerated, on every history."""
    for small in smaller_games(game):
        plain = interpreted_lines(small, seed) if interpreted else None
        if (positions := enumerate_positions(small, limit)) is not None:
            turn(small, True)
            begin(Law.BASICS)
            return _Check(small, positions, 0, seed, begin).report(None, plain, None)
    return None


class _Check:
    """One run of the suite over the positions of one game."""

    def __init__(self, game: Game, positions: Positions, samples: int, seed: int, begin: Begin) -> None:
        self.game, self.positions, self.samples, self.seed, self._begin = game, positions, samples, seed, begin
        self.seats = [laws.take_seat(game, positions, player) for player in range(game.players)]
        self.checked: list[Law] = []
        self.skipped: dict[Law, str] = {}

    def report(self, golden: Path | None, plain: list[str] | None, exact: Report | None) -> Report:
        """Check one law after the other."""
        self.checked += [Law.GUARD] * (plain is not None) + [Law.BASICS]
        laws.check_basics(self.game, self.positions)
        found = self._check_hiding()
        self._check_weights(found)
        self._check_memory()
        self._check_showing(found)
        if golden is not None:
            self._start(Law.GOLDEN)
            _check_golden(self.game, golden)
        if plain is not None:
            self._start(Law.COMPILED)
            check_same(self.game, self.seed, plain)
        return Report(
            spec=self.game.spec,
            mode="enumerated" if self.positions.whole else "sampled",
            histories=int(self.positions.histories.sum()),
            worlds=len(distinct_rows(self.positions.worlds)[1]),
            views=sum(len(seat.first) for seat in self.seats),
            completions=sum(len(filled.worlds) for filled in found),
            games=None if self.positions.whole else self.samples,
            checked=tuple(self.checked),
            skipped=self.skipped,
            exact=exact,
        )

    def _start(self, law: Law) -> None:
        self.checked.append(law)
        self._begin(law)

    def _check_hiding(self) -> list[Completions]:
        """What is hidden, what views show, and how their holes are filled."""
        self._start(Law.HIDDEN)
        laws.check_hidden(self.game, self.seats)
        self._start(Law.VIEWS)
        for seat in self.seats:
            laws.check_views(self.game, self.positions, seat)
        self._start(Law.COMPLETIONS)
        found = [self._check_completions(seat) for seat in self.seats]
        reachable.check_replay(self.game, self.positions.worlds)
        return found

    def _check_completions(self, seat: Seat) -> Completions:
        if self.positions.whole:
            return reachable.check_all_completions(self.game, self.positions, seat)
        rng = np.random.default_rng(self.seed)
        return reachable.check_some_completions(self.game, self.positions, seat, self.samples, rng)

    def _check_weights(self, found: list[Completions]) -> None:
        if not self.game.hidden:
            self.skipped[Law.WEIGHTS] = "the game hides nothing"
        elif self.game.weights != "chance":
            self.skipped[Law.WEIGHTS] = f'the game declares weights="{self.game.weights}"'
        elif not self.positions.whole:
            self.skipped[Law.WEIGHTS] = "exact probabilities need every history"
        else:
            self._start(Law.WEIGHTS)
            for seat, filled in zip(self.seats, found, strict=True):
                reachable.check_weights(self.game, self.positions, seat, filled)

    def _check_memory(self) -> None:
        if not self.game.hidden:
            self.skipped[Law.MEMORY] = "the game hides nothing"
        elif self.game.memory != "perfect":
            self.skipped[Law.MEMORY] = f'the game declares memory="{self.game.memory}"'
        else:
            self._start(Law.MEMORY)
            for seat in self.seats:
                laws.check_memory(self.game, self.positions, seat)

    def _check_showing(self, found: list[Completions]) -> None:
        """Split actions, features and texts."""
        self._start(Law.MIDWAY)
        laws.check_midway(self.game, self.positions, self.seats)
        self._start(Law.FEATURES)
        worlds = self.positions.worlds
        for seat, filled in zip(self.seats, found, strict=True):
            views = seat.views[seat.first]
            laws.check_features(self.game, seat.player, np.concatenate([worlds, filled.worlds, views, filled.between]))
        self._start(Law.TEXT)
        for vectors in (worlds, *(seat.views[seat.first] for seat in self.seats)):
            laws.check_text(self.game, laws.spread(vectors))
        for seat in self.seats:
            laws.check_names(self.game, self.positions, seat)


def _check_golden(game: Game, file: Path) -> None:
    from qdts.testing import golden  # here, so that `python -m qdts.testing.golden` finds it not yet imported

    golden.check(game, file)
