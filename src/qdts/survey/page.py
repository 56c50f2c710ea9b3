"""The page of a survey: written by hand, with blocks (`qdts/pages.py`) that are filled from rows.

policies         NashConv of the policies that searches know
picture GAME     NashConv against visits
nashconv GAME    the same as tables
seeds GAME       NashConv of the policy of one seed beside that of the average over seeds
q GAME           the errors of Q
cost GAME        CPU time of a search
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean

from qdts.pages import NOTHING, Blocks, names_in, table
from qdts.survey.plan import NO_POLICY, NOISES, POLICIES, SEARCHES
from qdts.survey.rows import Key, Row

KIND = "survey"
"""Of the blocks."""
PICTURE = "picture"
Q_VISITS = (16, 64, 256, 1024)
Q_POLICIES = ("equilibrium", "middling")
"""First the one from which no player has a reason to deviate."""

Rows = Sequence[Row]


def blocks_of(rows: Rows, page: Path) -> Blocks:
    """Every block of a page by its name."""

    def block(show: Callable[[Rows], str]) -> Callable[[str], str]:
        def of_game(game: str) -> str:
            of = [row for row in rows if not game or row.key.game == game]
            return show(of) if of else "*not measured*\n"

        return of_game

    def picture(of: Rows) -> str:
        game = of[0].key.game
        path = picture_path(page, game).relative_to(page.parent).as_posix()
        return f"![NashConv against visits, {game}]({path})\n"

    return {name: block(show) for name, show in {**TABLES, PICTURE: picture}.items()}


def pictures_of(text: str, page: Path, rows: Rows) -> dict[str, Path]:
    """The files of the pictures that a page shows, by game."""
    wanted = [game for name, game in names_in(text, KIND) if name == PICTURE]
    return {game: picture_path(page, game) for game in wanted if chosen(rows, game=game)}


def picture_path(page: Path, game: str) -> Path:
    """The file of a page's picture of a game, in a folder with the page's name."""
    return page.with_suffix("") / (re.sub(r"\W+", "-", game).strip("-") + ".svg")


def best_rows(rows: Iterable[Row]) -> list[Row]:
    """Of rows that differ only in their seeds, the one with the most seeds."""
    best: dict[Key, Row] = {}
    for row in rows:
        about = row.key._replace(seeds=())
        if about not in best or len(row.key.seeds) > len(best[about].key.seeds):
            best[about] = row
    return [*best.values()]


def searches_in(rows: Iterable[Row]) -> list[str]:
    """The searches in rows: those of the default list in its order, then others in order of appearance."""
    present = dict.fromkeys(row.key.search for row in rows)
    return [*(s for s in SEARCHES if s in present), *(s for s in present if s not in SEARCHES)]


def visits_in(rows: Iterable[Row]) -> list[int]:
    """The numbers of visits in rows, ascending."""
    return sorted({row.key.visits for row in rows})


def chosen(rows: Iterable[Row], **of: object) -> list[Row]:
    """The rows whose keys have these values."""
    return [row for row in rows if all(getattr(row.key, name) == value for name, value in of.items())]


def mean_over_draws(rows: Rows, figure: Callable[[Row], float | None]) -> float | None:
    """The mean of a figure over rows; None if no row has it."""
    known = [value for row in rows if (value := figure(row)) is not None]
    return fmean(known) if known else None


def _policies(rows: Rows) -> str:
    lines = []
    for game in dict.fromkeys(row.key.game for row in rows):
        figures = [mean_over_draws(chosen(rows, game=game, policy=p), lambda row: row.before) for p in POLICIES]
        lines.append([f"`{game}`", *map(_plain, figures)])
    return table(["game", *POLICIES], lines, right=True)


def _nash_conv(rows: Rows) -> str:
    parts = []
    for policy in (*POLICIES, NO_POLICY):
        for noise in NOISES:
            of = best_rows(chosen(rows, policy=policy, noise=noise))
            if of:
                figures = _by_search(of, lambda row: row.nash_conv, visits_in(rows))
                before = _plain(mean_over_draws(of, lambda row: row.before))
                known = f"from the {policy} policy ({before} without search), {noise} models"
                title = "without a policy" if policy == NO_POLICY else known
                parts.append(f"*{title}*\n\n{figures}")
    return "\n".join(parts)


def _seeds(rows: Rows) -> str:
    """From the middling policy with exact models: the mean of single seeds, and the average policy."""
    of = chosen(rows, policy="middling", noise="exact")
    single = [row for row in of if len(row.key.seeds) == 1]
    lines = []
    for search in searches_in(of):
        for name, those in (
            ("one seed", chosen(single, search=search)),
            ("average", best_rows(chosen(of, search=search))),
        ):
            figures = [mean_over_draws(chosen(those, visits=v), lambda row: row.nash_conv) for v in visits_in(of)]
            lines.append([f"`{search}`" if name == "one seed" else "", name, *map(_plain, figures)])
    return table(["search", "policy of", *(f"{v:,}" for v in visits_in(of))], lines, right=True)


def _q(rows: Rows) -> str:
    parts = []
    figures: dict[str, Callable[[Row], float | None]] = {
        "bias": lambda row: row.q.bias if row.q else None,
        "spread": lambda row: row.q.spread if row.q else None,
        "rms": lambda row: row.q.rms if row.q else None,
        "width": lambda row: row.q.width if row.q else None,
    }
    for policy in Q_POLICIES:
        of = best_rows(chosen(rows, policy=policy))
        lines = []
        for search in searches_in(of):
            for name, figure in figures.items():
                values = [
                    mean_over_draws(chosen(of, search=search, noise=noise, visits=v), figure)
                    for noise in NOISES
                    for v in Q_VISITS
                ]
                write = _signed if name == "bias" else _plain
                lines.append([f"`{search}`" if name == "bias" else "", name, *map(write, values)])
        heads = [f"{noise}, {v:,}" for noise in NOISES for v in Q_VISITS]
        parts.append(f"*{policy} policy*\n\n{table(['search', '', *heads], lines, right=True)}")
    return "\n".join(parts)


def _cost(rows: Rows) -> str:
    of = best_rows(chosen(rows, policy="middling", noise="exact") + chosen(rows, policy=NO_POLICY))
    return _by_search(of, lambda row: row.milliseconds, visits_in(of))


TABLES: dict[str, Callable[[Rows], str]] = {
    "policies": _policies,
    "nashconv": _nash_conv,
    "seeds": _seeds,
    "q": _q,
    "cost": _cost,
}


def _by_search(rows: Rows, figure: Callable[[Row], float | None], visits: Sequence[int]) -> str:
    """A table with a line for each search and a column for each number of visits."""
    lines = [
        [f"`{search}`", *(_plain(mean_over_draws(chosen(rows, search=search, visits=v), figure)) for v in visits)]
        for search in searches_in(rows)
    ]
    return table(["search", *(f"{v:,}" for v in visits)], lines, right=True)


def _plain(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.0f}" if value >= 99.95 else f"{value:.3f}" if value >= 0.0995 else f"{value:.4f}"


def _signed(value: float | None) -> str:
    return NOTHING if value is None else f"{round(value, 4) + 0.0:+.4f}".replace("-", "−")
