"""Running averages, luck and the other forms of Q, by the twin: examples, laws and formulas found in other ways."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from qdts import load_game
from qdts.rng import State
from qdts.search.evaluation.evaluator import ACT, CHANCE, OPPONENT, SAMPLE, Evaluation, Query
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.options.variants import Ball, LuckBase, LuckChild
from search.naive_evaluators import Exact, Hashed, Uniform, mixed_strategy
from search.naive_formulas import Values, lowest, lowest_of_seen, luck, mean, spread
from search.naive_tree import Choice, Node
from search.programs import ball_by_program
from search.samples import some_view
from search.twin import Twin

LUCKLESS = named("qdts", sample_q="running", opponent_q="running", backup="running", luck_base="none")
BELOW = [0.2, 0.6, 0.7]


class Rolling(Uniform):
    """At the first roll of a die with three sides V_c is 0.2, 0.6 and 0.7; after it V is 0.22, and rolling is best."""

    def evaluate(self, query: Query, state: State) -> Evaluation:
        evaluation = super().evaluate(query, state)
        evaluation.value[0] = 0.22
        if query.kind == CHANCE:
            evaluation.child_values[:, 0] = BELOW
        elif query.kind == ACT:
            evaluation.child_values[0, 0] = 0.9
        return evaluation


@pytest.mark.parametrize("luck_base", ["same", "mu"])
def test_bad_luck_is_taken_off(luck_base: LuckBase) -> None:
    """0.22 that comes back through the first child was 0.3 of bad luck: 0.52 goes to the chance node and above it."""
    game = load_game("pig(diceoutcomes=3)")
    options = named("puct", sample_q="running", backup="running", luck_base=luck_base, luck_child="vc")
    drawn = set()
    for seed in range(12):
        twin = Twin(game, options, Rolling(game), seed)
        root = twin.search(game.initial(), 0, 1)
        roll = twin.path[-1]
        assert roll.kind == CHANCE
        assert (roll.lo[0], root.lo[0]) == pytest.approx((0.5, 0.5))  # the new node's static range
        twin.visit()
        assert twin.path[-2] is roll
        outcome = next(c for c, e in enumerate(roll.edges) if e.n)
        drawn.add(outcome)
        came = {0: 0.52, 1: 0.12, 2: 0.02}[outcome]
        assert root.lo[0] == root.hi[0] == pytest.approx((0.5 + came) / 2)
        assert roll.lo[0] == pytest.approx((0.5 + came) / 2)  # a visit stopped there, so that 0.5 counts once
    assert drawn == {0, 1, 2}


@pytest.mark.parametrize("luck_child", ["q", "v", "vc"])
@pytest.mark.parametrize("luck_base", ["same", "mu", "v", "q", "none"])
def test_the_mean_of_luck(luck_base: LuckBase, luck_child: LuckChild) -> None:
    """Over D it is 0 with `same` whatever the models say, and with `mu` of the same V_c; not with `v` and `q`."""
    game = load_game("leduc_poker")
    options = named("a-ismcts", sample_q="running", luck_base=luck_base, luck_child=luck_child)
    means = []
    for seed in range(3):
        twin = Twin(game, options, Hashed(game, seed), seed)
        twin.search(*some_view(game, seed), 60)
        for node in twin.nodes():
            if node.kind in (SAMPLE, CHANCE):
                phi = [twin.luck(node, Choice(c, None)) for c in range(len(node.edges))]
                assert all(low == pytest.approx(high) for low, high in phi)
                means.append(mean([e.prior for e in node.edges], [low[0] for low, _ in phi]))
    assert len(means) > 100
    zero = luck_base in ("same", "none") or (luck_base, luck_child) == ("mu", "vc")
    assert (max(map(abs, means)) < 1e-12) == zero


def some_intervals(numbers: np.random.Generator, k: int) -> tuple[Values, Values, Values]:
    """A distribution, and ends."""
    d = numbers.dirichlet(np.full(k, 0.7))
    ends = np.sort(numbers.normal(size=(2, k)), axis=0)
    return list(d), list(ends[0]), list(ends[1])


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.8, 2.0])
def test_luck_by_a_linear_program(eps: float) -> None:
    """Over every corner of the R(e); its mean over D holds 0."""
    numbers = np.random.default_rng(3)
    for _ in range(4):
        d, low, high = some_intervals(numbers, 3)
        phi = [luck(d, low, high, c, eps) for c in range(3)]
        for c in range(3):
            found = []
            for corner in product((0, 1), repeat=3):
                r = np.array([(low[e], high[e])[end] for e, end in enumerate(corner)])
                found += [r[c] + ball_by_program(np.array(d), -r, eps), r[c] - ball_by_program(np.array(d), r, eps)]
            assert phi[c] == pytest.approx((min(found), max(found)), abs=1e-8)
        assert mean(d, [lo for lo, _ in phi]) <= 1e-12
        assert mean(d, [hi for _, hi in phi]) >= -1e-12


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.5, 1.0, 2.0])
def test_the_masked_end_counts_as_what_was_not_seen(eps: float) -> None:
    """By bisection: y is the largest number that is not above the lowest mean with y for what was not seen."""
    numbers = np.random.default_rng(4)
    for _ in range(100):
        d, values, _ = some_intervals(numbers, 5)
        seen = list(numbers.uniform(size=5) < 0.6)
        seen[numbers.integers(5)] = True
        low, high = min(values) - 1, max(values) + 1
        for _ in range(60):
            y = (low + high) / 2
            shifted = [v - y if s else 0.0 for v, s in zip(values, seen, strict=True)]
            low, high = (y, high) if lowest(d, shifted, eps) >= 0 else (low, y)
        known = [v for v, s in zip(values, seen, strict=True) if s]
        expected = max(low, min(known))  # where all mass may leave what was seen, any y below serves
        assert lowest_of_seen(d, values, seen, eps) == pytest.approx(expected, abs=1e-12)
    assert lowest_of_seen(d, values, [True] * 5, eps) == pytest.approx(lowest(d, values, eps), abs=1e-12)


@pytest.mark.parametrize("spec", ["kuhn_poker(players=3)", "leduc_poker", "pig(winscore=20)"])
def test_without_luck_q_is_the_mean_of_what_came(spec: str) -> None:
    """x is Q of the node where a visit stopped; a node where one stopped as it was new counts its own first Q."""
    game = load_game(spec)
    twin = Twin(game, LUCKLESS, Hashed(game, 5), 5)
    twin.root(*some_view(game, 5))
    came: dict[Node, list[tuple[Values, Values]]] = {}
    for _ in range(150):
        twin.visit()
        last = twin.path[-1]
        x = list(last.lo), list(last.hi)
        if last not in came:
            came[last] = [x]
        for node in twin.path[:-1]:
            came.setdefault(node, []).append(x)
            assert node.lo == pytest.approx(list(np.mean([lo for lo, _ in came[node]], axis=0)), abs=1e-12)
            assert node.hi == pytest.approx(list(np.mean([hi for _, hi in came[node]], axis=0)), abs=1e-12)
    assert max(map(len, came.values())) == 150


@pytest.mark.parametrize("ball", ["node", "route"])
@pytest.mark.parametrize("eps", [0.0, 0.3])
def test_expected(eps: float, ball: str) -> None:
    """Q is the spread mean of the children's Q; over whole routes that of what lies behind the chain."""
    game = load_game("kuhn_poker(players=3)")
    options = named("a-ismcts", eps_sample=eps, sample_q="expected", opponent_q="expected", ball=ball)
    twin = Twin(game, options, Hashed(game, 1), 1)
    twin.root(*some_view(game, 1))
    heads = 0
    for _ in range(60):
        twin.visit()
        for node in twin.path[:-1]:
            if node.kind == OPPONENT:
                assert node.spawned is not None
                p = [e.n / node.spawned.visits for e in node.spawned.edges]
                q = [e.q for e in node.edges]
            elif node.kind == SAMPLE:
                p, q = [e.prior for e in node.edges], [e.q for e in node.edges]
                if ball == "route" and node.head is node:
                    heads += 1
                    p, q = flat(node)
            else:
                continue
            radius = eps if node.kind == SAMPLE and (ball == "node" or node.head is node) else 0.0
            ends = spread(p, [lo[0] for lo, _ in q], [hi[0] for _, hi in q], radius)
            assert (node.lo[0], node.hi[0]) == pytest.approx(ends, abs=1e-12)
    assert (heads >= 60) == (ball == "route")


