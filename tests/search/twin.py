"""The naive twin of the forest: a recursive search, written from `docs/search.md` for clarity alone.

It shares the random stream and the evaluator with the engine, and nothing else. Values are lists of K floats: one for
each player where nothing is hidden, else the owner's alone. Sums go from left to right over the edges in their order,
so that the engine can come to the same ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf, log, sqrt

import numpy as np

from qdts.games import Game
from qdts.games import interface as rules
from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints
from qdts.rng import State, seeded
from qdts.search.evaluation.evaluator import ACT, CHANCE, OPPONENT, SAMPLE, TERMINAL, Evaluator, Query
from qdts.search.options.options import Options
from qdts.search.options.variants import Decision, RootBelief, RootQ
from search.naive_beliefs import Weighed, agrees, of_hole, own_seed, response_weights
from search.naive_formulas import Ends, Values, add, lowest_of_seen, luck, mean, mirror_step, negated, spread, sticky
from search.naive_tree import Choice, Edge, Interval, Item, Node, Tree, Trip, by_player, minus, routes
from search.stream import number

NOBODY = -1
"""The owner of the tree of a game with perfect information."""
STOPPED = -1
"""What a visit that chose nothing returns instead of an edge."""
TOLERANCE = 1e-9
"""By how much of S an interval may miss the largest lower end and still overlap."""


class FullError(Exception):
    """There is no room for another node."""


class Twin:
    """One search at a time, with everything that it has grown."""

    def __init__(self, game: Game, options: Options, evaluator: Evaluator, seed: int) -> None:
        self.game, self.options, self.evaluator, self.seed = game, options, evaluator, seed
        self.state: State = seeded(seed)
        self.responses: dict[tuple[int, bytes], dict[int, float]] = {}
        """σ / P of the actions of others, by who moves and their view."""
        self.perfect = not game.hidden
        self.scale = (game.max_return - game.min_return) / 2

    def root(self, view: Ints, player: int, guide: Sequence[float] | None = None) -> Node:
        """Begin a search at a player's view; `guide` is P' of its root. The stream goes on where it was."""
        self.evaluations, self.touched, self.spawn_depth, self.size = 0, 0, 0, 0
        self.path: list[Node] = []
        """The nodes of the last visit, spawned visits left out; at the last of them it stopped."""
        self.roots: dict[tuple[int, bytes], Node] = {}
        self.guide = guide
        self.believed = self.root_belief(view, player)
        self.top = self.new_root(view, player, 0)
        return self.top

    def root_belief(self, view: Ints, player: int) -> Weighed:
        """The completions of the root's view as if the others had responded to P; none where H is to stay."""
        if self.options.root_belief == "model" or self.perfect:
            return []

        def h(vector: Ints) -> dict[int, float]:
            hole = self.game.hole(vector)
            choices, weights = zip(*self.game.values(vector, hole), strict=True)
            pending = self.game.legal(view)[0]
            query = Query(SAMPLE, vector, player, pending, hole, np.array(choices), np.array(weights))
            return dict(zip(choices, self.evaluator.evaluate(query, seeded(0)).prior.tolist(), strict=True))

        return response_weights(self.game, view, player, h, self.response_ratio)

    def response_ratio(self, view: Ints, player: int, action: int) -> float:
        """σ / P of an action that a player has made at a view."""
        key = player, view.tobytes()
        if key not in self.responses:
            self.responses[key] = self.response_ratios(view, player)
        return self.responses[key][action]

    def response_ratios(self, view: Ints, player: int) -> dict[int, float]:
        """The same of every action there."""
        options = replace(
            self.options,
            root_belief=RootBelief.MODEL,
            decision=Decision.MIRROR,
            root_q=RootQ.NEAREST,
            root_step=self.options.step,
            root_reach=2.0,
            root_doubt=0.0,
            root_temperature=0.0,
            noise=0.0,
            prior_temperature=1.0,
        )
        twin = Twin(self.game, options, self.evaluator, own_seed(view, player, self.seed))
        root = twin.search(view, player, options.response_visits)
        response = zip(root.edges, twin.decision()[0], strict=True)
        return {e.choice: p / e.prior if e.prior > 0 else 1.0 for e, p in response}

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
        """The same in a game with perfect information, from the position that moves have led to."""
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
        if self.believed or self.root_belief(view, player):
            node = None
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
        self.size = len(kept)
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

    def visit_node(self, node: Node, path: list[Node], waiting: Node | None = None) -> Trip:
        """Visit what lies below a node, a spawned root if an OPPONENT node is waiting for its choice."""
        self.touched += 1
        path.append(node)
        stops = node.kind == TERMINAL
        if not node.settled:
            self.evaluate(node)
            self.widen(node)
            stops = node.is_new_end = not node.passing
        here = Choice(STOPPED, None) if stops else self.choose(node)
        if here.edge == STOPPED:
            return Trip(here, (list(node.lo), list(node.hi)))
        if waiting is not None:
            here = here._replace(phi=self.luck(waiting, here))
        edge = node.edges[here.edge]
        phi, whole = self.luck(node, here), self.luck_of_route(node, edge)
        edge.n += 1
        child = self.child(node, edge)
        if child is not None:
            _, x, deeper = self.visit_node(child, path)
            whole = deeper or whole
        else:
            x = self.edge_q(node, edge) if node.kind == ACT else (edge.vc, edge.vc)
        return self.go_up(node, here, x, phi, whole)

    def go_up(self, node: Node, here: Choice, x: Interval, phi: Interval, whole: Interval | None) -> Trip:
        """Set Q of a node on the path, x having come from below."""
        if self.form(node) != "running":
            self.back_up(node)
            return Trip(here, x)
        in_route = self.options.ball == "route" and node.kind == SAMPLE
        if in_route and node.head is node:
            assert whole is not None
            phi = whole
        adjusted = minus(x, phi)
        m = node.visits + node.is_new_end
        for q, ends in zip((node.lo, node.hi), adjusted, strict=True):
            for k in range(len(q)):
                q[k] += (ends[k] - q[k]) / m
        if in_route and node.head is not node:
            return Trip(here, x, whole)
        return Trip(here, adjusted)

    def choose(self, node: Node) -> Choice:
        """The edge to go on with, by the kind of node."""
        if node.kind == ACT:
            return self.choose_action(node)
        if node.kind == OPPONENT:
            return self.choose_for_another(node)
        return self.draw([e.prior for e in node.edges])

    def choose_for_another(self, node: Node) -> Choice:
        """The choice of a visit of the mover's tree, or a sample from their mirror step; none if there is no room."""
        spawned = node.spawned = node.spawned or self.spawn(node)
        if spawned is None:
            return Choice(STOPPED, None)
        if self.options.estimate != "mirror":
            return self.visit_node(spawned, [], waiting=node).chosen
        if self.options.step > 0:
            self.visit_node(spawned, [])
        elif not spawned.evaluated:
            self.evaluate(spawned)
            self.widen(spawned)
        return self.draw(self.estimated_policy(spawned))

    def choose_action(self, node: Node) -> Choice:
        """The owner's choice; it adds to W."""
        select = self.options.root_select if node.is_root else self.options.select
        if select == "puct":
            return self.choose_by_puct(node)
        if select == "mirror":
            chosen = self.draw(self.mirror(node))
        elif select == "uniform":
            counts = [e.n for e in node.edges]
            chosen = Choice(counts.index(min(counts)), None)
        else:
            chosen = Choice(self.choose_by_ucb(node, self.guides(node) if select == "guided" else None), None)
        node.edges[chosen.edge].w += 1
        return chosen

    def choose_by_ucb(self, node: Node, guide: Values | None) -> int:
        """One of those without visits, uniformly, or the largest upper confidence bound."""
        new = [e for e, edge in enumerate(node.edges) if edge.n == 0]
        if len(new) > 1:
            return new[int(number(self.state) * len(new))]
        bounds = self.upper_bounds(node, guide)
        return bounds.index(max(bounds))

    def upper_bounds(self, node: Node, guide: Values | None) -> Values:
        """M(e) + c · S · √(ln ΣN / N(e)), with the guide before the root sign; infinite where there are no visits."""
        k = self.mover_slot(node)
        bounds = []
        for e, edge in enumerate(node.edges):
            lo, hi = self.edge_q(node, edge)
            c = self.options.c * self.scale * (1.0 if guide is None else guide[e])
            bounds.append((lo[k] + hi[k]) / 2 + c * sqrt(log(node.visits) / edge.n) if edge.n > 0 else inf)
        return bounds

    def guides(self, node: Node) -> Values:
        """P'."""
        return [e.prior for e in node.edges] if node is not self.top or self.guide is None else list(self.guide)

    def choose_by_puct(self, node: Node) -> Choice:
        """The one interval on top (pure), or a draw by P from those that overlap (mixed)."""
        k = self.mover_slot(node)
        prior = [e.prior for e in node.edges]
        root_of_visits = sqrt(node.visits)
        low, high = [], []
        for edge, p in zip(node.edges, self.guides(node), strict=True):
            lo, hi = self.edge_q(node, edge)
            u = self.options.c * self.scale * p * root_of_visits / (1 + edge.n)
            low.append(lo[k] + u)
            high.append(hi[k] + u)
        overlap = [e for e, top in enumerate(high) if top >= max(low) - TOLERANCE * self.scale]
        if len(overlap) == 1:
            node.edges[overlap[0]].w += 1
            return Choice(overlap[0], None)
        mass = add(prior[e] for e in overlap)
        mix = [0.0] * len(prior)
        for e in overlap:
            mix[e] = prior[e] / mass if mass > 0 else 1 / len(overlap)
            node.edges[e].w += mix[e]
        node.n_mixed += 1
        return self.draw(mix)

    def draw(self, weights: Values) -> Choice:
        """One choice, in proportion to its weight."""
        u = number(self.state) * add(weights)
        for e, weight in enumerate(weights):
            u -= weight
            if u < 0:
                return Choice(e, weights)
        return Choice(max(e for e, weight in enumerate(weights) if weight > 0), weights)

    # Nodes

    def make(self, kind: int, vector: Ints, tree: Tree, actor: int, *, is_root: bool = False, passing: bool) -> Node:
        """A new node, if there is room."""
        if self.size >= self.options.max_nodes:
            raise FullError
        self.size += 1
        return Node(kind, vector, tree, actor, is_root, passing)

    def new_root(self, view: Ints, player: int, depth: int) -> Node:
        """The root of a new tree."""
        tree = Tree(NOBODY if self.perfect else player, depth)
        actor = self.game.mover(view) if self.perfect else player
        node = self.make(ACT, view.copy(), tree, actor, is_root=True, passing=True)
        tree.acts[view.tobytes()] = node
        self.roots[tree.owner, view.tobytes()] = node
        self.spawn_depth = max(self.spawn_depth, depth)
        return node

    def spawn(self, node: Node) -> Node | None:
        """The root that stands for the mover of an OPPONENT node, if there is one or room for one."""
        view = self.game.view(node.vector, node.actor)
        if self.options.share and (node.actor, view.tobytes()) in self.roots:
            return self.roots[node.actor, view.tobytes()]
        try:
            return self.new_root(view, node.actor, node.tree.depth + 1)
        except FullError:
            return None

    def child(self, node: Node, edge: Edge) -> Node | None:
        """The child of an edge, made if it is missing and there is room."""
        if edge.child is None:
            try:
                edge.child = self.new_child(node, edge.choice)
            except FullError:
                return None
        return edge.child

    def new_child(self, node: Node, choice: int) -> Node:
        """What lies below a choice."""
        if node.kind == SAMPLE:
            filled = self.game.fill(node.vector, node.hole, choice)
            if self.game.hole(filled) != NO_HOLE:
                return self.sample_node(node.tree, filled, node.pending, node.head)
            return self.arrive(node.tree, self.game.step(filled, node.pending))
        if node.kind == ACT and self.game.hole(node.vector) != NO_HOLE:
            after = self.game.step(self.completion(node.vector), choice)
            if self.game.midway(after):
                return self.act_node(node.tree, self.game.view(after, node.owner))
            return self.sample_node(node.tree, node.vector, choice, None)
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
            node = self.make(TERMINAL, world, tree, mover, passing=False)
            returns = [float(x) for x in self.game.returns(world)]
            node.v = returns if self.perfect else [returns[tree.owner]]
            node.lo, node.hi = list(node.v), list(node.v)
            return node
        if mover == rules.CHANCE:
            return self.make(CHANCE, world, tree, mover, passing=midway)
        if self.perfect:
            return self.make(ACT, world, tree, mover, passing=midway)
        if mover != tree.owner:
            return self.make(OPPONENT, world, tree, mover, passing=midway)
        return self.act_node(tree, self.game.view(world, tree.owner))

    def act_node(self, tree: Tree, view: Ints) -> Node:
        """The owner's node of a view: one for all worlds in which they see it."""
        key = view.tobytes()
        if key not in tree.acts:
            tree.acts[key] = self.make(ACT, view, tree, tree.owner, passing=self.game.midway(view))
        return tree.acts[key]

    def sample_node(self, tree: Tree, view: Ints, pending: int, head: Node | None) -> Node:
        """The node at which the next hole is filled; without a head it is one."""
        node = self.make(SAMPLE, view.copy(), tree, tree.owner, passing=True)
        node.pending, node.hole, node.head = pending, self.game.hole(view), head or node
        return node

    # Evaluating

    def evaluate(self, node: Node) -> None:
        """List the choices, ask the evaluator, and set the first Q."""
        choices, weights = self.choices(node)
        player = max(node.actor, 0) if self.perfect else node.owner  # 0 at CHANCE
        evaluation = self.evaluator.evaluate(
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
        priors = [float(p) for p in evaluation.prior]
        if node.kind == CHANCE:
            priors = weights
        elif node.kind == OPPONENT:
            priors = [0.0] * len(choices)
        elif node.kind == SAMPLE and self.believed and self.is_of_the_root(node):
            priors = of_hole(self.game, node.vector, self.believed, priors).tolist()
        node.edges = [
            Edge(choice, prior, [float(x) for x in vc])
            for choice, prior, vc in zip(choices, priors, evaluation.child_values, strict=True)
        ]
        node.v = [float(x) for x in evaluation.value]
        node.lo, node.hi = list(node.v), list(node.v)
        node.evaluated = True
        if node.kind in (SAMPLE, CHANCE):
            self.begin(node)

    def is_of_the_root(self, node: Node) -> bool:
        """Whether a SAMPLE node fills holes of the root's own view."""
        return node.tree is self.top.tree and agrees(node.vector, self.top.vector)

    def choices(self, node: Node) -> tuple[list[int], Values]:
        """The choices at a node, with the weights that the rules give; the weights of actions are uniform."""
        if node.kind in (ACT, OPPONENT):
            legal = self.game.legal(node.vector)
            return legal, [1 / len(legal)] * len(legal)
        listed = self.game.values(node.vector, node.hole) if node.kind == SAMPLE else self.game.chance(node.vector)
        return [choice for choice, _ in listed], [weight for _, weight in listed]

    def widen(self, node: Node) -> None:
        """Evaluate the children of an ACT node that was just evaluated, if the options ask for it."""
        if not self.options.widen or self.perfect or node.kind != ACT:
            return
        for edge in node.edges:
            child = self.child(node, edge)
            if child is None or child.settled:
                continue
            self.evaluate(child)
            if child.kind == OPPONENT:
                child.spawned = self.spawn(child)
                if child.spawned is not None:
                    if not child.spawned.evaluated:
                        self.evaluate(child.spawned)
                    self.begin(child)

    # Values

    def edge_q(self, node: Node, edge: Edge) -> tuple[Values, Values]:
        """The two ends of Q(e) at an ACT node."""
        if edge.below or self.options.unvisited == "child":
            return edge.q
        urgency = [v - self.options.fpu * self.scale for v in node.v]
        return urgency, urgency

    def mover_slot(self, node: Node) -> int:
        """Which of the K values the player who moves at an ACT node looks at."""
        return node.actor if self.perfect else 0

    def mirror(self, node: Node) -> Values:
        """The mirror step of an ACT node with step η."""
        return mirror_step([e.prior for e in node.edges], self.doubted(node), self.options.step, 0.0)

    def doubted(self, node: Node, more: float = 0.0, c_doubt: float = 0.0) -> Values:
        """The points of an ACT node's intervals, widened by the doubt, that are nearest to what its prior is worth."""
        k, found = self.mover_slot(node), []
        worth = add(e.prior * m for e, m in zip(node.edges, self.middles(node), strict=True))
        for edge in node.edges:
            lo, hi = self.edge_q(node, edge)
            doubt = self.options.doubt + more + c_doubt / sqrt(max(edge.n, 1))
            found.append(min(max(worth, lo[k] / self.scale - doubt), hi[k] / self.scale + doubt))
        return found

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
        if name == "mix":
            return [e.w / n for e in spawned.edges]
        return sticky(prior, counted, n, self.options.confidence)

    def form(self, node: Node) -> str:
        """How Q of a node is made: a word of `backup`, `opponent_q` or `sample_q`."""
        if node.kind == ACT:
            return self.options.backup
        return self.options.opponent_q if node.kind == OPPONENT else self.options.sample_q

    def radius(self, node: Node) -> float:
        """The eps of a node."""
        if node.kind == OPPONENT:
            return self.options.eps_opponent
        inside = self.options.ball == "route" and node.head is not node
        return 0.0 if node.kind == CHANCE or inside else self.options.eps_sample

    def items(self, node: Node) -> list[Item]:
        """D with N over the edges of a SAMPLE, OPPONENT or CHANCE node; over whole routes at the head of a chain."""
        if node.kind == OPPONENT:
            assert node.spawned is not None
            counted = node.edges if self.options.estimate == "mirror" else node.spawned.edges
            policy = self.estimated_policy(node.spawned)
            return [Item(p, c.n, e) for p, c, e in zip(policy, counted, node.edges, strict=True)]
        if self.options.ball == "route" and node.head is node:
            return list(routes(node, 1.0))
        return [Item(e.prior, e.n, e) for e in node.edges]

    def begin(self, node: Node) -> None:
        """Q before the first visit: ∪ { E_{D'}[V*] : D' ∈ B_eps(D) }."""
        items = self.items(node)
        distribution = [i.p for i in items]
        for k in range(len(node.v)):
            star = [i.edge.star[k] for i in items]
            node.lo[k], node.hi[k] = spread(distribution, star, star, self.radius(node))

    def back_up(self, node: Node) -> None:
        """Set Q of a node from its children, by a form that is not `running`."""
        if node.kind == ACT:
            self.back_up_action(node)
            return
        form, items, eps = self.form(node), self.items(node), self.radius(node)
        distribution, seen = [i.p for i in items], [i.n > 0 for i in items]
        if form == "masked" and not any(i.n > 0 and i.p > 0 for i in items):
            self.begin(node)
            return
        if form == "residual":
            self.begin(node)
        for k in range(len(node.v)):
            low, high = [i.edge.q[0][k] for i in items], [i.edge.q[1][k] for i in items]
            if form == "expected":
                node.lo[k], node.hi[k] = spread(distribution, low, high, eps)
            elif form == "masked":
                node.lo[k] = lowest_of_seen(distribution, low, seen, eps)
                node.hi[k] = -lowest_of_seen(distribution, negated(high), seen, eps)
            elif any(seen):
                star, n = [i.edge.star[k] for i in items], sum(i.n for i in items)
                node.lo[k] += add(i.n * (q - v) for i, q, v in zip(items, low, star, strict=True)) / n
                node.hi[k] += add(i.n * (q - v) for i, q, v in zip(items, high, star, strict=True)) / n

    def back_up_action(self, node: Node) -> None:
        """Q(n) = Σ W(e) Q(e) / ΣN, or Σ π(e) Q(e)."""
        if self.options.backup == "mirror":
            weights, norm = self.mirror(node), 1.0
        else:
            weights, norm = [e.w for e in node.edges], float(node.visits)
        ends = [self.edge_q(node, e) for e in node.edges]
        for k in range(len(node.v)):
            node.lo[k] = mean(weights, [lo[k] for lo, _ in ends]) / norm
            node.hi[k] = mean(weights, [hi[k] for _, hi in ends]) / norm

    # Luck

    def luck(self, node: Node, here: Choice) -> Interval:
        """Φ of a choice that is being made, where Q is a running average."""
        none = [0.0] * len(node.v), [0.0] * len(node.v)
        if self.form(node) != "running" or self.options.luck_base == "none":
            return none
        if node.kind == OPPONENT and here.phi is not None:
            return here.phi
        if node.kind in (SAMPLE, CHANCE):
            return self.luck_of_item(node, [Item(e.prior, e.n, e) for e in node.edges], here.edge)
        if node.kind == ACT and here.drawn is None:
            return none
        distribution = here.drawn or [float(e == here.edge) for e in range(len(node.edges))]
        ends = [self.edge_q(node, e) if node.kind == ACT else e.q for e in node.edges]
        eps = 0.0 if node.kind == ACT else self.options.eps_opponent
        found = []
        for k in range(len(node.v)):
            low, high = [lo[k] for lo, _ in ends], [hi[k] for _, hi in ends]
            found.append(luck(distribution, low, high, here.edge, eps))
        return by_player(found)

    def luck_of_route(self, node: Node, edge: Edge) -> Interval | None:
        """Φ of the head of a node's chain, if the edge is one of its items; that of the last edge counts."""
        if self.options.ball != "route" or node.head is None or self.form(node) != "running":
            return None
        items = self.items(node.head)
        drawn = [c for c, item in enumerate(items) if item.edge is edge]
        return self.luck_of_item(node.head, items, drawn[0]) if drawn else None

    def luck_of_item(self, node: Node, items: list[Item], c: int) -> Interval:
        """Φ at a SAMPLE or CHANCE node, by `luck_base` and `luck_child`."""
        distribution, eps, base = [i.p for i in items], self.radius(node), self.options.luck_base
        found: list[Ends] = []
        for k in range(len(node.v)):
            vc = [i.edge.vc[k] for i in items]
            low, high = [i.edge.q[0][k] for i in items], [i.edge.q[1][k] for i in items]
            if self.options.luck_child == "v":
                low = high = [i.edge.star[k] for i in items]
            elif self.options.luck_child == "vc":
                low = high = vc
            if base == "none":
                found.append((0.0, 0.0))
            elif base == "same":
                found.append(luck(distribution, low, high, c, eps))
            else:
                least, most = node.v[k], node.v[k]
                if base == "mu":
                    least, most = spread(distribution, vc, vc, eps)
                elif base == "q":
                    least, most = node.lo[k], node.hi[k]
                found.append((low[c] - most, high[c] - least))
        return by_player(found)

    # The root's decision

    def decision(self) -> tuple[Values, Values]:
        """The distribution to sample the move from, and the policy target."""
        root, options = self.top, self.options
        if options.decision == "mirror":
            prior = [e.prior for e in root.edges]
            q = (
                self.doubted(root, options.root_doubt, options.c_doubt)
                if options.root_q == "nearest"
                else self.middles(root)
            )
            step = mirror_step(prior, q, options.root_step, options.root_temperature)
            length = add(abs(s - p) for s, p in zip(step, prior, strict=True))
            if length > options.root_reach:
                step = [p + (s - p) * options.root_reach / length for s, p in zip(step, prior, strict=True)]
            return step, step
        counts = [e.n for e in root.edges]
        visits = [n / sum(counts) for n in counts]
        if options.decision == "visits":
            return visits, visits
        if options.decision == "most":
            first = counts.index(max(counts))
            return [float(e == first) for e in range(len(counts))], visits
        if options.decision == "ucb":
            guided = options.root_select == "guided"
            bounds = self.upper_bounds(root, [e.prior for e in root.edges] if guided else None)
            return [float(e == bounds.index(max(bounds))) for e in range(len(bounds))], visits
        k = self.mover_slot(root)
        ends = [self.edge_q(root, e) for e in root.edges]
        sigma = [options.c_lcb * self.scale / sqrt(n) if n > 0 else inf for n in counts]
        largest = max(lo[k] - s for (lo, _), s in zip(ends, sigma, strict=True))
        kept = [n if hi[k] + s >= largest else 0 for n, (_, hi), s in zip(counts, ends, sigma, strict=True)]
        filtered = [n / sum(kept) for n in kept]
        return filtered, filtered
