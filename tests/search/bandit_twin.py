"""The bandit of docs/search.md, as slow and as plain as it is written there."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from qdts.games import Game
from qdts.games.interface import CHANCE, NO_HOLE, TERMINAL
from qdts.kernels import Ints

MASK = (1 << 64) - 1


class Stream:
    """SplitMix64 in whole numbers."""

    def __init__(self, seed: int) -> None:
        self.state = seed & MASK

    def bits(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self) -> float:
        return (self.bits() >> 11) / (1 << 53)

    def draw(self, choices: list[tuple[int, float]]) -> int:
        """One of (choice, weight)."""
        u = self.uniform()
        for choice, weight in choices:
            u -= weight
            if u < 0:
                return choice
        return choices[-1][0]


@dataclass
class Edge:
    N: int = 0
    W: float = 0.0
    N_avail: int = 0
    children: dict[tuple[bytes, int], Node] = field(default_factory=dict)


@dataclass
class Node:
    parent: Node | None
    action: int
    view: Ints
    mover: int
    edges: dict[int, Edge] = field(default_factory=dict)


class BanditTwin:
    def __init__(self, game: Game, view: Ints, player: int, c: float, seed: int, max_nodes: int = 1 << 60) -> None:
        self.game, self.observer, self.max_nodes = game, player, max_nodes
        self.explore = c * (game.max_return - game.min_return) / 2
        self.stream = Stream(seed)
        self.nodes = [Node(None, 0, view, player)]

    def run(self, visits: int) -> None:
        for _ in range(visits):
            self.simulate()

    def simulate(self) -> None:
        game = self.game
        world = self.determined(self.nodes[0].view)
        node, path = self.nodes[0], []
        while True:
            action = self.choose(node, game.legal(world))
            path.append((node, node.edges[action]))
            world = self.pass_chance(game.step(world, action))
            mover = game.mover(world)
            if mover == TERMINAL:
                break
            view = game.view(world, self.observer) if game.hidden else world
            children = node.edges[action].children
            if (view.tobytes(), mover) not in children:
                if len(self.nodes) < self.max_nodes:
                    self.nodes.append(Node(node, action, view, mover))
                    children[view.tobytes(), mover] = self.nodes[-1]
                world = self.played_out(world)
                break
            node = children[view.tobytes(), mover]
        returns = game.returns(world)
        for node, edge in path:
            edge.N += 1
            edge.W += float(returns[node.mover])

    def determined(self, view: Ints) -> Ints:
        while (hole := self.game.hole(view)) != NO_HOLE:
            view = self.game.fill(view, hole, self.stream.draw(self.game.values(view, hole)))
        return view

    def choose(self, node: Node, legal: list[int]) -> int:
        for action in legal:
            node.edges.setdefault(action, Edge()).N_avail += 1
        if fresh := [action for action in legal if node.edges[action].N == 0]:
            return fresh[0] if len(fresh) == 1 else fresh[int(self.stream.uniform() * len(fresh))]
        return max(legal, key=lambda action: self.ucb(node.edges[action]))  # the first of equals

    def ucb(self, edge: Edge) -> float:
        return edge.W / edge.N + self.explore * math.sqrt(math.log(edge.N_avail) / edge.N)

    def pass_chance(self, world: Ints) -> Ints:
        while self.game.mover(world) == CHANCE:
            world = self.game.step(world, self.stream.draw(self.game.chance(world)))
        return world

    def played_out(self, world: Ints) -> Ints:
        while self.game.mover(world) != TERMINAL:
            legal = self.game.legal(world)
            world = self.game.step(world, legal[(self.stream.bits() >> 32) * len(legal) >> 32])
            world = self.pass_chance(world)
        return world
