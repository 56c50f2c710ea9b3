"""The worlds that simulations begin with: the root's view with its holes filled."""

from __future__ import annotations

from typing import Any

from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints, Reals, kernel
from qdts.rng import State, sampled
from qdts.search.bandit.scratch import Scratch
from qdts.search.bandit.setup import Setup
from qdts.search.bandit.tree import ROOT, SIZE, Tree


@kernel(inline=True)
def take(vectors: Ints, at: int, size: int, scratch: Scratch) -> None:
    """Make a vector the world at hand."""
    for i in range(size):
        scratch.world[i] = vectors[at * size + i]


@kernel()
def fill_first(setup: Setup, tree: Tree, scratch: Scratch) -> bool:
    """Fill the root's first hole with each of its values, once for all simulations. False if it has none."""
    game, rules, size = setup.game, setup.rules, tree.registers[SIZE]
    take(tree.views, ROOT, size, scratch)
    scratch.fillings[0] = 0
    hole = game.hole(rules, scratch.world)
    if hole == NO_HOLE:
        return True
    count = list_values(game, rules, scratch.world, hole, scratch.choices, scratch.weights, setup.uniform)
    scratch.fillings[0] = count
    for k in range(count):
        take(tree.views, ROOT, size, scratch)
        game.fill(rules, scratch.world, hole, scratch.choices[k])
        scratch.next_hole[k] = game.hole(rules, scratch.world)
        for i in range(size):
            scratch.filled[k * size + i] = scratch.world[i]
    return bool(count > 0)


@kernel()
def fill_all(tree: Tree, scratch: Scratch, worlds: Ints, weights: Reals, count: int) -> None:
    """Take worlds and their weights as the fillings of the root."""
    scratch.fillings[0] = count
    for k in range(count):
        scratch.weights[k] = weights[k]
        scratch.next_hole[k] = NO_HOLE
    for i in range(count * tree.registers[SIZE]):
        scratch.filled[i] = worlds[i]


@kernel(inline=True)
def list_values(game: Any, rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals, uniform: bool) -> int:
    """List the values of a hole with their weights, the rules' or uniform ones; how many there are."""
    count = game.values(rules, view, hole, values, weights)
    if uniform:
        for k in range(count):
            weights[k] = 1.0 / count
    return count


@kernel(inline=True)
def sample_world(setup: Setup, tree: Tree, scratch: Scratch, state: State) -> bool:
    """Fill every hole of the root. False if that can't be done."""
    size = tree.registers[SIZE]
    if scratch.fillings[0] == 0:
        take(tree.views, ROOT, size, scratch)
        return True
    k = sampled(scratch.weights, scratch.fillings[0], state)
    take(scratch.filled, k, size, scratch)
    return fill_from(setup, scratch, size, scratch.next_hole[k], state, setup.uniform)


@kernel(inline=True)
def fill_from(setup: Setup, scratch: Scratch, size: int, hole: int, state: State, uniform: bool) -> bool:
    """Fill the holes of the world at hand from one on. False if that can't be done."""
    game, rules = setup.game, setup.rules
    for _ in range(size):
        if hole == NO_HOLE:
            return True
        count = list_values(game, rules, scratch.world, hole, scratch.choices, scratch.chances, uniform)
        if count < 1:
            return False
        game.fill(rules, scratch.world, hole, scratch.choices[sampled(scratch.chances, count, state)])
        hole = game.hole(rules, scratch.world)
    return bool(hole == NO_HOLE)
