"""The targets of V and V_c.

For an owner i and a played game let F(t) be the value that follows from step t on, computed from the end
(`docs/learning.md`, *The value target*):

    F(end) = i's return
    i moves at t          F(t) = λ F(t + 1) + (1 − λ) S(t),    S(t) = Σ_a move(a) · middle of Q(a), the search's value;
                          F(t) = S(t) if i explored at t, or if F(t + 1) is unknown
    another moves at t    F(t) = F(t + 1); unknown if they explored
    chance moves at t     F(t) = F(t + 1) − L(t),    L(t) its luck with `value.chance`, else 0

F(t) is the target of V at the ACT, OPPONENT or CHANCE node of step t, and F(t + 1) at the SAMPLE nodes after i's move.
The target of V_c of a choice is the network's own V of the child, and the return where the game is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.games.interface import CHANCE as CHANCE_MOVES
from qdts.kernels import Ints, Reals
from qdts.learning.config import Config
from qdts.learning.nodes.clock import Timed
from qdts.learning.nodes.evaluation import Together, values_of_children
from qdts.learning.nodes.nodes import Flags, Nodes, arrive, chain_after, distinct, joined, queries_of
from qdts.learning.selfplay.record import NO_SEARCH, Record
from qdts.learning.settings import ValueSettings
from qdts.nets.encoding import offered
from qdts.nets.evaluator import Network
from qdts.nets.examples import ValueExamples
from qdts.nets.examples import joined as joined_examples
from qdts.search.evaluation.batches import empty_evaluations
from qdts.search.evaluation.evaluator import OPPONENT, Queries


@dataclass(frozen=True)
class ValueRule:
    """How F is computed."""

    mix: float = 0.5
    """λ"""
    deblunder: bool = True
    """Whether S replaces what follows an exploring move; otherwise F is unknown before one."""
    chance: bool = False
    """Whether the luck of chance is taken off."""


LONG = 0.9
"""λ of `long`: values of 10 own moves ahead count, where `mix` looks about one ahead."""
OUTCOME = ValueRule(mix=1.0, deblunder=False)
"""F is the return, and unknown before an exploring move."""
VALUE_TARGETS: Mapping[str, Callable[[ValueSettings], ValueRule]] = {
    "mix": lambda settings: ValueRule(settings.mix, settings.deblunder, settings.chance),
    "long": lambda settings: ValueRule(LONG, settings.deblunder, chance=True),
    "outcome": lambda settings: replace(OUTCOME, chance=settings.chance),
}
"""The rules by the setting `value.target`, which may also be `auto`."""


def rule_of(config: Config, game: Game) -> ValueRule:
    """The rule of a run's settings."""
    target = config.value.target
    if target == "auto":
        target = "mix" if game.hidden else "long"
    return VALUE_TARGETS[target](config.value)


class ValueTargets(NamedTuple):
    """Every node of the generation's games once, with the mean of its targets; K is the number of values of a node."""

    nodes: Nodes  # [N]
    target: Reals  # [N, K]
    known: Reals  # [N, K] 1 where there is a target
    weight: Reals  # [N] how often the node occurred
    spread: Reals  # [N] the variance of its targets


def root_values(record: Record) -> Reals:
    """S of every search: the value of its move distribution by its own Q. float64[S]"""
    middle = (record.q_lo.astype(np.float64) + record.q_hi) / 2
    return np.add.reduceat(record.move * middle, record.offset[:-1]) if len(record.offset) > 1 else np.zeros(0)


