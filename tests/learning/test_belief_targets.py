"""Targets of H: equal to a slow twin that walks each game by itself, and to Bayes' rule."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from learning.naive_nodes import Key, chain, key, keys
from learning.samples import HIDDEN, by_table, made_up, sample
from qdts import load_game
from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.kernels import Ints, Reals
from qdts.learning.selfplay.decisions import Decide
from qdts.learning.selfplay.games import play_games
from qdts.learning.selfplay.places import players_moves
from qdts.learning.selfplay.record import NO_SEARCH
from qdts.learning.selfplay.sampling import Evaluate, Guess, sample_games
from qdts.learning.targets.belief import FIRM, BeliefTargets, Moves, belief_targets, explorers_moves, moves_at
from qdts.search.evaluation.evaluator import NOTHING, SAMPLE
from qdts.solving.exact.belief import belief
from qdts.solving.policy.table import Policy, policy_on
from qdts.solving.tree.recent import game_tree


@pytest.mark.parametrize("spec", HIDDEN)
@pytest.mark.parametrize("explore", [0.3, 0.0])
def test_targets_of_beliefs(spec: str, explore: float) -> None:
    """The true values of holes at the own views of the seat that explores; of all seats where none does."""
    record = sample(spec, 60, explore)
    game, expected = record.game, defaultdict[Key, list[int]](list)
    for g in range(len(record)):
        for t in range(record.first[g], record.first[g + 1]):
            mover = int(record.mover[t])
            whole = not game.midway(game.step(record.worlds[t], int(record.action[t])))
            if record.search[t] != NO_SEARCH and record.explorer[g] in (mover, -1) and whole:
                for vector, hole, value in chain(game, record.worlds[t], mover):
                    expected[key(SAMPLE, mover, vector, NOTHING, hole)].append(value)
    targets = belief_targets(game, explorers_moves(record))
    found = keys(targets.nodes)
    assert len(found) == len(set(found))
    assert set(found) == set(expected)
    for n, at in enumerate(found):
        np.testing.assert_array_equal(targets.counts[n], np.bincount(expected[at], minlength=game.num_values))


def in_worlds(game: Game, decide: Decide) -> Evaluate:
    """Decisions as a policy to sample from."""

    def evaluate(worlds: Ints, mover: Ints) -> Guess:
        out = np.zeros((len(worlds), game.max_branching))
        for n, (world, player) in enumerate(zip(worlds, mover, strict=True)):
            if player >= 0:
                move = decide(game.view(world, int(player))[None], np.array([player])).move
                out[n, : len(move)] = move
        return Guess(out, np.zeros((len(worlds), game.max_branching, 0), np.float32))

    return evaluate


def sample_moves(game: Game, decide: Decide, games: int, explore: Reals, seed: int) -> Moves:
    levels = sample_games(game, in_worlds(game, decide), games, explore[None], np.random.default_rng(seed))
    return moves_at(levels, players_moves(levels))


def ratio(game: Game, policy: Decide, path: list[tuple[Ints, int, int]], player: int, e: Reals) -> float:
    """How likely the others' moves are with P, for how likely they are in the games."""
    out = 1.0
    for world, mover, action in path:
        if mover != player:
            legal = game.legal(world)
            p = policy(game.view(world, mover)[None], np.array([mover])).move[legal.index(action)]
            out *= p / ((1 - e[mover]) * p + e[mover] / len(legal))
    return out


@pytest.mark.parametrize(
    "spec", ["kuhn_poker(players=3)", "leduc_poker", "liars_dice(numdice=1,dice_sides=2,split=true)"]
)
def test_sampled_moves_count_by_the_ratio_of_the_others_probabilities(spec: str) -> None:
    """Walked one by one, all ways that games can go."""
    game = load_game(spec)
    explore = np.linspace(0.6, 0.0, game.players)
    moves = sample_moves(game, made_up(game), 300_000, explore, 4)
    policy, expected = made_up(game), dict[Key, tuple[float, float]]()
    found = {key(0, int(m), w, int(a)): (int(t), s) for w, m, a, t, s in zip(*moves, strict=True)}
    assert len(found) == len(moves.times), "each different way once"

    def walk(world: Ints, path: list[tuple[Ints, int, int]], chance: float) -> None:
        mover = game.mover(world)
        if mover == TERMINAL:
            return
        if mover == CHANCE:
            for outcome, likely in game.chance(world):
                walk(game.step(world, outcome), path, chance * likely)
            return
        legal, e = game.legal(world), explore[mover]
        p = policy(game.view(world, mover)[None], np.array([mover])).move
        weight = ratio(game, policy, path, mover, explore)
        for k, action in enumerate(legal):
            share = chance * ((1 - e) * p[k] + e / len(legal))
            expected[key(0, mover, world, action)] = share, weight
            if key(0, mover, world, action) in found:
                walk(game.step(world, action), [*path, (world, mover, action)], share)

    walk(game.initial(), [], 1.0)
    for at, (times, weight) in found.items():
        share, exact = expected[at]
        assert weight == pytest.approx(exact)
        assert abs(times - 300_000 * share) < 6 * np.sqrt(300_000 * share) + 6


