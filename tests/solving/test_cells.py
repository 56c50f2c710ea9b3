"""Measuring games of hidden stones cell by cell: the law it rests on, and against the enumerated game and the sweep."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from qdts import Game, InputError, load_game, measure_policy, nash_conv, uniform_probabilities
from qdts.games.rules.hidden_moves import TRIES, build_game, seat
from qdts.kernels import Ints, Reals
from qdts.solving.cells import response
from qdts.solving.cells.cell_measure import measure_by_cells
from qdts.solving.cells.patterns import (
    DROPPED,
    after_turn,
    complete,
    failure,
    has_failures,
    is_goal,
    length,
    stone,
    without_cell,
)
from qdts.solving.cells.view_tree import BATCH, ViewTree
from qdts.solving.sweep.progress import SweepProgress
from qdts.solving.tree.recent import game_tree
from solving import naive
from solving.policies import random_policy
from solving.test_view_sweep import Counting, some_zeros

Try = tuple[int, int, bool]
"""A cell, the number of the turn, and whether it failed."""


def phantom(cells: int, lines: tuple[int, ...]) -> Game:
    """A small relative of phantom tic-tac-toe, by the classical rules."""
    names = [f"c{k}" for k in range(cells)]
    words = {"names": names, "abrupt": False, "counted": False, "outcomes": False, "lines": lines}
    return build_game("phantom", f"phantom({cells})", {}, **words)  # type: ignore[arg-type]


GAMES = {
    "classical 2 by 2": phantom(4, (0b0011, 0b1100, 0b0110)),
    "classical 2 by 3": phantom(6, (0b000111, 0b111000, 0b010101)),
    "abrupt hex 2 by 2": load_game("dark_hex(gameversion=adh,num_cols=2,num_rows=2)"),
    "abrupt hex 2 by 3": load_game("dark_hex(gameversion=adh,num_cols=3,num_rows=2)"),
    "abrupt hex 3 by 2": load_game("dark_hex(gameversion=adh,num_cols=2,num_rows=3)"),
}
SMALL = ["classical 2 by 2", "abrupt hex 2 by 2"]


def lists(game: Game, world: Ints) -> tuple[tuple[Try, ...], tuple[Try, ...]]:
    """Both players' tries."""
    cells, found = game.num_actions, []
    for player in range(2):
        own, turn, tries = int(seat(game.rules, player)), 1, []
        for k, cell in enumerate(world[own + TRIES : own + TRIES + cells]):
            if cell > 0:
                failed = bool(world[own] >> k & 1)
                tries.append((int(cell) - 1, turn, failed))
                turn += not failed or bool(game.rules[1])
        found.append(tuple(tries))
    return found[0], found[1]


def agree(first: tuple[Try, ...], second: tuple[Try, ...]) -> bool:
    """Whether player 0's tries and player 1's fit together, cell by cell: the table of the documentation."""
    mine, theirs = ({cell: (turn, failed) for cell, turn, failed in tries} for tries in (first, second))
    for cell in {*mine, *theirs}:
        (t, fails), (u, other_fails) = mine.get(cell, (0, False)), theirs.get(cell, (0, False))
        if t and u:
            if fails == other_fails or (t <= u if fails else t > u):
                return False
        elif fails or other_fails:
            return False
    return True


@pytest.mark.parametrize("name", SMALL)
def test_tries_are_those_of_a_history_exactly_if_they_agree_in_every_cell(name: str) -> None:
    """For goals of either player: all pairs of lists of the right lengths, one with a goal and one without."""
    game = GAMES[name]
    won: dict[int, set[tuple[tuple[Try, ...], tuple[Try, ...]]]] = {0: set(), 1: set()}
    ended: dict[int, set[tuple[Try, ...]]] = defaultdict(set)
    goals: dict[int, set[tuple[Try, ...]]] = defaultdict(set)
    for _, world in naive.histories(game):
        both, mover = lists(game, world), int(world[0])
        if mover in (2, 3):
            won[mover - 2].add(both)
            goals[mover - 2].add(both[mover - 2])
        elif mover < 2 and (both[1 - mover] or mover == 0):
            ended[1 - mover].add(both[1 - mover])
    for player in range(2):
        found = set()
        for own in goals[player]:
            for other in ended[1 - player]:
                before = other[-1][1] if other else 0
                pair = (own, other) if player == 0 else (other, own)
                if before == own[-1][1] - 1 + player and agree(*pair):
                    found.add(pair)
        assert found == won[player]


def test_patterns() -> None:
    """Each step on packed patterns, against the same on a dictionary of cells."""
    random = np.random.default_rng(0)
    for _ in range(3000):
        turn, cells = int(random.integers(1, 9)), {}
        for cell, time in zip(random.permutation(9)[:6].tolist(), random.permutation(11)[:6] + 1, strict=True):
            if time >= turn:
                cells[cell] = (int(time), bool(random.integers(2)))
        total, goal = int(random.integers(turn, 12)), int(random.integers(2))
        pattern = complete(0, total, goal)
        for cell, (time, failed) in cells.items():
            pattern |= failure(cell, time) if failed else stone(cell, time)
        assert (length(pattern), is_goal(pattern)) == (total, bool(goal))
        assert has_failures(pattern) == any(failed for _, failed in cells.values())
        passed = after_turn(pattern, turn)
        assert (passed == DROPPED) == ((turn, True) in cells.values())
        for cell in range(9):
            time, failed = cells.get(cell, (0, True))
            rest = pattern & ~(31 << 5 * cell)
            assert without_cell(pattern, cell, 0) == (rest if failed else DROPPED)
            assert without_cell(pattern, cell, 1) == DROPPED
            if passed != DROPPED:
                now = (time, failed) == (turn, False)
                assert without_cell(passed, cell, 1) == (rest if now else DROPPED)


