"""Matches: A against B, from every seat, with the same deals.

Games come in groups, one game for each seat of A; B has all other seats. The games of a group share their chance
stream: the k-th chance event of each uses the same random number, so that no side wins by the luck of the deal alone.
A search by trees continues from one of its moves to the next (`qdts.play.trees`). The seeds of searches and the moves
come from a stream of each game. So a game depends on the match's seed and on its own number, and not on the games
beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from qdts.errors import InputError
from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.interrupt import apart, verify_not_stopped
from qdts.kernels import Ints, Reals
from qdts.learning.nodes.nodes import views_of
from qdts.play.openspiel_seats import BotSeat, Sitting
from qdts.play.seats import Continuing, Seat
from qdts.play.trees import Trees

SIDE_BY_SIDE = 128
"""About how many games advance together: the largest batch of decisions that a seat gets."""
CONFIDENCE = 0.95

Report = Callable[[int, int], None]
"""Called after each round with the numbers of finished games and of all games."""


@dataclass(frozen=True, eq=False)
class Match:
    """The result of a match."""

    returns: Reals
    """float64[G, P]: A's return in game p of group g, where A has seat p"""
    interrupted: bool = False
    """Whether Ctrl-C ended it early."""
    moves: Sequence[Sequence[int]] = ()
    """Actions and outcomes of each of these games, group by group, seat by seat"""

    @property
    def games(self) -> int:
        """The number of games in finished groups."""
        return int(self.returns.size)

    @property
    def mean(self) -> float:
        """A's mean return."""
        return float(self.returns.mean())

    @property
    def ci95(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean, by Student's distribution over groups; None with fewer than two groups."""
        from scipy.stats import t

        groups = self.returns.mean(1)
        if len(groups) < 2:
            return None
        width = float(t.ppf((1 + CONFIDENCE) / 2, len(groups) - 1) * groups.std(ddof=1) / np.sqrt(len(groups)))
        return self.mean - width, self.mean + width


@dataclass(eq=False)
class Play:
    """One game in progress."""

    world: Ints
    a_sits: int
    """The seat of A; B has the others."""
    deals: np.random.Generator
    """The group's chance stream, from its start."""
    own: np.random.Generator
    """The stream of this game: seeds of searches, and moves."""
    moves: list[int] = field(default_factory=list)
    """All actions and outcomes since the start."""
    bots: dict[int, Sitting] = field(default_factory=dict)
    """The bots of OpenSpiel that have moved, by player."""


def play_match(
    game: Game, a: Seat | BotSeat, b: Seat | BotSeat, games: int, *, seed: int = 0, report: Report | None = None
) -> Match:
    """Play A against B, from every seat with the same deals.

    Ctrl-C ends searches at once, and the finished groups are kept.

    Args:
        game: The game.
        a: The seat whose returns count.
        b: The seat of all other players.
        games: The number of games, rounded up to whole groups of one game for each player.
        seed: The seed of deals, searches and moves.
        report: Called after each round with the numbers of finished games and of all games.

    Returns:
        A's returns, with their mean and its 95 % interval.

    Raises:
        InputError: For a number of games below 1, a negative seed, or a seat of another game.
        KeyboardInterrupt: If Ctrl-C comes before a group is finished.

    Examples:
        >>> import qdts
        >>> game = qdts.load_game("kuhn_poker")
        >>> equilibrium = qdts.solve(game, "lp").policy
        >>> a, b = qdts.PolicySeat(equilibrium), qdts.read_seat(game, "random")
        >>> match = qdts.play_match(game, a, b, games=1000)
        >>> match.games, match.mean > 0
        (1000, True)
    """
    if games < 1:
        raise InputError(f"games={games} is not possible for a match, expected at least 1")
    if seed < 0:
        raise InputError(f"seed={seed} is not possible for a match, expected a number that is not negative")
    for seat in (a, b):
        if seat.game.spec != game.spec:
            raise InputError(f"a seat is for {seat.game.spec}, expected one for {game.spec}")
    groups, together = -(-games // game.players), max(1, SIDE_BY_SIDE // game.players)
    finished: list[Play] = []
    plays: list[Play] = []
    interrupted = False
    try:
        for first in range(0, groups, together):
            numbers = range(first, min(first + together, groups))
            plays = [begin(game, seed, group, seat) for group in numbers for seat in range(game.players)]
            for running in rounds(game, a, b, plays):
                if report is not None:
                    report(len(finished) + len(plays) - running, groups * game.players)
            over, plays = _finished(game, plays), []
            finished += over
            if report is not None:
                report(len(finished), groups * game.players)
    except KeyboardInterrupt:
        interrupted = True
        finished += _finished(game, plays)
        if not finished:
            raise
    returns = [game.returns(play.world)[play.a_sits] for play in finished]
    return Match(
        np.array(returns, np.float64).reshape(-1, game.players), interrupted, [play.moves for play in finished]
    )


def begin(game: Game, seed: int, group: int, a_sits: int) -> Play:
    """A game before its first move."""
    deals = np.random.default_rng([seed, group])
    return Play(game.initial(), a_sits, deals, np.random.default_rng([seed, group, 1 + a_sits]))


def rounds(game: Game, a: Seat | BotSeat | Trees, b: Seat | BotSeat | Trees, plays: Sequence[Play]) -> Iterator[int]:
    """Advance all games together until they are over: in each round chance moves, then the player to move.

    Yields:
        The number of games that were not over before the round.
    """
    a, b = (_continued(seat, len(plays)) for seat in (a, b))
    while True:
        mover = deal(game, plays)
        running = [(play, int(who)) for play, who in zip(plays, mover, strict=True) if who != TERMINAL]
        if not running:
            return
        for seat, its in ((a, True), (b, False)):
            move(game, seat, [play for play, who in running if (who == play.a_sits) == its])
        yield len(running)


def _continued(seat: Seat | BotSeat | Trees, games: int) -> Seat | BotSeat | Trees:
    """A seat whose searches continue from move to move, where they can."""
    return (isinstance(seat, Continuing) and seat.continued(games)) or seat


def _finished(game: Game, plays: Sequence[Play]) -> list[Play]:
    """The groups of which all games are over."""
    over: list[Play] = []
    for first in range(0, len(plays), game.players):
        group = plays[first : first + game.players]
        if all(game.mover(play.world) == TERMINAL for play in group):
            over += group
    return over


def deal(game: Game, plays: Sequence[Play]) -> Ints:
    """Let chance move in all games until it is a player's turn or the game is over; returns who moves then."""
    mover = batch.movers(game, _worlds(plays))
    while len(at := np.flatnonzero(mover == CHANCE)):
        dealt = [plays[i] for i in at.tolist()]
        offered = batch.choices(game, _worlds(dealt), mover[at])
        first = np.cumsum(offered.counts) - offered.counts
        outcomes = [
            int(offered.number[start + sample(offered.chance[start : start + count], play.deals.random())])
            for play, start, count in zip(dealt, first, offered.counts, strict=True)
        ]
        mover[at] = _step(game, dealt, outcomes)
    return mover


def move(game: Game, seat: Seat | BotSeat | Trees, plays: Sequence[Play]) -> None:
    """Let a seat move in all games, where it is to move."""
    if not plays:
        return
    worlds = _worlds(plays)
    mover = batch.movers(game, worlds)
    if isinstance(seat, BotSeat):
        actions = _by_bots(seat, plays, mover.tolist())
    else:
        actions = _by_views(game, seat, plays, worlds, mover)
    _step(game, plays, actions)


def _worlds(plays: Sequence[Play]) -> Ints:
    return np.array([play.world for play in plays])


def _step(game: Game, plays: Sequence[Play], actions: Sequence[int]) -> Ints:
    """Apply an action or an outcome in each game; returns who moves then."""
    after = batch.stepped(game, _worlds(plays), np.array(actions, np.int64))
    for play, world, action in zip(plays, after, actions, strict=True):
        play.world = world
        play.moves.append(action)
    return batch.movers(game, after)


def _by_views(game: Game, seat: Seat | Trees, plays: Sequence[Play], worlds: Ints, mover: Ints) -> list[int]:
    """The actions of a seat that sees only the view of the player to move."""
    views = views_of(game, worlds, mover)
    seeds = [int(play.own.integers(2**63)) for play in plays]
    if isinstance(seat, Trees):
        moves = [play.moves for play in plays]
        distributions = apart(lambda: seat.decide(plays, moves, [*views], mover.tolist(), seeds))
    else:
        distributions = apart(lambda: seat.decide([*views], mover.tolist(), seeds))
    legal = batch.choices(game, worlds, mover)
    first = np.cumsum(legal.counts) - legal.counts
    return [
        int(legal.number[start + sample(distribution, play.own.random())])
        for play, start, distribution in zip(plays, first, distributions, strict=True)
    ]


def _by_bots(seat: BotSeat, plays: Sequence[Play], players: Sequence[int]) -> list[int]:
    """The actions of bots that see all moves so far; each plays in one game."""
    for play, player in zip(plays, players, strict=True):
        if player not in play.bots:
            play.bots[player] = seat.sit(player, int(play.own.integers(2**63)))

    def choose() -> list[int]:
        chosen = []
        for play, player in zip(plays, players, strict=True):
            verify_not_stopped()
            chosen.append(play.bots[player].choose(play.moves))
        return chosen

    return apart(choose)


def sample(distribution: Reals, u: float) -> int:
    """The index of a distribution at the quantile `u` from [0, 1); never one with probability 0."""
    ends = np.cumsum(distribution)
    last = int(np.flatnonzero(distribution)[-1])
    return min(int(np.searchsorted(ends, u * ends[-1], side="right")), last)
