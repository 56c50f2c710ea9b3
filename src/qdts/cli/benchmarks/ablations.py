"""The ablations: every idea of the documents switched alone, on a few games, and what it changes.

A cell is one idea, one game and one seed: a run of its own, and when that has spent its budget a file of JSON with what
was measured. An idea is compared with its base, which differs from it in nothing but the settings that the idea names.
The documents are QDTS (Q-Dispersion Tree Search), CV (Child-value targets), NI (Nash-ISMCTS), LA (Luck adjustments)
and TS (Tree search).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from qdts.cli.benchmarks.cells import file_name, is_trained, run_of, train_cell
from qdts.cli.benchmarks.kept import Line, read_kept
from qdts.errors import InputError
from qdts.files import lock, write_whole
from qdts.games.registry import load_game
from qdts.learning.config import PRESETS
from qdts.learning.metrics import latest
from qdts.memory import peak_memory
from qdts.nets.checkpoint import load_checkpoint

HIDDEN = ("kuhn_poker", "leduc_poker", "liars_dice(dice_sides=4)")
"""Games that hide something."""
PERFECT = ("tic_tac_toe",)
CHANCE = ("pig(winscore=6,diceoutcomes=3,horizon=12)",)
"""Perfect information, and chance at every roll."""
EVERY = (*HIDDEN, *PERFECT, *CHANCE)
DEFAULT, SEARCH = "default", "search"
"""The ideas that others are compared with."""
NO_MATCHES = "measure.games=0"
"""What is too large to be measured exactly is measured by no match, either."""
SPLIT = "split"
"""The name of the cells that compare whole with split bids."""
DICE = ((1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (1, 4), (2, 3), (3, 2))
"""Dice of each player and their sides, in games of liar's dice with whole and with split bids."""


def dice_game(dice: int, sides: int, *, split: bool) -> str:
    """Liar's dice with whole or split bids."""
    return f"liars_dice(numdice={dice},dice_sides={sides}{',split=true' if split else ''})"


class Idea(NamedTuple):
    """A choice that can be made otherwise."""

    name: str
    source: str
    """The document that it comes from."""
    words: str
    """What is different from its base."""
    settings: tuple[str, ...] = ()
    base: str = DEFAULT
    """The idea that it is compared with, whose settings it has, too."""
    games: tuple[str, ...] = HIDDEN


def _document() -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in PRESETS["document"].items())


