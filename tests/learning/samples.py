"""Records to test with: games played by decisions that are made up, but the same for the same view and seed."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from qdts import load_game
from qdts.games import Game
from qdts.kernels import Ints, Reals
from qdts.learning.selfplay.decisions import Decide, Decisions
from qdts.learning.selfplay.games import play_games
from qdts.learning.selfplay.record import Record
from qdts.search.seeds import view_seed
from qdts.solving.policy.table import Policy
from qdts.solving.tree.recent import game_tree

SPECS = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=3,split=true)",
    "goofspiel(num_cards=3)",
    "tic_tac_toe",
    "pig(players=3,winscore=10)",
]


def made_up(game: Game, seed: int = 0) -> Decide:
    """Numbers drawn for each view alone."""

    def decide(views: Ints, players: Ints) -> Decisions:
        columns: list[list[Reals]] = [[] for _ in range(6)]
        for view in views:
            numbers, count = np.random.default_rng(view_seed(view, seed)), len(game.legal(view))
            low = numbers.uniform(-1.0, 1.0, count)
            visits = numbers.integers(0, 9, count).astype(np.float64)
            shares = [numbers.dirichlet(np.ones(count)) for _ in range(3)]
            for column, part in zip(columns, [visits, low, low + numbers.random(count), *shares], strict=True):
                column.append(part)
        offset = np.cumsum([0, *(len(part) for part in columns[0])])
        visits, *rest = (np.concatenate(column) for column in columns)
        return Decisions(offset, visits.astype(np.int64), *rest)

    return decide


def by_table(policy: Policy) -> Decide:
    """Moves, and everything else, as a policy has them."""
    tree = game_tree(policy.game)
    sets = tree.infosets
    known = {view.tobytes(): i for i, view in enumerate(sets.views)}

    def decide(views: Ints, players: Ints) -> Decisions:
        which = [known[view.tobytes()] for view in views]
        parts = [policy.probability[sets.offset[i] : sets.offset[i + 1]] for i in which]
        p = np.concatenate(parts)
        nothing = np.zeros(len(p))
        return Decisions(np.cumsum([0, *map(len, parts)]), nothing.astype(np.int64), nothing, nothing, p, p, p)

    return decide


@lru_cache
def sample(spec: str, games: int = 60, explore: float = 0.3, seed: int = 1) -> Record:
    """Some games."""
    game = load_game(spec)
    return play_games(game, made_up(game), games, explore, np.random.default_rng(seed), generation=7)
