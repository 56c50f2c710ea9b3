"""Our seats in OpenSpiel: as a `pyspiel.Bot`, and as an `open_spiel.python.policy.Policy`.

Both take the view of the player to move from OpenSpiel's state, and decide by the view alone. This module needs
OpenSpiel; use it by `qdts.openspiel`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.policy import Policy

from qdts.games.game import Game
from qdts.kernels import Reals
from qdts.play.lockstep import Follower, twin
from qdts.play.match import sample
from qdts.play.seats import Seat
from qdts.search.seeds import view_seed


class SeatBot(pyspiel.Bot):  # type: ignore[misc]
    """A seat as a bot for one player. Its moves depend on the state and on its random stream alone."""

    def __init__(self, seat: Seat, player: int, seed: int) -> None:
        pyspiel.Bot.__init__(self)
        seat.game.verify_player(player)
        self._seat, self._player = seat, player
        self._follower = Follower(seat.game)
        self._stream = np.random.default_rng(seed)

    def player_id(self) -> int:
        """The player it moves for."""
        return self._player

    def restart(self) -> None:
        """Begin a new game: there is no state to reset."""

    def restart_at(self, state: Any) -> None:
        """Continue from any state: there is no state to reset."""

    def inform_action(self, state: Any, player_id: int, action: int) -> None:
        """Ignored: the next state contains the action."""

    def inform_actions(self, state: Any, actions: list[int]) -> None:
        """Ignored, for simultaneous moves: the next state contains them."""

    def provides_force_action(self) -> bool:
        """True: it can continue after a move that it did not choose."""
        return True

    def force_action(self, state: Any, action: int) -> None:
        """Ignored: the next state contains the action."""

    def provides_policy(self) -> bool:
        """True: `get_policy` is available."""
        return True

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """The legal actions with their probabilities."""
        view = self._follower.view(state, self._player)
        seed = int(self._stream.integers(2**63))
        return _listed(self._seat.game.legal(view), self._seat.decide([view], [self._player], [seed])[0])

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """The legal actions with their probabilities, and an action sampled from them."""
        policy = self.get_policy(state)
        choice = sample(np.array([probability for _, probability in policy]), self._stream.random())
        return policy, policy[choice][0]

    def step(self, state: Any) -> int:
        """An action sampled from the policy."""
        return self.step_with_policy(state)[1]


class SeatPolicy(Policy):  # type: ignore[misc]
    """A seat as a policy for all players: it decides once for each view, with `view_seed`, and keeps the result."""

    def __init__(self, seat: Seat, seed: int) -> None:
        game: Game = seat.game
        super().__init__(twin(game), list(range(game.players)))
        self._seat, self._seed = seat, seed
        self._follower = Follower(game)
        self._known: dict[tuple[int, bytes], dict[int, float]] = {}

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """The legal actions of a player, by default the one to move, with their probabilities."""
        player = int(state.current_player()) if player_id is None else player_id
        view = self._follower.view(state, player)
        key = player, view.tobytes()
        if key not in self._known:
            distribution = self._seat.decide([view], [player], [view_seed(view, self._seed)])[0]
            self._known[key] = dict(_listed(self._seat.game.legal(view), distribution))
        return self._known[key].copy()


def _listed(actions: list[int], distribution: Reals) -> list[tuple[int, float]]:
    return list(zip(actions, distribution.tolist(), strict=True))
