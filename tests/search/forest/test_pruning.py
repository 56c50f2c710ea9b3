"""Going on from a later view: what is kept equals what the twin keeps, and so does the search that goes on."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import InputError, load_game
from qdts.games import Game
from qdts.games.interface import CHANCE
from qdts.search.decision.result import Result
from qdts.search.evaluation.evaluator import ACT
from qdts.search.forest.lanes.lane import NODES, ROOT
from qdts.search.forest.lanes.layout import FIELDS
from qdts.search.forest.reuse import find_view
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named
from qdts.search.options.options import Options
from search.comparison import compare
from search.naive_evaluators import Hashed
from search.samples import first_view
from search.twin import Twin


def pair(game: Game, options: Options, seed: int, visits: int) -> tuple[Searcher, Twin]:
    """The engine, with another search beside it, and the twin, after so many visits."""
    view, player = first_view(game, 4 * seed)
    searcher = Searcher(
        game, [view, view], [player] * 2, options, Hashed(game, seed), seeds=[seed, seed + 99], first_nodes=2
    )
    searcher.run(visits)
    twin = Twin(game, options, Hashed(game, seed), seed)
    twin.search(view, player, visits)
    return searcher, twin


OPTIONS = {
    "qdts": named("qdts"),
    "widen": named("qdts", widen=True),
    "share": named("qdts", share=True),
    "mmds": named("mmds", step=1.0),
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize(
    "spec", ["kuhn_poker(players=3)", "leduc_poker", "liars_dice(dice_sides=3,split=true)", "phantom_ttt"]
)
def test_a_kept_search_goes_on_as_the_twin_does(spec: str, name: str) -> None:
    game, kept = load_game(spec), 0
    for seed in range(4):
        searcher, twin = pair(game, OPTIONS[name], seed, 80)
        beside = [getattr(searcher.forest, name)[1].tobytes() for name in FIELDS]
        own = [n for n in twin.top.tree.acts.values() if n is not twin.top and n.settled]
        if not own:
            continue
        node = own[np.random.default_rng(seed).integers(len(own))]
        before = searcher.forest.registers[0, NODES]
        assert searcher.keep(0, node.vector)
        assert twin.keep(node.vector)
        assert compare(searcher, 0, twin) < before
        assert beside == [getattr(searcher.forest, name)[1].tobytes() for name in FIELDS]
        searcher.run(40)
        for _ in range(40):
            twin.visit()
        compare(searcher, 0, twin)
        assert searcher.result(0).visits.sum() == twin.top.visits
        kept += 1
    assert kept > 0


@pytest.mark.parametrize("spec", ["tic_tac_toe", "pig(winscore=20)"])
def test_a_position_is_found_by_the_moves_that_led_there(spec: str) -> None:
    game = load_game(spec)
    for seed in range(3):
        searcher, twin = pair(game, named("puct"), seed, 120)
        node = twin.top
        moves: list[int] = []
        while not moves or node.kind != ACT:
            edge = max((e for e in node.edges if e.child is not None), key=lambda e: e.n)
            assert edge.child is not None
            moves.append(edge.choice)
            node = edge.child
        assert searcher.follow(0, moves)
        assert twin.follow(moves)
        compare(searcher, 0, twin)
        searcher.run(40)
        for _ in range(40):
            twin.visit()
        compare(searcher, 0, twin)
        deep = [int(a) for a in game.legal(searcher.forest.vector[0, ROOT])[:1]]
        assert searcher.follow(0, []) == twin.follow([])
        compare(searcher, 0, twin)
        if game.mover(game.step(searcher.forest.vector[0, ROOT], deep[0])) >= 0:
            assert searcher.follow(0, deep) == twin.follow(deep)
            compare(searcher, 0, twin)


@pytest.mark.parametrize("noise", [0.0, 0.25])
@pytest.mark.parametrize("spec", ["tic_tac_toe", "pig(winscore=20)"])
def test_many_lanes_follow_their_moves_as_each_does(spec: str, noise: float) -> None:
    """Also to positions that no visit has come to, and where no move was made."""
    game = load_game(spec)
    stream = np.random.default_rng(2)
    one, other = (
        Searcher(game, [game.initial()] * 8, [0] * 8, named("puct", noise=noise), Hashed(game, 1)) for _ in range(2)
    )
    one.run(30)
    other.run(30)
    lanes, moves, positions = np.array([0, 2, 3, 4, 7]), [], []
    for least in range(len(lanes)):
        world = game.initial()
        made: list[int] = []
        while len(made) < least or game.mover(world) == CHANCE:
            made.append(int(stream.choice([choice.number for choice in game.choices(world)])))
            world = game.step(world, made[-1])
        moves.append(made)
        positions.append(world)
    found = [one.follow(int(s), made) for s, made in zip(lanes, moves, strict=True)]
    other.follow_all(lanes, moves, np.array(positions))
    assert True in found
    for searcher in (one, other):
        searcher.run(20)
    for s in range(8):
        assert as_dict(one.result(s)) == as_dict(other.result(s))


def as_dict(result: Result) -> dict[str, object]:
    return {name: np.asarray(value).tolist() for name, value in vars(result).items()}


def test_a_view_that_was_never_reached_begins_anew() -> None:
    game = load_game("leduc_poker")
    searcher, twin = pair(game, named("qdts"), 1, 3)
    stream = np.random.default_rng(0)
    player = twin.top.owner
    while True:
        world = game.initial()
        while game.mover(world) != -2:
            view = game.view(world, game.mover(world)) if game.mover(world) >= 0 else None
            if view is not None and game.mover(world) == player and view.tobytes() not in twin.top.tree.acts:
                break
            choices = [a for a, _ in game.chance(world)] if game.mover(world) == -1 else game.legal(world)
            world = game.step(world, int(stream.choice(choices)))
        else:
            continue
        break
    assert view is not None
    assert not searcher.keep(0, view)
    assert not twin.keep(view)
    assert searcher.forest.registers[0, NODES] == 1
    searcher.run(50)
    for _ in range(50):
        twin.visit()
    compare(searcher, 0, twin)
    assert searcher.result(0).visits.sum() == 50


def test_a_root_that_lies_below_its_later_view_is_not_kept() -> None:
    """No game here has views that leave the time open so far, so a link is bent by hand."""
    game = load_game("leduc_poker")
    searcher, twin = pair(game, named("qdts", share=True), 1, 80)
    later = next(n for n in twin.top.tree.acts.values() if n is not twin.top and any(b.spawned for b in twin.nodes(n)))
    f = searcher.forest
    node = find_view(f.where, 0, later.vector)
    left, seen = [node], {node}
    while left:
        n = left.pop()
        below = [*f.child[0, f.first[0, n] :][: f.degree[0, n]], f.spawned[0, n]]
        left += [int(b) for b in below if b >= 0 and b not in seen]
        seen |= {int(b) for b in below if b >= 0}
    spawning = next(n for n in sorted(seen) if f.spawned[0, n] >= 0)
    f.spawned[0, spawning] = ROOT
    assert not searcher.keep(0, later.vector)
    assert searcher.forest.registers[0, NODES] == 1
    searcher.run(10)
    assert searcher.result(0).visits.sum() == 10


def test_noise_is_drawn_anew_for_a_kept_root() -> None:
    game = load_game("leduc_poker")
    view, player = first_view(game, 0)
    options = named("qdts", noise=0.5, prior_temperature=2.0)
    searcher = Searcher(game, [view], [player], options, Hashed(game, 1), seeds=[5])
    searcher.run(200)
    f = searcher.forest
    own = np.flatnonzero((f.kind[0] == ACT) & (f.tree[0] == ROOT) & (f.degree[0] > 1))
    later = [int(n) for n in own if n not in (ROOT,) and f.evaluated[0, n]]
    before = f.guide[0].copy()
    assert searcher.keep(0, f.vector[0, later[0]].copy())
    f = searcher.forest
    guide, prior = f.guide[0, : f.degree[0, ROOT]], f.prior[0, f.first[0, ROOT] :][: f.degree[0, ROOT]]
    assert guide.sum() == pytest.approx(1)
    assert guide.tolist() != before[: len(guide)].tolist()
    assert guide.tolist() != pytest.approx(prior.tolist())
    searcher.run(10)


def test_a_search_goes_on_at_its_player_s_turn_alone() -> None:
    game = load_game("kuhn_poker")
    searcher, twin = pair(game, named("qdts"), 1, 20)
    other = next(n for n in twin.nodes() if n.spawned is not None).spawned
    assert other is not None
    with pytest.raises(InputError, match="it is not player 0's turn"):
        searcher.keep(0, other.vector)
    with pytest.raises(InputError, match="use `keep`"):
        searcher.follow(0, [0])
    tic = load_game("tic_tac_toe")
    searcher = Searcher(tic, [tic.initial()], [0], named("puct"), Hashed(tic, 1))
    searcher.run(10)
    with pytest.raises(InputError, match="use `follow`"):
        searcher.keep(0, tic.initial())
    with pytest.raises(InputError, match="nobody is to move"):
        searcher.follow(0, [0, 3, 1, 4, 2])
    with pytest.raises(InputError):
        searcher.follow(0, [0, 0])
