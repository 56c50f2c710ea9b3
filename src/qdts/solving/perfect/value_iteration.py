"""Perfect-information games, solved and measured by value iteration on the graph of their positions.

With q the probability of an edge (chance's, or a policy's), every player's value is a fixed point of

    V(s) = returns at the end;   Σ q(e) V(e) where chance moves, or a player who follows the policy;
           V of the best edge for the mover, where the mover is free to choose

All players free gives optimal play (for two players and a zero sum, the value of the game), none free the value of a
policy, one free that player's best response. Positions that can be reached from each other are one of the graph's
`components`. These are settled in an order in which all that a component leads to comes first: one that is a single
position takes one step, and only within the others are values iterated, in place, where they converge to those of play
that ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numba import boolean, float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.hashing import FREE, find_rows
from qdts.interrupt import FlagType, stop_flag, verify_not_stopped
from qdts.kernels import Ints, Reals, compile_now, kernel
from qdts.pointers import borrowed
from qdts.solving.perfect.positions import DEFAULT_LIMIT, Graph, GraphType, position_graph
from qdts.solving.policy.function import PolicyFunction, evaluate_function
from qdts.solving.policy.table import Policy

TOLERANCE = 1e-13
"""Value iteration stops when no value changes by more."""
MOST_SWEEPS = 100_000
"""Of one component, before value iteration gives up."""
NO_EDGE = -1
"""The best edge of a position at which no free player moves."""


@dataclass(frozen=True)
class Optimum:
    """Optimal play: a value for every player at every position, and a best move."""

    game: Game
    graph: Graph
    values: Reals
    """float64[N, P]"""
    policy: Policy
    """The first of the mover's best actions at each position."""

    def value(self, world: Ints) -> Reals:
        """Every player's value of a position. float64[P]"""
        at = find_rows(self.graph.worlds, world[None])[0]
        if at == FREE:
            raise InputError(f"{self.game.spec}: play never gets to {self.game.layout.write(world)}")
        return self.values[at]


def prepare() -> None:
    """Compile what value iteration calls."""
    compile_now(_iterate)


def optimal_play(game: Game, *, limit: int = DEFAULT_LIMIT) -> Optimum:
    """Solve a perfect-information game, with or without chance, by value iteration."""
    graph = position_graph(game, limit)
    values, best = iterate(game, graph, graph.probability, np.ones(game.players, np.bool_))
    chosen = np.zeros(len(graph.child))
    deciding = graph.mover >= 0
    chosen[best[deciding]] = 1.0
    return Optimum(game, graph, values, _policy(game, graph, chosen))


def position_values(policy: Policy) -> Reals:
    """Every player's expected return from the start. float64[P]"""
    game, graph = policy.game, position_graph(policy.game)
    return iterate(game, graph, _edges(graph, policy), np.zeros(game.players, np.bool_))[0][0]


def position_gains(policy: Policy) -> Reals:
    """What each player would gain by a best response. float64[P]"""
    return position_measure(policy)[1]


def position_measure(policy: Policy) -> tuple[Reals, Reals]:
    """Every player's expected return, and what each would gain by a best response. float64[P] each"""
    game, graph = policy.game, position_graph(policy.game)
    q = _edges(graph, policy)
    value = iterate(game, graph, q, np.zeros(game.players, np.bool_))[0][0]
    best = [iterate(game, graph, q, np.arange(game.players) == i)[0][0, i] for i in range(game.players)]
    return value, np.array(best) - value


def position_response(policy: Policy, player: int) -> tuple[float, Policy]:
    """A best response of one player: its value, and the policy with the player's part replaced by it."""
    game, graph = policy.game, position_graph(policy.game)
    q = _edges(graph, policy)
    values, best = iterate(game, graph, q, np.arange(game.players) == player)
    for s in np.flatnonzero(graph.mover == player):
        q[graph.first[s] : graph.first[s + 1]] = 0.0
        q[best[s]] = 1.0
    return float(values[0, player]), _policy(game, graph, q)


def position_policy(game: Game, function: PolicyFunction) -> Policy:
    """A policy function as a table over all positions at which a player moves."""
    graph = position_graph(game)
    table = _policy(game, graph, graph.probability)
    return replace(table, probability=evaluate_function(game, function, table.views, np.diff(table.offset)))


