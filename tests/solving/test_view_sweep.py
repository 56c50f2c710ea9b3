"""Measuring by a sweep over views: against plain recursion, against the enumerated game, in little memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qdts import (
    Game,
    InputError,
    Policy,
    expected_values,
    load_game,
    measure_policy,
    nash_conv,
    solving,
    uniform_policy,
)
from qdts.games.interface import SIGNATURES, FunctionPointer
from qdts.hashing import find_rows
from qdts.kernels import Ints, Reals, compiled
from qdts.solving import uniform_probabilities
from qdts.solving.policy.function import PolicyFunction
from qdts.solving.sweep import view_sweep
from qdts.solving.sweep.policy_cache import policy_source
from qdts.solving.sweep.progress import SweepProgress
from qdts.solving.sweep.tabulate import tabulate
from qdts.solving.sweep.view_sweep import sweep
from qdts.solving.sweep.world_stack import bytes_per_world, make_stack
from qdts.solving.tree import recent
from qdts.solving.tree.recent import game_tree
from solving import naive
from solving.policies import random_policy

GENERAL = "matrix_game(payoffs=[[3,0],[5,1]],column_payoffs=[[3,5],[0,1]])"
SMALL = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "liars_dice(dice_sides=3)",
    "liars_dice(dice_sides=2,split=true)",
    "goofspiel(num_cards=3,imp_info=true)",
    "dark_hex(gameversion=adh,num_cols=2,num_rows=2)",
    "matrix_game",
    GENERAL,
]
MEDIUM = [
    "leduc_poker",
    "leduc_poker(players=3,suit_isomorphism=true)",
    "liars_dice(dice_sides=5)",
    "liars_dice(dice_sides=6)",
    "goofspiel(num_cards=4,points_order=descending,imp_info=true)",
    "dark_hex(gameversion=adh,num_cols=3,num_rows=2)",
]


def some_zeros(game: Game, seed: int) -> Policy:
    """A random policy in which a third of the actions are never played, where there is another."""
    policy = random_policy(game, seed)
    luck = np.random.default_rng(seed).random(len(policy.probability))
    luck[policy.offset[:-1]] = 1.0
    p = np.where(luck < 1 / 3, 0.0, policy.probability)
    return replace(policy, probability=p / np.repeat(np.add.reduceat(p, policy.offset[:-1]), np.diff(policy.offset)))


class Counting:
    """A table behind a function that counts the views of each call."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.batches: list[int] = []

    def __call__(self, views: Ints, counts: Ints) -> Reals:
        self.batches.append(len(views))
        assert len(np.unique(views, axis=0)) == len(views)
        known, policy = find_rows(self.policy.views, views), self.policy
        rows = np.full((len(views), int(counts.max()) + 1), np.nan)
        for row, i, n in zip(rows, known, counts, strict=True):
            assert policy.offset[i + 1] - policy.offset[i] == n
            row[:n] = policy.probability[policy.offset[i] : policy.offset[i + 1]]
        return rows


@pytest.mark.parametrize("spec", SMALL)
def test_equals_plain_recursion(spec: str) -> None:
    game = load_game(spec)
    for policy in (random_policy(game, 1), some_zeros(game, 2)):
        for player in range(game.players):
            best, value = naive.response_by_views(game, policy, player)
            swept = sweep(game, policy, player)
            assert swept.best == pytest.approx(best, abs=1e-12)
            assert swept.value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("spec", [*SMALL, *MEDIUM])
def test_equals_the_enumerated_game(spec: str) -> None:
    game = load_game(spec)
    tree = game_tree(game)
    for policy in (random_policy(game, 3), some_zeros(game, 4)):
        swept = measure_policy(game, policy, method="sweep")
        listed = measure_policy(game, policy, method="enumerate")
        assert swept.values == pytest.approx(listed.values, abs=1e-12)
        assert swept.gains == pytest.approx(listed.gains, abs=1e-12)
        assert swept.nash_conv == pytest.approx(nash_conv(game, policy), abs=1e-11)
        by_function = measure_policy(game, Counting(policy), method="sweep")
        assert (by_function.values, by_function.gains) == (swept.values, swept.gains)
    uniform = measure_policy(game, uniform_probabilities, method="sweep")
    assert uniform.nash_conv == pytest.approx(nash_conv(game, uniform_policy(game)), abs=1e-12)
    assert (uniform.histories, uniform.views) == (tree.num_histories, tree.num_infosets)


