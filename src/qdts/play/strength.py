"""How strong networks are, by matches: against uniform play, a small search, and earlier checkpoints of their run.

For games that can't be measured exactly. P moves without search. The player changes seats with the same deals, as in
every match; with more than two players the opponent has all other seats.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from qdts.games.game import Game
from qdts.learning.experience.experience import BULK
from qdts.learning.run import Run, is_kept
from qdts.nets.evaluator import Network
from qdts.play.agent import Agent, load_agent
from qdts.play.match import Match, play_match
from qdts.play.seats import Random, SearchSeat, Seat
from qdts.search.evaluation.builtin import Uniform
from qdts.search.options.parsing import read_search

OPPONENTS = ("uniform", "search", "first", "earlier")
"""All opponents; each has a metric `return_…`."""
VISITS = 100
"""Of the search that is an opponent."""
FIRST = 8
"""Groups of games from which the time of a game is known."""
MOST = 512
"""The most games between two looks at the clock."""

Report = Callable[[str, float], None]
"""Called with what is being done, and the share of it that is done."""


def small_search(game: Game, *, threads: int = 1) -> SearchSeat:
    """A cheap search that knows only the rules."""
    options = read_search(game, "ismcts" if game.hidden else "uct")
    return SearchSeat(game, options, VISITS, Uniform(game), threads=threads)


def without_search(network: Network) -> Agent:
    """P of a network as a seat; it evaluates large batches and remembers nothing."""
    return Agent(Network(network.game, network.model, batch=BULK, padded=False, device=str(network.device)))


def earlier_than(generation: int) -> int:
    """The newest generation at most half as old whose checkpoint is kept; 0 where there is none."""
    return next((n for n in range(generation // 2, 0, -1) if is_kept(n)), 0)


class Opponents:
    """The opponents of a run's networks."""

    def __init__(self, run: Run, *, threads: int = 1) -> None:
        self._run = run
        self._fixed: dict[str, Seat] = {
            "uniform": Random(run.game),
            "search": small_search(run.game, threads=threads),
        }
        self._loaded: dict[int, Agent] = {}

    def of(self, generation: int) -> dict[str, Seat]:
        """The opponents in a generation, by name; checkpoints only where there is one that is older."""
        there, half = {*self._run.checkpoints()}, earlier_than(generation)
        numbers = {"first": min(1, generation - 1), "earlier": half if half > 1 else 0}
        numbers = {name: number for name, number in numbers.items() if number in there}
        self._loaded = {n: self._loaded.get(n) or self._load(n) for n in numbers.values()}
        return self._fixed | {name: self._loaded[number] for name, number in numbers.items()}

    def _load(self, generation: int) -> Agent:
        return without_search(load_agent(self._run, generation=generation).evaluator)


def play_matches(
    agent: Seat,
    opponents: Mapping[str, Seat],
    *,
    games: int,
    seconds: float,
    seed: Sequence[int],
    report: Report | None = None,
) -> dict[str, Match]:
    """A match of an agent against each of some opponents.

    Args:
        agent: Whose returns count.
        opponents: By name.
        games: The most games of a match, rounded up to whole groups.
        seconds: The time for all of them, shared equally; the first few games of each are played in any case.
        seed: Numbers that all deals and moves follow from.
        report: Follows it.

    Returns:
        The matches by name. Ctrl-C keeps those that are finished, as the part that was played of the one at hand.
    """
    found: dict[str, Match] = {}
    ends = time.perf_counter() + seconds
    for k, (name, opponent) in enumerate(opponents.items()):
        if report is not None:
            report(f"playing against {WORDS[name]}", k / len(opponents))
        now = time.perf_counter()
        until = now + max(0.0, ends - now) / (len(opponents) - k)
        found[name] = _match(agent, opponent, games, until, [*seed, OPPONENTS.index(name)])
        if found[name].interrupted:
            break
    return found


WORDS = {
    "uniform": "uniform play",
    "search": "a small search",
    "first": "the first checkpoint",
    "earlier": "an earlier checkpoint",
}
"""The opponents in words."""


def _match(agent: Seat, opponent: Seat, games: int, until: float, seed: Sequence[int]) -> Match:
    """So many games, or as many as there is time for: part after part, each as large as all before it.

    So every game follows from the seed and its number, however many there are.
    """
    game, parts, done = agent.game, list[Match](), 0
    began = now = time.perf_counter()
    while done < games and (not done or now + (now - began) * min(done, MOST) / done <= until):
        number = min(done or FIRST * game.players, MOST, games - done)
        own = int(np.random.SeedSequence([*seed, len(parts)]).generate_state(1)[0])
        parts.append(play_match(game, agent, opponent, number, seed=own))
        done, now = done + parts[-1].games, time.perf_counter()
        if parts[-1].interrupted:
            break
    return Match(np.concatenate([part.returns for part in parts]), interrupted=parts[-1].interrupted)
