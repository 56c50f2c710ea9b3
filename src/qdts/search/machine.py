"""The machine that runs visits: all of its state is in a slot, so it can stop wherever it needs something.

    BEGIN ──► ARRIVE ──► ASK ──► ABSORB ──► (WIDEN ⇄ ASK) ──► REST ──┐
                │ evaluated: ▼                                   │   │ new: the visit stops here
                ├─────────► CHOOSE ◄─────────────────────────────┘   │
                │ over       │ edge       OPPONENT: ARRIVE at the spawned root, and then RETURN
                ▼            ▼                                       ▼
              BACK ◄───── DESCEND ──► ARRIVE                        BACK ──► … ──► BEGIN

It stops with DONE (the visits that were asked for are made), PAUSED (as many as one call may make), PARKED (the node
at hand is to be evaluated outside), GROW (the arrays are full), LOST (the book has no such node)
or FAULTY (the rules give the node no choice, or more than the game has).
"""

from __future__ import annotations

from typing import Any

from numba import int64

from qdts.games.interface import KernelsType, RulesType
from qdts.games.playouts import PlayoutType
from qdts.kernels import Ints, kernel
from qdts.pointers import element, entry, moved
from qdts.search.answers import ANSWERED, answer
from qdts.search.answers import ASK as OUTSIDE
from qdts.search.asking import asker, open_answers, open_queries, put_query, take_answer
from qdts.search.backup import back_up, is_running
from qdts.search.book import Book, BookType, OpenBook, open_book
from qdts.search.choices import FPU, MIRROR_ESTIMATE, ROUTE, RUNNING, RUNNING_BACKUP
from qdts.search.edges import drawn, write_q
from qdts.search.estimate import write_estimate
from qdts.search.evaluator import (
    ACT,
    CHANCE,
    OPPONENT,
    SAMPLE,
    TERMINAL,
    Answers,
    AnswersType,
    Queries,
    QueriesType,
)
from qdts.search.forest import (
    CURRENT,
    DEPTH,
    EVALUATIONS,
    NONE,
    PHASE,
    ROOT,
    STATUS,
    STOPS,
    TARGET,
    TOUCHED,
    VISITS,
    WAITING,
    WIDE_EDGE,
    WIDE_NODE,
    Slot,
    WhereType,
    scratch,
    slot_of,
    vector_of,
)
from qdts.search.growth import CAPPED, LISTED, NO_ROOM, child_of, list_choices, spawned_root
from qdts.search.items import DRAWN, HIGH, LOW
from qdts.search.luck import take_off, write_act_luck, write_opponent_luck, write_route_luck, write_sample_luck
from qdts.search.prefetch import fetch_ahead
from qdts.search.root_belief import RootBeliefs, RootBeliefsType, open_beliefs, refine
from qdts.search.selection import select
from qdts.search.settings import Settings, SettingsType

BEGIN, ARRIVE, ASK, ABSORB, WIDEN, REST, CHOOSE, RETURN, DESCEND, BACK = range(10)
"""Phases."""
DONE, PAUSED, PARKED, GROW, LOST, FAULTY, GO_ON = range(7)
"""Why a slot stopped; GO_ON: it did not."""


@kernel(inline=True)
def is_only_asked(slot: Slot, settings: Settings) -> bool:
    """Whether the node at hand is a spawned root of which only P is wanted: mirror with step 0."""
    depth = slot.registers[DEPTH]
    return (
        settings.estimate == MIRROR_ESTIMATE
        and settings.step == 0.0
        and depth > 0
        and slot.stack[2 * depth - 1] == WAITING
    )


@kernel(inline=True)
def stop_at(slot: Slot, node: int) -> None:
    """A visit stops at a node: Q of it is what it carries back."""
    for k in range(slot.values):
        slot.carried[k] = entry(slot.lo, node)[k]
        slot.carried[slot.values + k] = entry(slot.hi, node)[k]
    slot.registers[PHASE] = BACK


@kernel()
def stop_at_edge(slot: Slot, settings: Settings, node: int, edge: int) -> None:
    """A visit stops at an edge whose child can't be made: it carries V_c back, from an ACT node Q of the edge."""
    low, high = scratch(slot, LOW), scratch(slot, HIGH)
    for k in range(slot.values):
        if slot.kind[node] == ACT:
            write_q(slot, settings, node, k, low, high)
        else:
            low[edge] = slot.vc[(slot.first[node] + edge) * slot.values + k]
            high[edge] = low[edge]
        slot.carried[k] = low[edge]
        slot.carried[slot.values + k] = high[edge]
    slot.registers[PHASE] = BACK