IDEAS = (
    Idea(DEFAULT, "", "`qdts train GAME`: games sampled from P where something is hidden, else `puct`", games=EVERY),
    Idea("no-baseline", "CV 4", "returns by their importance weights alone, without V_c", ("value.baseline=none",)),
    Idea("no-chance-baseline", "CV 4", "V_c corrects for players' moves, not for chance", ("value.baseline=actions",)),
    Idea("evaluated-baseline", "CV 4", "V of every child in the place of V_c", ("value.baseline=evaluated",)),
    Idea("no-child-values", "CV 1, 2", "no V_c: V of the node stands for its children", ("net.child_values=false",),
         games=EVERY),
    Idea("child-of-network", "CV 1", "V_c learns the network's own V of the child", ("value.child_target=network",)),
    Idea("consistency", "CV 5", "a loss holds V to the mean of V_c", ("value.consistency=0.5",), games=EVERY),
    Idea("best-child", "CV 6", "a loss holds V to the largest V_c", ("value.best_child=0.5",), games=EVERY),
    Idea("bayes-loss", "NI", "a loss holds H to Bayes' rule since the last own turn", ("belief.bayes=4",)),
    Idea("bayes-loss-start", "NI", "the same since the start of the game, without H",
         ("belief.bayes=4", "belief.bayes_since=start")),
    Idea("one-network", "TS", "P, V and V_c share one trunk", ("net.towers=1",)),
    Idea("two-networks", "TS", "P has a trunk of its own", ("net.towers=2",), games=(*PERFECT, *CHANCE)),
    Idea("no-reuse", "TS", "a search begins anew at every move", ("search.reuse=false",), games=(*PERFECT, *CHANCE)),
    Idea("no-noise", "", "no noise at the roots of self-play", ("search.noise=0",), games=(*PERFECT, *CHANCE)),
    Idea("no-exploring", "", "nobody explores", ("play.explore=0", "play.explore_others=0")),
    Idea("no-magnet", "", "a mirror step without a magnet", ("policy.temperature=0", "policy.temperature_last=0")),
    Idea("whole-steps", "", "the same step at all views, however noisy their Q", ("policy.damped=false",)),
    Idea("unit-of-returns", "", "mirror steps in units of S, not of the spread", ("policy.unit=scale",)),
    Idea("outcomes", "TS", "V learns the outcomes alone", ("value.target=outcome",), games=(*PERFECT, *CHANCE)),
    Idea("played-moves", "TS", "P learns the moves that were played, sampled by visits",
         ("policy.target=played-visits",), games=(*PERFECT, *CHANCE)),
    Idea("filtered-visits", "QDTS", "P learns visits filtered by confidence bounds", ("policy.target=lcb",),
         games=(*PERFECT, *CHANCE)),
    Idea("fpu", "CV 2", "first-play urgency in the place of V_c in the search, V − 0.2 S",
         ("search.name=puct[unvisited=fpu,fpu=0.2]",), games=(*PERFECT, *CHANCE)),
    Idea("chance-corrected", "CV 4", "the luck of chance is taken off V's targets", ("value.chance=true",),
         games=CHANCE),
    Idea(SEARCH, "", "`play.by=search`: `mmds`, a mirror step at every view that was searched", ("play.by=search",)),
    Idea("search-qdts", "QDTS, LA", "the search is `qdts`, eps 0.1",
         ("search.name=qdts", "search.eps=0.1", "search.eps_last=0.1"), SEARCH),
    Idea("search-qdts-point", "QDTS, LA", "the search is `qdts`, without dispersion: eps 0", ("search.name=qdts",),
         SEARCH),
    Idea("search-a-ismcts", "QDTS, NI", "the search is `a-ismcts`, P learns visits",
         ("search.name=a-ismcts", "policy.target=visits"), SEARCH),
    Idea("search-filtered", "QDTS", "`qdts`, eps 0.1; moves and targets are filtered visits",
         ("search.name=qdts", "search.eps=0.1", "search.eps_last=0.1", "policy.target=lcb"), SEARCH),
    Idea("search-played", "TS", "P learns the moves that were played, sampled by visits",
         ("policy.target=played-visits",), SEARCH),
    Idea("search-outcomes", "TS", "V learns the outcomes alone", ("value.target=outcome",), SEARCH),
    Idea("search-blunders", "CV 4", "what follows an exploring move is left out, not replaced",
         ("value.deblunder=false",), SEARCH),
    Idea("search-chance", "CV 4", "the luck of chance is taken off V's targets", ("value.chance=true",), SEARCH),
    Idea("search-fpu", "CV 2", "no V_c: first-play urgency in its place", ("net.child_values=false",), SEARCH),
    Idea("search-buffer", "QDTS", "H learns from the games that V learns from", ("belief.source=buffer",), SEARCH),
    Idea("search-bayes-loss", "NI", "a loss holds H to Bayes' rule since the last own turn", ("belief.bayes=4",),
         SEARCH),
    Idea("search-refined", "NI", "H refined online: Bayes' rule since the last own turn",
         ("search.name=mmds[belief=bayes]",), SEARCH),
    Idea("search-refined-2", "NI", "the same since the turn before that",
         ("search.name=mmds[belief=bayes,belief_turns=2]",), SEARCH),
    Idea("search-exact", "NI", "no H: Bayes' rule from the start of the game", ("belief.source=exact",), SEARCH),
    Idea("document", "QDTS", "the preset `document`: `qdts`, eps 0.1, noise, filtered visits, outcomes, whole history",
         _document(), SEARCH),
    Idea(SPLIT, "QDTS", "liar's dice with whole and with split bids", base=SPLIT,
         games=tuple(dice_game(*of, split=split) for of in DICE for split in (False, True))),
)  # fmt: skip
"""Every idea, after its base."""
BY_NAME: Mapping[str, Idea] = {idea.name: idea for idea in IDEAS}


def settings_of(idea: Idea) -> tuple[str, ...]:
    """The settings of an idea and of its base."""
    if idea.base == idea.name or idea.name == SEARCH:
        return idea.settings
    return (*settings_of(BY_NAME[idea.base]), *idea.settings)


@dataclass(frozen=True)
class Cell:
    """One idea, one game and one seed, for so many minutes of self-play and training."""

    idea: str
    game: str
    seed: int
    minutes: float
    settings: tuple[str, ...]

    @property
    def name(self) -> str:
        """What its files are called."""
        return name_of({"cell": asdict(self)})


class Made(NamedTuple):
    """What was measured in a cell; None where it could not be."""

    cell: Cell
    generations: int
    games: int
    nash_conv: float | None
    """With averaged weights."""
    newest: float | None
    uniform: float | None
    value_error: float | None
    belief_error: float | None
    memory: float | None
    """The most memory that the process of the run has had, in MB."""
    parameters: int
    """Numbers in the networks' weights."""


