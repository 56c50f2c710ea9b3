"""The trees of a seat in many games: a search continues with what it found below the moves that were made since.

With perfect information the path to a position identifies its node (`Searcher.follow`). Where something is hidden, the
node is that of the player's view (`Searcher.keep`): nothing below it depends on how it was reached, so this is sound
for every search by trees. `docs/search.md` says how it differs from a new search.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from qdts.games.game import Game
from qdts.interrupt import stop_flag
from qdts.kernels import Ints, Reals
from qdts.search.evaluation.evaluator import Evaluator
from qdts.search.forest.searcher import Searcher
from qdts.search.options.options import Options


class Trees:
    """The searches of one seat, a tree for each game; where something is hidden for each player in it.

    Args:
        game: The game.
        options: Of the searches.
        visits: That each decision adds.
        evaluator: P, V, V_c and H.
        most: The number of games that may come.
        threads: Threads to search with.
    """

    def __init__(
        self, game: Game, options: Options, visits: int, evaluator: Evaluator, *, most: int, threads: int = 1
    ) -> None:
        self.game = game
        self._options = options
        self._visits = visits
        self._evaluator = evaluator
        self._most = most * (game.players if game.hidden else 1)
        self._threads = threads
        self._searcher: Searcher | None = None
        self._lanes: dict[Hashable, int] = {}
        self._known: dict[int, int] = {}
        """How many moves of its game the tree of a lane knows."""

    def decide(
        self,
        games: Sequence[Hashable],
        moves: Sequence[Sequence[int]],
        views: Sequence[Ints],
        players: Sequence[int],
        seeds: Sequence[int],
    ) -> list[Reals]:
        """The policy at some views, each in another game.

        Args:
            games: What tells the games apart.
            moves: All actions and outcomes of each game so far.
            views: Views of players who are to move.
            players: Whose view each is.
            seeds: A seed for each view, for trees that begin there.

        Returns:
            For each view the probability of each legal action, ascending.
        """
        if self._searcher is None:
            n = self._most  # all lanes need a root, until a game comes to them
            self._searcher = Searcher(
                self.game, [views[0]] * n, [players[0]] * n, self._options, self._evaluator, threads=self._threads
            )
        lanes = [
            self._place(self._searcher, game, made, view, player, seed)
            for game, made, view, player, seed in zip(games, moves, views, players, seeds, strict=True)
        ]
        flag = stop_flag()

        def check_flag(_done: int) -> None:
            if flag[0]:
                raise KeyboardInterrupt

        self._searcher.run(self._visits, check_flag, lanes=np.array(lanes))
        return [self._searcher.result(lane).move for lane in lanes]

    def _place(
        self, searcher: Searcher, game: Hashable, moves: Sequence[int], view: Ints, player: int, seed: int
    ) -> int:
        """The lane of a game, with its root at a view."""
        key = (game, player) if self.game.hidden else game
        lane = self._lanes.setdefault(key, len(self._lanes))
        if lane not in self._known:
            searcher.begin(lane, view, player, seed)
        elif self.game.hidden:
            searcher.keep(lane, view)
        else:
            searcher.follow(lane, moves[self._known[lane] :])
        self._known[lane] = len(moves)
        return lane
