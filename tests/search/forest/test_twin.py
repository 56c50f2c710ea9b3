"""The naive twin: what docs/search.md promises of every search, and visits worked out by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numba import float64

from qdts import load_game
from qdts.games import Game
from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints, kernel
from qdts.pointers import StateType
from qdts.rng import State, seeded, uniform
from qdts.search.evaluation.evaluator import (
    ACT,
    CHANCE,
    NOTHING,
    OPPONENT,
    SAMPLE,
    TERMINAL,
    Evaluation,
    Evaluator,
    Query,
)
from qdts.search.options.named import named
from qdts.search.options.options import Options
from search.naive_evaluators import Drawing, Exact, Hashed, Uniform, Written, mixed_strategy
from search.naive_formulas import Values, lowest, mirror_step, sticky
from search.naive_tree import Node
from search.programs import ball_by_program
from search.samples import some_view
from search.stream import number
from search.twin import NOBODY, Twin
from solving.naive import expected_return

GAMES = [
    "kuhn_poker(players=3)",
    "leduc_poker",
    "liars_dice(numdice=2,dice_sides=3)",
    "liars_dice(dice_sides=3,split=true)",
    "matrix_game",
    "phantom_ttt",
    "pig",
    "tic_tac_toe",
]
OPTIONS = {
    "a-ismcts": named("a-ismcts"),
    "qdts": named("qdts"),
    "qdts, widened and shared": named("qdts", widen=True, share=True),
    "qdts, sticky, urgent": named("qdts", estimate="sticky", unvisited="fpu", fpu=0.2, eps_sample=0.7),
    "mmds": named("mmds", share=True),
    "mmds, steps": named("mmds", step=3.0, eps_opponent=0.3),
    "qdts-descent": named("qdts-descent"),
}
FORMS = {
    **OPTIONS,
    "qdts-backprop": named("qdts-backprop"),
    "nash-ismcts": named("nash-ismcts", belief="model"),
    "masked, by ucb": named("qdts", sample_q="masked", opponent_q="masked", select="ucb", root_select="guided"),
}


def searched(spec: str, options: Options, visits: int, seed: int = 1) -> Twin:
    game = load_game(spec)
    twin = Twin(game, options, Hashed(game, seed), seed)
    twin.search(*some_view(game, seed), visits)
    return twin


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("spec", GAMES)
def test_counts_and_shapes(spec: str, name: str) -> None:
    game, options = load_game(spec), FORMS[name]
    twin = searched(spec, options, 40)
    assert twin.top.visits == 40
    nodes = list(twin.nodes())
    assert len({id(n) for n in nodes}) == len(nodes)
    assert twin.evaluations == sum(n.evaluated for n in nodes)
    assert all(n.settled for n in nodes)
    acts = Counter((id(n.tree), n.vector.tobytes()) for n in nodes if n.kind == ACT)
    assert twin.perfect or max(acts.values()) == 1
    for node in nodes:
        assert len(node.v) == len(node.lo) == len(node.hi) == (1 if game.hidden else game.players)
        assert all(lo <= hi + 1e-12 for lo, hi in zip(node.lo, node.hi, strict=True))
        assert (node.owner == NOBODY) == twin.perfect
        if node.kind == ACT:
            assert sum(e.w for e in node.edges) == pytest.approx(node.visits)
            assert node.n_mixed <= node.visits
            assert [e.choice for e in node.edges] == sorted(e.choice for e in node.edges)
        if node.spawned is not None:
            assert node.kind == OPPONENT
            assert node.spawned.owner == node.actor != node.owner
            assert [e.choice for e in node.edges] == [e.choice for e in node.spawned.edges]
        if node.kind == SAMPLE:
            assert node.vector[node.hole] < 0


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("spec", GAMES)
def test_after_a_visit_the_path_keeps_every_formula(spec: str, name: str) -> None:
    """Also that it begins at the root and stops outside of every chain, at a new node or a finished world."""
    game = load_game(spec)
    twin = Twin(game, OPTIONS[name], Hashed(game, 2), 2)
    twin.root(*some_view(game, 2))
    for _ in range(25):
        before = {id(n): n.visits for n in twin.nodes()}
        twin.visit()
        assert twin.path[0] is twin.top
        for node in twin.path[:-1]:
            assert node.visits == before.get(id(node), 0) + 1
            assert_formula(twin, node)
        last = twin.path[-1]
        assert last.settled
        assert not last.passing
        assert last.kind == TERMINAL or id(last) not in before


def assert_formula(twin: Twin, node: Node) -> None:
    """Q is what the page says of the node's state, written once more with numpy."""
    options, scale = twin.options, twin.scale
    for k in range(len(node.v)):
        q = []
        for e in node.edges:
            if e.child is not None:
                q.append((e.child.lo[k], e.child.hi[k]))
            elif node.kind == ACT and options.unvisited == "fpu":
                q.append((node.v[k] - options.fpu * scale,) * 2)
            else:
                q.append((e.vc[k],) * 2)
        n = np.array([e.n for e in node.edges])
        if node.kind == ACT and options.backup == "average":
            expected = np.array([e.w for e in node.edges]) @ q / n.sum()
        elif node.kind == ACT:
            expected = np.array(policy_of(twin, node)) @ q
        else:
            star = np.array([e.child.v[k] if e.child is not None else e.vc[k] for e in node.edges])
            d, eps = np.array([e.prior for e in node.edges]), 0.0
            if node.kind == SAMPLE:
                eps = options.eps_sample
            if node.kind == OPPONENT:
                assert node.spawned is not None
                d, eps = np.array(policy_of(twin, node.spawned)), options.eps_opponent
                if options.estimate != "mirror":
                    n = np.array([e.n for e in node.spawned.edges])
            assert d.sum() == pytest.approx(1)
            ball = np.array([lowest(list(d), list(star), eps), -lowest(list(d), list(-star), eps)])
            expected = ball + n @ (np.array(q) - star[:, None]) / n.sum()
        assert [node.lo[k], node.hi[k]] == pytest.approx(expected, abs=1e-12)


