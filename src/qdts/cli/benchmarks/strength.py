"""What was learned of games with perfect information: matches against exact players and searches, and right moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from qdts.cli.benchmarks.exact_players import ExactSeat, PigSeat
from qdts.cli.benchmarks.four_solver import FORBIDDEN, solved_positions
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.play.agent import Agent
from qdts.play.match import Match, Play, begin, play_match, rounds
from qdts.play.seats import SearchSeat, Seat, evaluator_for, read_seat
from qdts.search.options.parsing import read_search

Figures = dict[str, Any]
"""Measured figures by name; `reached` says whether the goal is."""
VISITS = 200
"""Of the agent's searches."""
QUICK_VISITS = 16
"""The same in pig, where 10,000 games are played."""


def losses_to_exact(agent: Agent, threads: int, games: int = 400) -> Figures:
    """Games against exact play from positions that are not lost, and how many of them are lost.

    The agent has each seat in half of the games. Half of them begin with two random moves; if these lose the game, it
    is not the agent's loss. `worse` are all games that end worse than they would between perfect players.
    """
    game, exact = agent.game, ExactSeat(agent.game)
    seat = searching(agent, VISITS, threads)
    stream = np.random.default_rng(0)
    plays = [begin(game, 0, number // game.players, number % game.players) for number in range(games)]
    for play in plays[: games // 2]:
        for _ in range(2):
            play.step(game, int(stream.choice(game.legal(play.world))))
    fair = [float(exact.optimum.value(play.world)[play.a_sits]) for play in plays]
    returns = _played(game, seat, exact, plays)
    ends = list(zip(returns, fair, strict=True))
    lost, worse = sum(got < 0.0 <= worth for got, worth in ends), sum(got < worth for got, worth in ends)
    return {"games": games, "lost": lost, "worse": worse, "mean": float(np.mean(returns)), "reached": lost == 0}


def _played(game: Game, a: Seat, b: Seat, plays: Sequence[Play]) -> list[float]:
    """A's return in each game, once they are over."""
    for _ in rounds(game, a, b, plays):
        pass
    return [float(game.returns(play.world)[play.a_sits]) for play in plays]


def tell_losses(figures: Figures) -> str:
    """The figures of `losses_to_exact` in words."""
    return f"{figures['lost']} of {figures['games']} lost"


def wins_and_accuracy(agent: Agent, threads: int, games: int = 200, positions: int = 400) -> Figures:
    """A match against `uct` with 5,000 simulations, and the share of solved positions at which the move is right."""
    game, seat = agent.game, searching(agent, VISITS, threads)
    match = play_match(game, seat, read_seat(game, "uct:5000", threads=threads), games)
    figures = _figures(match)
    figures |= {
        "accuracy": accuracy(seat.decide, positions),
        "accuracy of P": accuracy(agent.decide, positions),
        "reached": figures["ci95"][0] > 0.0,
    }
    return figures


def tell_accuracy(figures: Figures) -> str:
    """The figures of `wins_and_accuracy` in words."""
    low, high = figures["ci95"]
    return f"{figures['mean']:+.2f} ({low:+.2f} to {high:+.2f}), {figures['accuracy']:.0%} right"


def accuracy(decide: Callable[[list[Ints], list[int], list[int]], list[Reals]], positions: int) -> float:
    """The share of solved positions of connect four at which the likeliest move keeps the value of the position."""
    worlds, value = solved_positions(positions)
    players = worlds[:, 2].tolist()
    right = 0
    for move, worth in zip(decide(list(worlds), players, list(range(positions))), value, strict=True):
        legal = worth[worth != FORBIDDEN]
        right += int(legal[int(np.argmax(move))] == legal.max())
    return right / positions


def wins_at_pig(agent: Agent, threads: int, games: int = 10_000) -> Figures:
    """The share of games won against optimal play."""
    match = play_match(agent.game, searching(agent, QUICK_VISITS, threads), PigSeat(agent.game), games)
    figures = _figures(match)
    low, high = ((end + 1.0) / 2.0 for end in figures["ci95"])
    return figures | {"wins": (match.mean + 1.0) / 2.0, "wins ci95": [low, high], "reached": low > 0.47}


def tell_wins(figures: Figures) -> str:
    """The figures of `wins_at_pig` in words."""
    low, high = figures["wins ci95"]
    return f"{figures['wins']:.1%} ({low:.1%} to {high:.1%})"


def searching(agent: Agent, visits: int, threads: int) -> Seat:
    """The agent as it plays by search."""
    options = read_search(agent.game, agent.search)
    return SearchSeat(agent.game, options, visits, evaluator_for(agent.game, options, agent), threads=threads)


def _figures(match: Match) -> Figures:
    ci95 = match.ci95
    assert ci95 is not None
    return {"games": match.games, "mean": match.mean, "ci95": list(ci95)}


class Strength(NamedTuple):
    """A measure of strength."""

    goal: str
    measure: Callable[[Agent, int], Figures]
    """From an agent and a number of threads."""
    tell: Callable[[Figures], str]


STRENGTHS: Mapping[str, Strength] = {
    "tic_tac_toe": Strength("loses no game of 400 to exact play", losses_to_exact, tell_losses),
    "connect_four": Strength("beats uct:5000 with 200 visits", wins_and_accuracy, tell_accuracy),
    "pig": Strength("wins over 47 % of 10,000 games against exact play", wins_at_pig, tell_wins),
}
"""The measures by game."""