def iterate(game: Game, graph: Graph, q: Reals, free: NDArray[np.bool_]) -> tuple[Reals, Ints]:
    """Every player's value of each position [N, P], and the best edge [N] where a free player moves."""
    values, best, converged = _iterate(graph, q, free, TOLERANCE, MOST_SWEEPS, stop_flag())
    verify_not_stopped()
    if not converged:
        raise InputError(f"value iteration on {game.spec} did not converge within {MOST_SWEEPS:,} sweeps")
    return values, best


def _policy(game: Game, graph: Graph, probability: Reals) -> Policy:
    deciding = np.flatnonzero(graph.mover >= 0)
    counts = np.diff(graph.first)[deciding]
    edges = np.repeat(graph.first[deciding] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    offset = np.r_[0, np.cumsum(counts)].astype(np.int32)
    return Policy(game, graph.worlds[deciding], offset, graph.action[edges].astype(np.int32), probability[edges])


def _edges(graph: Graph, policy: Policy) -> Reals:
    """The probability of every edge under a policy."""
    deciding = np.flatnonzero(graph.mover >= 0)
    rows = find_rows(policy.views, graph.worlds[deciding])
    if (rows == FREE).any():
        missing = graph.worlds[deciding[int(np.argmax(rows == FREE))]]
        raise InputError(f"the policy for {policy.game.spec} lacks the view {policy.game.layout.write(missing)}")
    q = graph.probability.copy()
    counts = np.diff(graph.first)[deciding]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    edges, entries = (np.repeat(x, counts) + within for x in (graph.first[deciding], policy.offset[rows]))
    same = (np.diff(policy.offset)[rows] == counts).all()
    if not same or (policy.action[entries] != graph.action[edges]).any():
        raise InputError(f"the policy for {policy.game.spec} has other legal actions than the game")
    q[edges] = policy.probability[entries]
    return q


@kernel(inline=True)
def _loops(graph: Graph, s: int) -> bool:
    """Whether an edge leads from a position to itself."""
    loops = False
    for e in range(graph.first[s], graph.first[s + 1]):
        loops |= graph.child[e] == s
    return loops


@kernel(inline=True)
def _settle(graph: Graph, q: Reals, free: NDArray[np.bool_], value: Reals, best: Ints, new: Reals, s: int) -> float:
    """Update the values of one position; return the largest change."""
    mover, first, end = graph.mover[s], graph.first[s], graph.first[s + 1]
    if mover == TERMINAL:
        return 0.0
    if mover >= 0 and free[mover]:
        best[s] = first
        for e in range(first + 1, end):
            if value[graph.child[e], mover] > value[graph.child[best[s]], mover]:
                best[s] = e
        for p in range(len(new)):
            new[p] = value[graph.child[best[s]], p]
    else:
        new[:] = 0.0
        for e in range(first, end):
            for p in range(len(new)):
                new[p] += q[e] * value[graph.child[e], p]
    change = 0.0
    for p in range(len(new)):
        change = max(change, abs(new[p] - value[s, p]))
        value[s, p] = new[p]
    return change


@kernel(
    types.Tuple((float64[:, ::1], int64[::1], boolean))(GraphType, float64[::1], boolean[::1], float64, int64, FlagType)
)
def _iterate(
    graph: Graph, q: Reals, free: NDArray[np.bool_], tolerance: float, most: int, stop: Ints
) -> tuple[Reals, Ints, bool]:
    """Component after component: the values, the best edges, and whether all values converged."""
    value, best = graph.utility.copy(), np.full(len(graph.mover), NO_EDGE)
    graph = borrowed(graph)
    order, start = graph.order, graph.start
    new = np.zeros(value.shape[1])
    for c in range(len(start) - 1):
        sweeps, change = 0, np.inf
        while change > tolerance:
            if sweeps == most or stop[0]:
                return value, best, False
            change = 0.0
            for i in range(start[c], start[c + 1]):
                change = max(change, _settle(graph, q, free, value, best, new, order[i]))
            sweeps += 1
            if start[c + 1] - start[c] == 1 and not _loops(graph, order[start[c]]):
                break
    return value, best, True
