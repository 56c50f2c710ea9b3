"""`qdts walk`: step through a game and see the world, every player's view and the choices; for writing rules."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.display.output import console, print_json
from qdts.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from qdts.games.game import Choice, Game
    from qdts.kernels import Ints

EXAMPLES = """[bold]Examples[/]
  qdts walk ./my_game.py
  qdts walk kuhn_poker --moves 'deal K, deal J, bet'
  qdts walk './my_game.py(players=3)' --random --seed 7
  printf 'deal K, deal J\\nbet\\n' | qdts walk kuhn_poker

On a terminal type the name or number of a move, or several with commas between them, or a command:
r a random move, u undo, q quit (:r, :u and :q where a move has that name). With --moves or --random, or when input
comes from a pipe, every step is printed and nothing is asked. A hole of a view is shown as ?."""

COMMANDS = {"r": "a random move", "u": "undo", "q": "quit"}
MOST_HOLES = 6
"""How many holes of a view are named; the others are counted."""


def walk(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A name or the path of a game's file, with parameters in brackets.")
    ],
    moves: Annotated[
        str | None,
        typer.Option(help="Make these moves, names or numbers with commas between them.", show_default=False),
    ] = None,
    at_random: Annotated[bool, typer.Option("--random", help="Play to the end with random moves.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random moves.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Step through a game: the world, every player's view, whose turn it is, and the choices."""
    from qdts.games.registry import load_game

    screen = None if as_json else console()
    if screen is not None:
        loading = f"loading {game} (what is not compiled yet is compiled now, once)"
        screen.print(loading, style="dim", markup=False)
    walked = Walk(load_game(game), seed, screen)
    if moves is not None:
        walked.make(moves)
    if at_random:
        while not walked.over:
            walked.make_random()
    if screen is None:
        print_json(walked.data())
    elif moves is None and not at_random:
        _follow(walked, screen)


class Walk:
    """A history of a game that grows by moves and shrinks by undoing them."""

    def __init__(self, game: Game, seed: int, screen: Console | None) -> None:
        self.game, self.seed, self.screen = game, seed, screen
        self.worlds = [game.initial()]
        self.taken: list[Choice] = []
        self._random = random.Random(seed)
        self._show()

    @property
    def world(self) -> Ints:
        """The current world."""
        return self.worlds[-1]

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return not self.game.choices(self.world)

    def make(self, text: str) -> None:
        """Make the moves that a text names; none of them if one is illegal."""
        from qdts.games.moves import read_moves

        for move in read_moves(self.game, text, self.world):
            self._take(next(choice for choice in self.game.choices(self.world) if choice.number == move))

    def make_random(self) -> None:
        """Make a random move: chance with its probabilities, players uniformly."""
        choices = self.game.choices(self.world)
        if not choices:
            raise InputError("the game is over, expected u (undo) or q (quit)")
        weights = [1.0 if choice.probability is None else choice.probability for choice in choices]
        self._take(self._random.choices(choices, weights)[0])

    def undo(self) -> None:
        """Take the last move back."""
        if not self.taken:
            raise InputError("there is no move to undo")
        self.worlds.pop()
        self.taken.pop()
        self._show()

    def data(self) -> dict[str, Any]:
        """All steps as one object."""
        steps = [self._step_data(i) for i in range(len(self.worlds))]
        returns = self.game.returns(self.world).tolist() if self.over else None
        return {"game": self.game.spec, "seed": self.seed, "steps": steps, "returns": returns}

    def _take(self, choice: Choice) -> None:
        self.worlds.append(self.game.step(self.world, choice.number))
        self.taken.append(choice)
        if self.screen is not None:
            self.screen.print(f"\n→ {choice.name}", style="bold cyan", markup=False)
        self._show()

    def _show(self) -> None:
        if self.screen is not None:
            _print_step(self.screen, self.game, self.world, len(self.taken))

    def _step_data(self, i: int) -> dict[str, Any]:
        game, world = self.game, self.worlds[i]
        mover = game.mover(world)
        views = [game.view(world, player) for player in range(game.players)]
        return {
            "step": i,
            "mover": _mover_name(mover),
            "split": game.midway(world),
            "world": game.layout.write(world),
            "views": [game.layout.write(view) for view in views],
            "holes": [_holes(game, view) for view in views],
            "title": game.describe(views[mover]) if mover >= 0 else None,
            "choices": [choice._asdict() for choice in game.choices(world)],
            "taken": self.taken[i].name if i < len(self.taken) else None,
        }