def policy_of(twin: Twin, root: Node) -> Values:
    """P̂ of a spawned root; the mirror step of any ACT node."""
    prior, n = np.array([e.prior for e in root.edges]), np.array([e.n for e in root.edges])
    options, total = twin.options, n.sum()
    if options.estimate == "mirror":
        k = root.actor if twin.perfect else 0
        ends = [(e.child.lo[k], e.child.hi[k]) if e.child is not None else (e.vc[k], e.vc[k]) for e in root.edges]
        doubt = options.doubt * twin.scale
        nearest = np.clip(prior @ np.mean(ends, axis=1), np.min(ends, axis=1) - doubt, np.max(ends, axis=1) + doubt)
        weights = prior * np.exp(options.step * nearest / twin.scale)
        return list(weights / weights.sum())
    if options.estimate == "dirichlet":
        return list((n + options.pseudo_visits * prior) / (total + options.pseudo_visits))
    f = n / total
    if options.estimate == "counts":
        return list(f)
    r = np.sqrt(2 * (len(n) * np.log(2) + np.log(1 / options.confidence)) / total)
    return list(f + (prior - f) * min(1, r / max(abs(prior - f).sum(), 1e-300)))


@pytest.mark.parametrize("spec", GAMES)
def test_without_dispersion_intervals_are_points(spec: str) -> None:
    twin = searched(spec, named("a-ismcts"), 40)
    for node in twin.nodes():
        assert node.lo == node.hi
    if twin.perfect:
        return
    wide = searched(spec, named("qdts"), 40)
    assert any(n.lo < n.hi for n in wide.nodes())


def test_where_nothing_is_hidden_dispersion_is_never_used() -> None:
    one, other = (searched("tic_tac_toe", named(name), 60) for name in ("puct", "qdts"))
    pairs = list(zip(one.nodes(), other.nodes(), strict=True))
    assert all((a.vector == b.vector).all() and a.lo == b.lo and a.visits == b.visits for a, b in pairs)


@pytest.mark.parametrize("pass_cards", [True, False])
def test_a_visit_gets_past_every_hole_of_hearts(pass_cards: bool) -> None:
    """A pass split in three and 39 holes: the first visit ends in the world behind them all."""
    game = load_game("hearts" if pass_cards else "hearts(pass_cards=false)")
    twin = Twin(game, named("qdts"), Uniform(game), 1)
    view, player = some_view(game, seed=3)
    twin.root(view, player)
    for _ in range(3):
        twin.visit()
        kinds = Counter(n.kind for n in twin.path)
        parts = 3 if game.midway(twin.path[1].vector) else 1
        assert kinds[SAMPLE] >= 39
        assert kinds[ACT] == parts
        assert game.hole(twin.path[-1].vector) == NO_HOLE
        assert not game.midway(twin.path[-1].vector)
    assert (parts == 3) == (pass_cards and bool(view[1] != 1))