def cells_of(ideas: Sequence[str], games: Sequence[str], seeds: Sequence[int], minutes: float) -> list[Cell]:
    """The cells of a table, seed by seed, so that every idea comes early."""
    return [
        Cell(idea.name, game, seed, minutes, settings_of(idea))
        for seed in seeds
        for idea in IDEAS
        if not ideas or any(part in idea.name for part in ideas)
        for game in idea.games
        if not games or any(part in game for part in games)
    ]


def file_of(out: Path, cell: Cell) -> Path:
    """Where the figures of a cell are."""
    return out / "cells" / f"{cell.name}.json"


def read_cell(out: Path, cell: Cell) -> Made | None:
    """The figures of a cell; None where it is not made, or was made with other settings or another budget."""
    file = file_of(out, cell)
    try:
        return made_of(json.loads(file.read_text(encoding="utf-8")), cell, f"'{file}'")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"'{file}' is no cell of ablations ({error}): remove it") from error


def made_of(line: Line, cell: Cell, source: str) -> Made | None:
    """A cell from what was written of it; None where that is of another one. `source` names it in errors."""
    try:
        about, figures = dict(line["cell"]), {name: value for name, value in line.items() if name != "cell"}
        same = Cell(**about | {"settings": tuple(about["settings"])}) == cell
        return Made(cell=cell, **figures) if same else None
    except (TypeError, KeyError, ValueError) as error:
        raise InputError(f"{source} has a cell of ablations that can't be read ({error}): remove it") from error


def read_cells(out: Path, cells: Sequence[Cell], kept: Path | None = None) -> list[Made]:
    """Those that are made, in the folder or in the file of what is kept."""
    lines = {name_of(line): line for line in read_kept(kept)} if kept is not None else {}
    found = []
    for cell in cells:
        made = read_cell(out, cell)
        if made is None and cell.name in lines:
            made = made_of(lines[cell.name], cell, f"'{kept}'")
        if made is not None:
            found.append(made)
    return found


def name_of(line: Line) -> str:
    """The name of a cell from what was written of it."""
    about = line.get("cell", {})
    return "-".join([str(about.get("idea")), file_name(str(about.get("game"))), str(about.get("seed"))])


def as_line(made: Made) -> Line:
    """What is written of a cell."""
    return {"cell": asdict(made.cell), **{name: value for name, value in made._asdict().items() if name != "cell"}}


def make_cell(out: Path, cell: Cell, *, keep: bool = False) -> bool:
    """Make one cell, from the start or from where it was left; False where another process is making it.

    Its run is removed when its figures are written, unless it is to be kept.
    """
    folder = out / "runs" / cell.name
    for part in (out / "cells", out / "runs"):
        part.mkdir(parents=True, exist_ok=True)
    with (out / "runs" / f".{cell.name}.lock").open("ab") as file:
        if not lock(file):
            return False
        if read_cell(out, cell) is not None:
            return True
        _drop_others(folder, cell)
        if not is_trained(folder, cell.game):
            train_cell(folder, cell.game, cell.minutes, cell.seed, settings=(NO_MATCHES, *cell.settings))
        text = json.dumps(_measured(folder, cell), indent=1) + "\n"
        write_whole(file_of(out, cell), lambda file: file.write(text.encode()))
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
            folder.with_suffix(".json").unlink(missing_ok=True)
    return True


def _drop_others(folder: Path, cell: Cell) -> None:
    """Remove a run that was begun with other settings or another budget."""
    about = folder.with_suffix(".json")
    wanted = json.dumps(asdict(cell))
    with suppress(FileNotFoundError):
        if about.read_text(encoding="utf-8") == wanted:
            return
    shutil.rmtree(folder, ignore_errors=True)
    write_whole(about, lambda file: file.write(wanted.encode()))


def _measured(folder: Path, cell: Cell) -> dict[str, Any]:
    """The figures of a run that has spent its budget."""
    run = run_of(folder, cell.game)
    lines = run.metrics()
    return {
        "cell": asdict(cell),
        "generations": lines[-1]["generation"],
        "games": lines[-1]["games"],
        "nash_conv": latest(lines, "nash_conv_average"),
        "newest": latest(lines, "nash_conv"),
        "uniform": latest(lines, "nash_conv_uniform"),
        "value_error": latest(lines, "value_error"),
        "belief_error": latest(lines, "belief_error"),
        "memory": peak_memory(),
        "parameters": _parameters(run.checkpoint(run.checkpoints()[-1]), cell.game),
    }


def _parameters(checkpoint: Path, game: str) -> int:
    """The numbers in the weights of P, V, V_c and H."""
    found = load_checkpoint(checkpoint, load_game(game))
    return sum(tensor.numel() for group in ("model", "belief") for tensor in found.part(group).values())
