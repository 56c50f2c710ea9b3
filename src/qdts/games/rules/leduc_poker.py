"""Leduc poker for two and more players, as OpenSpiel's `leduc_poker`.

There are two cards of each rank and one rank more than there are players; each antes one chip and is dealt a
card. A round of betting, a card that all share, and a second round follow. In turn each may call (put in what
the others have, perhaps nothing), raise (by 2 chips in the first round, by 4 in the second, at most two
raises a round) or, after a raise, fold. A round is over when all have answered the last raise. The pot goes
to the last one left, or to the best hand: a pair with the shared card, then the higher rank; equals share.

    component       holds
    ACTOR           0 when the game is over, 1 where chance deals, 2 + p where player p is to move
    PENDING         how many have yet to answer in this round
    LEVEL           how many raises this round has seen
    BOARD           1 + the shared card, 0 before it is dealt
    CARDS + p       1 + player p's card, 0 before the deal; hidden from the others
    bets + p        what player p did in the first round: two bits for each level, 1 + the action, 0 for none
    bets + n + p    the same in the second round

A player acts at most once on each level, and always in the order of the seats: these records hold the whole
sequence of bets.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from qdts.errors import InputError
from qdts.games.defaults import one_hot
from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.layout import Field, Layout, each_player
from qdts.games.rule import CHANCE, NO_HOLE, TERMINAL, UNKNOWN, compile_rules, rule
from qdts.games.sets import any_of, lowest, size
from qdts.kernels import Ints, Reals, Reals32, kernel
from qdts.rng import one_of

FOLD, CALL, RAISE = 0, 1, 2
ACTOR, PENDING, LEVEL, BOARD, CARDS = 0, 1, 2, 3, 4
# What `rules` holds: players, who opens, how many cards share a number, whether every action is open, and, of each
# record of a round, how many raises were paid for.
PLAYERS, START, COPIES, MAPPED, MATCHED = 0, 1, 2, 3, 4
LEVELS = 3
FOLDS = 0b010101_010101  # the records of both rounds with FOLD + 1 on every level
RANKS = "23456789TJQK"
RECORDS = tuple("".join(reversed(word)) for word in product("-fcr", repeat=LEVELS))
"""A player's record of a round as text, level by level: `c-f` called, had nothing to answer, and folded."""


@rule
def initial(rules: Ints, world: Ints) -> None:
    """No card is dealt."""
    for i in range(CARDS + 3 * rules[PLAYERS]):
        world[i] = 0
    world[ACTOR] = CHANCE + 2


@rule
def mover(rules: Ints, world: Ints) -> int:
    """As `step` left it."""
    return world[ACTOR] - 2


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Fold only after a raise, and raise at most twice; with MAPPED all three are open, and `bet` sees to them."""
    low, count = choices(rules, world)
    for i in range(count):
        actions[i] = low + i
    return count


@kernel()
def choices(rules: Ints, world: Ints) -> tuple[int, int]:
    """The lowest legal action, and how many there are."""
    low = FOLD if rules[MAPPED] | (world[LEVEL] > 0) else CALL
    high = RAISE if rules[MAPPED] | (world[LEVEL] < LEVELS - 1) else CALL
    return low, high - low + 1


@kernel(inline=True)
def pick(rules: Ints, world: Ints, bits: np.uint64) -> int:
    """One of the cards that are left, or of the legal actions."""
    if world[ACTOR] == CHANCE + 2:
        return pick_card(rules, world, bits)
    low, count = choices(rules, world)
    return low + one_of(count, bits)


@kernel(inline=True)
def pick_card(rules: Ints, world: Ints, bits: np.uint64) -> int:
    """One of the cards that are left."""
    return any_of(free_cards(rules, world), bits) >> rules[COPIES] - 1


@kernel()
def allowed(world: Ints, action: int) -> bool:
    """Whether an action means what it says."""
    return (action == CALL) | (world[LEVEL] > 0 if action == FOLD else world[LEVEL] < LEVELS - 1)


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """Any card that is left."""
    return cards_left(rules, world, outcomes, probabilities)


@kernel()
def cards_left(rules: Ints, world: Ints, cards: Ints, probabilities: Reals) -> int:
    """Write the cards that are not known to be dealt, each as likely as it has copies left; return how many."""
    free = free_cards(rules, world)
    count, card, total = 0, 0, size(free)
    while free != 0:
        copies = size(free & (1 << rules[COPIES]) - 1)
        if copies > 0:
            cards[count] = card
            probabilities[count] = copies / total
            count += 1
        free >>= rules[COPIES]
        card += 1
    return count


@kernel()
def free_cards(rules: Ints, world: Ints) -> int:
    """The set of the cards that are not known to be dealt: a bit for each copy of a number, the upper ones are left."""
    n = rules[PLAYERS]
    dealt = 0
    for i in range(BOARD, CARDS + n):
        if world[i] > 0:
            card = 1 << (world[i] - 1) * rules[COPIES]
            dealt |= card + (dealt & card)
    return (1 << 2 * (n + 1)) - 1 & ~dealt


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Deal a card, or fold, call or raise."""
    if world[ACTOR] == CHANCE + 2:
        deal(rules, world, action)
    else:
        bet(rules, world, CALL if rules[MAPPED] and not allowed(world, action) else action)


