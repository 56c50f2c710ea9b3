"""What one search found, for people and for programs."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from qdts.cli.display.output import number
from qdts.cli.display.solution import panel

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.tree import Tree

    from qdts.games.game import Game
    from qdts.kernels import Ints
    from qdts.search.beliefs.holes import HoleBelief
    from qdts.search.decision.result import Result
    from qdts.search.forest.reader import Branch

MOST_VALUES = 8
"""Values of a hole that are shown, the likeliest."""


class Found(NamedTuple):
    """All of it."""

    game: Game
    view: Ints
    facts: dict[str, Any]
    """What was asked for, and how long it took."""
    result: Result
    belief: HoleBelief | None
    """Of the first hole, for the action that is most likely played."""
    top: Branch | None
    """The top of the trees, if it was asked for."""

    def data(self) -> dict[str, Any]:
        """As one object."""
        data = self.facts | {"nodes": self.result.nodes, "full": self.result.full}
        data |= {"actions": _rows(self.game, self.result), "belief": None}
        if self.belief is not None:
            data["belief"] = {"hole": self.belief.hole, "name": self.belief.name, "values": dict(self.belief.values)}
        if self.top is not None:
            data["tree"] = dataclasses.asdict(self.top)
        return data

    def show(self, screen: Console) -> None:
        """On a screen."""
        from rich.markup import escape

        screen.print(panel(self.game.spec, f"searched by {escape(self.facts['search'])}", self._words()))
        screen.print(_table(_rows(self.game, self.result)))
        if self.belief is not None:
            likely = sorted(self.belief.values, key=lambda v: -v[1])
            text = "   ".join(f"{name} {p:.3f}" for name, p in likely[:MOST_VALUES])
            more = f"   and {len(likely) - MOST_VALUES} more" if len(likely) > MOST_VALUES else ""
            screen.print(f"[dim]belief about {escape(self.belief.name)}:[/]   {escape(text)}{more}")
        if self.top is not None:
            screen.print("\nTop of the trees: choice, visits, kind of node, Q to the tree's owner", style="bold")
            screen.print(_drawn(self.top))

    def _words(self) -> dict[str, str]:
        from rich.markup import escape

        words = {"state": escape(self.facts["state"])}
        if self.game.title is not None:
            words["in words"] = escape(self.game.describe(self.view))
        full = ", and no room for more" if self.result.full else ""
        spent = f"{self.facts['visits']:,} visits, {self.result.nodes:,} nodes{full}, {number(self.facts['seconds'])} s"
        words["to move"] = f"player {self.facts['player']}"
        words["knows"] = escape(self.facts["policy"]) if self.facts["policy"] else "nothing but the rules"
        return words | {"search": spent}


def _rows(game: Game, found: Result) -> list[dict[str, Any]]:
    """The root's actions, ascending. `share` is the share of visits, `move` the probability of being played."""
    total = max(int(found.visits.sum()), 1)
    return [
        {
            "action": game.action_name(int(found.actions[i])),
            "number": int(found.actions[i]),
            "visits": int(found.visits[i]),
            "q_lo": _finite(found.q_lo[i]),
            "q_hi": _finite(found.q_hi[i]),
            "prior": _finite(found.prior[i]),
            "share": float(found.visits[i]) / total,
            "move": float(found.move[i]),
        }
        for i in range(len(found.actions))
    ]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _table(rows: list[dict[str, Any]]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table("action", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("visits", "share", "Q", "prior", "played"):
        table.add_column(name, justify="right")
    best = max(row["move"] for row in rows)
    for row in sorted(rows, key=lambda row: (-row["move"], -row["visits"])):
        q = "·" if row["q_lo"] is None or row["q_hi"] is None else _interval(row["q_lo"], row["q_hi"])
        cells = (f"{row['visits']:,}", f"{row['share']:.3f}", escape(q), _cell(row["prior"]), _cell(row["move"]))
        table.add_row(escape(row["action"]), *cells, style="bold" if row["move"] == best else None)
    return table


def _cell(value: float | None) -> str:
    return "·" if value is None else f"{value:.3f}"


def _interval(lo: float, hi: float) -> str:
    return f"{lo:+.3f}" if f"{lo:+.3f}" == f"{hi:+.3f}" else f"[{lo:+.3f}, {hi:+.3f}]"


def _drawn(top: Branch) -> Tree:
    """A branch and what is below it as lines with guides."""
    from rich.tree import Tree

    def add(tree: Tree, branch: Branch) -> None:
        for below in branch.branches:
            add(tree.add(_label(below)), below)
        if branch.more:
            tree.add(f"[dim]… {branch.more} more[/]")
        if branch.spawned is not None:
            add(tree.add(f"[magenta]simulated:[/] {_label(branch.spawned)}"), branch.spawned)

    drawn = Tree(_label(top))
    add(drawn, top)
    return drawn


def _label(branch: Branch) -> str:
    from rich.markup import escape

    choice = f"[bold]{escape(branch.choice)}[/] " if branch.choice else ""
    who = "" if branch.player is None else f" of player {branch.player}"
    view = f" [dim]{escape(branch.view)}[/]" if branch.view else ""
    q = escape(_interval(branch.q_lo, branch.q_hi))
    return f"{choice}[green]{branch.visits:,}[/] [cyan]{branch.kind.upper()}[/]{who} {q}{view}"
