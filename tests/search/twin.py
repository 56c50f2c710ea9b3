"""The naive twin of the forest: a recursive search, written from `docs/search.md` for clarity alone.

It shares the random stream and the evaluator with the engine, and nothing else. Values are lists of K floats: one for
each player where nothing is hidden, else the owner's alone. Sums go from left to right over the edges in their order
(the built-in `sum` may compensate for rounding), so that the engine can come to the same ties.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import exp, inf, log, sqrt

import numpy as np

from qdts.games import Game
from qdts.games import interface as rules
from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints
from qdts.rng import State, seeded
from qdts.search.evaluator import ACT, CHANCE, NOTHING, OPPONENT, SAMPLE, TERMINAL, Evaluator, Query
from qdts.search.options import Options
from search.stream import number

Values = list[float]
"""K numbers."""
NOBODY = -1
"""The owner of the tree of an open game."""
STOPPED = -1
"""What a visit that chose nothing returns instead of an edge."""
TOLERANCE = 1e-9
"""By how much of S an interval may miss the largest lower end and still overlap."""


@dataclass(eq=False)
class Edge:
    """A choice at a node."""

    choice: int
    prior: float
    """P, H or the rules' probability; 0 at OPPONENT nodes, which have none of their own."""
    vc: Values
    n: int = 0
    w: float = 0.0
    child: Node | None = None


@dataclass(eq=False)
class Tree:
    """One tree: whose it is, how many trees it hangs below, and its ACT nodes by view."""

    owner: int
    depth: int
    acts: dict[bytes, Node] = field(default_factory=dict)


@dataclass(eq=False)
class Node:
    """A node; its edges are listed when it is evaluated."""

    kind: int
    vector: Ints
    tree: Tree
    actor: int
    """Who moves: a player, or chance or nobody by the numbers of the rules; the owner at SAMPLE."""
    is_root: bool
    passing: bool
    """Whether a visit that evaluates it goes on: a root, a SAMPLE node, or midway."""
    pending: int = NOTHING
    hole: int = NO_HOLE
    evaluated: bool = False
    v: Values = field(default_factory=list)
    lo: Values = field(default_factory=list)
    hi: Values = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    n_mixed: int = 0
    spawned: Node | None = None

    @property
    def owner(self) -> int:
        """The owner of its tree."""
        return self.tree.owner

    @property
    def settled(self) -> bool:
        """Whether it has V and Q."""
        return self.evaluated or self.kind == TERMINAL

    @property
    def visits(self) -> int:
        """ΣN."""
        return sum(e.n for e in self.edges)