def flat(head: Node) -> tuple[Values, list[tuple[Values, Values]]]:
    """A chain of two SAMPLE nodes as one."""
    p, q = [], []
    for first in head.edges:
        if first.child is None:
            p.append(first.prior)
            q.append(first.q)
        else:
            p += [first.prior * e.prior for e in first.child.edges]
            q += [e.q for e in first.child.edges]
    assert sum(p) == pytest.approx(1)
    return p, q


RUNNING = named("mmds", sample_q="running", opponent_q="running", backup="running", root_select="mirror")
FAITHFUL = {
    "expected": named("mmds", sample_q="expected", opponent_q="expected"),
    "running": RUNNING,
    "running, mu": replace(RUNNING, luck_base=LuckBase.MU, luck_child=LuckChild.VC),
    "running, v": replace(RUNNING, luck_base=LuckBase.V, luck_child=LuckChild.V),
    "running, q": replace(RUNNING, luck_base=LuckBase.Q),
    "route": named("mmds", ball="route"),
    "route, running": replace(RUNNING, ball=Ball.ROUTE),
}


@pytest.mark.parametrize("name", FAITHFUL)
@pytest.mark.parametrize("spec", ["kuhn_poker(players=3)", "liars_dice(dice_sides=2,split=true)"])
def test_the_truth_stays_the_truth(spec: str, name: str) -> None:
    """With exact P, V, V_c and H no luck is left: every value that comes back is that of the node under P."""
    assert largest_error(spec, FAITHFUL[name]) < 1e-9


def test_without_luck_the_truth_is_not_kept() -> None:
    assert largest_error("kuhn_poker(players=3)", replace(RUNNING, luck_base=LuckBase.NONE)) > 0.1


def largest_error(spec: str, options: Options) -> float:
    game = load_game(spec)
    twin = Twin(game, options, Exact(game, mixed_strategy(game, 4)), 3)
    twin.search(*some_view(game, 8), 40)
    errors = [abs(q - v) for n in twin.nodes() for end in (n.lo, n.hi) for q, v in zip(end, n.v, strict=True)]
    assert len(errors) > 40
    return max(errors)
