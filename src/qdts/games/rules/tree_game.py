"""Tree games: two players walk down a tree in turn, and its leaf says what player 0 wins and player 1 loses.

`tree` is a nested list: a list is a node, whose parts are its children, and a number is a leaf. Player 0 moves
at the root, player 1 a level below, and so on. Nothing is hidden.

    component       holds
    NODE            the number of the node, counted level by level from the root, which is 0
"""

from __future__ import annotations

import numpy as np

from qdts.errors import InputError
from qdts.games.defaults import one_hot, real, real_bits
from qdts.games.family import Family, Parameter, is_number
from qdts.games.game import Game
from qdts.games.layout import Field, Layout
from qdts.games.rule import TERMINAL, compile_rules, rule
from qdts.kernels import Ints, Reals, Reals32

NODE = 0
# `rules` holds the number of nodes, and of each: its mover, its first child, how many it has, its payoff.
NODES, TABLE = 0, 1
MOVER, CHILD, CHILDREN, PAYOFF, COLUMNS = 0, 1, 2, 3, 4
MOST_NODES = 100_000


@rule
def initial(rules: Ints, world: Ints) -> None:
    """At the root."""
    world[NODE] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """The players take turns until they come to a leaf."""
    return rules[TABLE + world[NODE] * COLUMNS + MOVER]


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """To any child."""
    count = rules[TABLE + world[NODE] * COLUMNS + CHILDREN]
    for i in range(count):
        actions[i] = i
    return count


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Go to a child."""
    world[NODE] = rules[TABLE + world[NODE] * COLUMNS + CHILD] + action


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """What the leaf says."""
    utilities[0] = real(rules[TABLE + world[NODE] * COLUMNS + PAYOFF])
    utilities[1] = -utilities[0]


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, and the node."""
    at = one_hot(out, 0, player, 2)
    one_hot(out, at, world[NODE], rules[NODES])


def flatten(tree: list[object]) -> tuple[list[object], list[tuple[int, ...]], list[int]]:
    """All nodes level by level, the path to each, and the number of each one's first child."""
    nodes: list[object] = [tree]
    paths: list[tuple[int, ...]] = [()]
    children: list[int] = []
    for at, node in enumerate(nodes):  # which grows as we go
        children.append(len(nodes))
        if isinstance(node, list):
            nodes.extend(node)
            paths.extend((*paths[at], i) for i in range(len(node)))
            if not node:
                raise InputError(f"tree_game: the node at {name_of(paths[at])} is an empty list, expected children")
        elif not is_number(node):
            raise InputError(f"tree_game: the leaf at {name_of(paths[at])} is '{node!s:.40}', expected a finite number")
        if len(nodes) > MOST_NODES:
            raise InputError(f"tree_game: the tree has more than {MOST_NODES} nodes")
    return nodes, paths, children


def name_of(path: tuple[int, ...]) -> str:
    """A node's name: the actions that lead to it."""
    return ".".join(map(str, path)) or "root"


def build(spec: str, tree: list[object]) -> Game:
    """The game on a tree."""
    nodes, paths, children = flatten(tree)
    widths = [len(node) if isinstance(node, list) else 0 for node in nodes]
    movers = [len(path) % 2 if width else TERMINAL for path, width in zip(paths, widths, strict=True)]
    payoffs = np.array([0.0 if isinstance(node, list) else node for node in nodes], np.float64)
    leaves = payoffs[np.array(widths) == 0]
    most = float(np.abs(leaves).max())
    table = np.stack([np.array(movers), np.array(children), np.array(widths), real_bits(payoffs)], axis=1)
    return Game(
        name="tree_game",
        parameters={"tree": tree},
        spec=spec,
        version=1,
        players=2,
        rules=np.array([len(nodes), *table.flat], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout((Field("node", tuple(map(name_of, paths))),)),
        num_actions=max(widths),
        num_outcomes=0,
        num_values=0,
        max_depth=len(paths[-1]),
        min_return=-most,
        max_return=most,
        feature_shape=(len(nodes) + 4,),
        action_name=str,
        hidden=False,
        replay=lambda world: list(paths[world[NODE]]),
        title=lambda view: name_of(paths[view[NODE]]),
    )


FAMILY = Family(
    name="tree_game",
    summary="Tree games: a walk down a given tree, nothing hidden",
    parameters=(
        Parameter("tree", [[4, -2, 5], [-3, 3, 1], [0, 3, -1]], "nested lists; a number is what the first player wins"),
    ),
    build=build,
    examples=("tree_game(tree=[[[[1,-1],2],-3],[0.5,[[4],[-2,[3,-4]]]],1])", "tree_game(tree=[1,2])"),
)
