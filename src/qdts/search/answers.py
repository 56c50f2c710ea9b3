"""The evaluators that are compiled into the machine, so that a search with them never stops to ask.

UNIFORM     P even, H as the rules' weights say, every value that of a game about which nothing is known
PLAYOUTS    the same P and H; V is the return of one random game from there, V_c is V
ROLLOUTS    the same with a game that a policy plays
TABLE       everything exactly, from a policy (a `Book`)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64

from qdts.games.interface import NO_HOLE, UNKNOWN, KernelsType, RulesType
from qdts.games.playouts import PlayoutType
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import StateType, element
from qdts.rng import State
from qdts.search.book import H_EVEN, H_MODEL, H_WEIGHTS, Book, BookType, OpenBook, open_book
from qdts.search.edges import drawn
from qdts.search.evaluator import ACT, NOTHING, SAMPLE
from qdts.search.index import hashed, probe
from qdts.search.rollouts import roll_out
from qdts.search.settings import Settings, SettingsType

ASK, UNIFORM, PLAYOUTS, TABLE, ROLLOUTS = range(5)
"""Evaluators by number; ASK stands for one outside of the machine."""

ANSWERED, NO_ENTRY = 0, 1
"""What `answer` says; NO_ENTRY: the book has no such view or world."""


@kernel()
def play_out(
    game: Any, playout: Any, rules: Ints, settings: Settings, book: OpenBook, evaluator: int, vector: Ints, size: int,
    player: int, pending: int, state: State, values: int, value: Reals, world: Ints, moves: Ints, chances: Reals,
) -> None:  # fmt: skip
    """V of one game: holes are filled by the rules' weights, then the pending action, then a playout."""
    for i in range(size):
        world[i] = vector[i]
    hole = game.hole(rules, world) if settings.hidden else NO_HOLE
    while hole != NO_HOLE:
        count = game.values(rules, world, hole, moves, chances)
        game.fill(rules, world, hole, moves[drawn(chances, count, state)])
        hole = game.hole(rules, world)
    if pending != NOTHING:
        game.step(rules, world, pending)
    if evaluator == ROLLOUTS:
        seen = np.empty(size, np.int64)
        roll_out(game, rules, book, world, element(seen, 0), size, moves, chances, state, chances)
    else:
        playout(rules, world, moves, chances, state, chances)
    for k in range(values):
        value[k] = chances[player if settings.hidden else k]


@kernel()
def noisy(
    book: OpenBook, which: int, value: float, vector: Ints, size: int, player: int, pending: int, choice: int
) -> float:
    """A value with its error, a normal one that depends on the query alone (Box and Muller 1958)."""
    if book.noise[which] == 0.0:
        return value
    seed = (((book.seed[0] * 31 + which) * 64 + player) << 40) + ((pending + 1) << 20) + choice + 1
    u = (hashed(vector, size, 2 * seed) + 0.5) / 2.0**63
    angle = 2.0 * np.pi * (hashed(vector, size, 2 * seed + 1) / 2.0**63)
    return value + book.noise[which] * np.sqrt(-2.0 * np.log(u)) * np.cos(angle)


@kernel()
def look_up_act(
    book: OpenBook,
    view: Ints,
    size: int,
    player: int,
    count: int,
    values: int,
    value: Reals,
    children: Reals,
    prior: Reals,
) -> int:
    """At a player's own view: P of the policy, V and the value of each action under his belief."""
    s = book.view_table[probe(book.views, book.view_table, book.view_mask, view, size)]
    if s < 0:
        return NO_ENTRY
    for i in range(count):
        prior[i] = book.probability[book.offset[s] + i]
        for k in range(values):
            whose = player if values == 1 else k
            q = 0.0
            for m in range(book.member_offset[s], book.member_offset[s + 1]):
                q += book.weight[m] * book.value[(book.first[book.member[m]] + i) * book.players + whose]
            children[i * values + k] = noisy(book, 1, q, view, size, whose, NOTHING, i)
    for k in range(values):
        whose = player if values == 1 else k
        value[k] = noisy(
            book,
            0,
            book.value[(book.member[book.member_offset[s]]) * book.players + whose],
            view,
            size,
            whose,
            NOTHING,
            NOTHING,
        )
    return ANSWERED