def _follow(walked: Walk, screen: Console) -> None:
    """Read moves and commands until the input ends; a wrong one is explained on a terminal and fails in a pipe."""
    on_terminal = sys.stdin.isatty()
    while True:
        try:
            line = input(_prompt()) if on_terminal else next(sys.stdin)
        except (EOFError, StopIteration):
            return
        command = _command(walked, line)
        if command == "q":
            return
        try:
            if command == "r":
                walked.make_random()
            elif command == "u":
                walked.undo()
            else:
                walked.make(line)
        except InputError as error:
            if not on_terminal:
                raise
            screen.print(str(error), style="red", markup=False)


def _prompt() -> str:
    return f"move, or {', '.join(f'{key} ({what})' for key, what in COMMANDS.items())}: "


def _command(walked: Walk, line: str) -> str | None:
    """The command that a line stands for, unless a legal move has that name."""
    word = line.strip().lower()
    if word.startswith(":") and word[1:] in COMMANDS:
        return word[1:]
    names = {choice.name.lower() for choice in walked.game.choices(walked.world)}
    return word if word in COMMANDS and word not in names else None


def _print_step(screen: Console, game: Game, world: Ints, step: int) -> None:
    from rich.table import Table
    from rich.text import Text

    mover = game.mover(world)
    turn = "the game is over" if _mover_name(mover) == "nobody" else f"{_mover_name(mover)} to move"
    middle = ", completing a split action" if game.midway(world) else ""
    screen.print(Text.assemble((f"step {step}", "bold"), f"  {turn}{middle}"))
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    rows.add_row("world", Text(game.layout.write(world)))
    for player in range(game.players) if game.hidden else ():
        view = game.view(world, player)
        rows.add_row(f"player {player}", _view_text(game, view))
        if holes := _holes(game, view):
            rows.add_row("", Text(f"unknown: {_some(holes)}", style="dim"))
        if player == mover and game.title is not None:
            rows.add_row("", Text(f"in words: {game.describe(view)}", style="dim"))
    if not game.hidden:
        rows.add_row("players", Text("see all of it", style="dim"))
    if choices := game.choices(world):
        rows.add_row("choices", Text("   ".join(map(_choice_text, choices))))
    else:
        returns = "   ".join(f"{r:+g} to player {p}" for p, r in enumerate(game.returns(world).tolist()))
        rows.add_row("returns", Text(returns, style="bold"))
    screen.print(rows)


def _view_text(game: Game, view: Ints) -> Text:
    """A view with its holes marked."""
    from rich.text import Text

    text = Text(game.layout.write(view))
    text.highlight_regex(r"\?", "bold red")
    return text


def _holes(game: Game, view: Ints) -> list[str]:
    """The names of a view's unknown components."""
    from qdts.games.interface import UNKNOWN

    return [game.layout.place(i) for i in range(game.world_size) if view[i] == UNKNOWN]


def _some(names: list[str]) -> str:
    more = f" and {len(names) - MOST_HOLES} more" if len(names) > MOST_HOLES else ""
    return ", ".join(names[:MOST_HOLES]) + more


def _choice_text(choice: Choice) -> str:
    chance = "" if choice.probability is None else f" ({choice.probability:.3g})"
    return f"{choice.number} {choice.name}{chance}"


def _mover_name(mover: int) -> str:
    from qdts.games.interface import CHANCE, TERMINAL

    return "chance" if mover == CHANCE else "nobody" if mover == TERMINAL else f"player {mover}"