@pytest.mark.parametrize("block", [1, 50])
@pytest.mark.parametrize("spec", ["leduc_poker", "goofspiel(num_cards=4,points_order=descending,imp_info=true)"])
def test_little_memory_changes_nothing(spec: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So little that worlds are kept in parts, that the stack is used to its end, and that the cache is cleared."""
    game = load_game(spec)
    policy = some_zeros(game, 5)
    before = measure_policy(game, policy, method="sweep")
    monkeypatch.setattr(view_sweep, "BLOCK", block)
    least = 4 * (4 * game.max_branching + 64) * bytes_per_world(game)
    function = Counting(policy)
    for given in (policy, function):
        found = measure_policy(game, given, method="sweep", memory=least)
        assert found.values == pytest.approx(before.values, abs=1e-12)
        assert found.gains == pytest.approx(before.gains, abs=1e-12)
        assert (found.histories, found.views, found.largest) == (before.histories, before.views, before.largest)
        assert found.memory is not None
        assert found.memory <= least


def test_functions_are_called_in_batches_and_not_again() -> None:
    game = load_game("liars_dice")
    function = Counting(uniform_policy(game))
    nash_conv(game, function, method="sweep")
    assert sum(function.batches) == 2 * game_tree(game).num_infosets
    assert len(function.batches) < 100
    calls = len(function.batches)
    nash_conv(game, function)
    assert function.batches[calls:] == [game_tree(game).num_infosets]


def late(rules: Ints, world: Ints) -> None:
    """Phantom tic-tac-toe after x has taken the centre and two more, and o, after two failures, three cells."""
    for i in range(25):
        world[i] = 0
    world[1], world[2], world[3] = 0, 0b100010010, 0b100010010
    world[4], world[5], world[6] = 5, 2, 9
    world[13], world[14], world[15] = 0b01001, 0b010000101, 0b110010101
    world[16], world[17], world[18], world[19], world[20] = 5, 1, 3, 9, 8


def test_late_phantom_tic_tac_toe() -> None:
    for spec in ("phantom_ttt", "phantom_ttt(obstype=reveal-numturns)"):
        game = load_game(spec)
        start = FunctionPointer(compiled(late), SIGNATURES["initial"])
        game = replace(game, kernels=game.kernels._replace(initial=start))
        policy = random_policy(game, 6)
        listed, swept = (measure_policy(game, policy, method=m) for m in ("enumerate", "sweep"))
        assert listed.histories is not None
        assert listed.histories > 100
        assert swept.gains == pytest.approx(listed.gains, abs=1e-12)


@pytest.mark.parametrize("spec", ["kuhn_poker(players=3)", "leduc_poker"])
def test_tables_without_histories(spec: str) -> None:
    """All views are found, each once, with their actions; and a function becomes a table."""
    game = load_game(spec)
    policy, listed = random_policy(game, 7), uniform_policy(game)
    for table, known in ((tabulate(game), listed), (tabulate(game, Counting(policy)), policy)):
        assert len(table) == len(known)
        assert nash_conv(game, table) == pytest.approx(nash_conv(game, known), abs=1e-12)
        assert all(table(view) == known(view) for view in known.views[::17])


def test_large_games_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too large to list is swept by default; the tree is not used again, nor made."""
    game = load_game("liars_dice")
    policy = random_policy(game, 8)
    known, values = nash_conv(game, policy), expected_values(game, policy)
    recent._kept.cache_clear()
    monkeypatch.setattr(recent, "FEW", 100_000)
    reports: list[SweepProgress] = []
    assert measure_policy(game, policy).method == "sweep"
    assert nash_conv(game, policy, report=reports.append) == pytest.approx(known, abs=1e-12)
    assert expected_values(game, policy) == pytest.approx(values, abs=1e-12)
    assert len(uniform_policy(game)) == 24_576
    assert recent._kept(game).tree is None
    assert reports[-1].share == pytest.approx(1.0)
    assert reports[-1].player == 1
    assert (np.diff([p.share for p in reports if p.player == 0]) >= -1e-12).all()
    game_tree(game)
    assert measure_policy(game, policy).method == "enumerate"


def test_the_old_name_warns() -> None:
    with pytest.warns(FutureWarning, match="uniform_rows is now called uniform_probabilities"):
        assert solving.uniform_rows is uniform_probabilities


def test_functions_on_positions() -> None:
    game = load_game("tic_tac_toe")
    policy = random_policy(game, 10)
    assert measure_policy(game, Counting(policy)) == measure_policy(game, policy)
    assert measure_policy(game, uniform_probabilities).nash_conv == nash_conv(game, uniform_policy(game))


def test_refusals() -> None:
    kuhn, ttt = load_game("kuhn_poker"), load_game("tic_tac_toe")
    policy = uniform_policy(kuhn)
    with pytest.raises(InputError, match="unknown method 'swep': did you mean sweep"):
        nash_conv(kuhn, policy, method="swep")
    with pytest.raises(InputError, match="tic_tac_toe has perfect information and is measured on its positions"):
        measure_policy(ttt, uniform_probabilities, method="sweep")
    with pytest.raises(InputError, match="dark_hex can't be swept"):
        measure_policy(load_game("dark_hex"), uniform_probabilities, method="sweep")
    with pytest.raises(InputError, match="1,000 bytes are too few for a sweep, expected at least"):
        nash_conv(kuhn, policy, method="sweep", memory=1000)
    with pytest.raises(InputError, match="the policy is for kuhn_poker version 1, expected leduc_poker"):
        nash_conv(load_game("leduc_poker"), policy, method="sweep")
    views = policy.views.copy()
    views[3] = 0
    with pytest.raises(InputError, match="lacks the view"):
        nash_conv(kuhn, replace(policy, views=views), method="sweep")
    with pytest.raises(InputError, match="other legal actions"):
        nash_conv(kuhn, replace(policy, action=np.tile(np.array([0, 2], np.int32), 12)), method="sweep")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda views, _: np.ones(len(views)),
            r"gave an array of shape \(3,\) for 3 views, expected \(3, at least 2\)",
        ),
        (lambda views, _: np.ones((len(views), 1)), r"gave an array of shape \(3, 1\)"),
        (lambda views, _: np.full((len(views), 2), 0.4), r"gave \[0.4, 0.4\] at .*, expected probabilities"),
        (lambda views, _: np.tile([-0.5, 1.5], (len(views), 1)), r"gave \[-0.5, 1.5\]"),
        (lambda views, _: np.full((len(views), 2), np.nan), "that sum to 1"),
    ],
)
def test_wrong_probabilities(function: PolicyFunction, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sweep(load_game("kuhn_poker"), function, 1)


def test_memory_that_the_machine_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    game = load_game("kuhn_poker")
    monkeypatch.setattr(np, "empty", refuse)
    with pytest.raises(InputError, match="this machine does not give 3,000,000 bytes of memory for a sweep"):
        sweep(game, uniform_probabilities, 0, memory=4_000_000)


def test_a_view_with_too_many_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest has 14; half of what is left must hold it, since later turns need space too."""
    game = load_game("goofspiel(num_cards=4,points_order=descending,imp_info=true)")
    monkeypatch.setattr(view_sweep, "make_stack", lambda game, _: make_stack(game, 20 * bytes_per_world(game)))
    with pytest.raises(InputError, match=r"one action of player 1 leads to more worlds than fit within .* in 64 parts"):
        sweep(game, uniform_probabilities, 1)


def test_views_that_do_not_fit_into_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of 64 views is enough where every action leads to fewer views of the other, as in Leduc poker."""
    monkeypatch.setattr(view_sweep, "policy_source", lambda game, policy, _: policy_source(game, policy, 0))
    leduc, hex = load_game("leduc_poker"), load_game("dark_hex(gameversion=adh,num_cols=2,num_rows=3)")
    policy = random_policy(leduc, 9)
    function = Counting(policy)
    assert nash_conv(leduc, function, method="sweep") == pytest.approx(nash_conv(leduc, policy), abs=1e-12)
    assert sum(function.batches) > 2 * len(policy)
    assert max(function.batches) <= 64
    with pytest.raises(InputError, match="one action leads to more views of others than fit into the policy's cache"):
        sweep(hex, Counting(uniform_policy(hex)), 1)


def forgetful(rules: Ints, world: Ints, player: int) -> None:
    """A player of Kuhn poker who does not remember their card when they move again."""
    world[3 - player] = -1
    if world[0] == 4:
        world[2 + player] = -1


def test_views_that_forget() -> None:
    game = load_game("kuhn_poker")
    kernels = game.kernels._replace(redact=FunctionPointer(compiled(forgetful), SIGNATURES["redact"]))
    with pytest.raises(InputError, match="player 0 does not recall their own moves at"):
        sweep(replace(game, kernels=kernels), uniform_probabilities, 0)
