"""NashConv of policies for large games: a sweep over one player's views that never holds all histories.

With perfect recall the views of player p form a tree. The sweep goes through it depth first, block by block: a block is
a number of p's views with all worlds that have them. One run expands as many of a block's branches (a view and an
action) as fill the next block, descends into that, and continues; so memory holds one block for each of p's turns in a
game, whatever the number of histories. On the way back each view passes on the maximum over its actions and, beside it,
the mean under p's own policy: one sweep gives both the value of p's best response and the value of p's policy.

If the worlds after one branch do not fit, the branch is expanded several times, each time keeping the worlds of a part
of p's next views; only the worlds of a single view have to fit at once.
"""

from __future__ import annotations

from typing import NamedTuple

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.hashing import table_size
from qdts.solving.policy.function import PolicyFunction
from qdts.solving.policy.table import Policy
from qdts.solving.sweep.expansion import (
    ACTIONS_DIFFER,
    BAD_CHANCE,
    FULL,
    NO_ACTIONS,
    NO_RECALL,
    TABLE_FULL,
    TOO_DEEP,
    expand,
    fold,
)
from qdts.solving.sweep.policy_cache import policy_source
from qdts.solving.sweep.progress import DEFAULT_MEMORY, SweepProgress, SweepReport
from qdts.solving.sweep.world_stack import (
    BRANCH,
    BRANCHES,
    DEPTH,
    GROUP,
    GROUPS,
    HISTORIES,
    PENDING_VIEWS,
    WORLDS,
    Task,
    begin,
    bytes_per_world,
    make_stack,
    make_walk,
)
from qdts.solving.tree.faults import broken_rules, too_deep

CACHE_SHARE = 4
"""One part in so many of the memory is for the probabilities of a policy function."""
BLOCK = 1 << 14
"""Worlds after which a run descends instead of continuing."""
MOST_PARTS = 64
"""The worlds after a branch are split into at most so many parts, each of which expands it once more."""


class Response(NamedTuple):
    """The result of a sweep for one player."""

    best: float
    """The value of a best response."""
    value: float
    """The value of the player's own policy."""
    histories: int
    """How many histories the others' policy and chance can reach."""
    views: int
    """How many of the player's own views there are among these."""
    largest: int
    """The most worlds with one view."""
    bytes: int
    """The most memory that worlds took, with their groups."""


def sweep(
    game: Game,
    policy: Policy | PolicyFunction,
    player: int,
    *,
    memory: int = DEFAULT_MEMORY,
    report: SweepReport | None = None,
) -> Response:
    """The value of a player's best response and of their own policy, within so many bytes of memory."""
    return Sweep(game, policy, player, memory, report).run()


