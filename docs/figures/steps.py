"""Mirror steps with exact values: in units of the range of returns no step holds for all games, in units of σ one does.

python docs/figures/steps.py              # draw steps.svg from steps.json
python docs/figures/steps.py --measure    # measure steps.json anew, about a minute on one core, and draw it
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

from drawing import ALICE, BAD, BOB, GOOD, INK, THIRD, Drawing, Point

HERE = Path(__file__).parent
DATA = HERE / "steps.json"
PICTURE = HERE / "steps.svg"
STEPS = 300
SHOWN = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 180, 240, 300]
"""After how many steps NashConv is measured."""
GAMMA = 8.0
"""γ of the average, as in training."""
GAMES = {
    "kuhn_poker": ("Kuhn", BOB),
    "leduc_poker": ("Leduc", INK),
    "liars_dice(dice_sides=4)": ("liar's dice", BAD),
    "goofspiel(num_cards=4,imp_info=true,points_order=descending)": ("goofspiel", THIRD),
    "dark_hex(num_rows=2,num_cols=2,gameversion=adh)": ("dark hex", GOOD),
    "matrix_game(payoffs=[[0,-1,2],[1,0,-1],[-2,1,0]])": ("matrix", ALICE),
}
PANELS = {
    "range": ("In units of S: η = 5, α = 0.1", "S: half the range of returns"),
    "spread": ("In units of σ: η = 0.5 to 0.15, α = 0.7", "σ: the spread of values over a player's actions"),
}
LOW, HIGH = 0.0005, 2.6
WIDTH, HEIGHT = 720, 384
TOP, BOTTOM = 74, 334


def measure() -> dict[str, Any]:
    """NashConv of the newest policy, as a share of uniform play's, after some steps."""
    found: dict[str, Any] = {"command": "python docs/figures/steps.py --measure", "results": []}
    for spec in GAMES:
        for unit in PANELS:
            points = [[k, round(x, 5)] for k, x in _run(spec, unit)]
            found["results"].append({"game": spec, "unit": unit, "step, share of uniform play's NashConv": points})
    return found


def _run(spec: str, unit: str) -> list[tuple[int, float]]:
    import numpy as np

    import qdts
    from qdts.learning.config import at
    from qdts.search.decision.mirror import mirror_steps
    from qdts.solving.exact.values import action_values
    from qdts.solving.policy.table import policy_on, uniform
    from qdts.solving.tree.recent import game_tree

    game = qdts.load_game(spec)
    tree = game_tree(game)
    offset = tree.infosets.offset.astype(np.int64)
    count = np.diff(offset)
    legal = np.arange(count.max()) < count[:, None]
    even = uniform(tree)
    most = qdts.nash_conv(game, policy_on(tree, even))

    def rows(x: Any) -> Any:
        out = np.zeros(legal.shape)
        out[legal] = x
        return out

    p, average, sigma, out = even.copy(), even.copy(), None, []
    for k in range(1, STEPS + 1):
        progress = (k - 1) / STEPS
        q = rows(action_values(tree, p))
        spread = _spread(tree, p)
        sigma = spread if sigma is None else sigma + 0.05 * (spread - sigma)
        by_range = unit == "range"
        step, strength = (5.0, 0.1) if by_range else (at(0.5, 0.15, progress), 0.7)
        magnet = at(0.1, 0.003, progress)
        rho = rows((1.0 - magnet) * average + magnet * even)
        target = np.zeros(legal.shape)
        value = q / (game.scale if by_range else sigma) + strength * np.log(np.where(legal, rho, 1.0))
        mirror_steps(np.maximum(rows(p), 1e-9), value, count, np.full(len(count), step), strength, target)
        p = target[legal]
        average = average + min(1.0, (GAMMA + 1) / (k + GAMMA)) * (p - average)
        if k in SHOWN:
            out.append((k, qdts.nash_conv(game, policy_on(tree, p)) / most))
    return out


def _spread(tree: Any, p: Any) -> float:
    """σ with exact values: the root of the mean variance of u over a player's actions, by the others' reach."""
    import numpy as np

    from qdts.solving.exact.values import history_values, reach

    h, value = tree.histories, history_values(tree, p)
    total = weights = 0.0
    for player in range(tree.game.players):
        child = np.flatnonzero((h.parent >= 0) & (h.mover[h.parent] == player))
        parent, u, size = h.parent[child], value[child, player], len(h.parent)
        count, first, second = (np.bincount(parent, x, size) for x in (np.ones(len(u)), u, u * u))
        several = count > 1
        variance = second[several] / count[several] - (first[several] / count[several]) ** 2
        r = reach(tree, p, player)[several]
        total, weights = total + (r * variance).sum(), weights + r.sum()
    return math.sqrt(total / weights)


def draw(data: dict[str, Any]) -> Drawing:
    """The two panels."""
    picture = Drawing(
        WIDTH,
        HEIGHT,
        "NashConv against mirror steps with exact values",
        "In units of the range of returns the newest policy circles in most games; in units of the spread it settles.",
    )
    for k, (unit, (title, meaning)) in enumerate(PANELS.items()):
        left = 52 + 348 * k
        _frame(picture, left, left + 190, title, meaning)
        names: list[tuple[float, str, str]] = []
        for result in data["results"]:
            if result["unit"] == unit:
                name, colour = GAMES[result["game"]]
                points = result["step, share of uniform play's NashConv"]
                picture.line([_point(left, *point) for point in points], colour=colour)
                names.append((_point(left, *points[-1])[1], f"{name} {points[-1][1]:.3f}", colour))
        for height, name, colour in _apart(sorted(names)):
            picture.text((left + 197, height + 4), name, colour=colour, size=11, bold=True)
    return picture


def _apart(names: list[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
    """The names of lines, moved down where they would lie on each other."""
    out: list[tuple[float, str, str]] = []
    for height, name, colour in names:
        out.append((max(height, out[-1][0] + 14.0) if out else height, name, colour))
    return out


def _point(left: float, step: float, share: float) -> Point:
    across = math.log(step) / math.log(STEPS)
    up = math.log(max(share, LOW) / LOW) / math.log(HIGH / LOW)
    return left + 190 * across, BOTTOM - (BOTTOM - TOP) * up


def _frame(picture: Drawing, left: float, right: float, title: str, meaning: str) -> None:
    picture.text((left - 28, 22), title, bold=True)
    picture.text((left - 28, 42), meaning, size=12)
    picture.text((left - 28, 64), "share of uniform play's NashConv, newest P", size=11, italic=True)
    picture.line([(left, TOP), (left, BOTTOM), (right, BOTTOM)], colour=INK)
    for share in (1.0, 0.1, 0.01, 0.001):
        picture.text((left - 6, _point(left, 1, share)[1] + 4), f"{share:g}", size=11, anchor="end")
    for step in (1, 10, 100, 300):
        picture.text((_point(left, step, 1.0)[0], BOTTOM + 18), str(step), size=11, anchor="middle")
    picture.text(((left + right) / 2, BOTTOM + 38), "steps", size=11, anchor="middle", italic=True)


if __name__ == "__main__":
    if "--measure" in sys.argv[1:]:
        DATA.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    PICTURE.write_text(draw(json.loads(DATA.read_text(encoding="utf-8"))).svg(), encoding="utf-8")
