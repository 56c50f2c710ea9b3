"""`qdts evaluate`: NashConv of the policy that a search plays."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from qdts.cli.commands.arguments import (
    AsJson,
    GameOrRun,
    Known,
    RunsGame,
    SearchName,
    SearchOptions,
    Threads,
    default_search,
    known_from,
    with_options,
)
from qdts.cli.commands.exit_codes import INTERRUPTED
from qdts.cli.display.evaluation import show_by_cells, show_checkpoints, show_visits
from qdts.cli.display.output import print_json
from qdts.cli.display.progress import Heartbeat, bar, loading
from qdts.errors import InputError

if TYPE_CHECKING:
    from qdts.games.game import Game
    from qdts.play.agent import Agent
    from qdts.search.evaluation.evaluator import Evaluator
    from qdts.search.options.options import Options

EXAMPLES = """[bold]Examples[/]
  qdts evaluate kuhn_poker --search ismcts --visits 100,1000,10000
  qdts evaluate leduc_poker --policy leduc.npz --visits 16,64,256,1024
  qdts evaluate leduc_poker --policy leduc.npz --search mmds --value-noise 0.05 --belief-noise 0.1
  qdts evaluate kuhn_poker --option eps_sample=0 --option eps_opponent=0 --json
  qdts evaluate runs/kuhn_poker-0
  qdts evaluate runs/kuhn_poker-0 --checkpoints 10 --seeds 4 --visits 16,64,256,1024

NashConv is the sum of what the players could gain by best responses; it is exact. With several seeds it is that of
the average policy, with its standard error. Of phantom tic-tac-toe and abrupt dark hex, which are too large to search
everywhere, a run's P alone is measured, which takes minutes. Ctrl-C keeps what is measured."""


