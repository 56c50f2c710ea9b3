"""Games that hide nothing, solved and measured on the graph of their positions.

Many histories lead to the same position, and with chance a position may even come back. With q the probability of an
edge (chance's, or a policy's), every player's value is a fixed point of

    V(s) = returns at the end;   Σ q(e) V(e) where chance or a bound player moves;   V of the best edge to the mover,
           where he is free

Everyone free gives optimal play (for two players and a zero sum, the value of the game), nobody free the value of a
policy, one free his best response. Positions that can come back to each other are one of the graph's `components`.
Taken in their order, what a component leads to is settled before it: one that is a single position is settled at once,
and only within the others are values iterated, in place, where they converge to those of play that ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import boolean, float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL, KernelsType, RulesType
from qdts.interrupt import FlagType, stop_flag, verify_not_stopped
from qdts.kernels import Ints, Reals, kernel
from qdts.solving.components import components
from qdts.solving.lending import inlined, lent
from qdts.solving.policy import Policy
from qdts.solving.rows import Rows, ask
from qdts.solving.tree import NONE, broken_rules, find_views, probe_view, sums_to_one

DEFAULT_LIMIT = 20_000_000
TOLERANCE = 1e-13
"""Value iteration stops when no value moves by more."""
MOST_SWEEPS = 100_000
"""Of one component, before it is given up."""

DONE, FULL, LOST, BAD_CHANCE, STOPPED = range(5)
"""What `_expand` says: every position is in; the arrays are full; a mover has nothing to do; chance does not sum
to one; the stop flag is set."""
POSITIONS, EXPANDED, EDGES = range(3)
"""Registers: how many positions are known, how many of them have their edges, how many edges there are."""


class Graph(NamedTuple):
    """All positions of a game in the order of discovery (N), and the moves between them (E)."""

    worlds: Ints  # [N, W]
    mover: Ints  # [N] a player, CHANCE or TERMINAL
    first: Ints  # [N + 1] the edges of position s are first[s] to first[s + 1]
    child: Ints  # [E] where an edge leads
    action: Ints  # [E] the action or outcome
    probability: Reals  # [E] chance's; 1 for a player's
    utility: Reals  # [N, P] returns of finished games, else 0
    order: NDArray[np.int32]  # [N] positions by component, those that a component leads to first
    start: NDArray[np.int32]  # [components + 1] where each of them begins in `order`


_ints, _small = int64[::1], types.int32[::1]
_GraphType = types.NamedTuple(
    [int64[:, ::1], _ints, _ints, _ints, _ints, float64[::1], float64[:, ::1], _small, _small], Graph
)


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
        at = find_views(self.graph.worlds, world[None])[0]
        if at == NONE:
            raise InputError(f"{self.game.spec}: play never gets to {self.game.layout.write(world)}")
        return self.values[at]


def optimal_play(game: Game, *, limit: int = DEFAULT_LIMIT) -> Optimum:
    """Solve a game that hides nothing, with or without chance, by value iteration."""
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
    """What each player could gain by a best response. float64[P]"""
    return position_measure(policy)[1]


def position_measure(policy: Policy) -> tuple[Reals, Reals]:
    """Every player's expected return, and what each could gain by a best response. float64[P] each"""
    game, graph = policy.game, position_graph(policy.game)
    q = _edges(graph, policy)
    value = iterate(game, graph, q, np.zeros(game.players, np.bool_))[0][0]
    best = [iterate(game, graph, q, np.arange(game.players) == i)[0][0, i] for i in range(game.players)]
    return value, np.array(best) - value


def position_response(policy: Policy, player: int) -> tuple[float, Policy]:
    """A best response of one player: its value, and the profile in which he plays it."""
    game, graph = policy.game, position_graph(policy.game)
    q = _edges(graph, policy)
    values, best = iterate(game, graph, q, np.arange(game.players) == player)
    for s in np.flatnonzero(graph.mover == player):
        q[graph.first[s] : graph.first[s + 1]] = 0.0
        q[best[s]] = 1.0
    return float(values[0, player]), _policy(game, graph, q)


def position_policy(game: Game, rows: Rows) -> Policy:
    """A callable as a table over all positions at which a player moves."""
    graph = position_graph(game)
    table = _policy(game, graph, graph.probability)
    return replace(table, probability=ask(game, rows, table.views, np.diff(table.offset)))


def position_graph(game: Game, limit: int = DEFAULT_LIMIT) -> Graph:
    """Every position that play can reach; an InputError if there are more than `limit`. The last few are kept."""
    return _graph(game, limit)


@lru_cache(maxsize=4)
def _graph(game: Game, limit: int) -> Graph:
    if game.hidden:
        raise InputError(f"{game.spec} hides something: its positions are not views, enumerate its histories instead")
    graph, table = _allocate(game, 1 << 12)
    registers = np.zeros(3, np.int64)
    graph.worlds[0] = game.initial()
    registers[POSITIONS] = 1
    stop = stop_flag()
    while (status := _expand(game.kernels, game.rules, graph, table, registers, game.max_branching, stop)) == FULL:
        if registers[POSITIONS] > limit:
            raise InputError(f"{game.spec} has more than {limit:,} positions: too many; give smaller parameters")
        graph, table = _grown(game, graph, registers)
    verify_not_stopped()
    if status != DONE:
        raise broken_rules(game, graph.worlds[registers[EXPANDED]], status == BAD_CHANCE)
    n, e = int(registers[POSITIONS]), int(registers[EDGES])
    return Graph(
        graph.worlds[:n].copy(),
        graph.mover[:n],
        graph.first[: n + 1],
        graph.child[:e],
        graph.action[:e],
        graph.probability[:e],
        graph.utility[:n],
        *components(graph.first[: n + 1], graph.child[:e]),
    )


