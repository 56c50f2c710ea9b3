"""The uniform policy of a game as a table."""

from __future__ import annotations

from qdts.games.game import Game
from qdts.solving.policy.table import Policy, policy_on, uniform
from qdts.solving.tree.recent import handy_tree


def uniform_policy(game: Game) -> Policy:
    """The uniform policy: every legal action equally likely.

    Args:
        game: The game; one too large to enumerate is listed view by view.

    Returns:
        A table with every view at which a player moves.

    Examples:
        >>> from qdts import load_game
        >>> policy = uniform_policy(load_game("kuhn_poker"))
        >>> policy(policy.views[0])
        {0: 0.5, 1: 0.5}
    """
    tree = handy_tree(game)
    if tree is not None:
        return policy_on(tree, uniform(tree))
    from qdts.solving.sweep.tabulate import tabulate

    return tabulate(game)
