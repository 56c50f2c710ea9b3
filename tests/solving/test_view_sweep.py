"""Measuring by a sweep over views: against plain recursion, against the enumerated game, in little memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import naive
from qdts import Game, InputError, Policy, expected_values, load_game, measure_policy, nash_conv, uniform_policy
from qdts.games.interface import SIGNATURES, FunctionPointer
from qdts.kernels import Ints, Reals, compiled
from qdts.solving import policy as policies
from qdts.solving import uniform_rows, view_sweep
from qdts.solving.frontier import bytes_per_world, make_stack
from qdts.solving.measure import SweepProgress
from qdts.solving.policy import game_tree
from qdts.solving.rows import Rows, source
from qdts.solving.tree import find_views
from qdts.solving.view_sweep import sweep, tabulate
from test_values import random_policy

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
    drawn = np.random.default_rng(seed).random(len(policy.probability))
    drawn[policy.offset[:-1]] = 1.0
    p = np.where(drawn < 1 / 3, 0.0, policy.probability)
    return replace(policy, probability=p / np.repeat(np.add.reduceat(p, policy.offset[:-1]), np.diff(policy.offset)))


class Asking:
    """A table behind a callable that counts what it is asked."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.asked: list[int] = []

    def __call__(self, views: Ints, counts: Ints) -> Reals:
        self.asked.append(len(views))
        assert len(np.unique(views, axis=0)) == len(views)
        found, policy = find_views(self.policy.views, views), self.policy
        rows = np.full((len(views), int(counts.max()) + 1), np.nan)
        for row, i, n in zip(rows, found, counts, strict=True):
            assert policy.offset[i + 1] - policy.offset[i] == n
            row[:n] = policy.probability[policy.offset[i] : policy.offset[i + 1]]
        return rows


@pytest.mark.parametrize("spec", SMALL)
def test_equals_plain_recursion(spec: str) -> None:
    game = load_game(spec)
    for policy in (random_policy(game, 1), some_zeros(game, 2)):
        for player in range(game.players):
            best, value = naive.response_by_views(game, policy, player)
            found = sweep(game, policy, player)
            assert found.best == pytest.approx(best, abs=1e-12)
            assert found.value == pytest.approx(value, abs=1e-12)


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
        by_rows = measure_policy(game, Asking(policy), method="sweep")
        assert (by_rows.values, by_rows.gains) == (swept.values, swept.gains)
    uniform = measure_policy(game, uniform_rows, method="sweep")
    assert uniform.nash_conv == pytest.approx(nash_conv(game, uniform_policy(game)), abs=1e-12)
    assert (uniform.histories, uniform.views) == (tree.num_histories, tree.num_infosets)