@pytest.mark.parametrize("name", SMALL)
def test_equals_plain_recursion(name: str) -> None:
    game = GAMES[name]
    for policy in (random_policy(game, 1), some_zeros(game, 2)):
        for player, found in enumerate(measure_by_cells(game, policy)):
            best, value = naive.response_by_views(game, policy, player)
            assert found.best == pytest.approx(best, abs=1e-12)
            assert found.value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_equals_the_enumerated_game_and_the_sweep(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = GAMES[name]
    for policy in (random_policy(game, 3), some_zeros(game, 4)):
        by_cells = measure_policy(game, policy, method="cells")
        for method in ("enumerate", "sweep"):
            other = measure_policy(game, policy, method=method)
            assert by_cells.values == pytest.approx(other.values, abs=1e-12)
            assert by_cells.gains == pytest.approx(other.gains, abs=1e-12)
        assert by_cells.views == game_tree(game).num_infosets
        function = Counting(policy)
        by_function = measure_policy(game, function, method="cells")
        assert (by_function.values, by_function.gains) == (by_cells.values, by_cells.gains)
        assert sum(function.batches) == by_cells.views
        assert max(function.batches) <= BATCH
        with monkeypatch.context() as patched:
            patched.setattr(response, "MOST_MERGED", 8)
            patched.setattr(response, "ROOM", 0.1)
            few = measure_by_cells(game, policy, threads=1)
        many = measure_by_cells(game, policy, threads=3)
        assert [each.best for each in few] == pytest.approx([each.best for each in many], abs=1e-12)
        assert sum(each.read for each in few) >= sum(each.read for each in many)
    uniform = measure_policy(game, uniform_probabilities, method="cells")
    assert uniform.nash_conv == pytest.approx(nash_conv(game, uniform_probabilities), abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_all_views_are_listed_once(name: str) -> None:
    game = GAMES[name]
    listed = [view.tobytes() for p in range(2) for views, _ in ViewTree(game, p).batches() for view in views.copy()]
    assert sorted(listed) == sorted(view.tobytes() for view in game_tree(game).infosets.views)


def test_faults() -> None:
    game = GAMES["abrupt hex 2 by 2"]
    policy = random_policy(load_game("dark_hex(gameversion=adh,num_cols=3,num_rows=2)"), 0)
    with pytest.raises(InputError, match="the policy is for dark_hex"):
        measure_policy(game, policy, method="cells")
    for spec in ("kuhn_poker", "dark_hex(num_cols=2,num_rows=2)", "phantom_ttt(obstype=reveal-numturns)"):
        with pytest.raises(InputError, match="can't be measured cell by cell"):
            measure_policy(load_game(spec), uniform_probabilities, method="cells")


class StoppedError(Exception):
    """What a report raises."""


def test_an_exception_of_a_report_ends_it() -> None:
    reports: list[SweepProgress] = []

    def stop(progress: SweepProgress) -> None:
        reports.append(progress)
        if progress.share is not None:
            raise StoppedError

    with pytest.raises(StoppedError):
        measure_policy(GAMES["abrupt hex 2 by 3"], uniform_probabilities, method="cells", report=stop)
    assert [(each.player, each.share is None, each.histories) for each in reports] == [
        (0, True, None),
        (1, True, None),
        (0, False, None),
    ]


def sparse(views: Ints, counts: Ints) -> Reals:
    """Some three tenths of the actions at each view, with probabilities made of its components."""
    mixed = (views + 2) @ np.random.default_rng(1).integers(1, 1 << 40, views.shape[1])
    columns = np.arange(counts.max())
    luck = ((mixed[:, None] % 1_000_003 * 7919 + columns * 104_729) % 1_000_003 + 1) / 1_000_003
    luck = np.where(columns < counts[:, None], luck, 0.0)
    chosen = np.where((luck > 0.7) | (luck == luck.max(1, keepdims=True)), luck, 0.0)
    return np.asarray(chosen / chosen.sum(1, keepdims=True))


@pytest.mark.slow
def test_phantom_tic_tac_toe() -> None:
    """Uniform play, with the number of views known from elsewhere; and play that a sweep gets to the end of."""
    game = load_game("phantom_ttt")
    uniform = measure_policy(game, uniform_probabilities)
    assert (uniform.method, uniform.views) == ("cells", 3_683_314 + 2_307_355)
    assert uniform.nash_conv == pytest.approx(1.5774636243386346, abs=1e-12)
    assert sum(uniform.values) == pytest.approx(0.0, abs=1e-12)
    by_cells, swept = (measure_policy(game, sparse, method=method) for method in ("cells", "sweep"))
    assert by_cells.values == pytest.approx(swept.values, abs=1e-12)
    assert by_cells.gains == pytest.approx(swept.gains, abs=1e-12)
