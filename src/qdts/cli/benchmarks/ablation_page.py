"""The tables of the ablations, as blocks of a page (`qdts/pages.py`):

missing     which cells are not made
game GAME   every idea on a game beside its base
split       whole and split bids in liar's dice: heads, memory and NashConv
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from statistics import fmean

from qdts.cli.benchmarks.ablations import BY_NAME, DICE, SPLIT, Cell, Made, dice_game
from qdts.errors import unknown
from qdts.games.registry import load_game
from qdts.pages import NOTHING, Blocks, table
from qdts.search.beliefs.completions import completions

KIND = "ablations"
"""Of the blocks."""
Figure = Callable[[Made], float | None]


class Cells:
    """The cells of a table, and those that are made."""

    def __init__(self, wanted: Sequence[Cell], made: Iterable[Made]) -> None:
        self.wanted = wanted
        self.made = list(made)

    def of(self, idea: str, game: str) -> list[Made]:
        """The made cells of an idea and a game, by seed."""
        return sorted((m for m in self.made if (m.cell.idea, m.cell.game) == (idea, game)), key=lambda m: m.cell.seed)

    @property
    def missing(self) -> list[Cell]:
        """Those that are not made."""
        there = {m.cell for m in self.made}
        return [cell for cell in self.wanted if cell not in there]


def missing(cells: Cells, _: str = "") -> str:
    """How many cells are made, and which are not."""
    left = cells.missing
    minutes = " or ".join(f"{m:g}" for m in sorted({cell.minutes for cell in cells.wanted}))
    seeds = ", ".join(str(seed) for seed in sorted({cell.seed for cell in cells.wanted}))
    head = f"{len(cells.wanted) - len(left)} of {len(cells.wanted)} cells are made: {minutes} minutes, seeds {seeds}."
    if not left:
        return f"{head}\n"
    by_idea = {cell.idea: [c for c in left if c.idea == cell.idea] for cell in left}
    lines = [f"- `{idea}`: {', '.join(f'{c.game} {c.seed}' for c in those)}" for idea, those in by_idea.items()]
    return "\n".join([head, "", "Not made:", "", *lines, ""])


def of_game(cells: Cells, game: str) -> str:
    """A table of all ideas on a game."""
    ideas = dict.fromkeys(cell.idea for cell in cells.wanted if cell.game == game and cell.idea != SPLIT)
    if not ideas:
        raise unknown("game of the ablations", game, {cell.game for cell in cells.wanted})
    rows = []
    for name in ideas:
        idea, made = BY_NAME[name], cells.of(name, game)
        base = cells.of(idea.base, game) if idea.base != name else []
        rows.append([
            f"`{name}`", idea.source, idea.words,
            ", ".join(number(m.nash_conv) for m in made) or "not made",
            _mean(made, lambda m: m.nash_conv),
            _ratio(made, base, lambda m: m.nash_conv),
            _mean(made, lambda m: m.value_error),
            _mean(made, lambda m: m.belief_error),
            _mean(made, lambda m: float(m.generations), "{:,.0f}"),
        ])  # fmt: skip
    uniform = next((m.uniform for m in cells.made if m.cell.game == game and m.uniform is not None), None)
    head = ["idea", "source", "what is different", "NashConv of each seed", "mean", "of its base", "error of V",
            "error of H", "generations"]  # fmt: skip
    return f"{table(head, rows)}\nNashConv of uniform play: {number(uniform)}.\n"


def split(cells: Cells, _: str = "") -> str:
    """Whole against split bids and hidden states: sizes of heads, memory and NashConv, by dice and sides."""
    rows = []
    for dice, sides in DICE:
        whole, parts = (dice_game(dice, sides, split=split) for split in (False, True))
        games = load_game(whole), load_game(parts)
        view = games[0].initial()
        while games[0].mover(view) < 0:
            view = games[0].step(view, games[0].chance(view)[0][0])
        hidden = len(completions(games[0], games[0].view(view, games[0].mover(view))).weights)
        made = cells.of(SPLIT, whole), cells.of(SPLIT, parts)
        rows.append([
            f"{dice} × {sides}", f"{hidden:,}", f"{games[0].num_values:,}", f"{games[0].num_actions:,}",
            f"{games[1].num_actions:,}",
            *(_mean(of, lambda m: float(m.parameters), "{:,.0f}") for of in made),
            *(_mean(of, lambda m: m.memory, "{:,.0f}") for of in made),
            *(_mean(of, lambda m: m.nash_conv) for of in made),
            *(_mean(of, lambda m: float(m.generations), "{:,.0f}") for of in made),
        ])  # fmt: skip
    both = [f"{what}, {how}" for what in ("weights", "MB", "NashConv", "generations") for how in ("whole", "split")]
    head = ["dice × sides", "hidden states: H's head if whole", "H's head, split", "P's head, whole", "P's head, split"]
    return table([*head, *both], rows)


def blocks_of(cells: Cells) -> Blocks:
    """Every block by its name."""
    by_name: dict[str, Callable[[Cells, str], str]] = {"missing": missing, "game": of_game, "split": split}
    return {name: partial(block, cells) for name, block in by_name.items()}


def _known(made: Iterable[Made], figure: Figure) -> list[float]:
    return [value for m in made if (value := figure(m)) is not None]


def _mean(made: Iterable[Made], figure: Figure, form: str = "") -> str:
    values = _known(made, figure)
    if not values:
        return NOTHING
    return form.format(fmean(values)) if form else number(fmean(values))


def _ratio(made: Sequence[Made], base: Sequence[Made], figure: Figure) -> str:
    """The mean by that of the base, with the seeds in which it is smaller."""
    ours = {m.cell.seed: value for m in made if (value := figure(m)) is not None}
    theirs = {m.cell.seed: value for m in base if (value := figure(m)) is not None}
    both = ours.keys() & theirs.keys()
    if not both or fmean(theirs[seed] for seed in both) == 0.0:
        return NOTHING
    ratio = fmean(ours[seed] for seed in both) / fmean(theirs[seed] for seed in both)
    better = sum(ours[seed] < theirs[seed] for seed in both)
    return f"{ratio:.2f} ({better} of {len(both)} smaller)"


def number(value: float | None) -> str:
    """A figure in a table: four digits below 0.1, else three."""
    if value is None:
        return NOTHING
    return f"{value:.4f}" if abs(value) < 0.1 else f"{value:.3f}"