@kernel(inline=True)
def arrive_at(slot: Slot, settings: Settings) -> None:
    """A visit comes to the node at hand."""
    r = slot.registers
    node = r[CURRENT]
    only_asked = is_only_asked(slot, settings)
    r[TOUCHED] += not only_asked
    if slot.kind[node] == TERMINAL:
        stop_at(slot, node)
    elif slot.evaluated[node] == 0:
        r[PHASE] = ASK
    elif only_asked:
        r[PHASE] = RETURN
    else:
        r[PHASE] = CHOOSE


@kernel(inline=True)
def ask(game: Any, playout: Any, rules: Ints, slot: Slot, settings: Settings, book: OpenBook, evaluator: int) -> int:
    """List the choices of the node at hand and have it evaluated."""
    r = slot.registers
    node = r[CURRENT]
    listed = list_choices(game, rules, slot, node)
    if listed != LISTED:
        return GROW if listed == NO_ROOM else FAULTY
    r[EVALUATIONS] += 1
    r[PHASE] = ABSORB
    if evaluator == OUTSIDE:
        return PARKED
    player = asker(slot, settings, node)
    status = answer(
        game, playout, rules, settings, book, evaluator, slot.kind[node], vector_of(slot, node), slot.size, player,
        slot.pending[node], slot.hole[node], slot.choices, slot.degree[node], slot.state, slot.values,
        slot.answer_value, slot.answer_children, slot.answer_prior, slot.vector_a, slot.moves, slot.reals,
    )  # fmt: skip
    return GO_ON if status == ANSWERED else LOST


@kernel()
def back_up_apart(slot: Slot, settings: Settings, node: int) -> None:
    """`back_up` where it is seldom called, so that its code stands there but once."""
    back_up(slot, settings, node)


@kernel(inline=True)
def absorb(game: Any, rules: Ints, slot: Slot, settings: Settings, beliefs: RootBeliefs, s: int) -> None:
    """Take in the answer for the node at hand: V, V_c, the prior, and its first Q."""
    r = slot.registers
    node = r[CURRENT]
    first, count = slot.first[node], slot.degree[node]
    if slot.kind[node] == SAMPLE:
        refine(game, rules, slot, beliefs, s, node)
    if slot.kind[node] != CHANCE:
        for i in range(count):
            slot.prior[first + i] = 0.0 if slot.kind[node] == OPPONENT else slot.answer_prior[i]
    if slot.kind[node] != ACT or settings.unvisited != FPU:  # else nobody reads it
        vc = moved(slot.vc, first * slot.values)
        for i in range(count * slot.values):
            vc[i] = slot.answer_children[i]
    for k in range(slot.values):
        entry(slot.v, node)[k] = slot.answer_value[k]
        entry(slot.lo, node)[k] = slot.answer_value[k]
        entry(slot.hi, node)[k] = slot.answer_value[k]
    slot.evaluated[node] = 1
    if slot.kind[node] == SAMPLE or slot.kind[node] == CHANCE:
        back_up_apart(slot, settings, node)
    if node == ROOT and slot.guide[0] >= 0.0:
        guide_root(slot, settings)
    if r[WIDE_NODE] != NONE:
        r[PHASE] = WIDEN
    elif settings.widen and settings.hidden and slot.kind[node] == ACT:
        r[WIDE_NODE] = node
        r[WIDE_EDGE] = 0
        r[PHASE] = WIDEN
    else:
        r[PHASE] = REST


@kernel()
def guide_root(slot: Slot, settings: Settings) -> None:
    """P' of the root: its prior with a temperature, mixed with the noise that `guide` holds."""
    first, count = slot.first[ROOT], slot.degree[ROOT]
    top, total = 0.0, 0.0
    for i in range(count):
        top = max(top, slot.prior[first + i])
    for i in range(count):
        total += (slot.prior[first + i] / top) ** (1.0 / settings.prior_temperature)  # no power of all is 0
    for i in range(count):
        p = (slot.prior[first + i] / top) ** (1.0 / settings.prior_temperature) / total
        slot.guide[i] = (1.0 - settings.noise) * p + settings.noise * slot.guide[i]


