"""`qdts survey`: measure every search, and fill the page that compares them."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.commands.arguments import AsJson, Threads
from qdts.cli.display.output import check_writable, console, number, print_json
from qdts.cli.display.panel import panel
from qdts.errors import InputError

if TYPE_CHECKING:
    from qdts.survey.plan import Cell

EXAMPLES = """[bold]Examples[/]
  qdts survey --rows rows.jsonl --game kuhn_poker
  qdts survey --rows rows.jsonl --search qdts --search 'qdts\\[eps_sample=0.05]' --visits 16,64,256 --seeds 2
  qdts survey --rows rows-3.jsonl --part 3/16
  qdts survey --rows rows-1.jsonl --rows rows-2.jsonl --page docs/searches.md

Measuring continues where it was stopped, by Ctrl-C or otherwise: rows that a file holds are not measured again. Remove
the file when searches have changed."""


def survey(
    rows: Annotated[
        list[Path],
        typer.Option(help="A file of rows. Measuring appends to the first; what others hold is not measured again."),
    ],
    page: Annotated[
        Path | None,
        typer.Option(help="Measure nothing: fill the tables and draw the pictures of this page.", show_default=False),
    ] = None,
    game: Annotated[
        list[str] | None,
        typer.Option(help="Only this game; can be repeated.", show_default=False),
    ] = None,
    search: Annotated[
        list[str] | None,
        typer.Option(help="Only this search, with options in brackets; can be repeated.", show_default=False),
    ] = None,
    visits: Annotated[
        str | None,
        typer.Option(help="Numbers of visits, separated by commas; default: 1,4,16,...,16384.", show_default=False),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Searches with different seeds at every information set.")] = 4,
    part: Annotated[str, typer.Option(help="The part of the work to do: 3/16 is the third of sixteen.")] = "1/1",
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """NashConv and errors of Q of every search, from weak, middling and equilibrium policies: docs/searches.md."""
    if page is None:
        _measure(rows, _cells(game, search, visits, seeds, part), threads, as_json)
    else:
        _write(rows, page, as_json)


def _measure(files: list[Path], cells: list[Cell], threads: int, as_json: bool) -> None:
    from qdts.survey.measure import run_survey

    check_writable(files[0])
    start = time.perf_counter()
    measured = run_survey(files[0], cells, others=files[1:], threads=threads, report=None if as_json else _report)
    facts = {
        "rows": str(files[0]),
        "cells": len(cells),
        "measured": measured,
        "known": sum(len(cell.keys) for cell in cells) - measured,
        "seconds": time.perf_counter() - start,
    }
    _show("measured", facts, as_json)


def _write(files: list[Path], page: Path, as_json: bool) -> None:
    from qdts.files import write_whole
    from qdts.pages import filled, read_page
    from qdts.survey.page import KIND, blocks_of, pictures_of
    from qdts.survey.plot import save_picture
    from qdts.survey.rows import read_rows

    for file in files:
        if not file.is_file():
            raise InputError(f"there is no file '{file}', expected rows that qdts survey measured")
    measured = [*read_rows(files).values()]
    text = read_page(page)
    new, pictures = filled(text, page, KIND, blocks_of(measured, page)), pictures_of(text, page, measured)
    for game, picture in pictures.items():
        picture.parent.mkdir(exist_ok=True)
        save_picture(measured, game, picture)
    write_whole(page, lambda file: file.write(new.encode()))
    _show("written", {"page": str(page), "pictures": [*map(str, pictures.values())], "rows": len(measured)}, as_json)


def _cells(
    games: list[str] | None, searches: list[str] | None, visits: str | None, seeds: int, part: str
) -> list[Cell]:
    """The cells that the options select."""
    from qdts.play.seats import read_visits
    from qdts.survey.plan import GAMES, SEARCHES, VISITS, cells_of, share_of

    numbers = VISITS if visits is None else [read_visits(text) for text in visits.split(",")]
    share = re.fullmatch(r"(\d{1,6})/(\d{1,6})", part.strip(), re.ASCII)
    if share is None:
        raise InputError(f"--part {part} makes no sense, expected 3/16 for the third of sixteen parts")
    return share_of(cells_of(games or GAMES, searches or SEARCHES, numbers, seeds), int(share[1]), int(share[2]))


def _report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _show(title: str, facts: dict[str, Any], as_json: bool) -> None:
    from rich.markup import escape

    if as_json:
        print_json(facts)
        return
    words = {
        name: escape(", ".join(value) if isinstance(value, list) else str(value))
        for name, value in facts.items()
        if name != "seconds"
    }
    if "seconds" in facts:
        words["seconds"] = number(facts["seconds"])
    console().print(panel("survey", title, words))