def test_moves_that_count_in_part() -> None:
    game = load_game("leduc_poker")
    moves = sample_moves(game, made_up(game), 500, np.array([0.5, 0.5]), 4)
    expected = defaultdict[Key, list[tuple[int, float, float]]](list)
    for world, mover, _, times, weight in zip(*moves, strict=True):
        for vector, hole, value in chain(game, world, int(mover)):
            expected[key(SAMPLE, int(mover), vector, NOTHING, hole)].append((value, times, times * weight))
    targets = belief_targets(game, moves)
    assert set(keys(targets.nodes)) == set(expected)
    for n, at in enumerate(keys(targets.nodes)):
        values, times, weights = zip(*expected[at], strict=True)
        np.testing.assert_allclose(targets.counts[n], np.bincount(values, weights, game.num_values))
        assert targets.times[n] == sum(times)
        for power in (0.0, 0.5, 1.0):
            total = sum(weights)
            assert targets.weight(power)[n] == pytest.approx((total * (sum(times) + FIRM) / (total + FIRM)) ** power)


def mixed_kuhn() -> Policy:
    tree = game_tree(load_game("kuhn_poker"))
    first = np.random.default_rng(2).uniform(0.1, 0.9, tree.num_infosets)
    return policy_on(tree, np.column_stack([first, 1 - first]).reshape(-1))


def errors(targets: BeliefTargets, policy: Policy) -> list[float]:
    """How far off each target is from Bayes' rule, in units of what chance may do."""
    game, out = policy.game, []
    for n, counts in enumerate(targets.counts):
        exact = belief(policy, targets.nodes.vector[n], int(targets.nodes.player[n]))
        hole = int(targets.nodes.hole[n])
        expected = np.zeros(game.num_values)
        for world, p in zip(exact.worlds, exact.probability, strict=True):
            fits = [
                x
                for x, _ in game.values(targets.nodes.vector[n], hole)
                if (game.fill(targets.nodes.vector[n], hole, x) == world).all()
            ]
            expected[fits[0]] += p
        out.append(float(np.abs(counts / counts.sum() - expected).max() * np.sqrt(counts.sum()) / 0.5))
    return out


@pytest.mark.parametrize("everybody", [False, True])
def test_beliefs_are_not_biased_by_exploring(everybody: bool) -> None:
    """On Kuhn poker, with a fixed policy, where half of the moves of one seat or of all explore."""
    policy, game = mixed_kuhn(), load_game("kuhn_poker")
    if everybody:
        moves = sample_moves(game, by_table(policy), 60_000, np.array([0.5, 0.5]), 3)
    else:
        moves = explorers_moves(play_games(game, by_table(policy), 60_000, 0.5, np.random.default_rng(3)))
    targets = belief_targets(game, moves)
    assert len(targets.counts) == game_tree(game).num_infosets
    assert targets.counts.sum() > 60_000
    assert max(errors(targets, policy)) < 5
    if everybody:
        alike = belief_targets(game, moves._replace(weight=np.ones(len(moves.weight))))
        assert max(errors(alike, policy)) > 10, "that is, had they all been counted alike"


def test_beliefs_are_not_biased_where_the_number_of_the_others_moves_is_hidden() -> None:
    """Phantom tic-tac-toe after player 0 took the centre, uniform P: at their next turn the other's first try was the
    centre with probability 1/9, and then they have tried twice."""
    game, calls = load_game("phantom_ttt"), list[int]()

    def evaluate(worlds: Ints, mover: Ints) -> Guess:
        degree = batch.choices(game, worlds, mover).counts
        policy = np.where(np.arange(9) < degree[:, None], 1.0 / degree[:, None], 0.0)
        if not calls:
            policy = np.eye(9)[[4]]  # the centre
        calls.append(len(worlds))
        return Guess(policy, np.zeros((len(worlds), 9, 0), np.float32))

    levels = sample_games(game, evaluate, 20_000, np.array([[0.0, 0.5]]), np.random.default_rng(1))
    after = [level.times * level.weight(np.arange(len(level.mover)), 0) * (level.mover == 0) for level in levels[:4]]
    assert calls[0] == 1
    assert after[1].sum() == 0
    at_once, after_a_try = after[2].sum(), after[3][levels[2].mover[levels[3].parent] == 1].sum()
    assert after_a_try / (at_once + after_a_try) == pytest.approx(1 / 9, abs=0.006)