def luck_of_chance(record: Record, network: Network | Timed | Together) -> Reals:
    """L of every player at every step: how much better the outcome of chance was than expected; 0 elsewhere. [T, P]

        L = V_c(c) − Σ_c' p(c') V_c(c')     for the outcome c at a CHANCE node with the rules' probabilities p

    Its mean is 0 whatever V_c is, so taking it off adds no bias (CV, ideas 3 and 4).
    """
    game = record.game
    luck = np.zeros((len(record.action), game.players))
    steps = np.flatnonzero(record.mover == CHANCE_MOVES)
    for player in range(game.players if game.hidden else 1):
        nodes, which = distinct(arrive(game, record.worlds[steps], np.full(len(steps), player)))
        queries, evaluations = queries_of(game, nodes), empty_evaluations(game, len(nodes.kind))
        network.evaluate_batch(queries, evaluations)
        p = np.where(offered(queries), queries.weights, 0.0)
        mean = np.einsum("nb,nbk->nk", p, np.where(offered(queries)[..., None], evaluations.children, 0.0))
        column = np.argmax(queries.choices[which] == record.action[steps][:, None], 1)
        found = evaluations.children[which, column] - mean[which]
        luck[steps, player : player + found.shape[1]] = found
    return luck


def following(record: Record, player: int, rule: ValueRule, luck: Reals | None = None) -> tuple[Reals, Flags]:
    """F of a player at every step and after the last step of each game, and whether it is known.

    `luck` is L of all players, 0 without it. Game g has the places first[g] + g to first[g + 1] + g.
    """
    games = len(record)
    value, known = np.zeros(len(record.action) + games), np.ones(len(record.action) + games, np.bool_)
    length = np.diff(record.first)
    value[record.first[1:] + np.arange(games)] = record.returns[:, player]
    s = root_values(record)
    for back in range(1, int(length.max(initial=0)) + 1):
        g = np.flatnonzero(length >= back)
        t = record.first[g + 1] - back
        place = t + g
        own, explored = record.mover[t] == player, record.explored[t] == 1
        after, sure = value[place + 1], known[place + 1]
        if luck is not None:
            after = after - luck[t, player]
        value[place], known[place] = after, sure & ~explored
        if rule.mix < 1.0 or rule.deblunder:
            searched = own & (record.search[t] != NO_SEARCH)
            rely = known[place] & searched
            mine = np.where(searched, s[np.maximum(record.search[t], 0)] if len(s) else 0.0, 0.0)
            value[place] = np.where(rely, rule.mix * after + (1.0 - rule.mix) * mine, value[place])
            if rule.deblunder:
                alone = searched & ~known[place]
                value[place] = np.where(alone, mine, value[place])
                known[place] |= alone
    return value, known


def value_targets(record: Record, rule: ValueRule, luck: Reals | None = None) -> ValueTargets:
    """The nodes of every owner's tree on the paths of all games, with their targets; equal nodes are merged."""
    found = _hidden_information if record.game.hidden else _perfect_information
    return _merged(*found(record, rule, luck))


def _merged(nodes: Nodes, target: Reals, known: Reals) -> ValueTargets:
    """Every node once, with the mean of its targets."""
    unique, which = distinct(nodes)
    n, k = len(unique.kind), target.shape[1]
    count = np.bincount(which, minlength=n).astype(np.float64)
    columns = []
    for i in range(k):
        seen = np.bincount(which, known[:, i], n)
        total = np.bincount(which, known[:, i] * target[:, i], n)
        square = np.bincount(which, known[:, i] * target[:, i] ** 2, n)
        columns.append((total / np.maximum(seen, 1), seen > 0, square / np.maximum(seen, 1)))
    mean = np.column_stack([c[0] for c in columns])
    there = np.column_stack([c[1] for c in columns]).astype(np.float64)
    spreads = there * np.maximum(0.0, np.column_stack([c[2] for c in columns]) - mean**2)
    spread = spreads.sum(1) / np.maximum(there.sum(1), 1)
    return ValueTargets(unique, mean, there, count, spread)


def _places(record: Record) -> Ints:
    """The place of every step in the result of `following`."""
    return np.arange(len(record.action)) + np.repeat(np.arange(len(record)), np.diff(record.first))