def evaluate(
    game: GameOrRun,
    search: SearchName = None,
    visits: Annotated[str, typer.Option(help="Visits of every search; several numbers are separated by commas.")] = (
        "16,64,256"
    ),
    policy: Known = None,
    checkpoints: Annotated[
        int | None,
        typer.Option(
            min=1, help="Measure so many checkpoints of a run, evenly spaced by powers, instead of the last.",
            show_default=False,
        ),
    ] = None,
    value_noise: Annotated[
        float, typer.Option(help="Error of V: standard deviation, in units of half the range of returns.")
    ] = 0.0,
    child_noise: Annotated[float, typer.Option(help="The same for V_c, the values of children.")] = 0.0,
    belief_noise: Annotated[float, typer.Option(help="Error of H: L1 distance.")] = 0.0,
    option: SearchOptions = None,
    seed: Annotated[int, typer.Option(min=0, help="First seed of the searches.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds, from the first one on.")] = 1,
    threads: Threads = 1,
    runs_game: RunsGame = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Search at every information set of a game, and measure NashConv of the resulting policy."""
    from qdts.play.seats import PLAYOUTS, evaluator_for, read_game, read_known, read_visits
    from qdts.search.options.parsing import read_search
    from qdts.solving import Policy, nash_conv, uniform_policy

    numbers = [read_visits(part) for part in visits.split(",")]
    with loading(game):
        loaded, agent = read_game(game, runs_game)
    if agent is not None and policy is None and _goes_by_cells(loaded):
        _evaluate_by_cells(game, agent, checkpoints, as_json)
        return
    with loading(game):
        known = agent if policy is None else read_known(loaded, policy)
        text = with_options(search or default_search(loaded, known), option)
        options = read_search(loaded, text)
        _verify_size(loaded, text, numbers[-1])
        _compile(loaded, options)
    measurement = _Measurement(text, options, numbers, range(seed, seed + seeds), threads, as_json)
    facts: dict[str, Any] = {
        "game": loaded.spec,
        "search": text,
        "policy": known_from(game, agent, policy),
        "value_noise": value_noise,
        "child_noise": child_noise,
        "belief_noise": belief_noise,
        "seed": seed,
        "seeds": seeds,
    }
    if checkpoints is not None:
        if policy is not None or any((value_noise, child_noise, belief_noise)):
            raise InputError("--checkpoints are those of the run in the place of GAME, expected no policy and no noise")
        facts |= measurement.of_checkpoints(game, loaded, checkpoints)
    else:
        evaluator = evaluator_for(
            loaded, options, known, value_noise=value_noise, child_noise=child_noise, belief_noise=belief_noise
        )
        if known is None or known == PLAYOUTS:
            whose, prior = "uniform play", uniform_policy(loaded)
        elif isinstance(known, Policy):
            whose, prior = "that policy", known
        else:
            whose, prior = "the networks' P", known.prior
        facts["policy_nash_conv"] = nash_conv(loaded, prior)
        facts["results"], facts["interrupted"] = measurement.nash_conv(loaded, evaluator, text)
    if as_json:
        print_json(facts)
    elif checkpoints is not None:
        show_checkpoints(facts, numbers)
    else:
        show_visits(facts, loaded.players, whose)
    if facts["interrupted"]:
        raise typer.Exit(INTERRUPTED)


def _goes_by_cells(game: Game) -> bool:
    """Whether a game is too large to search everywhere, and P can be measured all the same."""
    from qdts.solving.measure import is_measurable_by_cells
    from qdts.solving.tree.recent import handy_tree

    return is_measurable_by_cells(game) and handy_tree(game) is None


def _evaluate_by_cells(source: str, agent: Agent, number: int | None, as_json: bool) -> None:
    """Measure P of a run, or of some of its checkpoints; Ctrl-C keeps those that are measured."""
    from qdts.learning.by_cells import expected_seconds, network_by_cells, uniform_by_cells
    from qdts.learning.run import open_run, spread_out
    from qdts.play.agent import load_agent
    from qdts.play.strength import without_search

    game, interrupted = agent.game, False
    measured: list[dict[str, Any]] = []
    with Heartbeat() as beat:

        def report(what: str, share: float) -> None:
            beat.size = f"{what}{f', {share:.0%}' if share else ''}"

        beat.begin(f"{game.spec}, uniform play")
        uniform = uniform_by_cells(game, report)
        run = None if number is None else open_run(source, game)
        for generation in [None] if run is None else spread_out(run.checkpoints(), number or 1):
            of = agent if run is None else load_agent(run, generation=generation)
            beat.begin(f"{game.spec}, generation {of.info['generation']:,}")
            try:
                network = without_search(of.evaluator).evaluator
                distance = network_by_cells(network, expected_seconds(network, uniform), report)
            except KeyboardInterrupt:
                if not measured:
                    raise
                interrupted = True
                break
            measured.append({"generation": of.info["generation"], "policy_nash_conv": distance, "results": []})
    facts: dict[str, Any] = {"game": game.spec, "policy": source, "nash_conv_uniform": uniform.nash_conv}
    facts |= {"checkpoints": measured} if number is not None else measured[0]
    facts["interrupted"] = interrupted
    if as_json:
        print_json(facts)
    else:
        show_by_cells(facts, measured)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _verify_size(game: Game, search: str, visits: int) -> None:
    """Raise an InputError, before anything is measured, for a game that has too many information sets to search all."""
    from qdts.interrupt import apart
    from qdts.solving.tree.enumeration import TooLargeError
    from qdts.solving.tree.recent import game_tree

    try:
        apart(lambda: game_tree(game))
    except TooLargeError as error:
        instead = f"qdts match '{game.spec}' '{search}:{visits}' random"
        raise InputError(f"{error}, or measure by playing: {instead}") from None


def _compile(game: Game, options: Options) -> None:
    """Compile what searches need, by a search of one visit."""
    from qdts.search.run import run_searches
    from qdts.solving.tree.recent import game_tree

    sets = game_tree(game).infosets
    run_searches(game, [sets.views[0]], [int(sets.owner[0])], options, 1)


class _Measurement(NamedTuple):
    """What is measured at every information set, and how."""

    search: str
    options: Options
    visits: list[int]
    seeds: range
    threads: int
    silent: bool

    def nash_conv(self, game: Game, evaluator: Evaluator, title: str) -> tuple[list[dict[str, Any]], bool]:
        """NashConv for each number of visits, and whether Ctrl-C ended it early."""
        from qdts.search.everywhere import searched_nash_conv

        results: list[dict[str, Any]] = []
        try:
            for visits in self.visits:
                with bar(f"{title} at {visits:,} visits", "information sets", silent=self.silent) as report:
                    start = time.perf_counter()
                    measured = searched_nash_conv(
                        game, self.options, visits, self.seeds,
                        evaluator=evaluator, threads=self.threads, report=report,
                    )  # fmt: skip
                    seconds = time.perf_counter() - start
                error = {} if measured.error is None else {"standard_error": measured.error}
                results.append({"visits": visits, "nash_conv": measured.nash_conv, **error, "seconds": seconds})
        except KeyboardInterrupt:
            if not results:
                raise
            return results, True
        return results, False

    def of_checkpoints(self, folder: str, game: Game, number: int) -> dict[str, Any]:
        """NashConv for some checkpoints of a run, up to the one where Ctrl-C comes."""
        from qdts.learning.run import open_run, spread_out
        from qdts.play.agent import load_agent
        from qdts.play.seats import evaluator_for
        from qdts.solving import nash_conv

        run = open_run(folder, game)
        measured: list[dict[str, Any]] = []
        interrupted = False
        for generation in spread_out(run.checkpoints(), number):
            agent = load_agent(run, generation=generation)
            evaluator = evaluator_for(run.game, self.options, agent)
            title = f"generation {generation:,}, {self.search}"
            try:
                results, interrupted = self.nash_conv(run.game, evaluator, title)
            except KeyboardInterrupt:
                if not measured:
                    raise
                results, interrupted = [], True
            prior = nash_conv(run.game, agent.prior)
            measured.append({"generation": generation, "policy_nash_conv": prior, "results": results})
            if interrupted:
                break
        return {"checkpoints": measured, "interrupted": interrupted}
