"""The CFR family: its twins, OpenSpiel's iterates, known values, and convergence."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdts import InputError, load_game, solve
from qdts.kernels import Ints, Reals
from qdts.solving.measure import tree_nash_conv
from qdts.solving.policy.openspiel import from_openspiel
from qdts.solving.regret.history_cfr import HistorySolver
from qdts.solving.regret.schedules import SCHEDULES, schedule_table
from qdts.solving.regret.sequence_cfr import SequenceSolver
from qdts.solving.sequence import lp
from qdts.solving.sequence.form import sequence_form
from qdts.solving.solver import Point
from qdts.solving.tree.recent import game_tree
from solving import naive

TWO_PLAYER = [
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(dice_sides=3)",
    "liars_dice(dice_sides=3,split=true)",
    "matrix_game",
]


@pytest.mark.parametrize("algorithm", SCHEDULES)
@pytest.mark.parametrize("spec", TWO_PLAYER)
def test_sequence_form_equals_sweeps(spec: str, algorithm: str) -> None:
    tree = game_tree(load_game(spec))
    fast = SequenceSolver(sequence_form(tree), SCHEDULES[algorithm])
    slow = HistorySolver(tree, SCHEDULES[algorithm])
    for _ in range(3):
        fast.run(7)
        slow.run(7)
        assert fast.average() == pytest.approx(slow.average(), abs=1e-7)
        assert fast.last() == pytest.approx(slow.last(), abs=1e-7)


@pytest.mark.parametrize("plus", [False, True])
@pytest.mark.parametrize("spec", ["kuhn_poker", "kuhn_poker(players=3)", "liars_dice(dice_sides=2)", "matrix_game"])
def test_sweeps_equal_plain_recursion(spec: str, plus: bool) -> None:
    game = load_game(spec)
    tree = game_tree(game)
    twin = naive.NaiveCFR(game, plus=plus)
    twin.run(5)
    solver = HistorySolver(tree, SCHEDULES["cfr+" if plus else "cfr"])
    solver.run(5)
    average, sets = solver.average(), tree.infosets
    for i, view in enumerate(sets.views):
        by_hand = twin.average(view)
        of = slice(sets.offset[i], sets.offset[i + 1])
        assert average[of] == pytest.approx([by_hand[int(a)] for a in sets.action[of]], abs=1e-12)


@pytest.mark.parametrize(("algorithm", "peer"), [("cfr", pyspiel.CFRSolver), ("cfr+", pyspiel.CFRPlusSolver)])
@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)", "kuhn_poker(players=3)"])
def test_iterates_equal_openspiels(spec: str, algorithm: str, peer: type) -> None:
    game = load_game(spec)
    theirs = peer(pyspiel.load_game(spec))
    for _ in range(10):
        theirs.evaluate_and_update_policy()
    expected = from_openspiel(game, theirs.average_policy())
    ours = solve(game, algorithm, 10)
    assert ours.policy.probability == pytest.approx(expected.probability, abs=1e-9)


@pytest.mark.parametrize(
    ("spec", "value", "digits"),
    [
        ("kuhn_poker", -1 / 18, 1e-7),
        ("leduc_poker", -0.0856, 5e-5),
        ("liars_dice(dice_sides=3)", 0.1111, 5e-5),
        ("liars_dice(dice_sides=4)", 0.0625, 5e-5),
        ("liars_dice(dice_sides=5)", 0.0080, 5e-5),
        ("liars_dice(dice_sides=3,split=true)", 0.1111, 5e-5),
        ("matrix_game", 0.0, 1e-9),
        ("matrix_game(payoffs=matching_pennies)", 0.0, 1e-9),
    ],
)
def test_known_values(spec: str, value: float, digits: float) -> None:
    game = load_game(spec)
    tree = game_tree(game)
    probability, exact = lp.equilibrium(sequence_form(tree))
    assert exact == pytest.approx(value, abs=digits)
    assert tree_nash_conv(tree, probability) < 1e-6
    solved = solve(game, "dcfr", 20_000, tolerance=5e-5)
    assert solved.nash_conv <= 5e-5
    assert solved.value == pytest.approx(exact, abs=5e-5)


def test_kuhn_equilibria_are_the_one_parameter_family() -> None:
    """With α the chance that the first player opens the jack with a bet: α ≤ 1/3, they open the king with 3α, call
    with the queen with α + 1/3; the second player bluffs the jack and calls with the queen one time in three.
    """
    game = load_game("kuhn_poker")

    def bets(policy: Reals) -> Iterator[float]:
        tree = game_tree(game)
        for text in ("cards=J? bets=---", "cards=K? bets=---", "cards=Q? bets=---", "cards=Q? bets=pb-"):
            yield _bet(tree.infosets.views, policy, text)
        for text in ("cards=?J bets=p--", "cards=?Q bets=b--", "cards=?K bets=p--", "cards=?J bets=b--"):
            yield _bet(tree.infosets.views, policy, text)

    def _bet(views: Ints, policy: Reals, text: str) -> float:
        made = text.split("bets=")[1].replace("-", "")
        bettor = made.find("b") + 1
        view = game.layout.read(f"turn={2 + len(made)} bettor={bettor} {text}")
        i = int(np.flatnonzero((views == view).all(1))[0])
        return float(policy[2 * i + 1])

    for algorithm in ("cfr+", "dcfr", "pcfr+"):
        solved = solve(game, algorithm, 200_000, tolerance=1e-6)
        alpha, king, queen, queen_calls, jack_bluffs, queen_calls_back, king_raises, jack_calls = bets(
            solved.policy.probability
        )
        assert -1e-3 <= alpha <= 1 / 3 + 1e-3
        assert king == pytest.approx(3 * alpha, abs=5e-3)
        assert queen == pytest.approx(0, abs=5e-3)
        assert queen_calls == pytest.approx(alpha + 1 / 3, abs=5e-3)
        assert jack_bluffs == pytest.approx(1 / 3, abs=5e-3)
        assert queen_calls_back == pytest.approx(1 / 3, abs=5e-3)
        assert king_raises == pytest.approx(1, abs=5e-3)
        assert jack_calls == pytest.approx(0, abs=5e-3)


@pytest.mark.parametrize(
    ("algorithm", "bound"), [("cfr", 0.1), ("cfr+", 2e-3), ("lcfr", 0.05), ("dcfr", 1e-3), ("pcfr+", 3e-3)]
)
def test_converges_on_leduc(algorithm: str, bound: float) -> None:
    solved = solve(load_game("leduc_poker"), algorithm, 1000)
    assert solved.nash_conv < bound
    assert solved.curve[0].nash_conv > 10 * bound


@pytest.mark.parametrize("spec", ["leduc_poker", "kuhn_poker(players=3)", "matrix_game"])
def test_sampling_converges_and_repeats(spec: str) -> None:
    game = load_game(spec)
    few, many = (solve(game, "mccfr", n, seed=3) for n in (100, 20_000))
    again = solve(game, "mccfr", 100, seed=3)
    other = solve(game, "mccfr", 100, seed=4)
    assert many.nash_conv < few.nash_conv / 3
    assert (few.policy.probability == again.policy.probability).all()
    assert (few.policy.probability != other.policy.probability).any()


def test_average_does_not_depend_on_how_a_run_is_cut() -> None:
    tree = game_tree(load_game("leduc_poker"))
    whole, pieces = (SequenceSolver(sequence_form(tree), SCHEDULES["dcfr"]) for _ in range(2))
    whole.run(30)
    for n in (1, 2, 10, 17):
        pieces.run(n)
    assert (whole.average() == pieces.average()).all()


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=2, max_size=4))
def test_random_matrix_games(payoffs: list[list[int]]) -> None:
    game = load_game("matrix_game", payoffs=payoffs)
    tree = game_tree(game)
    probability, value = lp.equilibrium(sequence_form(tree))
    assert tree_nash_conv(tree, probability) < 1e-7
    assert np.min(payoffs) - 1e-9 <= value <= np.max(payoffs) + 1e-9
    assert solve(game, "pcfr+", 2000, tolerance=0.05).value == pytest.approx(value, abs=0.06)


def test_schedules() -> None:
    assert schedule_table(SCHEDULES["cfr"], 3, 1).tolist() == [[1, 1, 0, 1]]
    assert schedule_table(SCHEDULES["cfr+"], 3, 2).tolist() == [[1, 0, 0, 4], [1, 0, 0, 5]]
    assert schedule_table(SCHEDULES["lcfr"], 0, 1).tolist() == [[0.5, 0.5, 0, 1]]
    assert schedule_table(SCHEDULES["dcfr"], 3, 1).tolist() == [[8 / 9, 0.5, 0, 16]]
    assert schedule_table(SCHEDULES["pcfr+"], 1, 1).tolist() == [[1, 0, 1, 4]]


def test_refusals() -> None:
    kuhn = load_game("kuhn_poker")
    with pytest.raises(InputError, match=r"unknown algorithm 'cfrr': did you mean .*cfr"):
        solve(kuhn, "cfrr")
    with pytest.raises(InputError, match="iterations=0, expected a whole number of at least 1"):
        solve(kuhn, iterations=0)
    with pytest.raises(InputError, match="tolerance=-1, expected"):
        solve(kuhn, tolerance=-1)
    with pytest.raises(InputError, match="needs two players"):
        solve(load_game("kuhn_poker(players=3)"), "lp")
    with pytest.raises(InputError, match="zero-sum"):
        solve(load_game("matrix_game", payoffs=[[1, 2]], column_payoffs=[[3, 4]]), "lp")


def test_the_clock_leaves_compiling_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a solver compiles, it does so when it first runs."""
    run, compiled = SequenceSolver.run, False

    def first_compile(solver: SequenceSolver, iterations: int) -> None:
        nonlocal compiled
        if not compiled:
            time.sleep(0.5)
            compiled = True
        run(solver, iterations)

    monkeypatch.setattr(SequenceSolver, "run", first_compile)
    solution = solve(load_game("kuhn_poker"), iterations=3)
    assert compiled
    assert solution.iterations == 3
    assert solution.seconds < 0.5


def test_ctrl_c_keeps_what_there_is() -> None:
    """The first Ctrl-C ends the run at a whole iteration; the handler from before is back afterwards."""
    before = signal.getsignal(signal.SIGINT)

    def interrupt(point: Point) -> None:
        if point.iterations >= 50:
            signal.raise_signal(signal.SIGINT)

    solved = solve(load_game("leduc_poker"), "cfr+", 10**9, report=interrupt)
    assert solved.interrupted
    assert 50 <= solved.iterations == solved.curve[-1].iterations < 10**6
    assert solved.nash_conv == solved.curve[-1].nash_conv
    assert signal.getsignal(signal.SIGINT) is before
