"""Evaluations out of a policy table: P of the policy, and V, V_c and H that follow from it, with their errors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from qdts.games.interface import NO_HOLE, UNKNOWN
from qdts.hashing import hash_vector
from qdts.kernels import Ints, Reals, kernel
from qdts.search.evaluation.evaluator import NOTHING
from qdts.search.evaluation.packed import PackedEvaluation, PackedQuery, Workspace
from qdts.search.evaluation.policy_table import (
    H_MODEL,
    H_UNIFORM,
    H_WEIGHTS,
    NOISE_H,
    NOISE_V,
    NOISE_VC,
    PolicyTable,
    find_view,
    find_world,
)

EVALUATED, NO_ENTRY = 0, 1
"""What a lookup returns; NO_ENTRY: the table has no such view or world."""


@kernel()
def noisy(table: PolicyTable, which: int, value: float, query: PackedQuery, player: int, choice: int) -> float:
    """A value with its error, a normal one that depends on the query alone (Box and Muller 1958)."""
    if table.noise[which] == 0.0:
        return value
    seed = (((table.seed * 31 + which) * 64 + player) << 40) + ((query.pending + 1) << 20) + choice + 1
    u = (hash_vector(query.vector, query.size, 2 * seed) + 0.5) / 2.0**63
    angle = 2.0 * np.pi * (hash_vector(query.vector, query.size, 2 * seed + 1) / 2.0**63)
    return value + table.noise[which] * np.sqrt(-2.0 * np.log(u)) * np.cos(angle)


@kernel()
def look_up_act(table: PolicyTable, query: PackedQuery, out: PackedEvaluation) -> int:
    """At a player's own view: P of the policy, V, and the value of each action under their belief."""
    s = find_view(table, query.vector, query.size)
    if s < 0:
        return NO_ENTRY
    for i in range(query.degree):
        out.prior[i] = table.probability[table.offset[s] + i]
        for k in range(out.values):
            player = query.player if out.values == 1 else k
            q = 0.0
            for m in range(table.member_offset[s], table.member_offset[s + 1]):
                q += table.weight[m] * table.value[(table.first[table.member[m]] + i) * table.players + player]
            out.children[i * out.values + k] = noisy(table, NOISE_VC, q, query, player, i)
    for k in range(out.values):
        player = query.player if out.values == 1 else k
        v = table.value[table.member[table.member_offset[s]] * table.players + player]
        out.value[k] = noisy(table, NOISE_V, v, query, player, NOTHING)
    return EVALUATED


@kernel()
def look_up_world(table: PolicyTable, query: PackedQuery, out: PackedEvaluation) -> int:
    """At a world where another player or chance moves."""
    h = find_world(table, query.vector, query.size)
    if h < 0:
        return NO_ENTRY
    for k in range(out.values):
        player = query.player if out.values == 1 else k
        out.value[k] = noisy(table, NOISE_V, table.value[h * table.players + player], query, player, NOTHING)
        for i in range(query.degree):
            v = table.value[(table.first[h] + i) * table.players + player]
            out.children[i * out.values + k] = noisy(table, NOISE_VC, v, query, player, i)
    return EVALUATED


@kernel()
def fits(table: PolicyTable, history: int, vector: Ints, size: int) -> bool:
    """Whether a history's world fills the holes of a vector."""
    same = True
    for i in range(size):
        same &= (vector[i] == UNKNOWN) | (vector[i] == table.worlds[history * size + i])
    return same


@kernel()
def shift(table: PolicyTable, query: PackedQuery, distribution: Reals) -> None:
    """Move half of the L1 length of H's noise to one choice, from the others in turn; the vector decides which.

    It is the first choice, from where the vector's hash points, that leaves enough mass to the others; if there is
    none, the one with the least mass.
    """
    left, count = 0.5 * table.noise[NOISE_H], query.degree
    if left == 0.0 or count < 2:
        return
    h = hash_vector(query.vector, query.size, table.seed * 64 + query.player)
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


class Weighed(NamedTuple):
    """The members of an information set that agree with a vector: weights, and weights times the value of an action."""

    mass: float
    """By the owner's belief."""
    worth: float
    prior_mass: float
    """By chance alone."""
    prior_worth: float
    belief: float
    """By what takes the place of the owner's belief in H."""


@kernel()
def weigh(table: PolicyTable, s: int, query: PackedQuery, action: int, vector: Ints) -> Weighed:
    """Weigh the members of information set s whose worlds fill the holes of a vector."""
    mass, worth, prior_mass, prior_worth, belief = 0.0, 0.0, 0.0, 0.0, 0.0
    for m in range(table.member_offset[s], table.member_offset[s + 1]):
        history = table.member[m]
        if fits(table, history, vector, query.size):
            u = table.value[(table.first[history] + action) * table.players + query.player]
            mass += table.weight[m]
            worth += table.weight[m] * u
            prior_mass += table.prior_weight[m]
            prior_worth += table.prior_weight[m] * u
            belief += table.belief[m]
    return Weighed(mass, worth, prior_mass, prior_worth, belief)


@kernel()
def owner_view(game: Any, rules: Ints, query: PackedQuery, work: Workspace) -> Ints:
    """The owner's view before any of its holes was filled: that of any completion."""
    view, hole = work.world, query.hole
    for i in range(query.size):
        view[i] = query.vector[i]
    while hole != NO_HOLE:
        game.values(rules, view, hole, work.moves, work.chances)
        game.fill(rules, view, hole, work.moves[0])
        hole = game.hole(rules, view)
    game.redact(rules, view, query.player)
    return view


@kernel()
def look_up_sample(
    game: Any, rules: Ints, table: PolicyTable, query: PackedQuery, out: PackedEvaluation, work: Workspace
) -> int:
    """At a view with some holes filled: H of the next one, and what the pending action is then worth.

    H is by Bayes' rule, with noise, or by what takes its place; values are always by Bayes' rule.
    """
    prior, chances, vector = out.prior, work.chances, work.world
    view = owner_view(game, rules, query, work)
    s = find_view(table, view, query.size)
    if s < 0:
        return NO_ENTRY
    action = 0
    for i in range(game.legal(rules, view, work.moves)):
        if work.moves[i] == query.pending:
            action = i
    total, worth, prior_total, prior_worth, belief_total = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(query.degree):
        for j in range(query.size):
            vector[j] = query.vector[j]
        game.fill(rules, vector, query.hole, query.choices[i])
        part = weigh(table, s, query, action, vector)
        if part.prior_mass <= 0.0:
            return NO_ENTRY
        if table.h == H_MODEL:
            prior[i] = part.mass
            chances[i] = part.prior_mass
        else:
            chances[i] = part.belief
        q = part.worth / part.mass if part.mass > 0.0 else part.prior_worth / part.prior_mass
        out.children[i] = noisy(table, NOISE_VC, q, query, query.player, i)
        total += part.mass
        worth += part.worth
        prior_total += part.prior_mass
        prior_worth += part.prior_worth
        belief_total += part.belief
    v = worth / total if total > 0.0 else prior_worth / prior_total
    out.value[0] = noisy(table, NOISE_V, v, query, query.player, NOTHING)
    if table.h == H_MODEL:
        for i in range(query.degree):
            prior[i] = prior[i] / total if total > 0.0 else chances[i] / prior_total
        shift(table, query, prior)
    elif table.h == H_UNIFORM:
        for i in range(query.degree):
            prior[i] = 1.0 / query.degree
    elif table.h == H_WEIGHTS and belief_total > 0.0:
        for i in range(query.degree):
            prior[i] = chances[i] / belief_total
    return EVALUATED
