"""A learned agent: the networks of a run as a seat, which moves by P or by a search with the networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
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
from qdts.play.match import sample
from qdts.play.seats import SearchSeat, evaluator_for, is_folder
from qdts.play.state import read_state, turn
from qdts.play.trees import Trees
from qdts.search.everywhere import searched_policy
from qdts.search.options.compatibility import search_with_networks
from qdts.search.options.parsing import read_search
from qdts.search.roots import verify_root, verify_visits
from qdts.search.seeds import view_seed
from qdts.solving.policy.table import Policy

PUCT_C = 4.0
"""c of `puct` with learned networks, in units of the spread of values: broader than in self-play (`search.c`)."""


@dataclass(frozen=True, eq=False)
class Agent:
    """The networks of a run as a player, and as a seat of `play_match`.

    Methods take a view as a vector, or as a text that `qdts.play.state.read_state` reads. The player is always the one
    to move.

    Examples:
        >>> agent = qdts.load_agent(run)
        >>> policy = agent.policy("deal K, deal Q, Bet")
        >>> [agent.game.action_name(action) for action in policy]
        ['Pass', 'Bet']
        >>> agent.act("deal K, deal Q, Bet", visits=20, seed=1) in policy
        True
    """

    evaluator: Network
    """P, V, V_c and H, for any search."""
    visits: int | None = None
    """The visits of the search that decides; None: P decides."""
    search: str = ""
    """A search, with options in brackets; by default the one that plays best with networks."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """The source of the networks."""

    def __post_init__(self) -> None:
        if self.visits is not None:
            verify_visits(self.visits)
        if not self.search:
            object.__setattr__(self, "search", search_with_networks(self.game))
        read_search(self.game, self.search)

    @property
    def game(self) -> Game:
        """The game that it plays."""
        return self.evaluator.game

    @cached_property
    def prior(self) -> Policy:
        """P at every information set; raises an InputError if the game is too large to enumerate."""
        return replace(network_policy(self.evaluator), info=self.info)

    def policy(
        self, view: Ints | str, *, visits: int | None = None, search: str | None = None, seed: int = 0
    ) -> dict[int, float]:
        """The policy at a view.

        Args:
            view: The view of the player to move.
            visits: The visits of a search that decides; by default those of the agent.
            search: The search; by default that of the agent.
            seed: The seed of the search is made of this and the view, as in `searched_policy`.

        Returns:
            The probability of each legal action: P, or with visits the distribution that the search decides on.

        Raises:
            InputError: For what is no view of the player to move, and for a search without visits.
        """
        at, player = self._turn(view)
        moves = self._searching(visits, search).decide([at], [player], [view_seed(at, seed)])[0]
        return dict(zip(self.game.legal(at), moves.tolist(), strict=True))

    def act(
        self, view: Ints | str, *, visits: int | None = None, search: str | None = None, seed: int | None = None
    ) -> int:
        """An action, sampled from the policy at a view.

        Args:
            view: The view of the player to move.
            visits: The visits of a search that decides; by default those of the agent.
            search: The search; by default that of the agent.
            seed: Of search and sample; the same seed gives the same action.

        Returns:
            The action.

        Raises:
            InputError: For what is no view of the player to move, and for a search without visits.
        """
        at, player = self._turn(view)
        stream = np.random.default_rng(seed)
        moves = self._searching(visits, search).decide([at], [player], [int(stream.integers(2**63))])[0]
        return self.game.legal(at)[sample(moves, stream.random())]

    def value(self, view: Ints | str) -> float:
        """V of the network at a view: the expected return of the player to move."""
        at, player = self._turn(view)
        node = act_nodes(at[None], np.array([player]))
        return float(values_at(self.game, self.evaluator, node)[0, 0 if self.game.hidden else player])

    def table(self, *, visits: int | None = None, search: str | None = None, seed: int = 0) -> Policy:
        """The policy at every information set: P, or with visits the distributions that a search decides on."""
        other = self._searching(visits, search)
        if other.visits is None:
            return self.prior
        options = read_search(self.game, other.search)
        evaluator = evaluator_for(self.game, options, self)
        return searched_policy(self.game, options, other.visits, evaluator=evaluator, seed=seed)

    def rows(self, views: Ints, counts: Ints) -> Reals:
        """P at many views, in the form that `nash_conv` takes for games of any size."""
        return policy_at(self.game, self.evaluator, views, batch.movers(self.game, views))

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        """The probability of each legal action, ascending, at each view of a player who is to move."""
        if self._seat is not None:
            return self._seat.decide(views, players, seeds)
        return [
            row[row > NO_ACTION] for row in policy_at(self.game, self.evaluator, np.array(views), np.array(players))
        ]

    def continued(self, games: int) -> Trees | None:
        """The trees of so many games, if a search decides."""
        return None if self._seat is None else self._seat.continued(games)

    def _turn(self, view: Ints | str) -> tuple[Ints, int]:
        """A view as a vector, and the player to move."""
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
    """The agent that a run has learned.

    Args:
        source: The run, its folder, or the file of one of its checkpoints.
        game: The game that the run must be for. A game from a file must be given for a single checkpoint, and for a run
            if the file was moved or has changed since. Else the run's game file is run, with a note (`open_run`).
        generation: The generation of the checkpoint; by default the last.
        average: Whether to use the averaged weights or the newest.
        visits: The visits of the search that moves; without it moves come from P.
        search: The search, with options in brackets; by default the one that plays best with networks.
        device: Where the networks run: `cpu` or `cuda`.
        threads: Threads of torch, in this process; for the small batches of a search one is the fastest.

    Returns:
        The agent, which is also a seat of `play_match`.

    Raises:
        InputError: For what is no run or checkpoint, one of another game, or a generation without a checkpoint.

    Examples:
        >>> run = qdts.train("kuhn_poker", generations=3, out="runs/kuhn")  # doctest: +SKIP
        >>> agent = qdts.load_agent(run)
        >>> game = agent.game
        >>> qdts.play_match(game, agent, qdts.read_seat(game, "random"), games=100).games
        100
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
    network = _network(checkpoint, file, average, device)
    return Agent(network, visits, search or _best_search(checkpoint), info)


def _best_search(checkpoint: Checkpoint) -> str:
    """The search that plays best with the networks of a checkpoint.

    With perfect information it plays the action with the most visits, and the unit of its c is the spread of values.
    """
    name = search_with_networks(checkpoint.game)
    if checkpoint.game.hidden:
        return name
    spread = checkpoint.metrics.get("spread")
    c = "" if spread is None else f"c={PUCT_C * spread:.3g},"
    return f"{name}[{c}decision=most]"


def _checkpoint_of(run: Run, generation: int | None) -> Path:
    """The checkpoint of a generation of a run, or the last one."""
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
    models = make_models(game, **asdict(config.net))
    groups = groups_of(average=average, source=config.belief.source)
    for model, group in zip(models, groups, strict=True):
        if group is not None:
            load_into(model, checkpoint.part(group), f"the group '{group}' of '{file}'")
    belief = None if groups[1] is None else models[1]
    return Network(game, models[0], belief, batch=config.play.batch, cache=config.play.cache, device=device)


def _config_of(checkpoint: Checkpoint, file: Path) -> Config:
    """The settings in a checkpoint, which describe its networks."""
    if not {"net", "play"} <= checkpoint.config.keys():
        raise InputError(f"the config of checkpoint '{file}' has no settings 'net' and 'play', expected one of a run")
    try:
        return from_dict(checkpoint.config)
    except (InputError, TypeError) as error:
        raise InputError(f"the config of checkpoint '{file}' is malformed ({error})") from error
