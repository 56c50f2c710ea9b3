"""One decision: a search by its name, from a state in words."""

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
    """Search from a state: the root's actions with visits and Q, and the distribution to draw the move from.

    The state is the text of a view or the moves that lead there, `read_state` says how; without one it is the first
    decision. With a policy the search knows what follows from it, with an agent it asks its networks, else it knows
    nothing.
    """
    options = read_search(game, search)
    view, player = read_state(game, state)
    evaluator = evaluator_for(game, options, policy)
    return run_searches(game, [view], [player], options, visits, evaluator=evaluator, seeds=[seed])[0]