@kernel()
def deal(rules: Ints, world: Ints, card: int) -> None:
    """Give a card to the next player without one, or to the board, and open the betting after the last one."""
    n = rules[PLAYERS]
    p = 0
    while p < n and world[CARDS + p] != 0:
        p += 1
    if p < n:
        world[CARDS + p] = card + 1
    else:
        world[BOARD] = card + 1
    if p >= n - 1:
        world[LEVEL] = 0
        players = playing(rules, world)
        world[PENDING] = size(players)
        world[ACTOR] = next_in(players, rules[START]) + 2


@kernel(inline=True)
def bet(rules: Ints, world: Ints, action: int) -> None:
    """Write down what the player did, and find out who is next."""
    n, p, pending, level = rules[PLAYERS], world[ACTOR] - 2, world[PENDING], world[LEVEL]
    second, raised = world[BOARD] != 0, action == RAISE
    players = playing(rules, world) & ~((action == FOLD) << p)
    alone = players & players - 1 == 0
    answered = (pending == 1) & (action != RAISE)
    over = TERMINAL if second | alone else CHANCE
    world[CARDS + (2 * n if second else n) + p] |= (action + 1) << 2 * level
    world[PENDING] = (size(players) if raised else pending) - 1
    world[LEVEL] = level + raised
    world[ACTOR] = 2 + (over if alone | answered else next_in(players, p + 1))


@kernel(inline=True)
def playing(rules: Ints, world: Ints) -> int:
    """The set of the players who have not folded, before the game is over: of two, both."""
    return 0b11 if rules[PLAYERS] == 2 else still_in(rules, world)


@kernel(inline=True)
def still_in(rules: Ints, world: Ints) -> int:
    """The set of the players who have not folded."""
    n = rules[PLAYERS]
    first, second = CARDS + n, CARDS + 2 * n
    players = 0
    for p in range(n - 1, -1, -1):
        record = world[first + p] | world[second + p] << 2 * LEVELS
        players = 2 * players + (record & ~(record >> 1) & FOLDS == 0)
    return players


@kernel(inline=True)
def next_in(players: int, seat: int) -> int:
    """The first of some players from a seat on."""
    after = players >> seat
    return seat + lowest(after) if after != 0 else lowest(players)


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """The best hand of those who have not folded takes the pot; equals share it."""
    n = rules[PLAYERS]
    players = still_in(rules, world)
    pot, best, winners = 0, -1, 0
    for p in range(n):
        paid = 1 + 2 * rules[MATCHED + world[CARDS + n + p]] + 4 * rules[MATCHED + world[CARDS + 2 * n + p]]
        utilities[p] = -paid
        pot += paid
        hand = strength(rules, world, p) if players >> p & 1 else -1
        winners = (0 if hand > best else winners) | (hand >= best) << p
        best = max(best, hand)
    share = pot / size(winners)
    for p in range(n):
        utilities[p] += share if winners >> p & 1 else 0.0


@kernel()
def strength(rules: Ints, world: Ints, player: int) -> int:
    """A hand's worth: its rank, more with a pair."""
    rank = (world[CARDS + player] - 1) * rules[COPIES] >> 1
    shared = (world[BOARD] - 1) * rules[COPIES] >> 1
    return rank + (rules[PLAYERS] + 1 if rank == shared else 0)


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the cards of the others that have been dealt."""
    for p in range(rules[PLAYERS]):
        if p != player and world[CARDS + p] != 0:
            world[CARDS + p] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first unknown card."""
    for p in range(rules[PLAYERS]):
        if view[CARDS + p] == UNKNOWN:
            return CARDS + p
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """A hidden card is any that is left."""
    return cards_left(rules, view, values, weights)


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, who moves, the cards, and every bet. PENDING and LEVEL follow from these."""
    n = rules[PLAYERS]
    at = one_hot(out, 0, player, n)
    at = one_hot(out, at, world[ACTOR], n + 2)
    for i in range(BOARD, CARDS + n):
        at = one_hot(out, at, world[i], 2 * (n + 1) // rules[COPIES] + 1)
    for i in range(CARDS + n, CARDS + 3 * n):
        for level in range(LEVELS):
            move = world[i] >> 2 * level & 3
            for action in range(FOLD, RAISE + 1):
                out[at] = 1.0 if move == action + 1 else 0.0
                at += 1


def raises_matched(record: int) -> int:
    """How many of a round's raises a player paid for, their own included."""
    matched = 0
    for level in range(LEVELS):
        move = record >> 2 * level & 3
        matched = level + (move == RAISE + 1) if move > FOLD + 1 else matched
    return matched