@pytest.mark.parametrize("block", [1, 50])
@pytest.mark.parametrize("spec", ["leduc_poker", "goofspiel(num_cards=4,points_order=descending,imp_info=true)"])
def test_little_memory_changes_nothing(spec: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So little that worlds are kept in parts, that the stack is used to its end, and that answers are forgotten."""
    game = load_game(spec)
    policy = some_zeros(game, 5)
    before = measure_policy(game, policy, method="sweep")
    monkeypatch.setattr(view_sweep, "BLOCK", block)
    least = 4 * (4 * game.max_branching + 64) * bytes_per_world(game)
    rows = Asking(policy)
    for given in (policy, rows):
        found = measure_policy(game, given, method="sweep", memory=least)
        assert found.values == pytest.approx(before.values, abs=1e-12)
        assert found.gains == pytest.approx(before.gains, abs=1e-12)
        assert (found.histories, found.views, found.largest) == (before.histories, before.views, before.largest)
        assert found.memory is not None
        assert found.memory <= least


def test_callables_are_asked_in_batches_and_not_again() -> None:
    game = load_game("liars_dice")
    rows = Asking(uniform_policy(game))
    nash_conv(game, rows, method="sweep")
    assert sum(rows.asked) == 2 * game_tree(game).num_infosets
    assert len(rows.asked) < 100
    asked = len(rows.asked)
    nash_conv(game, rows)
    assert rows.asked[asked:] == [game_tree(game).num_infosets]


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
    """All views are found, each once, with their actions; and a callable becomes a table."""
    game = load_game(spec)
    policy, listed = random_policy(game, 7), uniform_policy(game)
    for table, known in ((tabulate(game), listed), (tabulate(game, Asking(policy)), policy)):
        assert len(table) == len(known)
        assert nash_conv(game, table) == pytest.approx(nash_conv(game, known), abs=1e-12)
        assert all(table(view) == known(view) for view in known.views[::17])


def test_large_games_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too large to list is swept without being asked; the tree is not used again, nor made."""
    game = load_game("liars_dice")
    policy = random_policy(game, 8)
    known, values = nash_conv(game, policy), expected_values(policy)
    policies._kept.cache_clear()
    monkeypatch.setattr(policies, "FEW", 100_000)
    told: list[SweepProgress] = []
    assert measure_policy(game, policy).method == "sweep"
    assert nash_conv(game, policy, report=told.append) == pytest.approx(known, abs=1e-12)
    assert expected_values(policy) == pytest.approx(values, abs=1e-12)
    assert len(uniform_policy(game)) == 24_576
    assert policies._kept(game).tree is None
    assert told[-1].share == pytest.approx(1.0)
    assert told[-1].player == 1
    assert (np.diff([p.share for p in told if p.player == 0]) >= -1e-12).all()
    game_tree(game)
    assert measure_policy(game, policy).method == "enumerate"


def test_callables_on_positions() -> None:
    game = load_game("tic_tac_toe")
    policy = random_policy(game, 10)
    assert measure_policy(game, Asking(policy)) == measure_policy(game, policy)
    assert measure_policy(game, uniform_rows).nash_conv == nash_conv(game, uniform_policy(game))


def test_refusals() -> None:
    kuhn, ttt = load_game("kuhn_poker"), load_game("tic_tac_toe")
    policy = uniform_policy(kuhn)
    with pytest.raises(InputError, match="unknown method 'swep': did you mean sweep"):
        nash_conv(kuhn, policy, method="swep")
    with pytest.raises(InputError, match="tic_tac_toe hides nothing and is measured on its positions"):
        measure_policy(ttt, uniform_rows, method="sweep")
    with pytest.raises(InputError, match="dark_hex can't be swept"):
        measure_policy(load_game("dark_hex"), uniform_rows, method="sweep")
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
    ("rows", "message"),
    [
        (lambda views, _: np.ones(len(views)), r"with an array of shape \(3,\), expected \(3, at least 2\)"),
        (lambda views, _: np.ones((len(views), 1)), r"with an array of shape \(3, 1\)"),
        (lambda views, _: np.full((len(views), 2), 0.4), r"answered \[0.4, 0.4\] at .*, expected probabilities"),
        (lambda views, _: np.tile([-0.5, 1.5], (len(views), 1)), r"answered \[-0.5, 1.5\]"),
        (lambda views, _: np.full((len(views), 2), np.nan), "that sum to 1"),
    ],
)
def test_wrong_answers(rows: Rows, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sweep(load_game("kuhn_poker"), rows, 1)


def test_memory_that_the_machine_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    game = load_game("kuhn_poker")
    monkeypatch.setattr(np, "empty", refuse)
    with pytest.raises(InputError, match="this machine does not give 3,000,000 bytes of memory for a sweep"):
        sweep(game, uniform_rows, 0, memory=4_000_000)


def test_a_view_with_too_many_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest has 14; half of what is left must hold it, since his later turns need room too."""
    game = load_game("goofspiel(num_cards=4,points_order=descending,imp_info=true)")
    monkeypatch.setattr(view_sweep, "make_stack", lambda game, _: make_stack(game, 20 * bytes_per_world(game)))
    with pytest.raises(InputError, match=r"one action of player 1 leads to more worlds than fit within .* in 64 parts"):
        sweep(game, uniform_rows, 1)


def test_answers_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of 64 answers will do where every action leads to fewer views of the other, as in Leduc poker."""
    monkeypatch.setattr(view_sweep, "source", lambda game, policy, _: source(game, policy, 0))
    leduc, hex = load_game("leduc_poker"), load_game("dark_hex(gameversion=adh,num_cols=2,num_rows=3)")
    policy = random_policy(leduc, 9)
    rows = Asking(policy)
    assert nash_conv(leduc, rows, method="sweep") == pytest.approx(nash_conv(leduc, policy), abs=1e-12)
    assert sum(rows.asked) > 2 * len(policy)
    assert max(rows.asked) <= 64
    with pytest.raises(InputError, match="one action leads to more views of others than answers"):
        sweep(hex, Asking(uniform_policy(hex)), 1)


def forgetful(rules: Ints, world: Ints, player: int) -> None:
    """A player of Kuhn poker who does not remember his card when he is to move again."""
    world[3 - player] = -1
    if world[0] == 4:
        world[2 + player] = -1


def test_views_that_forget() -> None:
    game = load_game("kuhn_poker")
    kernels = game.kernels._replace(redact=FunctionPointer(compiled(forgetful), SIGNATURES["redact"]))
    with pytest.raises(InputError, match="player 0 does not recall his own moves at"):
        sweep(replace(game, kernels=kernels), uniform_rows, 0)
