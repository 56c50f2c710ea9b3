"""A bot of OpenSpiel as a seat: it plays in a state of its own that follows the game move by move.

OpenSpiel gives a bot the whole state, hidden cards included, and relies on the bot to play fair; so do we. A seat is
written `openspiel:NAME(parameter=value,...)`: see `qdts.play.openspiel_bots`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.openspiel import LIMIT, PREFIX
from qdts.games.registry import parse_spec
from qdts.play.lockstep import twin
from qdts.play.openspiel_bots import TREE_WALKERS, Maker, make_bots, read_parameters, verify_plays
from qdts.solving.tree.enumeration import TooLargeError, enumerate_game

SEEDS = 2**31
"""OpenSpiel's seeds are below this."""
COUNTERPARTS = {"mcts": "ismcts", "ismcts": "mcts"}


class BotSeat:
    """Bots of OpenSpiel as a seat of `qdts.play_match`: each player of each game has a bot of their own.

    Args:
        game: The game.
        make: Makes a `pyspiel.Bot` of a player and a seed.
        name: The name of the bots in errors.

    Raises:
        InputError: If OpenSpiel does not have the game.

    Examples:
        >>> import pyspiel, qdts, qdts.openspiel
        >>> game = qdts.load_game("kuhn_poker")
        >>> seat = qdts.openspiel.BotSeat(game, lambda player, seed: pyspiel.make_uniform_random_bot(player, seed))
        >>> qdts.play_match(game, seat, qdts.read_seat(game, "random"), games=10).games
        10
    """

    def __init__(self, game: Game, make: Maker, name: str = "bot") -> None:
        self.game = game
        self.name = name
        self._make = make
        self._theirs = twin(game)

    def sit(self, player: int, seed: int) -> Sitting:
        """A new bot at the start of a game."""
        return Sitting(self.name, self._theirs.new_initial_state(), self._make(player, seed % SEEDS), player)


class Sitting:
    """One bot in one game."""

    def __init__(self, name: str, state: Any, bot: Any, player: int) -> None:
        self._name, self._state, self._bot, self._player = name, state, bot, player
        self._seen = 0
        self._bot.restart()

    def choose(self, moves: Sequence[int]) -> int:
        """The bot's action after all moves since the start, those of chance and its own included.

        The bot is informed of the other players' moves since its last one, each with the state before it.
        """
        try:
            return self._choose(moves)
        except Exception as error:  # a bot may raise anything
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"{self._name} fails as player {self._player} after the moves {moves}: {reason}"
            ) from error

    def _choose(self, moves: Sequence[int]) -> int:
        state = self._state
        for action in moves[self._seen :]:
            mover = state.current_player()
            if not state.is_chance_node() and mover != self._player:
                self._bot.inform_action(state, mover, action)
            state.apply_action(action)
        self._seen = len(moves)
        action = int(self._bot.step(state))
        if action not in state.legal_actions():
            raise InputError(f"action {action} is not legal")
        return action


def read_bot_seat(game: Game, text: str) -> BotSeat:
    """The seat that `openspiel:NAME(...)` stands for; an InputError says why there is none."""
    theirs = twin(game)
    name, given = parse_spec(text.removeprefix(PREFIX), "bot")
    parameters = read_parameters(name, given)
    if name in COUNTERPARTS and game.hidden != (name == "ismcts"):
        does, has = ("nothing", "something") if name == "mcts" else ("something", "nothing")
        raise InputError(
            f"{PREFIX}{name} searches games that hide {does}, and {game.spec} hides {has}: "
            f"use {PREFIX}{COUNTERPARTS[name]}"
        )
    if name in TREE_WALKERS:
        _verify_small(game, text)
    else:
        verify_plays(game.spec, theirs, name, parameters)
    return BotSeat(game, make_bots(theirs, name, parameters), text)


def _verify_small(game: Game, text: str) -> None:
    try:
        enumerate_game(game, limit=LIMIT)
    except TooLargeError as error:
        raise InputError(f"{text} walks the whole game: {error}") from None
