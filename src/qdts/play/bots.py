"""Our seats at OpenSpiel's table: a `pyspiel.Bot` and an `open_spiel.python.policy.Policy`.

Both find our view of the player to move in the state that OpenSpiel hands them, and decide by it alone. This module
needs OpenSpiel; `qdts.openspiel` is the way in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.policy import Policy

from qdts.games.game import Game
from qdts.kernels import Reals
from qdts.play.lockstep import Follower, twin
from qdts.play.match import drawn
from qdts.play.seats import Seat
from qdts.search.seeds import view_seed


class SeatBot(pyspiel.Bot):  # type: ignore[misc]
    """A seat of ours as a bot for one player. Its moves depend on the state and on its random stream alone."""

    def __init__(self, seat: Seat, player: int, seed: int) -> None:
        pyspiel.Bot.__init__(self)
        seat.game.verify_player(player)
        self._seat, self._player = seat, player
        self._follower = Follower(seat.game)
        self._stream = np.random.default_rng(seed)

    def player_id(self) -> int:
        """Whom it sits for."""
        return self._player

    def restart(self) -> None:
        """A new game begins: there is nothing to forget."""

    def restart_at(self, state: Any) -> None:
        """A game goes on from any state."""

    def inform_action(self, state: Any, player_id: int, action: int) -> None:
        """What others do is in the state that it is handed next."""

    def inform_actions(self, state: Any, actions: list[int]) -> None:
        """The same where all move at once."""

    def provides_force_action(self) -> bool:
        """It can go on after a move that it did not choose."""
        return True

    def force_action(self, state: Any, action: int) -> None:
        """Such a move is in the next state, too."""

    def provides_policy(self) -> bool:
        """It says how likely it makes each move."""
        return True

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """Its legal actions with their probabilities."""
        view = self._follower.view(state, self._player)
        seed = int(self._stream.integers(2**63))
        return _listed(self._seat.game.legal(view), self._seat.decide([view], [self._player], [seed])[0])

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """The same, and the action that is drawn."""
        policy = self.get_policy(state)
        choice = drawn(np.array([probability for _, probability in policy]), self._stream.random())
        return policy, policy[choice][0]

    def step(self, state: Any) -> int:
        """The action that is drawn."""
        return self.step_with_policy(state)[1]


class SeatPolicy(Policy):  # type: ignore[misc]
    """A seat of ours as a policy for all players: at each view it decides once, with `view_seed`, and remembers."""

    def __init__(self, seat: Seat, seed: int) -> None:
        game: Game = seat.game
        super().__init__(twin(game), list(range(game.players)))
        self._seat, self._seed = seat, seed
        self._follower = Follower(game)
        self._known: dict[tuple[int, bytes], dict[int, float]] = {}

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """The legal actions of a player, of the one to move if none is named, with their probabilities."""
        player = int(state.current_player()) if player_id is None else player_id
        view = self._follower.view(state, player)
        key = player, view.tobytes()
        if key not in self._known:
            distribution = self._seat.decide([view], [player], [view_seed(view, self._seed)])[0]
            self._known[key] = dict(_listed(self._seat.game.legal(view), distribution))
        return self._known[key].copy()


def _listed(actions: list[int], distribution: Reals) -> list[tuple[int, float]]:
    return list(zip(actions, distribution.tolist(), strict=True))
