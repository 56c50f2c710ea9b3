"""NashConv of policies for large games: a sweep over one player's views that never holds all histories.

With perfect recall the views of player p form a tree. The sweep goes through it depth first, block by block: a block is
a number of his views with all worlds that fit them. One run expands as many of a block's units (view and action) as
fill the next block, goes down into that, and then on; so memory holds one block for each of his turns in a game,
whatever the number of histories. Coming back, each view passes on the maximum over its actions and, beside it, the mean
under p's own policy: one sweep gives both the value of his best response and the value of his policy.

If what one unit leads to does not fit, it is expanded several times, each time keeping the worlds of a part of p's
next views; only the worlds of a single view have to fit at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.solving.frontier import (
    ACTIONS_DIFFER,
    BAD_CHANCE,
    DEPTH,
    FORGOTTEN,
    FULL,
    GROUP,
    GROUPS,
    HISTORIES,
    NO_ACTIONS,
    PENDING_ROWS,
    TABLE_FULL,
    TOO_DEEP,
    UNIT,
    UNITS,
    WORLDS,
    Task,
    begin,
    bytes_per_world,
    expand,
    fold,
    group_views,
    make_machine,
    make_stack,
)
from qdts.solving.measure import DEFAULT_MEMORY, SweepProgress, SweepReport
from qdts.solving.policy import Policy
from qdts.solving.rows import Rows, ask, source, uniform_rows
from qdts.solving.tree import broken_rules, table_size

CACHE_SHARE = 4
"""One part in so many is for answers of a callable."""
BLOCK = 1 << 14
"""Worlds after which a run goes down instead of on."""
MOST_PARTS = 64
"""What a unit leads to is split into at most so many parts, each of which expands it once more."""


class Response(NamedTuple):
    """What a sweep found out about one player."""

    best: float
    """The value of a best response."""
    value: float
    """The value of his policy."""
    histories: int
    """How many there are that the others' policy and chance can reach."""
    views: int
    """How many of his own views among these."""
    largest: int
    """The most worlds at one view."""
    bytes: int
    """The most memory that worlds took, with their groups."""


def sweep(
    game: Game,
    policy: Policy | Rows,
    player: int,
    *,
    memory: int = DEFAULT_MEMORY,
    report: SweepReport | None = None,
) -> Response:
    """A best response of one player, and the value of his own policy, within so many bytes of memory."""
    return _Sweep(game, policy, player, memory, report).run()


def tabulate(
    game: Game, rows: Rows = uniform_rows, *, memory: int = DEFAULT_MEMORY, report: SweepReport | None = None
) -> Policy:
    """A callable as a table over all views of a game, found without holding all histories."""
    kept: list[tuple[Ints, NDArray[np.int32], NDArray[np.int32]]] = []
    for player in range(game.players):
        listing = _Listing(game, player, memory, report)
        listing.run()
        kept += listing.kept
    views, counts, action = (np.concatenate(each) for each in zip(*kept, strict=True))
    offset = np.r_[0, np.cumsum(counts)].astype(np.int32)
    batches = (slice(i, i + BLOCK) for i in range(0, len(views), BLOCK))
    probability = np.concatenate([ask(game, rows, views[batch], counts[batch]) for batch in batches])
    return Policy(game, views, offset, action, probability)


