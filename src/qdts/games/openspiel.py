"""Any OpenSpiel game whose tree can be enumerated, as a table: `openspiel:NAME(parameters)`.

Simultaneous moves are taken in turns by OpenSpiel's own conversion. A player's view is what he did and knew at his own
turns before, and OpenSpiel's information state of him now: in other words, histories are one class to a player if he
had the same information states at his own turns, took the same actions there, and has the same information state now
(and knows whether he is to move, and whether the game is over). Should the information states between his turns show
what they later forget, they are left out, and he learns nothing before he moves again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdts.errors import InputError, unknown
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.games.table_game import Table, build_table_game, levels
from qdts.kernels import Ints

PREFIX = "openspiel:"
INSTALL = "pip install open_spiel"
LIMIT = 1_000_000
"""Histories above which an import is refused."""

THEIR_TERMINAL = -4
"""`pyspiel.PlayerId.TERMINAL`; chance has our own number there."""
Report = Callable[[int], None]
"""Called now and then with the number of histories so far."""


def find_openspiel(spec: str) -> Any:
    """OpenSpiel's game, in turns; an InputError says why there is none."""
    try:
        import pyspiel
    except ImportError:
        raise InputError(f"OpenSpiel is not installed: {INSTALL}") from None
    name = spec.removeprefix(PREFIX)
    if (family := name.partition("(")[0]) not in pyspiel.registered_names():
        raise unknown("game of OpenSpiel", family, pyspiel.registered_names())
    try:
        game = pyspiel.load_game(name)
        if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            game = pyspiel.convert_to_turn_based(game)
    except Exception as error:  # what OpenSpiel raises depends on the game and on what it lacks
        raise InputError(f"OpenSpiel can't load {name} ({str(error).splitlines()[0]})") from None
    return game


def import_game(spec: str, *, limit: int = LIMIT, report: Report | None = None) -> Game:
    """The table game of `openspiel:NAME(parameters)`."""
    theirs = find_openspiel(spec)
    _verify_kind(spec, theirs)
    walk = _Walk(spec, theirs, limit, report)
    table, titles = walk.table()
    return build_table_game(
        table,
        name=spec.partition("(")[0],
        spec=spec,
        parameters=dict(theirs.get_parameters()),
        action_name=_distinct(walk.action_names),
        outcome_name=_distinct(walk.outcome_names),
        title=lambda player, number: titles[player][number],
    )


def _verify_kind(spec: str, theirs: Any) -> None:
    import pyspiel

    kind = theirs.get_type()
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise InputError(f"{spec} can't be imported: its dynamics are {kind.dynamics}, expected moves in turn")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise InputError(f"{spec} can't be imported: it samples chance events and does not list them")
    if not kind.provides_information_state_string:
        raise InputError(f"{spec} can't be imported: OpenSpiel provides no information state for it")


def _distinct(names: dict[int, str]) -> Callable[[int], str]:
    """Names by number, made distinct where OpenSpiel's are not."""
    lower = [n.lower() for n in names.values()]
    unique = {a: n if lower.count(n.lower()) == 1 else f"{n} ({a})" for a, n in names.items()}
    return lambda number: unique.get(number, str(number))


