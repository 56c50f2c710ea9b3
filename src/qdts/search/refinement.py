"""Beliefs of a table, as weights of a book's members: computed once, then looked up inside the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64

from qdts.games.interface import NO_HOLE, KernelsType, RulesType
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import element
from qdts.search.answers import fits, look_up_sample
from qdts.search.book import H_EVEN, H_RULES, H_WEIGHTS, Book, BookType, OpenBook, open_book
from qdts.search.choices import Belief
from qdts.search.evaluator import NOTHING
from qdts.search.forest import width
from qdts.solving.policy import Policy, aligned, game_tree
from qdts.solving.tree import NONE, Histories, HistoriesType
from qdts.solving.values import chance_reach, edge, reach


def refined_book(policy: Policy, book: Book, belief: Belief) -> Book:
    """The book of a table with a belief in the place of H."""
    if belief in ("rules", "holes"):
        return book._replace(h=np.array([H_RULES if belief == "rules" else H_EVEN]))
    weigh = {"completions": _even, "exact": _exact, "bayes": _bayes}[belief]
    return book._replace(h=np.array([H_WEIGHTS]), belief=weigh(policy, book))


def _even(policy: Policy, book: Book) -> Reals:
    """1 for each world."""
    return _shares(policy, book)[book.member]


def _shares(policy: Policy, book: Book) -> Reals:
    """The share of each history in its world, by chance: several outcomes may come to the same world. float64[H]"""
    chance = chance_reach(game_tree(policy.game))
    _, group = np.unique(book.worlds, axis=0, return_inverse=True)
    group = group.reshape(-1)
    return np.asarray(chance / np.bincount(group, chance)[group], np.float64)


def _exact(policy: Policy, book: Book) -> Reals:
    """r₋ᵢ, by the policy."""
    tree = game_tree(policy.game)
    probability = aligned(tree, policy)
    owner = tree.histories.mover[book.member]
    weight = np.empty(len(book.member))
    for player in range(policy.game.players):
        own = owner == player
        weight[own] = reach(tree, probability, player)[book.member[own]]
    return weight


def _bayes(policy: Policy, book: Book) -> Reals:
    """What the book's H said at the owner's last turn, times how likely all moves since were."""
    game, tree = policy.game, game_tree(policy.game)
    held = np.zeros(tree.num_histories)
    scratch, n = np.zeros((2, game.world_size), np.int64), width(game)
    _hold(game.kernels, game.rules, book, tree.histories, np.zeros((2, n), np.int64), np.zeros((3, n)), scratch, held)
    held *= _shares(policy, book)
    weight = np.empty(len(book.member))
    _carry(game.kernels, game.rules, book, tree.histories, np.ascontiguousarray(aligned(tree, policy)), held, weight)
    return weight


@kernel()
def _true_value(
    game: Any, rules: Ints, book: OpenBook, history: int, vector: Ints, scratch: Ints, size: int, hole: int,
    choices: Ints, count: int,
) -> int:  # fmt: skip
    """Which of the values of a hole is the one in a history's world."""
    for k in range(count - 1):
        for i in range(size):
            scratch[i] = vector[i]
        game.fill(rules, scratch, hole, choices[k])
        if fits(book, history, scratch, size):
            return k
    return count - 1


@kernel(
    int64(
        KernelsType, RulesType, BookType, HistoriesType, int64[:, ::1], float64[:, ::1], int64[:, ::1], float64[::1]
    )
)  # fmt: skip
def _hold(
    game: Any, rules: Ints, book: Book, histories: Histories, moves: Ints, reals: Reals, vectors: Ints, held: Reals
) -> int:
    """Write what H gives to the world of every history at which a player moves: the product along the holes."""
    opened, rules_at = open_book(book), element(rules, 0)
    vector, scratch, size, n = element(vectors, 0), element(vectors, vectors.shape[1]), vectors.shape[1], moves.shape[1]
    choices, other = element(moves, 0), element(moves, n)
    prior, chances, children = element(reals, 0), element(reals, n), element(reals, 2 * n)
    value = np.zeros(1)
    for h in range(len(held)):
        player = histories.mover[h]
        if player < 0:
            continue
        for i in range(size):
            vectors[0, i] = book.worlds[h, i]
        game.redact(rules_at, vector, player)
        held[h] = 1.0
        hole = game.hole(rules_at, vector)
        while hole != NO_HOLE:
            count = game.values(rules_at, vector, hole, choices, prior)
            look_up_sample(
                game, rules_at, opened, vector, size, player, NOTHING, hole, choices, count, element(value, 0),
                children, prior, scratch, other, chances,
            )  # fmt: skip
            k = _true_value(game, rules_at, opened, h, vector, scratch, size, hole, choices, count)
            held[h] *= prior[k]
            game.fill(rules_at, vector, hole, choices[k])
            hole = game.hole(rules_at, vector)
    return 0


@kernel(int64(KernelsType, RulesType, BookType, HistoriesType, float64[::1], float64[::1], float64[::1]))
def _carry(
    game: Any, rules: Ints, book: Book, histories: Histories, probability: Reals, held: Reals, weight: Reals
) -> int:
    """Weigh every member: back to the owner's last whole action, or to the start if there is none."""
    size = book.worlds.shape[1]
    for m in range(len(weight)):
        h = int(book.member[m])
        player = histories.mover[h]
        weight[m] = 1.0
        while histories.parent[h] != NONE:
            parent = int(histories.parent[h])
            if histories.mover[parent] != player:
                weight[m] *= edge(histories, probability, h)
            elif game.midway(element(rules, 0), element(book.worlds, h * size)) == 0:
                weight[m] *= held[parent]
                break
            h = parent
    return 0
