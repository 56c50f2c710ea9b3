"""A game given as a table of all its histories, with the same rules for every such game.

Each history is a numbered node. A player's view is a class of nodes that they can't distinguish. The world is the
node's number in hexadecimal digits and, for each player, the number of their class. Where a class holds more
than one node, its owner sees neither the digits nor the others' classes; the holes are the digits, filled from the
most significant on, so that a hole never has more than sixteen values however large the game is.

    component       holds
    k < DIGITS      the node's number, digit by digit
    DIGITS + p      the class of player p; it follows from the node

A class has features of its own where OpenSpiel describes it by a tensor: so networks see what is alike in different
classes, which their numbers don't tell.

`rules` holds a header and, one after the other, the sections that it points to:

    section         entries     holds
    MOVER           N           a player, CHANCE or TERMINAL
    FIRST, COUNT    N each      the first child, how many there are
    ACTION          N           the action or outcome that leads to the node
    CHANCES         N           its probability if chance moved there (float bits)
    UTILITY         N · P       the returns of finished games (float bits)
    CLASS           P · N       player p's class of each node
    ROW             R + 1       the numbers other than 0 of tensor r are entries ROW[r] to ROW[r + 1]
    COLUMN          ...         their positions
    NUMBER          ...         what they are (float bits)
    and for each player
    START           C + 1       the members of class c are entries START[c] to START[c + 1]
    MEMBERS         N           nodes by class, ascending in each
    MASS            N + 1       the sum of chance's probabilities of all members before an entry (float bits)
    WHO             C           the mover, if all members have the same, else OTHERS
    TENSOR          C           which tensor describes the class, or NO_TENSOR
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qdts.games.defaults import one_hot, real, real_bits
from qdts.games.game import Game
from qdts.games.layout import Field, Layout
from qdts.games.rule import CHANCE, NO_HOLE, OTHERS, TERMINAL, UNKNOWN, compile_rules, rule
from qdts.kernels import Ints, Reals, Reals32, kernel

BASE = 16
NODES, PLAYERS, DIGITS, WIDTH, MOVER, FIRST, COUNT, ACTION, CHANCES, UTILITY, CLASS, ROW, COLUMN, NUMBER, SEATS = range(
    15
)
"""The header: sizes, where sections start, and from SEATS on five starts for each player. WIDTH is a tensor's size."""
START, MEMBERS, MASS, WHO, TENSOR = range(5)
SECTIONS = 5
NO_TENSOR = -1


@dataclass(frozen=True)
class Tensors:
    """Descriptions of classes by numbers most of which are 0; the others are kept, row by row."""

    width: int
    """How many numbers a description has"""
    row: Ints
    """[R + 1] where the entries of each begin"""
    column: Ints
    """the position of each entry"""
    number: Reals
    """what it is"""
    of: tuple[Ints, ...]
    """for each player [C] the description of each class, or NO_TENSOR"""


@dataclass(frozen=True)
class Table:
    """All histories of a game; a parent's number is below its children's, and siblings are neighbours."""

    parent: Ints
    """[N] the node before; -1 at the start"""
    mover: Ints
    """[N]"""
    first: Ints
    """[N] the first child"""
    count: Ints
    """[N] how many children"""
    action: Ints
    """[N] what led here"""
    probability: Reals
    """[N] of that, if chance moved; else 1"""
    utility: Reals
    """[N, P] returns of finished games, else 0"""
    classes: Ints
    """[P, N] the class of each node, to each player"""
    tensors: Tensors

    def path(self, node: int) -> list[int]:
        """The actions and outcomes from the start to a node."""
        actions = []
        while node > 0:
            actions.append(int(self.action[node]))
            node = int(self.parent[node])
        return actions[::-1]


@kernel()
def node_of(rules: Ints, world: Ints) -> int:
    """The number that the digits stand for."""
    node = 0
    for k in range(rules[DIGITS]):
        node = node * BASE + world[k]
    return node


@kernel()
def enter(rules: Ints, world: Ints, node: int) -> None:
    """Write a node's digits and classes."""
    digits = rules[DIGITS]
    rest = node
    for k in range(digits - 1, -1, -1):
        world[k] = rest % BASE
        rest //= BASE
    set_classes(rules, world, node)


@kernel()
def set_classes(rules: Ints, world: Ints, node: int) -> None:
    """Write every player's class of a node."""
    for p in range(rules[PLAYERS]):
        world[rules[DIGITS] + p] = rules[rules[CLASS] + p * rules[NODES] + node]


@kernel()
def section(rules: Ints, player: int, which: int) -> int:
    """Where a section of a player starts."""
    return rules[SEATS + SECTIONS * player + which]


@kernel()
def owner_of(rules: Ints, view: Ints) -> int:
    """The first player whose class a view shows; the number of players if it shows none."""
    player = 0
    while player < rules[PLAYERS] and view[rules[DIGITS] + player] == UNKNOWN:
        player += 1
    return player


