"""qdts in OpenSpiel, and OpenSpiel in qdts.

    bot                             a search, policy or agent of qdts as a `pyspiel.Bot`
    policy                          the same as an `open_spiel.python.policy.Policy`
    BotSeat                         any `pyspiel.Bot` as a seat of `qdts.play_match`
    to_openspiel, from_openspiel    policy tables

All of it needs OpenSpiel, and a game that both have under the same name, or one imported by `openspiel:NAME`.
"""

from __future__ import annotations

from typing import Any

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.registry import load_game
from qdts.learning.run import Run
from qdts.play.lockstep import twin
from qdts.play.openspiel_seats import BotSeat
from qdts.play.seats import PolicySeat, Seat, read_seat
from qdts.solving.policy.openspiel import from_openspiel, to_openspiel
from qdts.solving.policy.table import Policy, verify_game

__all__ = ["BotSeat", "bot", "from_openspiel", "policy", "to_openspiel"]


def bot(game: Game | str, seat: Seat | Policy | Run | str, player: int, seed: int = 0) -> Any:
    """A `pyspiel.Bot` that moves for one player.

    It takes states of OpenSpiel's game, with simultaneous moves or moves in turn, and decides by the view of its player
    alone.

    Args:
        game: The game, or its name.
        seat: A seat (an agent is one), a policy, a run, or the text of a seat: `qdts:200@leduc.npz`.
        player: The player.
        seed: The seed of searches and moves, over all games that the bot plays.

    Returns:
        The bot.

    Raises:
        InputError: If OpenSpiel does not have the game, or the seat is for another game.

    Examples:
        >>> import pyspiel, qdts, qdts.openspiel
        >>> bot = qdts.openspiel.bot("kuhn_poker", "qdts:20", player=0)
        >>> state = pyspiel.load_game("kuhn_poker").new_initial_state()
        >>> for card in (2, 0):
        ...     state.apply_action(card)
        >>> bot.step(state) in state.legal_actions()
        True
    """
    loaded = _seat(game, seat)
    from qdts.play.bots import SeatBot

    return SeatBot(loaded, player, seed)


def policy(game: Game | str, seat: Seat | Policy | Run | str, seed: int = 0) -> Any:
    """An `open_spiel.python.policy.Policy` for all players.

    A search runs when a view is first needed, and its result is kept. Its seed depends on `seed` and the view, so the
    policy equals that of `qdts.searched_policy` with the same search and seed.

    Args:
        game: The game, or its name.
        seat: A seat (an agent is one), a policy, a run, or the text of a seat: `qdts:200@leduc.npz`.
        seed: The seed of searches.

    Returns:
        The policy.

    Raises:
        InputError: If OpenSpiel does not have the game, or the seat is for another game.

    Examples:
        >>> import pyspiel, qdts, qdts.openspiel
        >>> policy = qdts.openspiel.policy("kuhn_poker", "random")
        >>> state = pyspiel.load_game("kuhn_poker").new_initial_state()
        >>> for card in (2, 0):
        ...     state.apply_action(card)
        >>> policy.action_probabilities(state)
        {0: 0.5, 1: 0.5}
    """
    loaded = _seat(game, seat)
    from qdts.play.bots import SeatPolicy

    return SeatPolicy(loaded, seed)


def _seat(game: Game | str, seat: Seat | Policy | Run | str) -> Seat:
    """The seat that is given, for a game that OpenSpiel has."""
    loaded = load_game(game) if isinstance(game, str) else game
    twin(loaded)
    if isinstance(seat, Policy):
        verify_game(seat, loaded)
        return PolicySeat(seat)
    if isinstance(seat, Run):
        from qdts.play.agent import load_agent

        return load_agent(seat, game=loaded)
    given = read_seat(loaded, seat) if isinstance(seat, str) else seat
    if isinstance(given, BotSeat):
        raise InputError(f"{given.name} is a bot of OpenSpiel already, expected a seat of qdts: random, qdts:100, …")
    if given.game.spec != loaded.spec:
        raise InputError(f"the seat is for {given.game.spec}, expected one for {loaded.spec}")
    return given