@kernel()
def widen(game: Any, rules: Ints, slot: Slot, settings: Settings) -> int:
    """See to the next child of a new ACT node: have it evaluated, and its spawned root if it is an OPPONENT node."""
    r = slot.registers
    node = r[WIDE_NODE]
    if r[WIDE_EDGE] == slot.degree[node]:
        r[WIDE_NODE] = NONE
        r[CURRENT] = node
        r[PHASE] = REST
        return GO_ON
    child = child_of(game, rules, slot, settings, node, r[WIDE_EDGE])
    if child == NO_ROOM:
        return GROW
    if child != CAPPED and slot.kind[child] != TERMINAL:
        if slot.evaluated[child] == 0:
            r[CURRENT] = child
            r[PHASE] = ASK
            return GO_ON
        if slot.kind[child] == OPPONENT and slot.total[child] == 0:
            root = spawned_root(game, rules, slot, settings, child)
            if root == NO_ROOM:
                return GROW
            if root != CAPPED and slot.evaluated[root] == 0:
                r[CURRENT] = root
                r[PHASE] = ASK
                return GO_ON
            back_up_apart(slot, settings, child)
    r[WIDE_EDGE] += 1
    return GO_ON


@kernel(inline=True)
def rest(slot: Slot, settings: Settings) -> None:
    """The node at hand has just been evaluated: a visit stops there, unless it is a root or inside a chain."""
    r = slot.registers
    node = r[CURRENT]
    if is_only_asked(slot, settings):
        r[PHASE] = RETURN
    elif slot.tree[node] == node or slot.passing[node] != STOPS:
        r[PHASE] = CHOOSE
    else:
        slot.stopped[node] = 1
        stop_at(slot, node)


@kernel(inline=True)
def count_choice(slot: Slot, node: int, edge: int) -> None:
    """N(e) ← N(e) + 1."""
    slot.n[slot.first[node] + edge] += 1
    slot.total[node] += 1


@kernel(inline=True)
def push(slot: Slot, node: int, edge: int) -> None:
    """Put a node and its edge on the stack, and count the choice."""
    r = slot.registers
    slot.stack[2 * r[DEPTH]] = node
    slot.stack[2 * r[DEPTH] + 1] = edge
    r[DEPTH] += 1
    if edge != WAITING:
        count_choice(slot, node, edge)


@kernel(inline=True)
def choose(game: Any, rules: Ints, slot: Slot, settings: Settings) -> int:
    """Choose an edge at the node at hand; at OPPONENT nodes the spawned tree is visited first."""
    r = slot.registers
    node = r[CURRENT]
    if r[DEPTH] == slot.depth_room:
        return GROW
    kind = slot.kind[node]
    if kind == OPPONENT:
        root = spawned_root(game, rules, slot, settings, node)
        if root == NO_ROOM:
            return GROW
        if root == CAPPED:
            stop_at(slot, node)
        else:
            push(slot, node, WAITING)
            r[CURRENT] = root
            r[PHASE] = ARRIVE
        return GO_ON
    at = r[DEPTH]
    if kind == ACT:
        edge = select(slot, settings, node)
        if settings.backup == RUNNING_BACKUP:
            write_act_luck(slot, settings, node, edge, at)
        waits = at > 0 and slot.stack[2 * at - 1] == WAITING
        if waits and settings.opponent_q == RUNNING and settings.estimate != MIRROR_ESTIMATE:
            write_opponent_luck(slot, settings, slot.stack[2 * at - 2], edge, at - 1)
    else:
        first = slot.first[node]
        edge = drawn(moved(slot.prior, first), slot.degree[node], slot.state)
        if settings.sample_q == RUNNING:
            write_sample_luck(slot, settings, node, edge, at)
    push(slot, node, edge)
    r[PHASE] = DESCEND
    return GO_ON


@kernel(inline=True)
def choose_for(slot: Slot, edge: int) -> None:
    """Give the waiting OPPONENT node on top of the stack its edge."""
    r = slot.registers
    slot.stack[2 * r[DEPTH] - 1] = edge
    count_choice(slot, slot.stack[2 * r[DEPTH] - 2], edge)
    r[PHASE] = DESCEND


@kernel()
def come_back(slot: Slot, settings: Settings) -> None:
    """The spawned root has P̂ to draw from (mirror): the OPPONENT node on top of the stack gets its edge."""
    top = slot.registers[DEPTH] - 1
    node = slot.stack[2 * top]
    estimate = scratch(slot, DRAWN)
    write_estimate(slot, settings, slot.spawned[node], estimate)
    edge = drawn(estimate, slot.degree[node], slot.state)
    if settings.opponent_q == RUNNING:
        write_opponent_luck(slot, settings, node, edge, top)
    choose_for(slot, edge)


