"""Between qdts and OpenSpiel, both ways.

    bot                             a search, policy or agent of ours as a `pyspiel.Bot`
    policy                          the same as an `open_spiel.python.policy.Policy`
    BotSeat                         any `pyspiel.Bot` as a seat of `qdts.play_match`
    to_openspiel, from_openspiel    whole tables

All of it needs OpenSpiel, and a game that both have under the same name or one imported by `openspiel:NAME`.
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
    """A `pyspiel.Bot` for one player: a seat (an agent is one), a policy, a run, or the text of a seat.

    Such a text is `qdts:200@leduc.npz`, or the folder of a run.

    It takes states of OpenSpiel's game, simultaneous moves at once or in turns, and decides by our view of its player
    in them alone. The seed is that of searches and moves, over all games that the bot plays.
    """
    sitting = _seat(game, seat)
    from qdts.play.bots import SeatBot

    return SeatBot(sitting, player, seed)


def policy(game: Game | str, seat: Seat | Policy | Run | str, seed: int = 0) -> Any:
    """An `open_spiel.python.policy.Policy` for all players, of the same.

    A search is made when a view is first asked for, and remembered. Its seed depends on `seed` and the view, so the
    policy is that of `qdts.searched_policy` with the same search and seed.
    """
    sitting = _seat(game, seat)
    from qdts.play.bots import SeatPolicy

    return SeatPolicy(sitting, seed)


def _seat(game: Game | str, seat: Seat | Policy | Run | str) -> Seat:
    """The seat of ours that is meant, at a game that OpenSpiel has."""
    loaded = load_game(game) if isinstance(game, str) else game
    twin(loaded)
    if isinstance(seat, Policy):
        verify_game(seat, loaded)
        return PolicySeat(seat)
    if isinstance(seat, Run):
        from qdts.play.agent import load_agent

        return load_agent(seat, game=loaded)
    meant = read_seat(loaded, seat) if isinstance(seat, str) else seat
    if isinstance(meant, BotSeat):
        raise InputError(f"{meant.name} is a bot of OpenSpiel already, expected a seat of ours: random, qdts:100, …")
    if meant.game.spec != loaded.spec:
        raise InputError(f"the seat is for {meant.game.spec}, expected one for {loaded.spec}")
    return meant