class Twin:
    """One search at a time, with everything that it has grown."""

    def __init__(self, game: Game, options: Options, evaluator: Evaluator, seed: int) -> None:
        self.game, self.options, self.evaluator = game, options, evaluator
        self.state: State = seeded(seed)
        self.open = not game.hidden
        self.scale = (game.max_return - game.min_return) / 2

    def root(self, view: Ints, player: int, guide: Sequence[float] | None = None) -> Node:
        """Begin a search at a player's view; `guide` is P' of its root. The stream goes on where it was."""
        self.evaluations, self.touched, self.spawn_depth = 0, 0, 0
        self.path: list[Node] = []
        """The nodes of the last visit, spawned visits left out; at the last of them it stopped."""
        self.roots: dict[tuple[int, bytes], Node] = {}
        self.guide = guide
        self.top = self.new_root(view, player, 0)
        return self.top

    def visit(self) -> None:
        """One visit of the root."""
        self.path = []
        self.visit_node(self.top, self.path)

    def search(self, view: Ints, player: int, visits: int, guide: Sequence[float] | None = None) -> Node:
        """The root after so many visits."""
        root = self.root(view, player, guide)
        for _ in range(visits):
            self.visit()
        return root

    def keep(self, view: Ints) -> bool:
        """Go on from a later view of the owner, with what lies below its node, or anew if there is none."""
        return self._replant(self.top.tree.acts.get(view.tobytes()), view, self.top.owner)

    def follow(self, moves: Sequence[int]) -> bool:
        """The same in an open game, from the position that moves have led to."""
        node: Node | None = self.top
        position = self.top.vector
        for move in moves:
            position = self.game.step(position, move)
            if node is not None:
                node = next((e.child for e in node.edges if e.choice == move), None)
        return self._replant(node, position, self.game.mover(position))

    def _replant(self, node: Node | None, view: Ints, player: int) -> bool:
        if node is self.top:
            return True
        kept = [] if node is None else list(self.nodes(node))
        if node is None or self.top in kept:
            self.root(view, player)
            return False
        tree = Tree(node.owner, 0)
        for below in kept:
            if below.tree is node.tree:
                below.tree = tree
                if below.kind == ACT:
                    tree.acts[below.vector.tobytes()] = below
        node.is_root = node.passing = True
        self.top, self.guide = node, None
        self.roots = {(n.owner, n.vector.tobytes()): n for n in kept if n.is_root}
        self.spawn_depth = max(n.tree.depth for n in kept)
        return True

    def nodes(self, top: Node | None = None) -> Iterator[Node]:
        """Every node, or those below one: a node, then the tree that it spawned, then its children in order."""
        seen: set[int] = set()
        left = [top or self.top]
        while left:
            node = left.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            below = [] if node.spawned is None else [node.spawned]
            below += [e.child for e in node.edges if e.child is not None]
            left += reversed(below)

    # One visit

    def visit_node(self, node: Node, path: list[Node]) -> int:
        """Visit what lies below a node, and return the edge chosen at it, or STOPPED."""
        self.touched += 1
        path.append(node)
        if node.kind == TERMINAL:
            return STOPPED
        if not node.evaluated:
            self.evaluate(node)
            self.widen(node)
            if not node.passing:
                return STOPPED
        chosen = self.choose(node)
        edge = node.edges[chosen]
        edge.n += 1
        self.visit_node(self.child(node, edge), path)
        self.back_up(node)
        return chosen

    def choose(self, node: Node) -> int:
        """The edge to go on with, by the kind of node."""
        if node.kind == ACT:
            return self.choose_action(node)
        if node.kind == OPPONENT:
            return self.choose_for_another(node)
        return self.draw([e.prior for e in node.edges])

    def choose_for_another(self, node: Node) -> int:
        """What a visit of the mover's own tree chooses, or a draw from his mirror step."""
        if node.spawned is None:
            node.spawned = self.spawn(node)
        if self.options.estimate != "mirror":
            return self.visit_node(node.spawned, [])
        if self.options.step > 0:
            self.visit_node(node.spawned, [])
        elif not node.spawned.evaluated:
            self.evaluate(node.spawned)
            self.widen(node.spawned)
        return self.draw(self.estimated_policy(node.spawned))

    def choose_action(self, node: Node) -> int:
        """The owner's choice; it adds to W."""
        select = self.options.root_select if node.is_root else self.options.select
        if select == "puct":
            return self.choose_by_puct(node)
        if select == "mirror":
            chosen = self.draw(self.mirror(node))
        else:
            counts = [e.n for e in node.edges]
            chosen = counts.index(min(counts))
        node.edges[chosen].w += 1
        return chosen

    def choose_by_puct(self, node: Node) -> int:
        """The one interval on top (pure), or a draw by P from those that overlap (mixed)."""
        k = self.mover_slot(node)
        prior = [e.prior for e in node.edges]
        guide = prior if node is not self.top or self.guide is None else list(self.guide)
        root_of_visits = sqrt(node.visits)
        low, high = [], []
        for edge, p in zip(node.edges, guide, strict=True):
            lo, hi = self.edge_q(node, edge)
            u = self.options.c * self.scale * p * root_of_visits / (1 + edge.n)
            low.append(lo[k] + u)
            high.append(hi[k] + u)
        overlap = [e for e, top in enumerate(high) if top >= max(low) - TOLERANCE * self.scale]
        if len(overlap) == 1:
            node.edges[overlap[0]].w += 1
            return overlap[0]
        mass = add(prior[e] for e in overlap)
        mix = [0.0] * len(prior)
        for e in overlap:
            mix[e] = prior[e] / mass if mass > 0 else 1 / len(overlap)
            node.edges[e].w += mix[e]
        node.n_mixed += 1
        return self.draw(mix)

    def draw(self, weights: Values) -> int:
        """One choice, in proportion to its weight."""
        u = number(self.state) * add(weights)
        for e, weight in enumerate(weights):
            u -= weight
            if u < 0:
                return e
        return max(e for e, weight in enumerate(weights) if weight > 0)

    # Nodes

    def new_root(self, view: Ints, player: int, depth: int) -> Node:
        """The root of a new tree."""
        tree = Tree(NOBODY if self.open else player, depth)
        actor = self.game.mover(view) if self.open else player
        node = Node(ACT, view.copy(), tree, actor, is_root=True, passing=True)
        tree.acts[view.tobytes()] = node
        self.roots[tree.owner, view.tobytes()] = node
        self.spawn_depth = max(self.spawn_depth, depth)
        return node

    def spawn(self, node: Node) -> Node:
        """The root that stands for the mover of an OPPONENT node."""
        view = self.game.view(node.vector, node.actor)
        if self.options.share and (node.actor, view.tobytes()) in self.roots:
            return self.roots[node.actor, view.tobytes()]
        return self.new_root(view, node.actor, node.tree.depth + 1)

    def child(self, node: Node, edge: Edge) -> Node:
        """The child of an edge, made if it is missing."""
        if edge.child is None:
            edge.child = self.new_child(node, edge.choice)
        return edge.child

    def new_child(self, node: Node, choice: int) -> Node:
        """What lies below a choice."""
        if node.kind == SAMPLE:
            filled = self.game.fill(node.vector, node.hole, choice)
            if self.game.hole(filled) != NO_HOLE:
                return self.sample_node(node.tree, filled, node.pending)
            return self.arrive(node.tree, self.game.step(filled, node.pending))
        if node.kind == ACT and self.game.hole(node.vector) != NO_HOLE:
            after = self.game.step(self.completion(node.vector), choice)
            if self.game.midway(after):
                return self.act_node(node.tree, self.game.view(after, node.owner))
            return self.sample_node(node.tree, node.vector, choice)
        return self.arrive(node.tree, self.game.step(node.vector, choice))

    def completion(self, view: Ints) -> Ints:
        """The first value in every hole."""
        while (hole := self.game.hole(view)) != NO_HOLE:
            view = self.game.fill(view, hole, self.game.values(view, hole)[0][0])
        return view

    def arrive(self, tree: Tree, world: Ints) -> Node:
        """The node of a world in a tree."""
        mover = self.game.mover(world)
        midway = self.game.midway(world)
        if mover == rules.TERMINAL:
            node = Node(TERMINAL, world, tree, mover, is_root=False, passing=False)
            returns = [float(x) for x in self.game.returns(world)]
            node.v = returns if self.open else [returns[tree.owner]]
            node.lo, node.hi = list(node.v), list(node.v)
            return node
        if mover == rules.CHANCE:
            return Node(CHANCE, world, tree, mover, is_root=False, passing=midway)
        if self.open:
            return Node(ACT, world, tree, mover, is_root=False, passing=midway)
        if mover != tree.owner:
            return Node(OPPONENT, world, tree, mover, is_root=False, passing=midway)
        return self.act_node(tree, self.game.view(world, tree.owner))

    def act_node(self, tree: Tree, view: Ints) -> Node:
        """The owner's node of a view: one for all worlds in which he sees it."""
        key = view.tobytes()
        if key not in tree.acts:
            tree.acts[key] = Node(ACT, view, tree, tree.owner, is_root=False, passing=self.game.midway(view))
        return tree.acts[key]

    def sample_node(self, tree: Tree, view: Ints, pending: int) -> Node:
        """The node at which the next hole is filled."""
        node = Node(SAMPLE, view.copy(), tree, tree.owner, is_root=False, passing=True)
        node.pending, node.hole = pending, self.game.hole(view)
        return node

    # Evaluating

    def evaluate(self, node: Node) -> None:
        """List the choices, ask the evaluator, and set the first Q."""
        choices, weights = self.choices(node)
        player = max(node.actor, 0) if self.open else node.owner  # 0 at CHANCE
        answer = self.evaluator.answer(
            Query(
                node.kind,
                node.vector.copy(),
                player,
                node.pending,
                node.hole,
                np.array(choices, np.int64),
                np.array(weights),
            ),
            self.state,
        )
        self.evaluations += 1
        priors = [float(p) for p in answer.prior]
        if node.kind == CHANCE:
            priors = weights
        elif node.kind == OPPONENT:
            priors = [0.0] * len(choices)
        node.edges = [
            Edge(choice, prior, [float(x) for x in vc])
            for choice, prior, vc in zip(choices, priors, answer.child_values, strict=True)
        ]
        node.v = [float(x) for x in answer.value]
        node.lo, node.hi = list(node.v), list(node.v)
        node.evaluated = True
        if node.kind in (SAMPLE, CHANCE):
            self.back_up(node)

    def choices(self, node: Node) -> tuple[list[int], Values]:
        """The choices at a node, with the weights that the rules give; the weights of actions are even."""
        if node.kind in (ACT, OPPONENT):
            legal = self.game.legal(node.vector)
            return legal, [1 / len(legal)] * len(legal)
        listed = self.game.values(node.vector, node.hole) if node.kind == SAMPLE else self.game.chance(node.vector)
        return [choice for choice, _ in listed], [weight for _, weight in listed]

    def widen(self, node: Node) -> None:
        """Evaluate the children of an ACT node that was just evaluated, if the options ask for it."""
        if not self.options.widen or self.open or node.kind != ACT:
            return
        for edge in node.edges:
            child = self.child(node, edge)
            if child.settled:
                continue
            self.evaluate(child)
            if child.kind == OPPONENT:
                child.spawned = self.spawn(child)
                if not child.spawned.evaluated:
                    self.evaluate(child.spawned)
                self.back_up(child)

    # Values

    def edge_q(self, node: Node, edge: Edge) -> tuple[Values, Values]:
        """The two ends of Q(e) at an ACT node."""
        if edge.child is not None and edge.child.settled:
            return edge.child.lo, edge.child.hi
        if self.options.unvisited == "child":
            return edge.vc, edge.vc
        urgency = [v - self.options.fpu * self.scale for v in node.v]
        return urgency, urgency

    def mover_slot(self, node: Node) -> int:
        """Which of the K values the player who moves at an ACT node looks at."""
        return node.actor if self.open else 0

    def mirror(self, node: Node) -> Values:
        """The mirror step of an ACT node with step η."""
        return mirror_step([e.prior for e in node.edges], self.middles(node), self.options.step, 0.0)

    def middles(self, node: Node) -> Values:
        """The middles of Q(e) for who moves, in units of S."""
        k = self.mover_slot(node)
        ends = [self.edge_q(node, e) for e in node.edges]
        return [(lo[k] + hi[k]) / 2 / self.scale for lo, hi in ends]

    def estimated_policy(self, spawned: Node) -> Values:
        """P̂, from a spawned root."""
        prior, n = [e.prior for e in spawned.edges], spawned.visits
        name = self.options.estimate
        if name == "mirror":
            return self.mirror(spawned)
        if name == "dirichlet":
            kappa = self.options.pseudo_visits
            return [(e.n + kappa * e.prior) / (n + kappa) for e in spawned.edges]
        if name == "prior" or n == 0:
            return prior
        counted = [e.n / n for e in spawned.edges]
        if name == "counts":
            return counted
        return sticky(prior, counted, n, self.options.confidence)

    def back_up(self, node: Node) -> None:
        """Set Q of a node from its children."""
        if node.kind == ACT:
            self.back_up_action(node)
        elif node.kind == SAMPLE:
            self.back_up_static(node, [e.prior for e in node.edges], node.edges, self.options.eps_sample)
        elif node.kind == CHANCE:
            self.back_up_static(node, [e.prior for e in node.edges], node.edges, 0.0)
        else:
            assert node.spawned is not None
            counted = node.edges if self.options.estimate == "mirror" else node.spawned.edges
            policy = self.estimated_policy(node.spawned)
            self.back_up_static(node, policy, counted, self.options.eps_opponent)

    def back_up_action(self, node: Node) -> None:
        """Q(n) = Σ W(e) Q(e) / ΣN, or Σ π(e) Q(e)."""
        if self.options.backup == "mirror":
            weights, norm = self.mirror(node), 1.0
        else:
            weights, norm = [e.w for e in node.edges], float(node.visits)
        ends = [self.edge_q(node, e) for e in node.edges]
        for k in range(len(node.v)):
            node.lo[k] = add(w * lo[k] for w, (lo, _) in zip(weights, ends, strict=True)) / norm
            node.hi[k] = add(w * hi[k] for w, (_, hi) in zip(weights, ends, strict=True)) / norm

    def back_up_static(self, node: Node, distribution: Values, counted: list[Edge], eps: float) -> None:
        """Q(n) = ∪ { E_{D'}[V*] : D' ∈ B_eps(D) } + E_N[Q − V*]; `counted` are the edges that hold N."""
        n = sum(e.n for e in counted)
        for k in range(len(node.v)):
            star, over_lo, over_hi = [], [], []
            for edge in node.edges:
                child = edge.child if edge.child is not None and edge.child.settled else None
                star.append(child.v[k] if child else edge.vc[k])
                over_lo.append(child.lo[k] - child.v[k] if child else 0.0)
                over_hi.append(child.hi[k] - child.v[k] if child else 0.0)
            node.lo[k] = lowest(distribution, star, eps)
            node.hi[k] = -lowest(distribution, [-v for v in star], eps)
            if n > 0:
                node.lo[k] += add(e.n * r for e, r in zip(counted, over_lo, strict=True)) / n
                node.hi[k] += add(e.n * r for e, r in zip(counted, over_hi, strict=True)) / n

    # The root's decision

    def decision(self) -> tuple[Values, Values]:
        """The distribution that the move is drawn from, and the policy target."""
        root, options = self.top, self.options
        if options.decision == "mirror":
            prior = [e.prior for e in root.edges]
            step = mirror_step(prior, self.middles(root), options.root_step, options.root_temperature)
            return step, step
        counts = [e.n for e in root.edges]
        visits = [n / sum(counts) for n in counts]
        if options.decision == "visits":
            return visits, visits
        if options.decision == "most":
            first = counts.index(max(counts))
            return [float(e == first) for e in range(len(counts))], visits
        k = self.mover_slot(root)
        ends = [self.edge_q(root, e) for e in root.edges]
        sigma = [options.c_lcb * self.scale / sqrt(n) if n > 0 else inf for n in counts]
        largest = max(lo[k] - s for (lo, _), s in zip(ends, sigma, strict=True))
        kept = [n if hi[k] + s >= largest else 0 for n, (_, hi), s in zip(counts, ends, sigma, strict=True)]
        filtered = [n / sum(kept) for n in kept]
        return filtered, filtered


