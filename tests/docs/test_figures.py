"""The figures of the docs are what their code draws, and their numbers are those of the engine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import collapse
import holes
import intervals
import many_trees
import qdts
import steps
import walks
from drawing import Drawing

DOCS = Path(__file__).parents[2] / "docs"
FIGURES = {
    "collapse": lambda: collapse.draw(json.loads(collapse.DATA.read_text(encoding="utf-8"))),
    "holes": holes.draw,
    "intervals": intervals.draw,
    "many_trees": many_trees.draw,
    "search_walk": walks.search,
    "steps": lambda: steps.draw(json.loads(steps.DATA.read_text(encoding="utf-8"))),
    "training_walk": walks.training,
}


def drawn(name: str) -> Drawing:
    return FIGURES[name]()


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_what_its_code_draws(name: str) -> None:
    saved = (DOCS / "figures" / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn(name).svg() == saved, f"run `make figures`: {name}.svg is not what {name}.py draws"


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_stays_within_its_frame(name: str) -> None:
    picture = drawn(name)
    root = ElementTree.fromstring(picture.svg())
    points = [(float(e.get("x", 0)), float(e.get("y", 0))) for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert points
    assert all(0 <= x <= picture.width and 0 <= y <= picture.height - 4 for x, y in points)


def test_every_figure_is_drawn_by_make_and_shown_once() -> None:
    made = re.search(r"^FIGURES := (.*)$", (DOCS.parent / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert made is not None
    assert {f"{name}.py" for name in made[1].split()} == {
        file.name for file in (DOCS / "figures").glob("*.py") if file.name != "drawing.py"
    }
    pages = [(DOCS / name).read_text(encoding="utf-8") for name in ("idea.md", "architecture.md", "learning.md")]
    shown = [name for page in pages for name in re.findall(r"!\[[^\]]*\]\(figures/(\w+)\.svg\)", page)]
    assert sorted(shown) == sorted(FIGURES)


def test_the_drawn_interval_is_that_of_the_engine() -> None:
    """A queen facing a bet, at an equilibrium of Kuhn poker."""
    game = qdts.load_game("kuhn_poker")
    policy = qdts.solve(game, "pcfr+", iterations=2000).policy
    search = f"qdts[eps_sample={intervals.EPS}]"
    result = qdts.decide(game, "deal K, deal Q, Bet", search, visits=sum(intervals.COUNTS), policy=policy)
    found = list(zip(result.q_lo, result.q_hi, strict=True))
    h = (0.25, 0.75)
    for (lo, hi), values in zip(found, (intervals.FOLD, intervals.CALL), strict=True):
        assert (lo, hi) == pytest.approx(intervals.ball_range(values, h, intervals.EPS), abs=1e-3)
    assert result.prior == pytest.approx(intervals.PRIOR, abs=1e-3)


def test_the_drawn_decisions_are_what_is_written_beside_them() -> None:
    fold, call = intervals.puct_intervals((0.25, 0.75), 0.0)
    assert fold[0] > call[0] > fold[0] - 0.01
    fold, call = intervals.puct_intervals((0.28, 0.72), 0.0)
    assert call[0] > fold[1]
    fold, call = intervals.puct_intervals((0.28, 0.72), intervals.EPS)
    assert call[0] < fold[0] < call[1]
    fold, call = intervals.puct_intervals((0.40, 0.60), intervals.EPS)
    assert call[0] > fold[1]


def test_the_measured_searches_collapse_or_hold_as_the_page_says() -> None:
    data = json.loads(collapse.DATA.read_text(encoding="utf-8"))
    last = {(r["game"], r["search"]): r["visits, NashConv, standard error"][-1][1] for r in data["results"]}
    known = {r["game"]: r["policy_nash_conv"] for r in data["results"] if r["search"] == "qdts"}
    for game, before in known.items():
        assert last[game, "a-ismcts"] > 20 * before
        assert last[game, "qdts"] < 1.1 * before
        assert last[game, "qdts[decision=lcb]"] < 1.1 * before


@pytest.mark.parametrize(
    ("spec", "values", "actions"),
    [("hearts", 9, 52), ("liars_dice(numdice=2)", 6, 25), ("liars_dice(numdice=2,split=true)", 6, 11)],
)
def test_the_widths_on_the_page(spec: str, values: int, actions: int) -> None:
    game = qdts.load_game(spec)
    assert (game.num_values, game.num_actions) == (values, actions)