@kernel()
def look_up_world(
    book: OpenBook,
    world: Ints,
    size: int,
    player: int,
    pending: int,
    count: int,
    values: int,
    value: Reals,
    children: Reals,
) -> int:
    """At a world where another player or chance moves."""
    h = book.world_table[probe(book.worlds, book.world_table, book.world_mask, world, size)]
    if h < 0:
        return NO_ENTRY
    for k in range(values):
        whose = player if values == 1 else k
        value[k] = noisy(book, 0, book.value[(h) * book.players + whose], world, size, whose, pending, NOTHING)
        for i in range(count):
            children[i * values + k] = noisy(
                book, 1, book.value[(book.first[h] + i) * book.players + whose], world, size, whose, pending, i
            )
    return ANSWERED


@kernel()
def fits(book: OpenBook, history: int, vector: Ints, size: int) -> bool:
    """Whether a history's world fills the holes of a vector."""
    same = True
    for i in range(size):
        same &= (vector[i] == UNKNOWN) | (vector[i] == book.worlds[history * size + i])
    return same


@kernel()
def shift(book: OpenBook, vector: Ints, size: int, player: int, count: int, distribution: Reals) -> None:
    """Move half of the L1 length of H's noise to one choice, from the others in turn; the vector says which.

    It is the first choice, from where the vector says, that leaves enough mass to the others; if there is none, that
    with the least mass.
    """
    left = 0.5 * book.noise[2]
    if left == 0.0 or count < 2:
        return
    h = hashed(vector, size, book.seed[0] * 64 + player)
    to, least = h % count, 0
    for i in range(count):
        k = (h % count + i) % count
        if distribution[k] <= 1.0 - left:
            to = k
            break
        if distribution[k] < distribution[least]:
            least = k
    else:
        to = least
    start = (h // count) % (count - 1)
    for i in range(count - 1):
        k = (to + 1 + (start + i) % (count - 1)) % count
        moved = min(left, distribution[k])
        distribution[k] -= moved
        distribution[to] += moved
        left -= moved


@kernel()
def look_up_sample(
    game: Any, rules: Ints, book: OpenBook, vector: Ints, size: int, player: int, pending: int, hole: int,
    choices: Ints, count: int, value: Reals, children: Reals, prior: Reals, scratch: Ints, moves: Ints, chances: Reals,
) -> int:  # fmt: skip
    """At a view with some holes filled: H of the next one, and what the pending action is then worth.

    H is by Bayes' rule, with noise, or by what takes its place; values are always by Bayes' rule.
    """
    for i in range(size):
        scratch[i] = vector[i]
    k = hole
    while k != NO_HOLE:  # any completion has the owner's view
        game.values(rules, scratch, k, moves, chances)
        game.fill(rules, scratch, k, moves[0])
        k = game.hole(rules, scratch)
    game.redact(rules, scratch, player)
    s = book.view_table[probe(book.views, book.view_table, book.view_mask, scratch, size)]
    if s < 0:
        return NO_ENTRY
    legal = game.legal(rules, scratch, moves)
    action = 0
    for i in range(legal):
        if moves[i] == pending:
            action = i
    total, worth = 0.0, 0.0
    prior_total, prior_worth = 0.0, 0.0
    belief_total = 0.0
    for i in range(count):
        for j in range(size):
            scratch[j] = vector[j]
        game.fill(rules, scratch, hole, choices[i])
        mass, q, prior_mass, prior_q, belief = 0.0, 0.0, 0.0, 0.0, 0.0
        for m in range(book.member_offset[s], book.member_offset[s + 1]):
            history = book.member[m]
            if fits(book, history, scratch, size):
                u = book.value[(book.first[history] + action) * book.players + player]
                mass += book.weight[m]
                q += book.weight[m] * u
                prior_mass += book.prior_weight[m]
                prior_q += book.prior_weight[m] * u
                belief += book.belief[m]
        if prior_mass <= 0.0:
            return NO_ENTRY
        if book.h == H_MODEL:
            prior[i] = mass
            chances[i] = prior_mass
        else:
            chances[i] = belief
        belief_total += belief
        children[i] = noisy(book, 1, q / mass if mass > 0.0 else prior_q / prior_mass, vector, size, player, pending, i)
        total += mass
        worth += q
        prior_total += prior_mass
        prior_worth += prior_q
    v = worth / total if total > 0.0 else prior_worth / prior_total
    value[0] = noisy(book, 0, v, vector, size, player, pending, NOTHING)
    if book.h == H_MODEL:
        for i in range(count):
            prior[i] = prior[i] / total if total > 0.0 else chances[i] / prior_total
        shift(book, vector, size, player, count, prior)
    elif book.h == H_EVEN:
        for i in range(count):
            prior[i] = 1.0 / count
    elif book.h == H_WEIGHTS and belief_total > 0.0:
        for i in range(count):
            prior[i] = chances[i] / belief_total
    return ANSWERED


@kernel()
def answer(
    game: Any, playout: Any, rules: Ints, settings: Settings, book: OpenBook, evaluator: int, kind: int, vector: Ints,
    size: int, player: int, pending: int, hole: int, choices: Ints, count: int, state: State, values: int, value: Reals,
    children: Reals, prior: Reals, scratch: Ints, moves: Ints, chances: Reals,
) -> int:  # fmt: skip
    """Answer a query: write V into `value`, V_c into `children`, P or H into `prior`, which holds what the rules say.

    `size` is W and `values` is K. `scratch` (a vector), `moves` and `chances` are overwritten.
    """
    if evaluator == TABLE:
        if kind == ACT:
            return look_up_act(book, vector, size, player, count, values, value, children, prior)
        if kind == SAMPLE:
            return look_up_sample(
                game, rules, book, vector, size, player, pending, hole, choices, count, value, children, prior, scratch,
                moves, chances,
            )  # fmt: skip
        return look_up_world(book, vector, size, player, pending, count, values, value, children)
    for k in range(values):
        value[k] = settings.neutral
    if evaluator in (PLAYOUTS, ROLLOUTS):
        play_out(
            game, playout, rules, settings, book, evaluator, vector, size, player, pending, state, values, value,
            scratch, moves, chances,
        )  # fmt: skip
    for i in range(count):
        for k in range(values):
            children[i * values + k] = value[k]
        if kind == SAMPLE and book.h == H_EVEN:
            prior[i] = 1.0 / count
    return ANSWERED


@kernel(
    int64(
        KernelsType, PlayoutType, RulesType, SettingsType, BookType, int64, int64, int64[::1], int64, int64, int64,
        int64[::1], StateType, float64[::1], float64[:, ::1], float64[::1], int64[::1], int64[::1], float64[::1],
    )
)  # fmt: skip
def answer_one(
    game: Any, playout: Any, rules: Ints, settings: Settings, book: Book, evaluator: int, kind: int, vector: Ints,
    player: int,
    pending: int, hole: int, choices: Ints, state: State, value: Reals, children: Reals, prior: Reals, scratch: Ints,
    moves: Ints, chances: Reals,
) -> int:  # fmt: skip
    """`answer` for Python."""
    return answer(
        game, playout, element(rules, 0), settings, open_book(book), evaluator, kind, element(vector, 0), len(vector),
        player, pending, hole, element(choices, 0), len(choices), element(state, 0), len(value), element(value, 0),
        element(children, 0), element(prior, 0), element(scratch, 0), element(moves, 0), element(chances, 0),
    )  # fmt: skip