def add(terms: Iterable[float]) -> float:
    """The sum, from left to right."""
    total = 0.0
    for term in terms:
        total += term
    return total


def lowest(distribution: Values, values: Values, eps: float) -> float:
    """The smallest expectation within L1 distance eps: eps / 2 of mass moves from the highest values to the lowest."""
    expected = add(p * v for p, v in zip(distribution, values, strict=True))
    left = eps / 2
    falling = sorted(range(len(values)), key=lambda e: values[e], reverse=True)
    bottom = falling[-1]
    for e in falling[:-1]:
        moved = min(left, distribution[e])
        expected += moved * (values[bottom] - values[e])
        left -= moved
    return expected


def mirror_step(prior: Values, q: Values, step: float, temperature: float) -> Values:
    """π(a) ∝ [ P(a) · ρ(a)^(ηα) · exp(η q(a)) ]^(1 / (1 + ηα)) with ρ uniform."""
    pull = step * temperature
    rho = 1 / len(prior)
    weights = [(p * rho**pull * exp(step * x)) ** (1 / (1 + pull)) for p, x in zip(prior, q, strict=True)]
    return [w / add(weights) for w in weights]


def sticky(prior: Values, counted: Values, n: int, delta: float) -> Values:
    """The point nearest to P of the L1 ball round f = N / n that holds the truth with probability 1 − δ."""
    radius = sqrt(2 * (len(prior) * log(2) + log(1 / delta)) / n)
    distance = add(abs(p - f) for p, f in zip(prior, counted, strict=True))
    share = 1.0 if distance <= radius else radius / distance
    return [f + (p - f) * share for p, f in zip(prior, counted, strict=True)]