class _Sweep:
    """One sweep for one player."""

    def __init__(self, game: Game, policy: Policy | Rows, player: int, memory: int, report: SweepReport | None) -> None:
        game.verify_player(player)
        least = (4 * game.max_branching + 64) * CACHE_SHARE * bytes_per_world(game)
        if memory < least:
            raise InputError(f"{game.spec}: {memory:,} bytes are too few for a sweep, expected at least {least:,}")
        self.game, self.player, self.memory, self.report = game, player, memory, report
        cache = memory // CACHE_SHARE
        self.source = source(game, policy, cache)
        self.stack = make_stack(game, memory - cache)
        self.machine = make_machine(game)
        self.views = self.largest = self.most_worlds = 0

    def run(self) -> Response:
        begin(self.game, self.stack)
        self._descend(0, 1, 0.0, 1.0)
        used = self.most_worlds * bytes_per_world(self.game)
        return Response(
            float(self.stack.best[0]),
            float(self.stack.mean[0]),
            int(self.machine.registers[HISTORIES]),
            self.views,
            self.largest,
            used,
        )

    def _descend(self, first: int, end: int, low: float, high: float) -> None:
        """Expand all units of some groups and fold what they lead to; `low` to `high` is their share of the sweep."""
        stack, top = self.stack, self.stack.top
        group, unit = first, int(stack.unit[first])
        last = int(stack.unit[end - 1] + stack.actions[end - 1])
        room, parts = 2 * BLOCK, [(0, 1)]
        start, before = unit, top.copy()
        while group < end:
            part, of = parts[-1]
            status = self._expand(group, unit, end, room, part, of)
            moved = int(self.machine.registers[GROUP]), int(self.machine.registers[UNIT])
            if status == FULL and moved == (group, unit):
                free = (len(stack.worlds) - int(top[WORLDS])) // 2
                if room < free:
                    room *= 8
                else:
                    self._check(of, free)
                    parts[-1:] = [(part + of, 2 * of), (part, 2 * of)]
                continue
            parts.pop()
            if not parts:
                group, unit = moved
                room, parts = 2 * BLOCK, [(0, 1)]
            done = (unit if group < end else last) - start
            share = low + (high - low) * done / (last - start)
            if top[GROUPS] > before[GROUPS]:
                self._fold(int(before[GROUPS]), int(top[GROUPS]), low, share)
                top[:] = before
            low, start = share, start + done
            self._tell(low)

    def _fold(self, first: int, end: int, low: float, high: float) -> None:
        """Go down into the groups on top of the stack, then fold them into what led to them."""
        self.views += end - first
        self.largest = max(self.largest, int(self.stack.size[first:end].max()))
        self.most_worlds = max(self.most_worlds, int(self.stack.top[WORLDS]))
        self._descend(first, end, low, high)
        game, group = self.game, first
        while group < end:
            status = fold(
                game.kernels, game.rules, self.stack, self.source.table, self.machine, self.player, group, end
            )
            group = int(self.machine.registers[GROUP])
            self._supply(status)

    def _expand(self, group: int, unit: int, end: int, room: int, part: int, parts: int) -> int:
        """One run from a unit on; the machine's registers say how far it came."""
        game, stack, top = self.game, self.stack, self.stack.top
        before, cleared = top.copy(), False
        worlds = int(top[WORLDS]) + min(room, (len(stack.worlds) - int(top[WORLDS])) // 2)
        groups = int(top[GROUPS]) + min(room, (len(stack.start) - int(top[GROUPS])) // 2)
        units = int(top[UNITS]) + (len(stack.action) - int(top[UNITS])) // 2
        enough = int(top[WORLDS]) + BLOCK if parts == 1 else 0
        mask = min(table_size(groups - int(top[GROUPS])), len(stack.place)) - 1
        task = Task(self.player, end, enough, worlds, groups, units, mask, part, parts)
        registers = self.machine.registers
        histories = int(registers[HISTORIES])
        while True:
            registers[GROUP], registers[UNIT] = group, unit
            status = expand(game.kernels, game.rules, stack, self.source.table, self.machine, task)
            if registers[PENDING_ROWS] == 0:
                stuck = (registers[GROUP], registers[UNIT]) == (group, unit)
                if status != TABLE_FULL or not stuck:
                    self._refuse(status)
                    return status
                if cleared:
                    raise InputError(
                        f"{game.spec}: one action leads to more views of others than answers of the policy "
                        f"fit into memory ({self.memory:,} bytes); give more"
                    )
                cleared, task = True, task._replace(enough=0)  # nothing but the rows of one unit
            top[:] = before
            registers[HISTORIES] = histories
            self._supply(status)

    def _supply(self, status: int) -> None:
        """Have rows answered that a kernel has asked for, or make room for more of them."""
        if self.machine.registers[PENDING_ROWS]:
            self.source.answer()
        elif status == TABLE_FULL:
            self.source.make_room(self.machine.seen)
        self._refuse(status)

    def _check(self, parts: int, free: int) -> None:
        """Raise an InputError if a unit can't be split any further."""
        if parts == MOST_PARTS:
            raise InputError(
                f"{self.game.spec}: one action of player {self.player} leads to more worlds than fit within "
                f"{self.memory:,} bytes, even {free:,} at a time in {parts} parts; "
                f"{self.machine.registers[HISTORIES]:,} histories and {self.views:,} views are done: give more memory"
            )

    def _refuse(self, status: int) -> None:
        """Raise an InputError if a kernel met a fault."""
        spec, write = self.game.spec, self.game.layout.write
        world = self.machine.worlds[self.machine.registers[DEPTH]]
        if status == ACTIONS_DIFFER:
            raise InputError(f"the policy for {spec} has other legal actions than the game")
        if status == FORGOTTEN:
            raise InputError(f"{spec}: player {self.player} does not recall his own moves at {write(world)}")
        if status in (BAD_CHANCE, NO_ACTIONS):
            raise broken_rules(self.game, world, status == BAD_CHANCE)
        if status == TOO_DEEP:
            raise InputError(f"{spec}: a history is longer than max_depth={self.game.max_depth} at {write(world)}")

    def _tell(self, share: float) -> None:
        if self.report is not None:
            self.report(SweepProgress(self.player, share, int(self.machine.registers[HISTORIES]), self.views))


class _Listing(_Sweep):
    """A sweep that keeps every view of its player, with its actions."""

    def __init__(self, game: Game, player: int, memory: int, report: SweepReport | None) -> None:
        super().__init__(game, uniform_rows, player, memory, report)
        self.kept: list[tuple[Ints, NDArray[np.int32], NDArray[np.int32]]] = []

    def _fold(self, first: int, end: int, low: float, high: float) -> None:
        game, stack = self.game, self.stack
        views = group_views(game.kernels, game.rules, stack, self.player, first, end)
        units = slice(stack.unit[first], stack.unit[end - 1] + stack.actions[end - 1])
        self.kept.append((views, stack.actions[first:end].copy(), stack.action[units].copy()))
        super()._fold(first, end, low, high)