def test_a_split_bid_is_one_visit() -> None:
    game = load_game("liars_dice(dice_sides=3,split=true)")
    twin = Twin(game, named("qdts"), Uniform(game), 5)
    view, player = some_view(game, seed=5)
    twin.root(view, player)
    for _ in range(60):
        twin.visit()
        assert [n.kind for n in twin.path[:3]] == [ACT, ACT, SAMPLE]
        assert game.midway(twin.path[1].vector)
        assert twin.path[1].passing
        assert not twin.path[1].is_root
    opponents = [n for n in twin.nodes() if n.kind == OPPONENT and game.midway(n.vector)]
    assert opponents
    assert all(n.passing and n.spawned is not None for n in opponents)


@pytest.mark.parametrize("spec", ["leduc_poker", "liars_dice(numdice=2,dice_sides=3)"])
def test_simulated_players_simulate_players(spec: str) -> None:
    twin = searched(spec, named("qdts"), 300)
    assert twin.spawn_depth >= 3
    assert twin.spawn_depth == max(n.tree.depth for n in twin.nodes())


def test_shared_trees_are_one_tree() -> None:
    apart, shared = (searched("leduc_poker", named("qdts", share=share), 200) for share in (False, True))
    for twin, at_most in ((apart, 1_000_000), (shared, 1)):
        roots = {id(n): n for n in twin.nodes() if n.is_root}.values()
        same = Counter((n.owner, n.vector.tobytes()) for n in roots)
        assert max(same.values()) <= at_most
    assert max(Counter(n.vector.tobytes() for n in apart.nodes() if n.is_root).values()) > 1
    spawning = Counter(id(n.spawned) for n in shared.nodes() if n.spawned is not None)
    assert max(spawning.values()) > 1


def test_a_widened_node_has_evaluated_children() -> None:
    twin = searched("leduc_poker", named("qdts", widen=True), 30)
    assert all(e.child is not None and e.child.settled for e in twin.top.edges)
    twin = searched("matrix_game", named("qdts", widen=True), 1)
    for edge in twin.top.edges:  # the row player sees everything: the column player's nodes, spread before any visit
        assert edge.child is not None
        assert edge.child.kind == OPPONENT
        assert edge.child.spawned is not None
        assert edge.child.spawned.evaluated


def test_a_guide_replaces_the_prior_in_puct_alone() -> None:
    game = load_game("kuhn_poker")
    view, player = some_view(game, 1)
    guide = [0.0, 1.0]
    options = named("a-ismcts", c=100.0)
    guided, plain = (Twin(game, options, Uniform(game), 1) for _ in range(2))
    assert guided.search(view, player, 50, guide).edges[1].n >= 49
    assert plain.search(view, player, 50).edges[1].n < 40
    assert [e.prior for e in guided.top.edges] == [0.5, 0.5]


def test_puct_counts() -> None:
    """Where every value is 0 the largest P(e) / (1 + N(e)) is chosen; the first visit, when √ΣN is 0, draws from P."""
    game = load_game("tic_tac_toe")

    class Rising(Uniform):
        def evaluate(self, query: Query, state: State) -> Evaluation:
            prior = np.arange(9.0, 9.0 + len(query.choices))
            return super().evaluate(query, state)._replace(prior=prior / prior.sum())

    twin = Twin(game, named("puct"), Rising(game), 1)
    root = twin.search(game.initial(), 0, 1)
    assert root.n_mixed == 1
    counts = np.array([e.n for e in root.edges])
    for _ in range(20):
        twin.visit()
        counts[np.argmax(np.arange(9.0, 18.0) / (1 + counts))] += 1
        assert [e.n for e in root.edges] == list(counts)


def test_a_mirror_of_step_0_only_evaluates_simulated_players() -> None:
    for step, visited in ((0.0, False), (2.0, True)):
        twin = searched("leduc_poker", named("mmds", step=step), 60)
        spawned = [n.spawned for n in twin.nodes() if n.spawned is not None]
        assert spawned
        assert all(n.evaluated and (n.visits > 0) == visited for n in spawned)


