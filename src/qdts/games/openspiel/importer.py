"""Any OpenSpiel game whose tree can be enumerated, as a table: `openspiel:NAME(parameters)`.

OpenSpiel's own conversion puts simultaneous moves in turns. A player's view is what they did and knew at their own
earlier turns, and their information state in OpenSpiel now. In other words, a player can't distinguish two histories
if their information states at their own turns, their actions there, and their information state now are the same (they
also know whether they are to move). Where information states between a player's turns show something that later ones
forget, these are left out, and the player learns nothing before they move again.

When the game is over a player knows what they knew before the last move, what they did if that was theirs, and their
own return; OpenSpiel's information states of finished games are not used. So a player may see less than OpenSpiel would
show, such as the public move by which the other ended the game, and never sees what was hidden from them, such as the
card of one who folded. Only a game with perfect information, before its end and by OpenSpiel's type of the game, shows
everything at the end as well.

What networks see of an information state is its tensor in OpenSpiel: that of the information state, or where there is
none that of the observation. It is taken where the information state is met first, so it tells no more than that does.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numba import int64, types
from numpy.typing import NDArray

from qdts.compiler import uncollected
from qdts.errors import InputError, unknown
from qdts.games.defaults import real_bits
from qdts.games.game import Game
from qdts.games.openspiel.classes import examples, tell_apart, tell_the_past
from qdts.games.openspiel.descriptions import Descriptions
from qdts.games.openspiel.size import estimate_histories
from qdts.games.openspiel.table_game import NO_TENSOR, Table, build_table_game
from qdts.games.rule import CHANCE, TERMINAL
from qdts.kernels import Ints, kernel

PREFIX = "openspiel:"
INSTALL = "pip install open_spiel"
NOTHING_SEEN = "nothing yet"
"""The title of an empty information state, such as that of a game that hides nothing at its start."""
LIMIT = 1_000_000
"""Histories above which an import is refused."""
FAR = 100
"""A game is not listed that seems to be so many times as large as the limit."""
DECIMALS = 9
"""To which returns are rounded before a player distinguishes them."""

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
        why = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"OpenSpiel can't load {name} ({why})") from None
    return game


def import_game(spec: str, *, limit: int = LIMIT, report: Report | None = None) -> Game:
    """The table game of `openspiel:NAME(parameters)`."""
    theirs = find_openspiel(spec)
    _verify_kind(spec, theirs)
    _verify_size(spec, theirs, limit)
    walk = _Walk(spec, theirs, limit, report)
    return build_table_game(
        walk.table,
        name=spec.partition("(")[0],
        spec=spec,
        parameters=dict(theirs.get_parameters()),
        action_name=lambda action: walk.action_names.get(action, str(action)),
        outcome_name=lambda outcome: walk.outcome_names.get(outcome, f"({outcome})"),
        title=walk.title,
    )


def _verify_kind(spec: str, theirs: Any) -> None:
    import pyspiel

    kind = theirs.get_type()
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise InputError(f"{spec} can't be imported: it is a mean-field game, expected players who move in turn")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise InputError(f"{spec} can't be imported: it samples chance events and does not list them")
    if not kind.provides_information_state_string:
        raise InputError(f"{spec} can't be imported: OpenSpiel provides no information state for it")


def _verify_size(spec: str, theirs: Any, limit: int) -> None:
    """Raise an InputError for a game that is far too large, before minutes are spent on a part of it."""
    histories = estimate_histories(theirs)
    if histories > FAR * limit:
        size = f"{histories:,.0f}" if histories < 1e12 else f"{histories:.0e}"
        raise InputError(
            f"{spec} can't be imported: it has about {size} histories, by random games, and the limit is {limit:,}"
        )


class _Walk:
    """Every history of an OpenSpiel game, numbered as in a table: level by level.

    The walk itself goes depth first and keeps few states: where it keeps a whole level of them, each costs three times
    as much. It writes histories down as it meets them, siblings together; `_replay` finds their places afterwards.
    """

    def __init__(self, spec: str, theirs: Any, limit: int, report: Report | None) -> None:
        self.spec, self.theirs, self.players = spec, theirs, theirs.num_players()
        self.mover: list[int] = []
        self.action = [-1]
        self.seen: list[int] = []  # every player's information state at each unfinished history, by number
        self.utility: list[float] = []  # returns of those that are finished
        self.count: list[int] = []  # children of those that are not, as the walk takes them from its stack
        self.chances: list[float] = []  # of chance's outcomes, in the same order
        count = itertools.count()
        self.numbers = [defaultdict[str, int](count.__next__) for _ in range(self.players)]  # of information states
        self.descriptions = Descriptions(theirs)  # of the same, in the same order
        with uncollected():
            self._walk(theirs.new_initial_state(), limit, report)
        self.table = self._table()

    def _walk(self, state: Any, limit: int, report: Report | None) -> None:
        """Write down every history from the start on.

        OpenSpiel's calls are nearly all of the time that it takes, so none is made twice, and the last child of a state
        is that state moved on, without a copy.
        """
        child, move_on, current_player, information_state, legal_actions, returns = _calls()
        mover, seen, utility, describe = self.mover, self.seen, self.utility, self.descriptions.add
        seats, known = tuple(enumerate(self.numbers)), self.players
        stack = [(state, current_player(state))]
        mover.append(stack[0][1])
        for player, numbers in seats:
            seen.append(numbers[information_state(state, player)])
            describe(state, player)
        pause = 0
        while stack:
            state, who = stack.pop()
            if who == CHANCE:
                outcomes = sorted(state.chance_outcomes())
                actions = [outcome for outcome, _ in outcomes]
                self.chances.extend(chance for _, chance in outcomes)
            else:
                actions = legal_actions(state)
            if who < CHANCE or not actions:
                raise InputError(f"{self.spec} can't be imported: {_why_stuck(state, who)}")
            if len(mover) + len(actions) > pause:
                pause = self._pause(len(actions), limit, report)
            self.count.append(len(actions))
            self.action.extend(actions)
            last = actions[-1]
            for action in actions:
                if action == last:
                    move_on(state, action)
                    met = state
                else:
                    met = child(state, action)
                who = current_player(met)
                mover.append(who)
                if who == THEIR_TERMINAL:
                    utility += returns(met)
                else:
                    for player, numbers in seats:
                        number = numbers[information_state(met, player)]
                        seen.append(number)
                        if number == known:
                            known += 1
                            describe(met, player)
                    stack.append((met, who))

    def _pause(self, children: int, limit: int, report: Report | None) -> int:
        """Report how far it is; return the number of histories at which to report next, no more than the limit."""
        histories = len(self.mover)
        if histories + children > limit:
            raise InputError(
                f"{self.spec} can't be imported: it has more than {limit:,} histories ({histories:,} so far), the limit"
            )
        if report is not None:
            report(histories)
        return min(limit, histories + children + 4096)

    def _table(self) -> Table:
        """The arrays."""
        mover, action, count = (np.fromiter(x, np.int64, len(x)) for x in (self.mover, self.action, self.count))
        mover[mover == THEIR_TERMINAL] = TERMINAL
        inner, level = _replay(mover, count)
        children, probability = np.zeros(len(mover), np.int64), np.ones(len(mover))
        utility = np.zeros((len(mover), self.players))
        children[inner] = count
        probability[1:][np.repeat(mover[inner] == CHANCE, count)] = self.chances
        over = mover == TERMINAL
        utility[over] = np.fromiter(self.utility, np.float64, len(self.utility)).reshape(-1, self.players)
        seen = np.empty((self.players, len(mover)), np.int64)
        seen[:, ~over] = np.fromiter(self.seen, np.int64, len(self.seen)).reshape(-1, self.players).T
        seen[:, over] = real_bits(np.round(utility[over], DECIMALS) + 0.0).reshape(-1, self.players).T
        mover, action, children = mover[level], action[level], children[level]
        parent = np.r_[-1, np.repeat(np.arange(len(mover)), children)]
        first = np.where(children > 0, np.cumsum(children) - children + 1, -1)
        classes = np.stack([self._classes(parent, action, mover, s[level], p) for p, s in enumerate(seen)])
        self.perfect_information = self._has_perfect_information(mover, classes)
        if self.perfect_information:
            classes[:] = np.arange(len(mover))
        known = np.where(mover == TERMINAL, NO_TENSOR, seen[:, level])
        tensors = self.descriptions.tensors([self._described(*of) for of in zip(classes, known, strict=True)])
        return Table(parent, mover, first, children, action, probability[level], utility[level], classes, tensors)

    @staticmethod
    def _described(classes: Ints, seen: Ints) -> Ints:
        """The number of what a player sees at each class, the same at all of its histories, or NO_TENSOR."""
        of = seen[examples(classes)]
        of[classes[seen != of[classes]]] = NO_TENSOR
        return of

    def _classes(self, parent: Ints, action: Ints, mover: Ints, seen: Ints, player: int) -> Ints:
        """The player's class of each node; without what they see between their turns, if later states forget it."""
        own = mover == player
        classes = tell_apart(parent, action, mover, seen, player)
        if not tell_the_past(parent, classes):
            classes = tell_apart(parent, action, mover, np.where(own | (mover == TERMINAL), seen, -1), player)
        last = np.zeros(self.descriptions.count, np.int64)
        last[seen[own]] = classes[own]
        forgotten = seen[own][last[seen[own]] != classes[own]]
        if len(forgotten):
            state = next(text for text, number in self.numbers[player].items() if number == forgotten[0])
            raise InputError(
                f"{self.spec} can't be imported: player {player} forgets what they knew or did before "
                f"(imperfect recall) at '{' '.join(state.split())}'"
            )
        return classes

    def _has_perfect_information(self, mover: Ints, classes: Ints) -> bool:
        """Whether the game hides nothing: OpenSpiel says so, and before the end everybody knows every history."""
        import pyspiel

        said = self.theirs.get_type().information == pyspiel.GameType.Information.PERFECT_INFORMATION
        return said and all(int(np.bincount(c[mover != TERMINAL]).max()) == 1 for c in classes)

    def title(self, player: int, number: int) -> str:
        """What OpenSpiel shows a player at the first history of one of their classes; some words if that is empty.

        When a game that hides something is over: what it showed them before, what they did, and their return.
        """
        table, node = self.table, int(self._first[player][number])
        if self.perfect_information or table.mover[node] != TERMINAL:
            return self._state(node).information_state_string(player) or NOTHING_SEEN
        before, paid = int(table.parent[node]), float(table.utility[node, player])
        did = [self.action_names[int(table.action[node])]] if table.mover[before] == player else []
        seen = self._state(before).information_state_string(player) or NOTHING_SEEN
        return ", ".join([seen, *did, f"over with {paid:+g}"])

    @cached_property
    def _first(self) -> list[NDArray[np.intp]]:
        """The first history of each class of each player."""
        return [examples(classes) for classes in self.table.classes]

    @cached_property
    def action_names(self) -> dict[int, str]:
        """OpenSpiel's names of actions."""
        return self._names(self.table.mover[self.table.parent] != CHANCE)

    @cached_property
    def outcome_names(self) -> dict[int, str]:
        """OpenSpiel's names of what chance does."""
        return self._names(self.table.mover[self.table.parent] == CHANCE)

    def _names(self, steps: NDArray[np.bool_]) -> dict[int, str]:
        """What leads to some of the nodes by name, each as at the first of them; distinct where OpenSpiel's are not."""
        table = self.table
        steps[0] = False
        actions, nodes = np.unique(table.action[steps], return_index=True)
        names = {}
        for action, node in zip(actions.tolist(), np.flatnonzero(steps)[nodes], strict=True):
            state = self._state(table.parent[node])
            names[action] = state.action_to_string(state.current_player(), action)
        times = Counter(name.lower() for name in names.values())
        return {a: name if times[name.lower()] == 1 else f"{name} ({a})" for a, name in names.items()}

    def _state(self, node: int) -> Any:
        """The state of a history."""
        state = self.theirs.new_initial_state()
        for action in self.table.path(node):
            state.apply_action(action)
        return state


