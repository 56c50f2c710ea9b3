"""Seats: whoever moves for a player. A seat gets views, many at a time, and returns distributions over actions.

A seat never gets a world. As text it is

    random                  uniform play
    FILE.npz                a policy file
    RUN                     P of the networks of a run: the run's folder, or a checkpoint's file
    NAME:VISITS             a search that knows only the rules: `uct:1000`, `qdts[c=0.2]:200`
    NAME:VISITS@FILE        a search that knows a policy file: `qdts:200@leduc.npz`
    NAME:VISITS@RUN         a search with the networks of a run as evaluator: `qdts:200@runs/leduc_poker-0`
    NAME:VISITS@playouts    a search whose V is the return of a random game: `puct:500@playouts`
    openspiel:BOT           a bot of OpenSpiel, which does get the whole state: see `qdts.play.openspiel_seats`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np

from qdts.errors import InputError
from qdts.games import batch
from qdts.games.game import Game
from qdts.games.openspiel import PREFIX
from qdts.games.registry import family_names, load_game
from qdts.interrupt import stop_flag
from qdts.kernels import Ints, Reals
from qdts.learning.run import SUFFIX
from qdts.play.openspiel_seats import BotSeat, read_bot_seat
from qdts.play.trees import Trees
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
"""In the place of a policy file: random playouts."""
FORMS = f"random, FILE.npz, RUN, NAME:VISITS, NAME:VISITS@FILE, NAME:VISITS@RUN, NAME:VISITS@{PLAYOUTS} or {PREFIX}BOT"
SEARCH = re.compile(r"(?P<search>[^:@\[\]]*(\[[^\]]*\])?):(?P<visits>[^@]*)(@(?P<known>.+))?")


class Seat(Protocol):
    """What moves for a player: a method `decide`, and the game."""

    @property
    def game(self) -> Game:
        """The game that it plays."""

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        """The policy at some views.

        Args:
            views: Views of players who are to move.
            players: Whose view each is.
            seeds: A seed for each view, on which alone anything random depends.

        Returns:
            For each view the probability of each legal action, ascending.
        """


@runtime_checkable
class Continuing(Seat, Protocol):
    """A seat whose searches can continue from move to move."""

    def continued(self, games: int) -> Trees | None:
        """The trees of so many games; None where there are none."""


class Random:
    """Uniform play."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        """The uniform distribution over the legal actions of each view."""
        counts = batch.choices(self.game, np.array(views), np.array(players)).counts
        return [np.full(count, 1.0 / count) for count in counts]


class PolicySeat:
    """A policy as a seat."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.game = policy.game

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        """The distributions of the policy."""
        return [np.array(list(self.policy(view).values())) for view in views]


