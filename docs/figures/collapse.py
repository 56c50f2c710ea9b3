"""NashConv against visits in rock-paper-scissors and Kuhn poker: searches that collapse, and one that holds.

python docs/figures/collapse.py              # draw collapse.svg from collapse.json
python docs/figures/collapse.py --measure    # measure collapse.json anew, about a minute on one core, and draw it
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from drawing import BAD, DOTS, FAINT, GOOD, INK, THIRD, Drawing, Point

HERE = Path(__file__).parent
DATA = HERE / "collapse.json"
PICTURE = HERE / "collapse.svg"
VISITS = [4**k for k in range(8)]
SEEDS = 8
ROCK = 0.02
"""How much too often both players of the wrong policy choose rock."""
CFR_ITERATIONS = 100

PANELS = {
    "matrix_game": ("Rock-paper-scissors", "P plays rock 2 % too often"),
    "kuhn_poker": ("Kuhn poker", "P after 100 iterations of CFR"),
}
LINES = {
    "ismcts": ("ismcts", THIRD),
    "a-ismcts": ("a-ismcts", BAD),
    "qdts[decision=lcb]": ("by visits", FAINT),
    "qdts": ("qdts", GOOD),
}
"""What each search is called in the picture, and its colour."""
SHIFTS = {"qdts[decision=lcb]": -9, "qdts": 9}
"""By how much the names of lines that end at the same height are moved down."""
LOW, HIGH = 0.008, 2.4
"""The ends of the axis of NashConv."""
WIDTH, HEIGHT = 720, 384
TOP, BOTTOM = 74, 334


def measure() -> dict[str, Any]:
    """What `qdts evaluate` says of each search, with the commands."""
    found: dict[str, Any] = {"command": "python docs/figures/collapse.py --measure", "results": []}
    with TemporaryDirectory() as folder:
        files = {"matrix_game": "rps.npz", "kuhn_poker": "kuhn.npz"}
        _save_rock(Path(folder) / files["matrix_game"])
        _qdts(f"solve kuhn_poker --algorithm cfr --iterations {CFR_ITERATIONS} --out kuhn.npz --json", folder)
        for game, file in files.items():
            for search in LINES:
                if search == "ismcts" and game == "matrix_game":
                    continue  # it knows no P that could be wrong: its playouts are uniform, which is the equilibrium
                known = "" if search == "ismcts" else f" --policy {file}"
                visits = ",".join(map(str, VISITS))
                command = f"evaluate {game}{known} --search {search} --visits {visits} --seeds {SEEDS} --json"
                facts = _qdts(command, folder)
                points = [
                    [r["visits"], round(r["nash_conv"], 6), round(r["standard_error"], 6)] for r in facts["results"]
                ]
                found["results"].append(
                    {
                        "game": game,
                        "search": search,
                        "command": f"qdts {command}",
                        "policy_nash_conv": round(facts["policy_nash_conv"], 6),
                        "visits, NashConv, standard error": points,
                    }
                )
    return found


def _save_rock(path: Path) -> None:
    """Write a policy for rock-paper-scissors in which both play rock a little too often."""
    import numpy as np

    import qdts

    uniform = qdts.uniform_policy(qdts.load_game("matrix_game"))
    rows = uniform.probability.reshape(-1, 3) + np.array([ROCK, -ROCK / 2, -ROCK / 2])
    qdts.save_policy(replace(uniform, probability=rows.reshape(-1)), path)


def _qdts(command: str, folder: str) -> dict[str, Any]:
    """Run a command of `qdts` and read what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "qdts", *command.split()], cwd=folder, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout)


def draw(data: dict[str, Any]) -> Drawing:
    """The two panels."""
    picture = Drawing(
        WIDTH,
        HEIGHT,
        "NashConv against visits",
        "In both games a-ismcts becomes more exploitable the longer it searches, and qdts stays near its policy.",
    )
    for k, (game, (title, policy)) in enumerate(PANELS.items()):
        left = 52 + 348 * k
        right = left + 190
        results = [r for r in data["results"] if r["game"] == game]
        known = next(r for r in results if r["search"] != "ismcts")["policy_nash_conv"]
        _frame(picture, left, right, title, f"{policy}: {known:.3f} (dotted)")
        picture.line([(left, _height(known)), (right, _height(known))], colour=INK, dashes=DOTS)
        for search, (name, colour) in LINES.items():
            for result in results:
                if result["search"] == search:
                    _line(picture, result, left, right, name, colour, SHIFTS.get(search, 0))
    return picture


def _frame(picture: Drawing, left: float, right: float, title: str, policy: str) -> None:
    """Title, axes and their numbers; both are logarithmic."""
    picture.text((left - 36, 18), title, size=15, bold=True)
    picture.text((left - 36, 37), policy, size=12)
    picture.text((left - 36, TOP - 8), "NashConv", size=12, italic=True)
    for value in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2):
        y = _height(value)
        picture.line([(left - 4, y), (left, y)], colour=FAINT, width=1)
        picture.text((left - 8, y + 4), f"{value:g}", size=11.5, anchor="end")
    for visits in (1, 16, 256, 4096):
        x = _across(visits, left, right)
        picture.line([(x, BOTTOM), (x, BOTTOM + 4)], colour=FAINT, width=1)
        picture.text((x, BOTTOM + 18), f"{visits:,}", size=11.5, anchor="middle")
    picture.line([(left, TOP), (left, BOTTOM), (right, BOTTOM)], colour=FAINT, width=1)
    picture.text(((left + right) / 2, BOTTOM + 38), "visits of every search", size=12, italic=True, anchor="middle")


def _line(
    picture: Drawing, result: dict[str, Any], left: float, right: float, name: str, colour: str, shift: float
) -> None:
    """A search: its line, its standard errors and its name at the end, moved down by `shift`."""
    points: list[Point] = []
    for visits, value, error in result["visits, NashConv, standard error"]:
        at = (_across(visits, left, right), _height(value))
        points.append(at)
        if error > 0.02 * value:
            picture.line([(at[0], _height(value + error)), (at[0], _height(value - error))], colour=colour, width=1)
    picture.line(points, colour=colour, width=2)
    for at in points:
        picture.dot(at, colour, 2.6)
    last = result["visits, NashConv, standard error"][-1][1]
    x, y = points[-1][0] + 9, points[-1][1] + 4 + shift
    picture.text((x, y), f"{name} {last:.{2 if last > 0.1 else 3}f}", colour=colour, size=12, bold=True)


def _across(visits: float, left: float, right: float) -> float:
    return left + (right - left) * math.log(visits) / math.log(VISITS[-1])


def _height(value: float) -> float:
    share = (math.log(max(value, LOW)) - math.log(LOW)) / (math.log(HIGH) - math.log(LOW))
    return BOTTOM - (BOTTOM - TOP) * share


def main() -> None:
    """Draw, after measuring if asked to."""
    if "--measure" in sys.argv[1:]:
        DATA.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    draw(json.loads(DATA.read_text(encoding="utf-8"))).save(PICTURE)


if __name__ == "__main__":
    main()