def _why_stuck(state: Any, who: int) -> str:
    """Why play is stuck at a state, where OpenSpiel's type of the game gave no sign of it."""
    if who == THEIR_TERMINAL:
        return "it is over before it begins"
    moves = f"after {len(state.history())} moves"
    if who < CHANCE:
        return f"{moves} all are to move at once, or a whole population is, expected players who move in turn"
    return f"OpenSpiel lists nothing that {'chance' if who == CHANCE else f'player {who}'} may do {moves}"


def _calls() -> list[Callable[..., Any]]:
    """What the walk calls of a state, bare: looking a method up and binding it costs a tenth of an import."""
    from pyspiel import State

    methods = (
        *(State.child, State.apply_action, State.current_player),
        *(State.information_state_string, State.legal_actions, State.returns),
    )
    return [getattr(method, "__func__", method) for method in methods]


@kernel(types.Tuple((int64[::1], int64[::1]))(int64[::1], int64[::1]))
def _replay(mover: Ints, count: Ints) -> tuple[Ints, Ints]:
    """The numbers of unfinished histories as the walk took them from its stack, and of all histories level by level.

    Given the mover of each history, and the number of children of each that the walk took.
    """
    first, end = np.zeros(len(mover), np.int64), np.zeros(len(mover), np.int64)
    inner, stack = np.zeros(len(count), np.int64), np.zeros(len(mover), np.int64)
    depth, met = int(len(count) > 0), 1
    for k in range(len(count)):
        depth -= 1
        h = inner[k] = stack[depth]
        first[h], end[h] = met, met + count[k]
        met = end[h]
        for child in range(first[h], end[h]):
            if mover[child] != TERMINAL:
                stack[depth] = child
                depth += 1
    level, known = stack, 1
    level[0] = 0
    for h in range(len(mover)):
        for child in range(first[level[h]], end[level[h]]):
            level[known] = child
            known += 1
    return inner, level
