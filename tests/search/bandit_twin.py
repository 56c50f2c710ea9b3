"""The bandit of docs/search.md, as slow and as plain as it is written there."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from qdts.games import Game
from qdts.games.interface import CHANCE, NO_HOLE, TERMINAL
from qdts.kernels import Ints
from qdts.search.options.options import Options
from solving.naive import Strategy

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
        """One of (choice, weight), the weights summing to one."""
        u = self.uniform()
        for choice, weight in choices:
            u -= weight
            if u < 0:
                return choice
        return choices[-1][0]

    def one_of(self, count: int) -> int:
        """The ⌊u · m⌋-th of m; no draw if there is one only."""
        return 0 if count == 1 else int(self.uniform() * count)


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
    """A search from one view. `worlds` are those that its belief lists, with weights; `rollout` plays games out."""

    def __init__(
        self,
        game: Game,
        view: Ints,
        player: int,
        options: Options,
        seed: int,
        worlds: list[tuple[Ints, float]] | None = None,
        rollout: Strategy | None = None,
    ) -> None:
        self.game, self.observer, self.options = game, player, options
        self.worlds, self.rollout = worlds, rollout
        self.explore = options.c * (game.max_return - game.min_return) / 2
        self.stream = Stream(seed)
        self.root = Node(None, 0, view, player)
        self.nodes = [self.root]
        self.many = options.trees == "many" and game.hidden
        self.by_view = {(view.tobytes(), player): self.root}
        """Of many trees, all nodes: (mover's view, mover)."""
        self.full = False

    def run(self, visits: int) -> None:
        for k in range(visits):
            self.simulate(k + 1)

    def simulate(self, number: int) -> None:
        """The simulation with this number, counted from 1."""
        game = self.game
        world = self.determined()
        begin: Node | None = self.root
        if self.is_elsewhere(number):
            world = self.pass_chance(self.redetermined(world))
            begin = None if game.mover(world) == TERMINAL else self.entered(world, self.by_view, None, 0)
        if begin is None:
            return
        node, path = begin, []
        while True:
            action = self.choose(node, game.legal(world))
            path.append((node, node.edges[action]))
            world = self.pass_chance(game.step(world, action))
            if game.mover(world) == TERMINAL:
                break
            count = len(self.nodes)
            if self.many:
                child = self.entered(world, self.by_view, None, 0)
            else:
                child = self.entered(world, node.edges[action].children, node, action)
            if child is None or len(self.nodes) > count:
                world = self.played_out(world)
                break
            node = child
        returns = game.returns(world)
        for node, edge in path:
            edge.N += 1
            edge.W += float(returns[node.mover])

    def is_elsewhere(self, number: int) -> bool:
        if not self.many:
            return False
        return {"none": False, "pure": True, "split": number % 2 == 0}[self.options.self_determinization]

    def entered(
        self, world: Ints, known: dict[tuple[bytes, int], Node], parent: Node | None, action: int
    ) -> Node | None:
        """The node of a world among the known ones, made if it is missing and there is room."""
        mover = self.game.mover(world)
        view = world
        if self.game.hidden:
            view = self.game.view(world, mover if self.many else self.observer)
        key = view.tobytes(), mover
        if key not in known:
            if len(self.nodes) >= self.options.max_nodes:
                self.full = True
                return None
            known[key] = Node(parent, action, view, mover)
            self.nodes.append(known[key])
        return known[key]

    def determined(self) -> Ints:
        """The root's view with every hole filled."""
        if self.worlds and self.game.hidden:
            return self.worlds[self.stream.draw([(k, w) for k, (_, w) in enumerate(self.worlds)])][0]
        return self.filled(self.root.view, self.options.belief == "holes")

    def redetermined(self, world: Ints) -> Ints:
        """Another world that an opponent could be in, for all that they know."""
        others = [j for j in range(self.game.players) if j != self.observer]
        return self.filled(self.game.view(world, others[self.stream.one_of(len(others))]), False)

    def filled(self, view: Ints, uniform: bool) -> Ints:
        while (hole := self.game.hole(view)) != NO_HOLE:
            values = self.game.values(view, hole)
            if uniform:
                values = [(x, 1 / len(values)) for x, _ in values]
            view = self.game.fill(view, hole, self.stream.draw(values))
        return view

    def choose(self, node: Node, legal: list[int]) -> int:
        for action in legal:
            node.edges.setdefault(action, Edge()).N_avail += 1
        if fresh := [action for action in legal if node.edges[action].N == 0]:
            return fresh[self.stream.one_of(len(fresh))]
        return max(legal, key=lambda action: self.ucb(node.edges[action]))  # the first of equals

    def ucb(self, edge: Edge) -> float:
        return edge.W / edge.N + self.explore * math.sqrt(math.log(edge.N_avail) / edge.N)

    def pass_chance(self, world: Ints) -> Ints:
        while self.game.mover(world) == CHANCE:
            world = self.game.step(world, self.stream.draw(self.game.chance(world)))
        return world

    def played_out(self, world: Ints) -> Ints:
        while (mover := self.game.mover(world)) != TERMINAL:
            legal = self.game.legal(world)
            if self.rollout is None:
                action = legal[(self.stream.bits() >> 32) * len(legal) >> 32]
            else:
                action = self.rolled(self.game.view(world, mover), legal)
            world = self.pass_chance(self.game.step(world, action))
        return world

    def rolled(self, view: Ints, legal: list[int]) -> int:
        """One draw from the rollout policy, from uniform weights where it has no such view."""
        assert self.rollout is not None
        policy = self.rollout(view) or dict.fromkeys(legal, 1 / len(legal))
        u = self.stream.uniform() * sum(policy[a] for a in legal)
        possible = [a for a in legal if policy[a] > 0]
        for action in possible:
            u -= policy[action]
            if u < 0:
                return action
        return possible[-1]