def test_matching_pennies_by_hand() -> None:
    """Three visits of the row player with qdts: c = 0.5, eps = 0.1, κ = 10, S = 1. Nothing hangs on a draw."""
    game = load_game("matrix_game(payoffs=matching_pennies)")
    evaluator = Written(
        {
            (ACT, 0, NOTHING): (0.1, [0.5, -0.2], [0.6, 0.4]),
            (OPPONENT, 0, NOTHING): (0.3, [0.8, -0.6], [0.5, 0.5]),
            (ACT, 1, NOTHING): (0.0, [-0.5, 0.5], [0.7, 0.3]),
            (SAMPLE, 1, 1): (0.9, [0.9, -1.0], [1.0, 0.0]),
        }
    )
    twin = Twin(game, named("qdts"), evaluator, 0)
    root = twin.root(game.initial(), 0)

    # √ΣN is 0: heads by V_c alone. Its child is new: the column player's move, Q = V.
    twin.visit()
    heads = root.edges[0].child
    assert heads is not None
    assert (heads.kind, heads.lo, heads.hi, heads.spawned) == (OPPONENT, [0.3], [0.3], None)
    assert [e.w for e in root.edges] == [1, 0]
    assert (root.lo, root.hi) == ([0.3], [0.3])

    # Heads: 0.3 + 0.5 · 0.6 · 1 / 2 = 0.45. Tails: −0.2 + 0.5 · 0.4 · 1 / 1 = 0. Heads again. The column player
    # is simulated: tails by V_c, a sample (heads for sure), and +1 for them at the end. Their SAMPLE node: V* =
    # (1, −1), H = (1, 0), so 0.05 of mass moves down for the lower end: [0.9, 1].
    twin.visit()
    spawned = heads.spawned
    assert spawned is not None
    assert [e.n for e in spawned.edges] == [0, 1]
    sample = spawned.edges[1].child
    assert sample is not None
    assert (sample.kind, sample.pending) == (SAMPLE, 1)
    assert (*sample.lo, *sample.hi) == pytest.approx((0.9, 1.0))
    assert (*spawned.lo, *spawned.hi) == pytest.approx((0.9, 1.0))
    # P̂ = (0 + 10 · 0.7, 1 + 10 · 0.3) / 11. V* = (0.8 from V_c, −1 from the end). 0.05 · 1.8 = 0.09 either way.
    middle = (7 * 0.8 - 4) / 11
    assert (*heads.lo, *heads.hi) == pytest.approx((middle - 0.09, middle + 0.09))
    assert (*root.lo, *root.hi) == pytest.approx((middle - 0.09, middle + 0.09))

    # Heads: [0.0555, 0.2355] + 0.5 · 0.6 · √2 / 3 = [0.1969, 0.3769]. Tails: −0.2 + 0.5 · 0.4 · √2 = 0.0828, below.
    # The column player: tails [0.9, 1] against heads −0.5 + 0.5 · 0.7 · 1 / 1 = −0.15, so tails again.
    twin.visit()
    assert [e.n for e in root.edges] == [3, 0]
    assert [e.n for e in spawned.edges] == [0, 2]
    middle = (7 * 0.8 - 5) / 12
    assert (*root.lo, *root.hi) == pytest.approx((middle - 0.09, middle + 0.09))
    assert (twin.evaluations, twin.touched, twin.spawn_depth) == (4, 2 + (3 + 3) + (3 + 3), 1)


def test_a_mixed_choice_by_hand() -> None:
    """Two of three rows tie: they share W by P, the draw decides, and the unvisited one counts with its V_c."""
    game = load_game("matrix_game")
    evaluations = {
        (ACT, 0, NOTHING): (0.0, [0.25, 0.25, -0.5], [0.2, 0.6, 0.2]),
        (OPPONENT, 0, NOTHING): (-0.15, [0.0] * 3, [1 / 3] * 3),
    }
    twin = Twin(game, named("qdts"), Written(evaluations), 7)
    root = twin.root(game.initial(), 0)
    u = number(seeded(7))
    twin.visit()
    chosen = 0 if u < 0.25 else 1
    assert [e.n for e in root.edges] == [int(e == chosen) for e in range(3)]
    assert [e.w for e in root.edges] == pytest.approx([0.25, 0.75, 0.0])
    assert root.n_mixed == 1
    weight = root.edges[chosen].w
    assert root.lo == root.hi == pytest.approx([-0.15 * weight + 0.25 * (1 - weight)])


@pytest.mark.parametrize(
    "spec", ["kuhn_poker", "kuhn_poker(players=3)", "liars_dice(dice_sides=2,split=true)", "matrix_game"]
)
def test_the_truth_stays_the_truth(spec: str) -> None:
    """With exact P, V and H, mmds with step 0 gives the value of every node under P, whatever it visits."""
    game = load_game(spec)
    strategy = mixed_strategy(game, 4)
    exact = Exact(game, strategy)
    twin = Twin(game, named("mmds"), exact, 3)
    for moves in range(3):
        view, player = some_view(game, 8, moves)
        root = twin.search(view, player, 40)
        nodes = list(twin.nodes())
        assert len({n.kind for n in nodes}) >= 3
        for node in nodes:
            assert node.lo == pytest.approx(node.v)
            assert node.hi == pytest.approx(node.v)
        for edge in root.edges:
            assert edge.child is not None
            assert edge.child.lo[0] == pytest.approx(forced_value(game, exact, view, player, edge.choice))