class SearchSeat:
    """A search from each view, all side by side."""

    def __init__(
        self, game: Game, options: Options, visits: int, evaluator: Evaluator | None = None, *, threads: int = 1
    ) -> None:
        self.game = game
        self.options = options
        self.visits = visits
        self.evaluator = evaluator
        self.threads = threads

    def continued(self, games: int) -> Trees | None:
        """The same search with trees that continue from move to move, in so many games; None if it has no trees."""
        if self.options.machine != "forest":
            return None
        evaluator = self.evaluator or Uniform(self.game)
        return Trees(self.game, self.options, self.visits, evaluator, most=games, threads=self.threads)

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        """The distributions that the searches decide on."""
        flag = stop_flag()

        def check_flag(_done: int) -> None:
            if flag[0]:
                raise KeyboardInterrupt

        results = run_searches(
            self.game, views, players, self.options, self.visits,
            evaluator=self.evaluator, seeds=seeds, threads=self.threads, report=check_flag,
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
    """The evaluator of a search, given what it knows.

    Args:
        game: The game.
        options: The options of the search.
        known: A policy, whose table evaluates; an agent, whose networks evaluate; `playouts`, for random games; or
            None, for `Uniform`. The bandit samples its playouts from the policy, or from P of the agent.
        value_noise: The noise of `Table` in V.
        child_noise: The noise of `Table` in V_c.
        belief_noise: The noise of `Table` in H.

    Returns:
        The evaluator.

    Raises:
        InputError: For noise without a policy table.
    """
    noisy = value_noise or child_noise or belief_noise
    forest = options.machine == "forest"
    if isinstance(known, Policy) and forest:
        return Table(known, value_noise=value_noise, child_noise=child_noise, belief_noise=belief_noise)
    if noisy:
        raise InputError(
            "noise is an error in V, V_c and H of a policy, expected a policy file beside it, and no noise with uct, "
            "ismcts or mt-ismcts, which only sample playouts from the policy"
        )
    if known is None:
        return Uniform(game)
    if known == PLAYOUTS:
        return Playouts(game)
    if isinstance(known, Policy):
        return Playouts(game, known)
    return known.evaluator if forest else Playouts(game, known.prior)


def read_known(game: Game, text: str | Path | None) -> Policy | Agent | Literal["playouts"] | None:
    """What a search knows: the contents of a policy file, a run's agent, `playouts`, or None."""
    if text is None or str(text) == PLAYOUTS:
        return None if text is None else PLAYOUTS
    return read_policy(text, game)


def read_policy(text: str | Path, game: Game | None = None) -> Policy | Agent:
    """The policy of a file, or the agent of a run; an InputError unless it is for the game, where one is given."""
    if is_learned(text):
        from qdts.play.agent import load_agent

        return load_agent(text, game=game)
    if Path(text).suffix != ".npz" and not Path(text).exists():
        raise InputError(f"there is no '{text}', expected a policy file, a run's folder or a checkpoint's file")
    return load_policy(text, game)


def read_game(text: str, runs_game: str | None = None) -> tuple[Game, Agent | None]:
    """A game by its name; or by a run that has learned it, with the run's agent.

    Args:
        text: The name of a game, the path of its file, a run's folder or the file of a checkpoint.
        runs_game: The game of the run, if the run does not say where it is, or the game has changed since.

    Raises:
        InputError: There is no such game or run, or a run's game is given for what is no run.
    """
    name = text.strip()
    if is_learned(name) and name not in family_names():
        from qdts.play.agent import load_agent

        agent = load_agent(name, game=runs_game)
        return agent.game, agent
    if runs_game is not None:
        raise InputError(f"--game {runs_game} beside '{name}', which is no run, expected it beside a run's folder")
    return load_game(text), None


def is_learned(text: str | Path) -> bool:
    """Whether a text is the path of a run: of a folder, or of a checkpoint's file."""
    return Path(text).suffix == SUFFIX or is_folder(text)


def is_folder(text: str | Path) -> bool:
    """Whether there is a folder with this path; a text that can't be a path is none."""
    try:
        return bool(str(text)) and Path(text).is_dir()
    except (OSError, ValueError):
        return False


def read_visits(text: str) -> int:
    """The number of visits that a text stands for."""
    digits = text.strip()
    if not digits.isascii() or not digits.isdigit() or len(digits) > len(str(MOST_VISITS)):
        raise InputError(
            f"visits={digits[:40] or 'nothing'} is not possible for a search, "
            f"expected a whole number, at least 1 and at most {MOST_VISITS:,}"
        )
    verify_visits(int(digits))
    return int(digits)


def read_seat(game: Game, text: str, *, threads: int = 1) -> Seat | BotSeat:
    """The seat that a text stands for.

    Args:
        game: The game.
        text: `random`, `FILE.npz`, `RUN`, `NAME:VISITS`, `NAME:VISITS@FILE`, `NAME:VISITS@RUN`,
            `NAME:VISITS@playouts` or `openspiel:BOT`: see `qdts.play.seats`.
        threads: Threads to search with.

    Returns:
        The seat, for `play_match`.

    Raises:
        InputError: For a text that is no seat, and for a policy or a run of another game; it names the choices.

    Examples:
        >>> import qdts
        >>> game = qdts.load_game("kuhn_poker")
        >>> seat = qdts.read_seat(game, "qdts[c=0.2]:50")
        >>> seat.visits
        50
    """
    text = text.strip()
    if text == "random":
        return Random(game)
    if text.startswith(PREFIX):
        return read_bot_seat(game, text)
    if is_folder(text) or (text.endswith((".npz", SUFFIX)) and "@" not in text):
        given = read_policy(text, game)
        return PolicySeat(given) if isinstance(given, Policy) else given
    parts = SEARCH.fullmatch(text)
    if parts is None:
        known = ":" not in text and text.partition("[")[0] in SEARCHES
        hint = f"{text}:100 for instance" if known else f"{FORMS}, NAME one of {', '.join(sorted(SEARCHES))}"
        raise InputError(f"seat '{text}' {'has no visits' if known else 'makes no sense'}, expected {hint}")
    options, visits = read_search(game, parts["search"]), read_visits(parts["visits"])
    evaluator = evaluator_for(game, options, read_known(game, parts["known"]))
    return SearchSeat(game, options, visits, evaluator, threads=threads)
