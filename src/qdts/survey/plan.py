"""The plan of a survey: games, searches and what they know, as cells that are measured one after another.

A *cell* is one search of one game with one policy and one set of errors, all its numbers of visits and all its seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.registry import load_game
from qdts.search.options.parsing import read_search
from qdts.solving.tree.recent import game_tree
from qdts.survey.rows import Key

GAMES = ("kuhn_poker", "leduc_poker", "liars_dice(dice_sides=4)")
VISITS = tuple(4**k for k in range(8))
SEEDS = 4
SEARCHES = (
    "ismcts",
    "mt-ismcts",
    "mt-ismcts[self_determinization=split]",
    "mt-ismcts[self_determinization=pure]",
    "a-ismcts",
    "nash-ismcts",
    "nash-ismcts[belief=model]",
    "qdts-backprop",
    "qdts",
    "qdts-descent",
    "qdts[root_q=middle]",
    "qdts[decision=lcb]",
    "qdts[decision=lcb,eps_sample=0,eps_opponent=0]",
    "qdts[decision=lcb,estimate=counts]",
    "qdts[decision=lcb,estimate=sticky]",
    "qdts[decision=lcb,estimate=prior]",
    "qdts[decision=lcb,sample_q=expected,opponent_q=expected]",
    "qdts[decision=lcb,sample_q=running,opponent_q=running]",
    "qdts[decision=lcb,sample_q=masked,opponent_q=masked]",
    "qdts[share=true]",
    "qdts[belief=bayes]",
    "qdts[belief=exact]",
    "mmds",
    "mmds[step=5,root_step=5]",
)
POLICIES = ("weak", "middling", "equilibrium")
"""The policies that a search may know; see `qdts.survey.measure.policy_of`."""
NO_POLICY = "none"
"""The name in the place of a policy for a search that takes none."""


class Noise(NamedTuple):
    """Errors of a policy table's V, V_c and H."""

    value: float  # standard deviation in V, in units of S
    child: float  # the same in V_c
    belief: float  # L1 distance in H


NOISES: Mapping[str, Noise] = {"exact": Noise(0.0, 0.0, 0.0), "noisy": Noise(0.05, 0.05, 0.1)}
DRAWS: Mapping[str, int] = {"kuhn_poker": 8}
"""How many samples of errors are measured, where not one: a game with few information sets has few errors."""


@dataclass(frozen=True)
class Cell:
    """One search of one game with one policy and one set of errors."""

    game: str
    policy: str
    noise: str
    draw: int
    search: str
    visits: tuple[int, ...]
    """Ascending."""
    seeds: tuple[int, ...]

    def key(self, visits: int, seeds: tuple[int, ...]) -> Key:
        """The key of one of its rows."""
        return Key(self.game, self.policy, self.noise, self.draw, self.search, visits, seeds)

    @property
    def keys(self) -> list[Key]:
        """The keys of all its rows: for each number of visits each seed, then all seeds."""
        groups = dict.fromkeys([*((seed,) for seed in self.seeds), self.seeds])
        return [self.key(visits, group) for visits in self.visits for group in groups]

    @property
    def work(self) -> int:
        """The visits of all its searches."""
        return self.visits[-1] * len(self.seeds) * game_tree(load_game(self.game)).num_infosets

    def __str__(self) -> str:
        draw = f" {self.draw}" if self.draw else ""
        known = "" if self.policy == NO_POLICY else f" from {self.policy}, {self.noise}{draw}"
        return f"{self.game}: {self.search}{known}"


def cells_of(
    games: Sequence[str] = GAMES,
    searches: Sequence[str] = SEARCHES,
    visits: Sequence[int] = VISITS,
    seeds: int = SEEDS,
) -> list[Cell]:
    """The cells of a survey. Those of about the same cost are neighbours, so that `share_of` is fair."""
    if seeds < 1:
        raise InputError(f"seeds={seeds} is not possible for a survey, expected at least 1")
    stages = tuple(sorted({*visits}))
    return [
        Cell(game.spec, policy, noise, draw, search, stages, tuple(range(seeds)))
        for game in map(load_game, games)
        for search in searches
        for policy, noise, draw in _models(game, search)
    ]


def _models(game: Game, search: str) -> list[tuple[str, str, int]]:
    """What a search is measured with: policy, noise, and the number of the noise's sample."""
    if read_search(game, search).machine == "bandit":
        return [(NO_POLICY, "exact", 0)]
    draws = {"exact": 1, "noisy": DRAWS.get(game.spec, 1)}
    return [(policy, noise, draw) for policy in POLICIES for noise in NOISES for draw in range(draws[noise])]


def share_of(cells: Sequence[Cell], part: int, parts: int) -> list[Cell]:
    """The cells of one of `parts` parts, counted from 1; together the parts have every cell once."""
    if not 1 <= part <= parts:
        raise InputError(f"part {part} of {parts} does not exist, expected one from 1 to {parts}")
    return list(cells[part - 1 :: parts])
