"""`qdts match`: one player against another."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.commands.arguments import GAME_HELP, AsJson, RunsGame, Threads
from qdts.cli.commands.exit_codes import INTERRUPTED
from qdts.cli.display.output import check_writable, console, number, print_json
from qdts.cli.display.panel import STOPPED, panel
from qdts.cli.display.progress import bar

if TYPE_CHECKING:
    from qdts.play.match import Match

EXAMPLES = """[bold]Examples[/]
  qdts match connect_four uct:1000 random --games 100
  qdts match leduc_poker qdts:200@leduc.npz ismcts:500 --games 1000
  qdts match leduc_poker 'qdts\\[c=0.2,eps_sample=0.05]:200' leduc.npz --json
  qdts match hearts ismcts:50 random --games 40
  qdts match tic_tac_toe puct:500@playouts 'openspiel:mcts(simulations=500)'
  qdts match kuhn_poker qdts:200@runs/kuhn_poker-0 runs/kuhn_poker-0
  qdts match runs/mine runs/mine random
  qdts match leduc_poker leduc.npz leduc.npz --games 20000 --save-games leduc.txt

Games come in groups that share their deals, with A in each seat once. Ctrl-C keeps the finished groups."""

SEAT_HELP = (
    "random, FILE.npz (a policy), RUN (a learned policy: a run's folder or a checkpoint), NAME:VISITS (a search), "
    "NAME:VISITS@FILE (a search that knows a policy), NAME:VISITS@RUN (a search with networks), NAME:VISITS@playouts "
    "(a search with random playouts) or openspiel:BOT (uniform, mcts, ismcts, cfr, …)."
)


def match(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help=f"{GAME_HELP} Or a run's folder: the game that it learned.")
    ],
    a: Annotated[str, typer.Argument(metavar="A", help=SEAT_HELP)],
    b: Annotated[
        str,
        typer.Argument(metavar="B", help="The same; it has all seats but A's."),
    ],
    games: Annotated[int, typer.Option(min=1, help="Games, rounded up to whole groups.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of deals, searches and moves.")] = 0,
    threads: Threads = 1,
    save_games: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the games as text, one in each line: what [bold]qdts fit[/] reads.",
            show_default=False,
        ),
    ] = None,
    runs_game: RunsGame = None,
    as_json: AsJson = False,
) -> None:
    """Play A against B, from every seat with the same deals: A's mean return and its 95 % interval."""
    from qdts.play.match import play_match
    from qdts.play.seats import read_game, read_seat

    if save_games is not None:
        check_writable(save_games)
    loaded, _ = read_game(game, runs_game)
    first, second = (read_seat(loaded, text, threads=threads) for text in (a, b))
    start = time.perf_counter()
    with bar(f"{loaded.spec}: {a} against {b}", "games", silent=as_json) as report:
        played = play_match(loaded, first, second, games, seed=seed, report=report)
    if save_games is not None:
        from qdts.learning.selfplay.game_text import write_games

        write_games(loaded, played.moves, save_games)
    data = {
        "game": loaded.spec,
        "a": a,
        "b": b,
        "seed": seed,
        **_figures(played),
        "seconds": time.perf_counter() - start,
    }
    if as_json:
        print_json(data)
    else:
        _show(data, loaded.players)
    if played.interrupted:
        raise typer.Exit(INTERRUPTED)


def _figures(played: Match) -> dict[str, Any]:
    return {
        "games": played.games,
        "groups": len(played.returns),
        "mean": played.mean,
        "ci95": None if played.ci95 is None else list(played.ci95),
        "by_seat": played.returns.mean(0).tolist(),
        "interrupted": played.interrupted,
    }


def _show(data: dict[str, Any], players: int) -> None:
    from rich.markup import escape

    interval = "not known from one group"
    if data["ci95"] is not None:
        interval = f"{data['ci95'][0]:+.4f} to {data['ci95'][1]:+.4f}, by Student's distribution over groups"
    others = "the other seat" if players == 2 else f"the other {players - 1} seats"
    words = {
        "A": escape(data["a"]),
        "B": f"{escape(data['b'])}, in {others}",
        "A's mean return": f"[bold green]{data['mean']:+.4f}[/]",
        "95 % interval": interval,
        "by seat of A": "   ".join(f"{i}: {mean:+.4f}" for i, mean in enumerate(data["by_seat"])),
        "games": f"{data['games']:,} in {data['groups']:,} groups with the same deals, {number(data['seconds'])} s",
    }
    if data["interrupted"]:
        words["stopped"] = STOPPED
    console().print(panel(data["game"], "match", words, "yellow" if data["interrupted"] else "green"))