def iterate(game: Game, graph: Graph, q: Reals, free: NDArray[np.bool_]) -> tuple[Reals, Ints]:
    """Every player's value of each position [N, P], and the best edge [N] where a free player moves."""
    values, best, settled = _iterate(graph, q, free, TOLERANCE, MOST_SWEEPS, stop_flag())
    verify_not_stopped()
    if not settled:
        raise InputError(f"value iteration on {game.spec} did not settle in {MOST_SWEEPS:,} sweeps")
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
    found = find_views(policy.views, graph.worlds[deciding])
    if (found == NONE).any():
        missing = graph.worlds[deciding[int(np.argmax(found == NONE))]]
        raise InputError(f"the policy for {policy.game.spec} lacks the view {policy.game.layout.write(missing)}")
    q = graph.probability.copy()
    counts = np.diff(graph.first)[deciding]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    edges, slots = (np.repeat(x, counts) + within for x in (graph.first[deciding], policy.offset[found]))
    same = (np.diff(policy.offset)[found] == counts).all()
    if not same or (policy.action[slots] != graph.action[edges]).any():
        raise InputError(f"the policy for {policy.game.spec} has other legal actions than the game")
    q[edges] = policy.probability[slots]
    return q


def _allocate(game: Game, room: int) -> tuple[Graph, NDArray[np.int32]]:
    n, e = room + game.max_branching, 4 * room + game.max_branching
    graph = Graph(
        np.zeros((n, game.world_size), np.int64),
        np.zeros(n, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(e, np.int64),
        np.zeros(e, np.int64),
        np.zeros(e),
        np.zeros((n, game.players)),
        np.zeros(0, np.int32),
        np.zeros(0, np.int32),
    )
    return graph, np.full(1 << (2 * n).bit_length(), NONE, np.int32)


def _grown(game: Game, graph: Graph, registers: Ints) -> tuple[Graph, NDArray[np.int32]]:
    """A copy with at least twice the room."""
    larger, table = _allocate(game, max(2 * len(graph.mover), len(graph.child) // 2))
    arrays: zip[tuple[NDArray[Any], NDArray[Any]]] = zip(graph, larger, strict=True)
    for old, new in arrays:
        new[: len(old)] = old
    _enter_all(larger.worlds[: registers[POSITIONS]], table)
    return larger, table


@kernel(types.void(int64[:, ::1], types.int32[::1]))
def _enter_all(worlds: Ints, table: NDArray[np.int32]) -> None:
    for s in range(len(worlds)):
        table[probe_view(worlds, table, worlds[s])] = s


@kernel(int64(KernelsType, RulesType, _GraphType, types.int32[::1], int64[::1], int64, FlagType))
def _expand(
    game: Any, rules: Ints, graph: Graph, table: NDArray[np.int32], registers: Ints, branching: int, stop: Ints
) -> int:
    """Breadth first: give one position after the other its edges, until there is none left or no room."""
    graph = lent(graph)
    choices, chances = np.zeros(branching, np.int64), np.ones(branching)
    if registers[EXPANDED] == 0:
        table[probe_view(graph.worlds, table, graph.worlds[0])] = 0
    while registers[EXPANDED] < registers[POSITIONS]:
        s, e, known = registers[EXPANDED], registers[EDGES], registers[POSITIONS]
        if stop[0]:
            return STOPPED
        if known + branching > len(graph.mover) or e + branching > len(graph.child):
            return FULL
        world = graph.worlds[s]
        mover = game.mover(rules.ctypes, world.ctypes)
        graph.mover[s] = mover
        count = 0
        if mover == TERMINAL:
            game.returns(rules.ctypes, world.ctypes, graph.utility[s].ctypes)
        elif mover == CHANCE:
            count = game.chance(rules.ctypes, world.ctypes, choices.ctypes, chances.ctypes)
            if not sums_to_one(chances, count):
                return BAD_CHANCE
        else:
            count = game.legal(rules.ctypes, world.ctypes, choices.ctypes)
        if mover >= 0 and count <= 0:
            return LOST
        for k in range(count):
            after = graph.worlds[known]
            after[:] = world
            game.step(rules.ctypes, after.ctypes, choices[k])
            place = probe_view(graph.worlds, table, after)
            if table[place] == NONE:
                table[place] = known
                known += 1
            graph.child[e + k] = table[place]
            graph.action[e + k] = choices[k]
            graph.probability[e + k] = chances[k] if mover == CHANCE else 1.0
        registers[POSITIONS] = known
        registers[EDGES] = graph.first[s + 1] = e + count
        registers[EXPANDED] += 1
    return DONE


@inlined
def _loops(graph: Graph, s: int) -> bool:
    """Whether an edge leads from a position to itself."""
    loops = False
    for e in range(graph.first[s], graph.first[s + 1]):
        loops |= graph.child[e] == s
    return loops


@inlined
def _settle(graph: Graph, q: Reals, free: NDArray[np.bool_], value: Reals, best: Ints, new: Reals, s: int) -> float:
    """Renew the values of one position; return by how much they change."""
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
    types.Tuple((float64[:, ::1], int64[::1], boolean))(
        _GraphType, float64[::1], boolean[::1], float64, int64, FlagType
    )
)
def _iterate(
    graph: Graph, q: Reals, free: NDArray[np.bool_], tolerance: float, most: int, stop: Ints
) -> tuple[Reals, Ints, bool]:
    """Component after component: the values, the best edges, and whether all of them settled."""
    value, best = graph.utility.copy(), np.full(len(graph.mover), NONE)
    graph = lent(graph)
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
