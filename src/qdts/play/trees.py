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
        keys = [(game, player) if self.game.hidden else game for game, player in zip(games, players, strict=True)]
        lanes = [self._lanes.setdefault(key, len(self._lanes)) for key in keys]
        self._place(self._searcher, lanes, moves, views, players, seeds)
        flag = stop_flag()

        def check_flag(_done: int) -> None:
            if flag[0]:
                raise KeyboardInterrupt

        self._searcher.run(self._visits, check_flag, lanes=np.array(lanes))
        return [self._searcher.result(lane).move for lane in lanes]

    def _place(
        self, searcher: Searcher, lanes: Sequence[int], moves: Sequence[Sequence[int]], views: Sequence[Ints],
        players: Sequence[int], seeds: Sequence[int],
    ) -> None:  # fmt: skip
        """Move the roots of lanes to views."""
        known = [i for i, lane in enumerate(lanes) if lane in self._known]
        for i in sorted(set(range(len(lanes))) - set(known)):
            searcher.begin(lanes[i], views[i], players[i], seeds[i])
        if self.game.hidden:
            for i in known:
                searcher.keep(lanes[i], views[i])
        elif known:
            since = [moves[i][self._known[lanes[i]] :] for i in known]
            searcher.follow_all(np.array([lanes[i] for i in known]), since, np.array([views[i] for i in known]))
        self._known |= {lane: len(made) for lane, made in zip(lanes, moves, strict=True)}