class _Walk:
    """Every history of an OpenSpiel game, breadth first, in the order of a table."""

    def __init__(self, spec: str, theirs: Any, limit: int, report: Report | None) -> None:
        self.spec, self.limit, self.players = spec, limit, theirs.num_players()
        self.mover: list[int] = []
        self.first: list[int] = []
        self.count: list[int] = []
        self.action, self.probability = [-1], [1.0]
        self.utility: dict[int, list[float]] = {}
        self.strings: list[dict[str, int]] = [{} for _ in range(self.players)]
        self.seen: list[list[int]] = [[] for _ in range(self.players)]  # numbers of information states, by player
        self.action_names: dict[int, str] = {}
        self.outcome_names: dict[int, str] = {}
        states = [theirs.new_initial_state()]
        for node, state in enumerate(states):
            states.extend(self._enter(node, state))
            states[node] = None
            if report is not None and node % 4096 == 0:
                report(len(states))

    def _enter(self, node: int, state: Any) -> list[Any]:
        """Write a node, number its children, and return their states."""
        mover = state.current_player()
        for player, (strings, seen) in enumerate(zip(self.strings, self.seen, strict=True)):
            seen.append(strings.setdefault(state.information_state_string(player), len(strings)))
        if mover == THEIR_TERMINAL:
            self.utility[node] = state.returns()
            self._write(TERMINAL, 0)
            return []
        if mover == CHANCE:
            actions, chances = zip(*sorted(state.chance_outcomes()), strict=True)
        else:
            actions = state.legal_actions()
            chances = (1.0,) * len(actions)
        names = self.outcome_names if mover == CHANCE else self.action_names
        for action in actions:
            if action not in names:
                names[action] = state.action_to_string(mover, action)
        self._write(mover, len(actions))
        self.action.extend(actions)
        self.probability.extend(chances)
        return [state.child(a) for a in actions]

    def _write(self, mover: int, children: int) -> None:
        if len(self.action) + children > self.limit:
            raise InputError(
                f"{self.spec} can't be imported: it has more than {self.limit:,} histories "
                f"({len(self.action):,} so far), the limit"
            )
        self.mover.append(mover)
        self.first.append(len(self.action) if children else -1)
        self.count.append(children)

    def table(self) -> tuple[Table, list[list[str]]]:
        """The arrays, and for each player what his classes are called."""
        mover, first, count, action = (np.array(x, np.int64) for x in (self.mover, self.first, self.count, self.action))
        utility = np.zeros((len(mover), self.players))
        utility[list(self.utility)] = list(self.utility.values())
        table = Table(mover, first, count, action, np.array(self.probability), utility, np.zeros((0, 0), np.int64))
        classes, titles = [], []
        for player in range(self.players):
            found = self._classes(table, player)
            strings = list(self.strings[player])
            _, examples = np.unique(found, return_index=True)
            classes.append(found)
            titles.append([strings[self.seen[player][node]] for node in examples])
        return replace(table, classes=np.stack(classes)), titles

    def _classes(self, table: Table, player: int) -> Ints:
        """The player's class of each node; without what he sees between his turns, if he forgets that again."""
        seen, own = np.array(self.seen[player], np.int64), table.mover == player
        classes = _tell_apart(table, own, seen)
        if not _tells_the_past(table, classes):
            classes = _tell_apart(table, own, np.where(own, seen, -1))
        last = np.zeros(len(self.strings[player]), np.int64)
        last[seen[own]] = classes[own]
        forgets = own & (last[seen] != classes)
        if forgets.any():
            state = list(self.strings[player])[seen[np.argmax(forgets)]]
            raise InputError(
                f"{self.spec} can't be imported: player {player} forgets what he knew or did before "
                f"(imperfect recall) at '{' '.join(state.split())}'"
            )
        return classes


def _tell_apart(table: Table, own: NDArray[np.bool_], seen: Ints) -> Ints:
    """Classes by what a player did and knew at his own turns before, whose turn it is, and what he sees now."""
    turn = np.where(own, 2, table.mover == TERMINAL)
    past, classes = np.full(len(own), -1, np.int64), np.empty(len(own), np.int64)
    numbers: dict[tuple[int, ...], int] = {}

    def classify(nodes: Ints) -> None:
        key = np.stack([past[nodes], turn[nodes], seen[nodes]], axis=1)
        different, which = np.unique(key, axis=0, return_inverse=True)
        number = [numbers.setdefault(tuple(row), len(numbers)) for row in different.tolist()]
        classes[nodes] = np.array(number)[which.reshape(-1)]

    classify(np.zeros(1, np.int64))
    width = int(table.action.max()) + 1
    for parent, child in levels(table):
        past[child] = np.where(own[parent], classes[parent] * width + table.action[child], past[parent])
        classify(child)
    return classes


def _tells_the_past(table: Table, classes: Ints) -> bool:
    """Whether each class tells which other class came before it."""
    previous = np.full(len(classes), -1, np.int64)
    for parent, child in levels(table):
        previous[child] = np.where(classes[child] == classes[parent], previous[parent], classes[parent])
    before = np.empty(int(classes.max()) + 1, np.int64)
    before[classes] = previous
    return bool((before[classes] == previous).all())