def build(spec: str, players: int, action_mapping: bool, suit_isomorphism: bool, starting_player: int) -> Game:
    """The game for a number of players."""
    if starting_player >= players:
        raise InputError(f"leduc_poker: starting_player={starting_player}, expected 0 to {players - 1}")
    ranks = RANKS[-players - 1 :]
    seats = tuple(f"player {p}" for p in range(players))
    cards = tuple(ranks) if suit_isomorphism else tuple(r + s for r in ranks for s in "sh")
    signs = [c.replace("s", "♠").replace("h", "♥") for c in cards]
    first, second = CARDS + players, CARDS + 2 * players
    matched = map(raises_matched, range(len(RECORDS)))

    def betting(world: Ints, bets: int) -> list[int]:
        """The actions of the round whose records start at a component."""
        made: list[int] = []
        seat = starting_player
        for level in range(LEVELS):
            moves = [int(world[bets + (seat + i) % players]) >> 2 * level & 3 for i in range(players)]
            if RAISE + 1 not in moves:
                return made + [m - 1 for m in moves if m]
            raised = moves.index(RAISE + 1)
            made += [m - 1 for m in moves[: raised + 1] if m]
            seat += raised + 1
        return made

    def replay(world: Ints) -> list[int]:
        dealt = [int(v) - 1 for v in world[CARDS:first] if v > 0]
        board = [int(world[BOARD]) - 1] if world[BOARD] else []
        return dealt + betting(world, first) + board + betting(world, second)

    def title(view: Ints) -> str:
        own = " ".join(signs[v - 1] for v in view[CARDS:first] if v > 0) or "-"
        board = [f"board {signs[view[BOARD] - 1]}"] if view[BOARD] else []
        rounds = [betting(view, first), betting(view, second)][: 1 + len(board)]
        made = "; ".join(", ".join(("fold", "call", "raise")[a] for a in r) or "to open" for r in rounds)
        return " | ".join([own, *board, made])

    return Game(
        name="leduc_poker",
        parameters={
            "players": players,
            "action_mapping": action_mapping,
            "suit_isomorphism": suit_isomorphism,
            "starting_player": starting_player,
        },
        spec=spec,
        version=1,
        players=players,
        rules=np.array([players, starting_player, 1 + suit_isomorphism, action_mapping, *matched], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("actor", ("over", "chance", *map(str, range(players))), names=("over", "chance", *seats)),
                Field("pending", tuple(map(str, range(players + 1)))),
                Field("raises", tuple(map(str, range(LEVELS)))),
                Field("board", ("-", *cards)),
                Field("cards", ("-", *cards), length=players, places=each_player("card", players)),
                Field("first", RECORDS, length=players),
                Field("second", RECORDS, length=players),
            )
        ),
        num_actions=3,
        num_outcomes=len(cards),
        num_values=len(cards),
        max_depth=players + 1 + 2 * (3 * players - 2),
        min_return=-13.0,
        max_return=13.0 * (players - 1),
        feature_shape=(2 * players + 4 + (players + 1) * (len(cards) + 2) + 6 * LEVELS * players,),
        action_name=("Fold", "Call", "Raise").__getitem__,
        outcome_name=lambda card: f"deal {cards[card]}",
        memory="sufficient" if action_mapping else "perfect",
        replay=replay,
        pick=pick,
        title=title,
    )


FAMILY = Family(
    name="leduc_poker",
    summary="Leduc poker: one card each, a shared one, two rounds of bets",
    parameters=(
        Parameter("players", 2, "how many play", low=2, high=10),
        Parameter("action_mapping", False, "allow every action everywhere; one that makes no sense is a call"),
        Parameter("suit_isomorphism", False, "deal ranks, not cards: suits are not distinguished"),
        Parameter("starting_player", 0, "who opens each round of bets", low=0, high=9),
    ),
    build=build,
    examples=("leduc_poker(suit_isomorphism=true)", "leduc_poker(starting_player=1)", "leduc_poker(players=3)"),
)
