"""Measures of games with perfect information: against exact players, and at positions that a solver knows."""

from __future__ import annotations

import numpy as np

from qdts.cli.benchmarks.exact_players import ExactSeat, PigSeat
from qdts.cli.benchmarks.measures import Figure, Measure
from qdts.learning.run import Run
from qdts.play.agent import Agent, load_agent
from qdts.play.match import begin, play_match, rounds
from qdts.solving.perfect.four_solver import FORBIDDEN, solved_positions

OPENING = 2
"""Random moves at the beginning of half of the games against exact play."""


def losses_to_exact(games: int, visits: int) -> Measure:
    """How many games are lost to exact play from positions that are not lost, by a search with so many visits."""

    def find(run: Run, _threads: int) -> Figure:
        return count_losses(load_agent(run, visits=visits), games, run.seed)

    return Measure(f"games lost of {games:,} to exact play, {visits:,} visits", find, 0.0)


def count_losses(agent: Agent, games: int, seed: int) -> Figure:
    """The number of games that an agent loses to exact play, of those that it need not lose.

    It has each seat in turn. Half of the games begin with random moves; if these lose a game, it is not the agent's
    loss. `worse` are all games that end worse than they would between perfect players.
    """
    game, exact = agent.game, ExactSeat(agent.game)
    stream = np.random.default_rng(seed)
    plays = [begin(game, seed, number // game.players, number % game.players) for number in range(games)]
    for play in plays[: games // 2]:
        for _ in range(OPENING):
            play.moves.append(int(stream.choice(game.legal(play.world))))
            play.world = game.step(play.world, play.moves[-1])
    fair = [float(exact.optimum.value(play.world)[play.a_sits]) for play in plays]
    for _ in rounds(game, agent, exact, plays):
        pass
    got = [float(game.returns(play.world)[play.a_sits]) for play in plays]
    lost = sum(mine < 0.0 <= worth for mine, worth in zip(got, fair, strict=True))
    worse = sum(mine < worth for mine, worth in zip(got, fair, strict=True))
    return Figure(lost, None, {"games": games, "worse": worse, "mean": float(np.mean(got))})


def right_moves(positions: int, visits: int) -> Measure:
    """The share of solved positions of connect four at which the move of a search is right; beside it that of P."""

    def find(run: Run, _threads: int) -> Figure:
        by_search, by_policy = (share_of_right_moves(load_agent(run, visits=v), positions) for v in (visits, None))
        return Figure(by_search, None, {"by_policy": by_policy, "positions": positions})

    return Measure(f"right moves, {visits:,} visits", find)


def share_of_right_moves(agent: Agent, positions: int) -> float:
    """The share of solved positions at which an agent's likeliest move keeps the value of the position."""
    worlds, value = solved_positions(positions)
    players = [agent.game.mover(world) for world in worlds]
    right = 0
    for move, worth in zip(agent.decide([*worlds], players, range(positions)), value, strict=True):
        legal = worth[worth != FORBIDDEN]
        right += int(legal[int(np.argmax(move))] == legal.max())
    return right / positions


def wins_at_pig(games: int, visits: int, goal: float) -> Measure:
    """The share of games won against optimal play of pig."""

    def find(run: Run, _threads: int) -> Figure:
        return share_of_wins(load_agent(run, visits=visits), games, run.seed)

    return Measure(f"wins against exact play, {visits:,} visits", find, goal, above=True)


def share_of_wins(agent: Agent, games: int, seed: int) -> Figure:
    """The share of games of pig that an agent wins against optimal play; a win returns 1, a loss −1."""
    match = play_match(agent.game, agent, PigSeat(agent.game), games, seed=seed)
    low, high = match.ci95 or (-1.0, 1.0)
    return Figure((match.mean + 1.0) / 2.0, ((low + 1.0) / 2.0, (high + 1.0) / 2.0), {"games": match.games})
