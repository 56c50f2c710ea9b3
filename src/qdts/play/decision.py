"""One decision: a search by name, from a state as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdts.games.game import Game
from qdts.play.seats import evaluator_for
from qdts.play.state import read_state
from qdts.search.decision.result import Result
from qdts.search.options.parsing import read_search
from qdts.search.run import run_searches
from qdts.solving.policy.table import Policy

if TYPE_CHECKING:
    from qdts.play.agent import Agent


def decide(
    game: Game,
    state: str | None = None,
    search: str = "qdts",
    visits: int = 200,
    *,
    policy: Policy | Agent | None = None,
    seed: int = 0,
) -> Result:
    """Search from a state.

    Args:
        game: The game.
        state: The text of a view, or the moves that lead to it: see `qdts.play.state.read_state`. By default the first
            decision.
        search: The name of a search, with options in brackets: `qdts[c=0.2]`.
        visits: The visits of the root.
        policy: What the search knows: a policy, of which P, V and H follow; or an agent, whose networks evaluate. By
            default it knows only the rules.
        seed: The seed of the search.

    Returns:
        The root's actions with visits, Q and prior, and the distribution `move` to sample the move from.

    Raises:
        InputError: For a state that is no decision of the game, an unknown search or option, or wrong visits.

    Examples:
        >>> import qdts
        >>> game = qdts.load_game("kuhn_poker")
        >>> result = qdts.decide(game, "deal J, deal Q, Bet", visits=50, policy=qdts.solve(game, "lp").policy)
        >>> [game.action_name(action) for action in result.actions], int(result.visits.sum())
        (['Pass', 'Bet'], 50)
    """
    options = read_search(game, search)
    view, player = read_state(game, state)
    evaluator = evaluator_for(game, options, policy)
    return run_searches(game, [view], [player], options, visits, evaluator=evaluator, seeds=[seed])[0]