@kernel()
def representative(rules: Ints, world: Ints) -> int:
    """A node with the view's class: the world's own if it is known, else the class's first."""
    if hole_of(rules, world) == NO_HOLE:
        return node_of(rules, world)
    player = owner_of(rules, world)
    cell = world[rules[DIGITS] + player]
    return rules[section(rules, player, MEMBERS) + rules[section(rules, player, START) + cell]]


@kernel()
def hole_of(rules: Ints, view: Ints) -> int:
    """The first unknown digit."""
    for k in range(rules[DIGITS]):
        if view[k] == UNKNOWN:
            return k
    return NO_HOLE


@rule
def initial(rules: Ints, world: Ints) -> None:
    """The first node."""
    enter(rules, world, 0)


@rule
def mover(rules: Ints, world: Ints) -> int:
    """As the table says; on a view, if all its nodes agree. What is neither a node nor a view is over."""
    if hole_of(rules, world) == NO_HOLE:
        node = node_of(rules, world)
        return rules[rules[MOVER] + node] if node < rules[NODES] else TERMINAL
    player = owner_of(rules, world)
    if player == rules[PLAYERS]:
        return TERMINAL
    return rules[section(rules, player, WHO) + world[rules[DIGITS] + player]]


@kernel()
def choices(rules: Ints, node: int, actions: Ints) -> int:
    """Write what leads to a node's children; return how many."""
    first, count = rules[rules[FIRST] + node], rules[rules[COUNT] + node]
    for k in range(count):
        actions[k] = rules[rules[ACTION] + first + k]
    return count


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """The same at every node of the mover's class."""
    return choices(rules, representative(rules, world), actions)


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """As the table says."""
    node = node_of(rules, world)
    count = choices(rules, node, outcomes)
    for k in range(count):
        probabilities[k] = real(rules[rules[CHANCES] + rules[rules[FIRST] + node] + k])
    return count


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Go to the child that the action leads to."""
    child = rules[rules[FIRST] + node_of(rules, world)]
    while rules[rules[ACTION] + child] != action:
        child += 1
    enter(rules, world, child)


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """As the table says."""
    at = rules[UTILITY] + node_of(rules, world) * rules[PLAYERS]
    for p in range(rules[PLAYERS]):
        utilities[p] = real(rules[at + p])


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the node and the others' classes, unless the player's class gives the node away."""
    start = section(rules, player, START) + world[rules[DIGITS] + player]
    if rules[start + 1] - rules[start] == 1:
        return
    for k in range(rules[DIGITS]):
        world[k] = UNKNOWN
    for p in range(rules[PLAYERS]):
        if p != player:
            world[rules[DIGITS] + p] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first unknown digit."""
    return hole_of(rules, view)


@kernel()
def lower_bound(rules: Ints, low: int, high: int, node: int) -> int:
    """The first of the ascending entries low .. high - 1 that is at least `node`, or high."""
    while low < high:
        middle = (low + high) // 2
        if rules[middle] < node:
            low = middle + 1
        else:
            high = middle
    return low


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """The next digits of the nodes of the class that begin with the digits known so far, as likely as chance says."""
    player = owner_of(rules, view)
    members, mass = section(rules, player, MEMBERS), section(rules, player, MASS)
    start = section(rules, player, START) + view[rules[DIGITS] + player]
    node, span = 0, 1
    for k in range(hole):
        node = node * BASE + view[k]
    for _ in range(hole, rules[DIGITS]):
        node, span = node * BASE, span * BASE
    end = members + rules[start + 1]
    low = lower_bound(rules, members + rules[start], end, node)
    high = lower_bound(rules, low, end, node + span)
    total = real(rules[mass + high - members]) - real(rules[mass + low - members])
    count = 0
    for digit in range(BASE):
        next_low = lower_bound(rules, low, high, node + (digit + 1) * (span // BASE))
        if next_low > low:
            values[count] = digit
            weights[count] = (real(rules[mass + next_low - members]) - real(rules[mass + low - members])) / total
            count += 1
        low = next_low
    return count


@rule
def fill(rules: Ints, view: Ints, hole: int, value: int) -> None:
    """With the last digit the others' classes are known."""
    view[hole] = value
    if hole == rules[DIGITS] - 1:
        set_classes(rules, view, node_of(rules, view))