@kernel(inline=True)
def descend(game: Any, rules: Ints, slot: Slot, settings: Settings) -> int:
    """Go to the child of the edge on top of the stack."""
    r = slot.registers
    top = r[DEPTH] - 1
    node, edge = slot.stack[2 * top], slot.stack[2 * top + 1]
    fresh = slot.child[slot.first[node] + edge] == NONE
    child = child_of(game, rules, slot, settings, node, edge)
    if child == NO_ROOM:
        return GROW
    complete = slot.kind[node] == SAMPLE and (child == CAPPED or slot.kind[child] != SAMPLE)
    if complete and settings.ball == ROUTE and settings.sample_q == RUNNING:
        write_route_luck(slot, settings, top, fresh)
    r[CURRENT] = child
    r[PHASE] = ARRIVE
    if child == CAPPED:
        stop_at_edge(slot, settings, node, edge)
    return GO_ON


@kernel(inline=True)
def back(slot: Slot, settings: Settings) -> None:
    """Take the last node off the path and recompute its Q.

    At a spawned root the visit of its tree is over, and its edge is the action that comes back.
    """
    r = slot.registers
    if r[DEPTH] == 0:
        r[VISITS] += 1
        r[PHASE] = BEGIN
        return
    r[DEPTH] -= 1
    top = r[DEPTH]
    node = slot.stack[2 * top]
    if is_running(slot, settings, node):
        take_off(slot, settings, node, top)
    else:
        back_up(slot, settings, node)
    if top > 0 and slot.stack[2 * top - 1] == WAITING:
        if settings.estimate == MIRROR_ESTIMATE:
            r[PHASE] = RETURN
        else:
            choose_for(slot, slot.stack[2 * top + 1])


@kernel(inline=True)
def run(
    game: Any, playout: Any, rules: Ints, slot: Slot, settings: Settings, book: OpenBook, evaluator: int,
    beliefs: RootBeliefs, s: int, quota: int,
) -> int:  # fmt: skip
    """Run one slot until it stops; say why."""
    r = slot.registers
    pause = r[VISITS] + quota
    status = GO_ON
    while status == GO_ON:
        phase = r[PHASE]
        if phase == BEGIN:
            if r[VISITS] >= r[TARGET]:
                return DONE
            if r[VISITS] >= pause:
                return PAUSED
            r[CURRENT] = ROOT
            r[PHASE] = ARRIVE
        elif phase == ARRIVE:
            arrive_at(slot, settings)
        elif phase == ASK:
            status = ask(game, playout, rules, slot, settings, book, evaluator)
        elif phase == ABSORB:
            absorb(game, rules, slot, settings, beliefs, s)
        elif phase == WIDEN:
            status = widen(game, rules, slot, settings)
        elif phase == REST:
            rest(slot, settings)
        elif phase == CHOOSE:
            status = choose(game, rules, slot, settings)
        elif phase == RETURN:
            come_back(slot, settings)
        elif phase == DESCEND:
            status = descend(game, rules, slot, settings)
        else:
            back(slot, settings)
    return status


@kernel(
    int64(
        KernelsType, PlayoutType, RulesType, WhereType, SettingsType, BookType, int64, RootBeliefsType, int64, int64,
        int64, QueriesType, AnswersType, int64,
    )
)  # fmt: skip
def advance(
    game: Any,
    playout: Any,
    rules: Ints,
    where: Ints,
    settings: Settings,
    book: Book,
    evaluator: int,
    beliefs: RootBeliefs,
    first: int,
    last: int,
    quota: int,
    queries: Queries,
    answers: Answers,
    row: int,
) -> int:
    """Run the slots from `first` up to `last`, each until it stops; `quota` is the most visits that one makes.

    Slots that were parked take their answers. Those that park write their queries, from a row on; how many there are.
    """
    opened, asked, told, start = open_book(book), open_queries(queries), open_answers(answers), row
    believed = open_beliefs(beliefs)
    for s in range(first, last):
        slot = slot_of(where, s, first)
        if evaluator == OUTSIDE:
            fetch_ahead(where, s, last)
            if slot.registers[STATUS] == PARKED:
                take_answer(slot, told)
        status = run(game, playout, element(rules, 0), slot, settings, opened, evaluator, believed, s, quota)
        if status == PARKED:
            put_query(slot, settings, s, asked, row)
            row += 1
        slot.registers[STATUS] = status
    return row - start
