"""What sits at a table: it gets views of its own seat, many at a time, and says how it moves. It never gets a world.

As text, a seat is

    random                  every legal action equally likely
    FILE.npz                a policy file
    RUN                     what a run has learned, by P of its networks: the run's folder, or a checkpoint's file
    NAME:VISITS             a search with nothing known: `uct:1000`, `qdts[c=0.2]:200`
    NAME:VISITS@FILE        a search that knows what follows from a policy file: `qdts:200@leduc.npz`
    NAME:VISITS@RUN         a search that asks the networks of a run: `qdts:200@runs/leduc_poker-0`
    NAME:VISITS@playouts    a search that takes the return of a random game for V: `puct:500@playouts`
    openspiel:BOT           a bot of OpenSpiel, which does get the whole state: see `qdts.play.openspiel_seats`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.openspiel import PREFIX
from qdts.games.registry import family_names, load_game
from qdts.interrupt import stop_flag
from qdts.kernels import Ints, Reals
from qdts.learning.run import SUFFIX
from qdts.play.openspiel_seats import BotSeat, read_bot_seat
from qdts.search.evaluation.builtin import Playouts, Table, Uniform
from qdts.search.evaluation.evaluator import Evaluator
from qdts.search.options.named import SEARCHES
from qdts.search.options.options import Options
from qdts.search.options.parsing import read_search
from qdts.search.roots import MOST_VISITS, verify_visits
from qdts.search.run import run_searches
from qdts.solving.policy.files import load_policy
from qdts.solving.policy.table import Policy

if TYPE_CHECKING:
    from qdts.play.agent import Agent

PLAYOUTS: Literal["playouts"] = "playouts"
"""Stands where a policy file can, for random games."""
FORMS = f"random, FILE.npz, RUN, NAME:VISITS, NAME:VISITS@FILE, NAME:VISITS@RUN, NAME:VISITS@{PLAYOUTS} or {PREFIX}BOT"
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
    known: Policy | Agent | Literal["playouts"] | None,
    *,
    value_noise: float = 0.0,
    child_noise: float = 0.0,
    belief_noise: float = 0.0,
) -> Evaluator:
    """Whom a search asks: a table of a policy, an agent's networks, `Playouts`, or else `Uniform`.

    Noise is that of `Table`. The bandit's playouts follow the policy instead, for which an agent's becomes a table.
    """
    noisy = value_noise or child_noise or belief_noise
    forest = options.machine == "forest"
    if isinstance(known, Policy) and forest:
        return Table(known, value_noise=value_noise, child_noise=child_noise, belief_noise=belief_noise)
    if noisy:
        raise InputError(
            "noise is an error in what follows from a policy, expected a policy file beside it and none with uct, "
            "ismcts or mt-ismcts, which only play games out by it"
        )
    if known is None:
        return Uniform(game)
    if known == PLAYOUTS:
        return Playouts(game)
    if isinstance(known, Policy):
        return Playouts(game, known)
    return known.evaluator if forest else Playouts(game, known.prior)


def read_known(game: Game, text: str | Path | None) -> Policy | Agent | Literal["playouts"] | None:
    """What a search is told to know: a policy file, a run, `playouts`, or nothing."""
    if text is None or str(text) == PLAYOUTS:
        return None if text is None else PLAYOUTS
    return read_policy(text, game)


def read_policy(text: str | Path, game: Game | None = None) -> Policy | Agent:
    """What a policy file holds or a run has learned. With a game given, it must be for that game."""
    if is_learned(text):
        from qdts.play.agent import load_agent

        return load_agent(text, game=game)
    if Path(text).suffix != ".npz" and not Path(text).exists():
        raise InputError(f"there is no '{text}', expected a policy file, a run's folder or a checkpoint's file")
    return load_policy(text, game)


def read_game(text: str) -> tuple[Game, Agent | None]:
    """A game by its name, or by a run that has learned it, with what it has learned."""
    name = text.strip()
    if is_learned(name) and name not in family_names():
        from qdts.play.agent import load_agent

        agent = load_agent(name)
        return agent.game, agent
    return load_game(text), None


def is_learned(text: str | Path) -> bool:
    """Whether a text stands for what a run has learned: the path of a folder, or of a checkpoint's file."""
    return Path(text).suffix == SUFFIX or is_folder(text)


def is_folder(text: str | Path) -> bool:
    """Whether there is a folder with this path; a text may also be too long for one, as a game's can be."""
    try:
        return bool(str(text)) and Path(text).is_dir()
    except (OSError, ValueError):
        return False


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
    if is_folder(text) or (text.endswith((".npz", SUFFIX)) and "@" not in text):
        meant = read_policy(text, game)
        return PolicySeat(meant) if isinstance(meant, Policy) else meant
    parts = SEARCH.fullmatch(text)
    if parts is None:
        known = ":" not in text and text.partition("[")[0] in SEARCHES
        hint = f"{text}:100 for instance" if known else f"{FORMS}, NAME one of {', '.join(sorted(SEARCHES))}"
        raise InputError(f"seat '{text}' {'has no visits' if known else 'makes no sense'}, expected {hint}")
    options, visits = read_search(game, parts["search"]), read_visits(parts["visits"])
    evaluator = evaluator_for(game, options, read_known(game, parts["known"]))
    return SearchSeat(game, options, visits, evaluator, threads=threads)