@kernel()
def describe(rules: Ints, player: int, cell: int, out: Reals32, at: int) -> int:
    """Write the tensor of a class as features, zeros where there is none; return where the next ones go."""
    for i in range(rules[WIDTH]):
        out[at + i] = 0.0
    tensor = NO_TENSOR if cell == UNKNOWN else rules[section(rules, player, TENSOR) + cell]
    if tensor != NO_TENSOR:
        for k in range(rules[rules[ROW] + tensor], rules[rules[ROW] + tensor + 1]):
            out[at + rules[rules[COLUMN] + k]] = real(rules[rules[NUMBER] + k])
    return at + rules[WIDTH]


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, the node's digits, every class in digits, and all tensors, the player's own first."""
    at = one_hot(out, 0, player, rules[PLAYERS])
    for k in range(rules[DIGITS]):
        at = one_hot(out, at, world[k], BASE)
    for p in range(rules[PLAYERS]):
        rest = world[rules[DIGITS] + p]
        for _ in range(rules[DIGITS]):
            at = one_hot(out, at, UNKNOWN if rest == UNKNOWN else rest % BASE, BASE)
            rest = UNKNOWN if rest == UNKNOWN else rest // BASE
    for k in range(rules[PLAYERS]):
        seat = (player + k) % rules[PLAYERS]
        at = describe(rules, seat, world[rules[DIGITS] + seat], out, at)


def build_table_game(
    table: Table,
    *,
    name: str,
    spec: str,
    parameters: dict[str, Any],
    action_name: Callable[[int], str],
    outcome_name: Callable[[int], str],
    title: Callable[[int, int], str],
) -> Game:
    """The game of a table; `title(player, class)` says in words what a player knows."""
    players, nodes = table.classes.shape
    digits = max(1, (int(nodes - 1).bit_length() + 3) // 4)
    finished = table.utility[table.mover == TERMINAL]
    reach, depth = _follow(table.parent, table.probability)
    by_chance = table.mover[table.parent] == CHANCE
    by_chance[0] = False

    def number(world: Ints) -> int:
        return int("".join(f"{d:x}" for d in world[:digits]), BASE)

    def in_words(view: Ints) -> str:
        known = [p for p in range(players) if view[digits + p] != UNKNOWN]
        if len(known) > 1:  # the whole world is known: as the mover sees it
            known = [max(0, int(table.mover[number(view)]))]
        return title(known[0], int(view[digits + known[0]]))

    return Game(
        name=name,
        parameters=parameters,
        spec=spec,
        version=5,
        players=players,
        rules=_pack(table, digits, reach),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("node", tuple("0123456789abcdef"), length=digits),
                *(Field(f"class{p}", below=int(table.classes[p].max()) + 1) for p in range(players)),
            )
        ),
        num_actions=int(table.action[1:][~by_chance[1:]].max(initial=0)) + 1,
        num_outcomes=int(table.action[by_chance].max(initial=-1)) + 1,
        num_values=BASE,
        max_depth=int(depth),
        min_return=float(finished.min()),
        max_return=float(finished.max()),
        feature_shape=(players + 1 + digits * (BASE + 1) * (players + 1) + players * table.tensors.width,),
        action_name=action_name,
        outcome_name=outcome_name,
        hidden=any(int(np.bincount(c).max()) > 1 for c in table.classes),
        zero_sum=bool(np.abs(finished.sum(axis=1)).max() < 1e-9),
        replay=lambda world: table.path(number(world)),
        title=in_words,
    )


def _pack(table: Table, digits: int, reach: Reals) -> Ints:
    """The `rules` of a table."""
    (players, nodes), tensors = table.classes.shape, table.tensors
    sections = [
        *(table.mover, table.first, table.count, table.action),
        *(real_bits(table.probability), real_bits(table.utility), table.classes.reshape(-1)),
        *(tensors.row, tensors.column, real_bits(tensors.number)),
    ]
    for classes, tensor in zip(table.classes, tensors.of, strict=True):
        start, members, mass, who = _gather(classes, table.mover, reach)
        sections += [start, members, real_bits(mass), who, tensor]
    sizes = np.array([nodes, players, digits, tensors.width], np.int64)
    header = SEATS + SECTIONS * players
    starts = header + np.cumsum([0, *(len(s) for s in sections)])[:-1]
    return np.concatenate([sizes, starts, *sections])


@kernel("Tuple((float64[::1], int64))(int64[::1], float64[::1])")
def _follow(parent: Ints, probability: Reals) -> tuple[Reals, int]:
    """Chance's probability of getting to each node, and how deep the deepest is."""
    reach, depth = np.ones(len(parent)), np.zeros(len(parent), np.int64)
    for node in range(1, len(parent)):
        reach[node] = reach[parent[node]] * probability[node]
        depth[node] = depth[parent[node]] + 1
    return reach, depth.max()


@kernel("Tuple((int64[::1], int64[::1], float64[::1], int64[::1]))(int64[::1], int64[::1], float64[::1])")
def _gather(classes: Ints, mover: Ints, reach: Reals) -> tuple[Ints, Ints, Reals, Ints]:
    """A player's four sections: START, MEMBERS, MASS and WHO."""
    size, nodes = classes.max() + 1, len(classes)
    start, members, mass = np.zeros(size + 1, np.int64), np.empty(nodes, np.int64), np.zeros(nodes + 1)
    for node in range(nodes):
        start[classes[node] + 1] += 1
    for c in range(size):
        start[c + 1] += start[c]
    free = start[:-1].copy()
    for node in range(nodes):
        members[free[classes[node]]] = node
        free[classes[node]] += 1
    who = np.empty(size, np.int64)
    for c in range(size):
        who[c] = mover[members[start[c]]]
        for k in range(start[c], start[c + 1]):
            mass[k + 1] = mass[k] + reach[members[k]]
            if mover[members[k]] != who[c]:
                who[c] = OTHERS
    return start, members, mass, who