class Sweep:
    """One sweep for one player."""

    def __init__(
        self, game: Game, policy: Policy | PolicyFunction, player: int, memory: int, report: SweepReport | None
    ) -> None:
        game.verify_player(player)
        least = (4 * game.max_branching + 64) * CACHE_SHARE * bytes_per_world(game)
        if memory < least:
            raise InputError(f"{game.spec}: {memory:,} bytes are too few for a sweep, expected at least {least:,}")
        self.game, self.player, self.memory, self.report = game, player, memory, report
        cache = memory // CACHE_SHARE
        self.source = policy_source(game, policy, cache)
        self.stack = make_stack(game, memory - cache)
        self.walk = make_walk(game)
        self.views = self.largest = self.most_worlds = 0

    def run(self) -> Response:
        """Sweep over all views of the player."""
        begin(self.game, self.stack)
        self._descend(0, 1, 0.0, 1.0)
        used = self.most_worlds * bytes_per_world(self.game)
        return Response(
            float(self.stack.best[0]),
            float(self.stack.mean[0]),
            int(self.walk.counters[HISTORIES]),
            self.views,
            self.largest,
            used,
        )

    def _descend(self, first: int, end: int, low: float, high: float) -> None:
        """Expand all branches of some groups and fold what follows; `low` to `high` is their share of the sweep."""
        stack, top = self.stack, self.stack.top
        group, branch = first, int(stack.branch[first])
        last = int(stack.branch[end - 1] + stack.actions[end - 1])
        room, parts = 2 * BLOCK, [(0, 1)]
        start, before = branch, top.copy()
        while group < end:
            part, of = parts[-1]
            status = self._expand(group, branch, end, room, part, of)
            moved = int(self.walk.counters[GROUP]), int(self.walk.counters[BRANCH])
            if status == FULL and moved == (group, branch):
                free = (len(stack.worlds) - int(top[WORLDS])) // 2
                if room < free:
                    room *= 8
                else:
                    self._verify_parts(of, free)
                    parts[-1:] = [(part + of, 2 * of), (part, 2 * of)]
                continue
            parts.pop()
            if not parts:
                group, branch = moved
                room, parts = 2 * BLOCK, [(0, 1)]
            done = (branch if group < end else last) - start
            share = low + (high - low) * done / (last - start)
            if top[GROUPS] > before[GROUPS]:
                self._fold(int(before[GROUPS]), int(top[GROUPS]), low, share)
                top[:] = before
            low, start = share, start + done
            self._report(low)

    def _fold(self, first: int, end: int, low: float, high: float) -> None:
        """Descend into the groups on top of the stack, then fold them into the branches that led to them."""
        self.views += end - first
        self.largest = max(self.largest, int(self.stack.size[first:end].max()))
        self.most_worlds = max(self.most_worlds, int(self.stack.top[WORLDS]))
        self._descend(first, end, low, high)
        game, group = self.game, first
        while group < end:
            status = fold(game.kernels, game.rules, self.stack, self.source.table, self.walk, self.player, group, end)
            group = int(self.walk.counters[GROUP])
            self._supply(status)

    def _expand(self, group: int, branch: int, end: int, room: int, part: int, parts: int) -> int:
        """One run from a branch on; the counters of the walk say how far it came."""
        game, stack, top = self.game, self.stack, self.stack.top
        before, cleared = top.copy(), False
        worlds = int(top[WORLDS]) + min(room, (len(stack.worlds) - int(top[WORLDS])) // 2)
        groups = int(top[GROUPS]) + min(room, (len(stack.start) - int(top[GROUPS])) // 2)
        branches = int(top[BRANCHES]) + (len(stack.action) - int(top[BRANCHES])) // 2
        enough = int(top[WORLDS]) + BLOCK if parts == 1 else 0
        mask = min(table_size(groups - int(top[GROUPS])), len(stack.buckets)) - 1
        task = Task(self.player, end, enough, worlds, groups, branches, mask, part, parts)
        counters = self.walk.counters
        histories = int(counters[HISTORIES])
        while True:
            counters[GROUP], counters[BRANCH] = group, branch
            status = expand(game.kernels, game.rules, stack, self.source.table, self.walk, task)
            if counters[PENDING_VIEWS] == 0:
                stuck = (counters[GROUP], counters[BRANCH]) == (group, branch)
                if status != TABLE_FULL or not stuck:
                    self._raise_fault(status)
                    return status
                if cleared:
                    raise InputError(
                        f"{game.spec}: one action leads to more views of others than fit into the policy's cache "
                        f"({self.memory:,} bytes of memory in all); give more memory"
                    )
                cleared, task = True, task._replace(enough=0)  # nothing but the views of one branch
            top[:] = before
            counters[HISTORIES] = histories
            self._supply(status)

    def _supply(self, status: int) -> None:
        """Evaluate the views that a kernel waits for, or clear the cache for more of them."""
        if self.walk.counters[PENDING_VIEWS]:
            self.source.evaluate_pending()
        elif status == TABLE_FULL:
            self.source.clear(self.walk.redacted)
        self._raise_fault(status)

    def _verify_parts(self, parts: int, free: int) -> None:
        """Raise an InputError if a branch can't be split into more parts."""
        if parts == MOST_PARTS:
            raise InputError(
                f"{self.game.spec}: one action of player {self.player} leads to more worlds than fit within "
                f"{self.memory:,} bytes, even {free:,} at a time in {parts} parts; "
                f"{self.walk.counters[HISTORIES]:,} histories and {self.views:,} views are done: give more memory"
            )

    def _raise_fault(self, status: int) -> None:
        """Raise an InputError if a kernel met a fault."""
        spec = self.game.spec
        world = self.walk.worlds[self.walk.counters[DEPTH]]
        if status == ACTIONS_DIFFER:
            raise InputError(f"the policy for {spec} has other legal actions than the game")
        if status == NO_RECALL:
            raise InputError(
                f"{spec}: player {self.player} does not recall their own moves at {self.game.layout.write(world)}"
            )
        if status in (BAD_CHANCE, NO_ACTIONS):
            raise broken_rules(self.game, world, status == BAD_CHANCE)
        if status == TOO_DEEP:
            raise too_deep(self.game, world)

    def _report(self, share: float) -> None:
        if self.report is not None:
            self.report(SweepProgress(self.player, share, int(self.walk.counters[HISTORIES]), self.views))
