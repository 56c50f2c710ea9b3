"""What sits at a table: it gets views of its own seat, many at a time, and says how it moves. It never gets a world.

As text, a seat is

    random                  every legal action equally likely
    FILE.npz                a policy file
    NAME:VISITS             a search with nothing known: `uct:1000`, `qdts[c=0.2]:200`
    NAME:VISITS@FILE        a search that knows what follows from a policy file: `qdts:200@leduc.npz`
    NAME:VISITS@playouts    a search that takes the return of a random game for V: `puct:500@playouts`
    openspiel:BOT           a bot of OpenSpiel, which does get the whole state: see `qdts.play.openspiel_seats`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.openspiel import PREFIX
from qdts.interrupt import stop_flag
from qdts.kernels import Ints, Reals
from qdts.play.openspiel_seats import BotSeat, read_bot_seat
from qdts.search.evaluator import Evaluator
from qdts.search.evaluators import Playouts, Table, Uniform
from qdts.search.name import read_search
from qdts.search.options import SEARCHES, Options
from qdts.search.roots import MOST_VISITS, verify_visits
from qdts.search.run import run_searches
from qdts.solving.policy import Policy, load_policy

PLAYOUTS: Literal["playouts"] = "playouts"
"""Stands where a policy file can, for random games."""
FORMS = f"random, FILE.npz, NAME:VISITS, NAME:VISITS@FILE, NAME:VISITS@{PLAYOUTS} or {PREFIX}BOT"
SEARCH = re.compile(r"(?P<search>[^:@\[\]]*(\[[^\]]*\])?):(?P<visits>[^@]*)(@(?P<known>.+))?")


class Seat(Protocol):
    """Whoever can move."""

    @property
    def game(self) -> Game:
        """What he plays."""

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        """At each view of a player at his turn, the probability of each legal action, ascending.

        What is random depends on the seed beside the view, and on nothing else.
        """


class Random:
    """Every legal action equally likely."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        """Evenly."""
        counts = [len(self.game.legal(view)) for view in views]
        return [np.full(count, 1.0 / count) for count in counts]


class PolicySeat:
    """What a policy says."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.game = policy.game

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        """As the policy says."""
        return [np.array(list(self.policy(view).values())) for view in views]


class SearchSeat:
    """A search from every view, all side by side."""

    def __init__(
        self, game: Game, options: Options, visits: int, evaluator: Evaluator | None = None, *, threads: int = 1
    ) -> None:
        self.game = game
        self.options = options
        self.visits = visits
        self.evaluator = evaluator
        self.threads = threads

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        """The distributions that the searches decide on."""
        flag = stop_flag()

        def look(_made: int) -> None:
            if flag[0]:
                raise KeyboardInterrupt

        results = run_searches(
            self.game, views, players, self.options, self.visits,
            evaluator=self.evaluator, seeds=seeds, threads=self.threads, report=look,
        )  # fmt: skip
        return [result.move for result in results]


def evaluator_for(
    game: Game,
    options: Options,
    known: Policy | Literal["playouts"] | None,
    *,
    value_noise: float = 0.0,
    child_noise: float = 0.0,
    belief_noise: float = 0.0,
) -> Evaluator:
    """Whom a search asks: a table of a policy, with the noise that `Table` knows, `Playouts`, or else `Uniform`.

    The bandit's playouts follow the policy instead.
    """
    noisy = value_noise or child_noise or belief_noise
    if isinstance(known, Policy) and options.machine == "forest":
        return Table(known, value_noise=value_noise, child_noise=child_noise, belief_noise=belief_noise)
    if noisy:
        raise InputError(
            "noise is an error in what follows from a policy, expected a policy beside it and none with uct, ismcts or "
            "mt-ismcts, which only play games out by it"
        )
    if known is None:
        return Uniform(game)
    return Playouts(game, known if isinstance(known, Policy) else None)


def read_known(game: Game, text: str | Path | None) -> Policy | Literal["playouts"] | None:
    """What a search is told to know: a policy file, `playouts`, or nothing."""
    if text is None or str(text) == PLAYOUTS:
        return None if text is None else PLAYOUTS
    return load_policy(text, game)


def read_visits(text: str) -> int:
    """A number of visits."""
    digits = text.strip()
    if not digits.isascii() or not digits.isdigit() or len(digits) > len(str(MOST_VISITS)):
        raise InputError(
            f"visits={digits[:40] or 'nothing'} is not possible for a search, "
            f"expected a whole number, at least 1 and at most {MOST_VISITS:,}"
        )
    verify_visits(int(digits))
    return int(digits)


def read_seat(game: Game, text: str, *, threads: int = 1) -> Seat | BotSeat:
    """The seat that a text stands for; raises an InputError that names the choices."""
    text = text.strip()
    if text == "random":
        return Random(game)
    if text.startswith(PREFIX):
        return read_bot_seat(game, text)
    if text.endswith(".npz") and "@" not in text:
        return PolicySeat(load_policy(text, game))
    parts = SEARCH.fullmatch(text)
    if parts is None:
        known = ":" not in text and text.partition("[")[0] in SEARCHES
        hint = f"{text}:100 for instance" if known else f"{FORMS}, NAME one of {', '.join(sorted(SEARCHES))}"
        raise InputError(f"seat '{text}' {'has no visits' if known else 'makes no sense'}, expected {hint}")
    options, visits = read_search(game, parts["search"]), read_visits(parts["visits"])
    evaluator = evaluator_for(game, options, read_known(game, parts["known"]))
    return SearchSeat(game, options, visits, evaluator, threads=threads)