def forced_value(game: Game, exact: Exact, view: Ints, player: int, action: int) -> float:
    """Q^P of an action: what everyone's strategy gives on average after it, history by history."""
    belief = exact.belief(view, player)
    return sum(p * float(expected_return(game, exact.strategy, game.step(w, action))[player]) for w, p in belief)


def test_dispersion_holds_a_mixed_equilibrium() -> None:
    """Rock-paper-scissors with perfect models: nearly all intervals overlap, so visits follow P."""
    game = load_game("matrix_game")

    def uniform(view: Ints) -> dict[int, float]:
        return dict.fromkeys(game.legal(view), 1 / 3)

    twin = Twin(game, named("qdts"), Exact(game, uniform), 11)
    root = twin.search(game.initial(), 0, 2000)
    assert root.lo[0] < 0 < root.hi[0]
    assert [e.n / 2000 for e in root.edges] == pytest.approx([1 / 3] * 3, abs=0.1)
    assert root.n_mixed > 1900


def test_chance_is_averaged_by_the_rules() -> None:
    """Pig: Q of a CHANCE node is its expectation, whatever was sampled."""
    twin = searched("pig", named("puct"), 120)
    chances = [n for n in twin.nodes() if n.kind == CHANCE]
    assert any(n.visits > 1 for n in chances)
    for node in chances:
        if node.visits == 0:
            assert node.lo == pytest.approx([sum(e.prior * e.vc[k] for e in node.edges) for k in range(2)])


@pytest.mark.parametrize("decision", ["lcb", "mirror", "visits", "most", "ucb"])
def test_decisions(decision: str) -> None:
    twin = searched("leduc_poker", named("qdts", decision=decision), 64)
    move, target = twin.decision()
    assert sum(move) == pytest.approx(1)
    assert sum(target) == pytest.approx(1)
    if decision in ("most", "ucb"):
        assert max(move) == 1
        assert target == [e.n / 64 for e in twin.top.edges]


def test_a_seed_decides_everything() -> None:
    game = load_game("liars_dice(numdice=2,dice_sides=3)")
    view, player = some_view(game, 1)

    def run(seed: int, evaluator: Evaluator) -> list[tuple[int, bytes, list[int], list[float]]]:
        twin = Twin(game, replace(named("qdts"), widen=True), evaluator, seed)
        twin.search(view, player, 50)
        return [(n.kind, n.vector.tobytes(), [e.n for e in n.edges], n.lo) for n in twin.nodes()]

    for evaluator in (Hashed(game, 1), Drawing(game, Hashed(game, 1))):
        assert run(1, evaluator) == run(1, evaluator) != run(2, evaluator)


@kernel(float64(StateType))
def compiled_number(state: State) -> float:
    return uniform(state)


def test_the_stream_is_that_of_kernels() -> None:
    here, there = seeded(-5), seeded(-5)
    assert [number(here) for _ in range(100)] == [compiled_number(there) for _ in range(100)]


def test_formulas() -> None:
    numbers = np.random.default_rng(0)
    for eps in [0.0, 0.1, 0.5, 1.5, 2.0] * 8:
        d, values = numbers.dirichlet(np.full(5, 0.5)), numbers.integers(-2, 3, 5) + 0.0
        assert lowest(list(d), list(values), eps) == pytest.approx(ball_by_program(d, values, eps), abs=1e-8)
    prior = [0.5, 0.3, 0.2]
    assert mirror_step(prior, [1.0, -1.0, 0.0], 0.0, 0.3) == pytest.approx(prior)
    assert mirror_step(prior, [0.0] * 3, 10.0, 20.0) == pytest.approx([1 / 3] * 3, abs=0.01)  # towards the magnet
    assert mirror_step(prior, [0.0, 1.0, 0.0], 50.0, 0.0) == pytest.approx([0, 1, 0], abs=1e-9)
    assert sticky(prior, [1.0, 0.0, 0.0], 1, 0.05) == pytest.approx(prior)  # the ball holds everything
    far = sticky(prior, [1.0, 0.0, 0.0], 10_000, 0.05)
    radius = np.sqrt(2 * (3 * np.log(2) + np.log(20)) / 10_000)
    assert sum(abs(a - b) for a, b in zip(far, [1.0, 0.0, 0.0], strict=True)) == pytest.approx(radius)
    assert sum(far) == pytest.approx(1)
