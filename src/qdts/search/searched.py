"""The policy that a search plays: one search at every information set, all of them batched."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np

from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.search.evaluator import Evaluator
from qdts.search.options import Options
from qdts.search.roots import verify_visits
from qdts.search.run import run_searches
from qdts.solving.policy import Policy, game_tree, policy_on

BATCH = 128
"""Searches that run side by side at most; the trees of one batch are in memory at a time."""
BATCH_VISITS = 400_000
"""Visits that a batch makes at most, so that its trees stay within about a gigabyte."""


def searched_policy(
    game: Game,
    options: Options,
    visits: int,
    *,
    evaluator: Evaluator | None = None,
    seed: int = 0,
    threads: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> Policy:
    """The move distribution of a search at every view where a player moves, each with the seed that `view_seed` gives.

    `report` hears of views done and of all.
    """
    verify_visits(visits)
    tree = game_tree(game)
    sets = tree.infosets
    probability = np.empty(len(sets.action))
    size = max(1, min(BATCH, BATCH_VISITS // visits))
    for start in range(0, tree.num_infosets, size):
        batch = range(start, min(start + size, tree.num_infosets))
        results = run_searches(
            game,
            [sets.views[i] for i in batch],
            [int(sets.owner[i]) for i in batch],
            options,
            visits,
            evaluator=evaluator,
            seeds=[view_seed(sets.views[i], seed) for i in batch],
            threads=threads,
        )
        for i, result in zip(batch, results, strict=True):
            probability[sets.offset[i] : sets.offset[i + 1]] = result.move
        if report is not None:
            report(batch.stop, tree.num_infosets)
    return policy_on(tree, probability, visits=visits)


def view_seed(view: Ints, seed: int) -> int:
    """The seed of the search at a view, by the view and a seed alone: 63 bits of a hash."""
    digest = hashlib.blake2b(f"{seed} ".encode() + view.tobytes(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
