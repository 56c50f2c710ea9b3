"""A learned agent: the networks of a run as a player, by their P alone or by a search that asks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from qdts.errors import InputError
from qdts.games import batch
from qdts.games.game import Game
from qdts.games.registry import load_game
from qdts.kernels import Ints, Reals
from qdts.learning.config import Config, from_dict
from qdts.learning.measure import network_policy
from qdts.learning.nodes.evaluation import NO_ACTION, act_nodes, policy_at, values_at
from qdts.learning.run import Run, open_run
from qdts.nets.checkpoint import Checkpoint, load_checkpoint, load_into
from qdts.nets.evaluator import Network
from qdts.nets.model import make_models
from qdts.nets.networks import groups_of, use_threads
from qdts.play.match import drawn
from qdts.play.seats import SearchSeat, evaluator_for, is_folder
from qdts.play.state import read_state, turn
from qdts.search.everywhere import searched_policy
from qdts.search.options.compatibility import search_with_networks
from qdts.search.options.parsing import read_search
from qdts.search.roots import verify_root, verify_visits
from qdts.search.seeds import view_seed
from qdts.solving.policy.table import Policy


@dataclass(frozen=True, eq=False)
class Agent:
    """Networks that play; a seat of `play_match` as it is. The player is always the one whose turn a view shows.

    A view is a vector, or a text as `read_state` takes it.
    """

    evaluator: Network
    """P, V, V_c and H, for any search."""
    visits: int | None = None
    """Of the search that decides; None: P decides."""
    search: str = ""
    """A search, with what is changed in brackets; without a name, the one that plays best with networks."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """Where the networks are from."""

    def __post_init__(self) -> None:
        if self.visits is not None:
            verify_visits(self.visits)
        if not self.search:
            object.__setattr__(self, "search", search_with_networks(self.game))
        read_search(self.game, self.search)

    @property
    def game(self) -> Game:
        """What it plays."""
        return self.evaluator.game

    @cached_property
    def prior(self) -> Policy:
        """P at every information set; an InputError for a game that is too large to enumerate."""
        return replace(network_policy(self.evaluator), info=self.info)

    def policy(
        self, view: Ints | str, *, visits: int | None = None, search: str | None = None, seed: int = 0
    ) -> dict[int, float]:
        """The probability of each legal action: P, or with visits what a search decides on.

        The seed of the search depends on `seed` and the view, as with `searched_policy`.
        """
        at, player = self._turn(view)
        moves = self._searching(visits, search).decide([at], [player], [view_seed(at, seed)])[0]
        return dict(zip(self.game.legal(at), moves.tolist(), strict=True))

    def act(
        self, view: Ints | str, *, visits: int | None = None, search: str | None = None, seed: int | None = None
    ) -> int:
        """An action, drawn from the policy; with the same seed the same one."""
        at, player = self._turn(view)
        stream = np.random.default_rng(seed)
        moves = self._searching(visits, search).decide([at], [player], [int(stream.integers(2**63))])[0]
        return self.game.legal(at)[drawn(moves, stream.random())]

    def value(self, view: Ints | str) -> float:
        """V: what the player at this view may expect, as the network has it."""
        at, player = self._turn(view)
        node = act_nodes(at[None], np.array([player]))
        return float(values_at(self.game, self.evaluator, node)[0, 0 if self.game.hidden else player])

    def table(self, *, visits: int | None = None, search: str | None = None, seed: int = 0) -> Policy:
        """The policy at every information set: P, or with visits what a search decides on."""
        other = self._searching(visits, search)
        if other.visits is None:
            return self.prior
        options = read_search(self.game, other.search)
        evaluator = evaluator_for(self.game, options, self)
        return searched_policy(self.game, options, other.visits, evaluator=evaluator, seed=seed)

    def rows(self, views: Ints, counts: Ints) -> Reals:
        """P at many views, as `nash_conv` takes it for games of any size."""
        return policy_at(self.game, self.evaluator, views, batch.movers(self.game, views))

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        """At each view of a player at his turn, the probability of each legal action, ascending."""
        if self._seat is not None:
            return self._seat.decide(views, players, seeds)
        return [
            row[row > NO_ACTION] for row in policy_at(self.game, self.evaluator, np.array(views), np.array(players))
        ]

    def _turn(self, view: Ints | str) -> tuple[Ints, int]:
        """A view as a vector, and the player whose turn it is."""
        if isinstance(view, str):
            return read_state(self.game, view)
        player = turn(self.game, self.game.verify_vector(view))
        verify_root(self.game, view, player)
        return view, player

    def _searching(self, visits: int | None, search: str | None) -> Agent:
        """This agent with another search."""
        if visits is None and search is None:
            return self
        other = replace(self, visits=self.visits if visits is None else visits, search=search or self.search)
        if other.visits is None:
            raise InputError(f"the search {search} is given without visits, expected a number of them beside it")
        return other

    @cached_property
    def _seat(self) -> SearchSeat | None:
        """The search that decides, if one does."""
        if self.visits is None:
            return None
        options = read_search(self.game, self.search)
        return SearchSeat(self.game, options, self.visits, evaluator_for(self.game, options, self))


def load_agent(
    source: Run | str | Path,
    *,
    game: Game | str | None = None,
    generation: int | None = None,
    average: bool = True,
    visits: int | None = None,
    search: str = "",
    device: str = "cpu",
    threads: int = 1,
) -> Agent:
    """The agent that a run has learned, by the run, its folder or the file of one of its checkpoints.

    Its networks are those after a generation, without one the last, with averaged weights or the newest. With visits
    it moves by a search. A game of one's own must be given. `threads` is how many torch may use, in this process: for
    batches as small as those of a search one is the fastest.
    """
    use_threads(threads)
    loaded = load_game(game) if isinstance(game, str) else game
    if isinstance(source, Run) or is_folder(source):
        run = open_run(source.folder, loaded or source.game) if isinstance(source, Run) else open_run(source, loaded)
        file, name, loaded = _checkpoint_of(run, generation), str(run.folder), run.game
    elif generation is not None:
        raise InputError(f"generation={generation} of '{source}', which is one checkpoint, expected a run's folder")
    else:
        file = Path(source)
        name = str(file)
    checkpoint = load_checkpoint(file, loaded)
    info = {
        "learned by": name,
        "generation": checkpoint.generation,
        "games": checkpoint.metrics.get("games"),
        "weights": "average" if average else "newest",
    }
    return Agent(_network(checkpoint, file, average, device), visits, search, info)


def _checkpoint_of(run: Run, generation: int | None) -> Path:
    """The file of a run's checkpoint: of a generation, or the last."""
    there = run.checkpoints()
    if not there:
        raise InputError(f"the run '{run.folder}' has no checkpoint yet, expected one whose first generation is done")
    if generation is not None and generation not in there:
        listed = ", ".join(map(str, there))
        raise InputError(
            f"the run '{run.folder}' has no checkpoint of generation {generation}, it has those of {listed}"
        )
    return run.checkpoint(there[-1] if generation is None else generation)


def _network(checkpoint: Checkpoint, file: Path, average: bool, device: str) -> Network:
    """The networks of a checkpoint, with averaged weights or the newest. A run by Bayes' rule has no H."""
    config, game = _config_of(checkpoint, file), checkpoint.game
    net = config.net
    models = make_models(game, width=net.width, layers=net.layers, trunk=net.trunk, towers=net.towers)
    groups = groups_of(average=average, source=config.belief.source)
    for model, group in zip(models, groups, strict=True):
        if group is not None:
            load_into(model, checkpoint.part(group), f"the group '{group}' of '{file}'")
    belief = None if groups[1] is None else models[1]
    return Network(game, models[0], belief, batch=config.play.batch, cache=config.play.cache, device=device)


def _config_of(checkpoint: Checkpoint, file: Path) -> Config:
    """The settings in a checkpoint that say what its networks are."""
    if not {"net", "play"} <= checkpoint.config.keys():
        raise InputError(f"the config of checkpoint '{file}' has no settings 'net' and 'play', expected one of a run")
    try:
        return from_dict(checkpoint.config)
    except (InputError, TypeError) as error:
        raise InputError(f"the config of checkpoint '{file}' is malformed ({error})") from error