def _hidden_information(record: Record, rule: ValueRule, luck: Reals | None) -> tuple[Nodes, Reals, Reals]:
    game, worlds, place = record.game, record.worlds, _places(record)
    parts: list[Nodes] = []
    targets: list[Reals] = []
    for player in range(game.players):
        value, known = following(record, player, rule, luck)
        own = record.mover == player
        turns = np.concatenate([[0], np.cumsum(own)])
        begun = turns[1:] > np.repeat(turns[record.first[:-1]], np.diff(record.first))
        there = np.flatnonzero(begun & known[place])
        parts.append(arrive(game, worlds[there], np.full(len(there), player)))
        targets.append(value[place[there]])
        then = np.flatnonzero(own & known[place + 1])
        actions = record.action[then].astype(np.int64)
        nodes, at, _ = chain_after(game, worlds[then], np.full(len(then), player), actions)
        parts.append(nodes)
        targets.append(value[place[then[at]] + 1])
    target = np.concatenate(targets)[:, None]
    return joined(parts), target, np.ones_like(target)


def _perfect_information(record: Record, rule: ValueRule, luck: Reals | None) -> tuple[Nodes, Reals, Reals]:
    game, place = record.game, _places(record)
    value, known = zip(*(following(record, player, rule, luck) for player in range(game.players)), strict=True)
    target, sure = (np.column_stack([column[place] for column in columns]) for columns in (value, known))
    there = np.flatnonzero(sure.any(1))
    nodes = arrive(game, record.worlds[there], np.zeros(len(there), np.int64))
    return nodes, target[there], sure[there].astype(np.float64)


def residual_variance(targets: ValueTargets, value: Reals, scale: float) -> float:
    """The mean square of target − V over all targets before they were merged, in units of S².

    `value` is V of each node, float64[N, K].
    """
    error = (targets.known * (targets.target - value) ** 2).sum(1) / np.maximum(targets.known.sum(1), 1)
    return float(np.average(error + targets.spread, weights=targets.weight)) / scale**2


def value_examples(
    game: Game, targets: ValueTargets, network: Network | Timed | Together | None = None, *, priors: bool = False
) -> ValueExamples:
    """Examples of V, and with a network of V_c: its V of the children; with `priors` also its P and H."""
    queries = queries_of(game, targets.nodes)
    none = np.zeros(queries.choices.shape)
    children = np.zeros((*none.shape, targets.target.shape[1]))
    examples = ValueExamples(queries, targets.target, targets.known, children, none, targets.weight, none)
    if network is None:
        return examples
    examples = with_children(game, examples, network)
    return examples._replace(prior=priors_at(game, network, queries)) if priors else examples


def with_children(game: Game, examples: ValueExamples, network: Network | Timed | Together) -> ValueExamples:
    """The same examples, with the network's own V of all children as the targets of V_c (CV, idea 1)."""
    children = values_of_children(game, network, examples.queries)
    return examples._replace(children=children, has_children=np.ones(examples.queries.choices.shape))


def priors_at(game: Game, network: Network | Timed | Together, queries: Queries) -> Reals:
    """The probability of each choice, P, H or the rules'; 0 at OPPONENT nodes, which do not tell it. float64[N, B]"""
    evaluations = empty_evaluations(game, len(queries.kind))
    network.evaluate_batch(queries, evaluations)
    there = offered(queries) & (queries.kind != OPPONENT)[:, None]
    return np.where(there, evaluations.prior, 0.0)


def window_examples(window: Sequence[ValueExamples]) -> ValueExamples:
    """The examples of several generations; V_c learns only from the newest, since V of children is soon out of date.

    So is P, which consistency is measured by.
    """
    whole = joined_examples(window)
    newest = np.repeat([0.0] * (len(window) - 1) + [1.0], [len(x.weight) for x in window])[:, None]
    return whole._replace(has_children=whole.has_children * newest, prior=whole.prior * newest)
