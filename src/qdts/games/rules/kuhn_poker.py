"""Kuhn poker for two and more players, as OpenSpiel's `kuhn_poker`.

There is one card more than there are players; each antes one chip and is dealt a card. In turn each passes
or bets one chip; after the first bet each of the others has one more turn, to pass (fold) or bet (call). The
highest card among those who bet takes the pot; if nobody bet, the highest card of all.

    component       holds
    TURN            how many cards have been dealt and moves made
    BETTOR          1 + the number of the move that was the first bet, 0 before it
    CARDS + p       1 + player p's card, 0 before the deal; hidden from the others
    bets + k        1 + what the k-th move was (PASS, BET), 0 before it
"""

from __future__ import annotations

import numpy as np

from qdts.games.defaults import one_hot
from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.layout import Field, Layout, each_player
from qdts.games.rule import CHANCE, NO_HOLE, TERMINAL, UNKNOWN, compile_rules, rule
from qdts.games.sets import any_of, listed
from qdts.kernels import Ints, Reals, Reals32, kernel
from qdts.rng import one_of

PASS, BET = 0, 1
TURN, BETTOR, CARDS = 0, 1, 2
PLAYERS = 0  # where `rules` holds the number of players


@rule
def initial(rules: Ints, world: Ints) -> None:
    """No card is dealt."""
    for i in range(CARDS + 3 * rules[PLAYERS] - 1):
        world[i] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """Chance deals; then the players move in turn until nobody has anything to answer."""
    n = rules[PLAYERS]
    made = world[TURN] - n
    if made < 0:
        return CHANCE
    last = n if world[BETTOR] == 0 else world[BETTOR] - 1 + n
    if made == last:
        return TERMINAL
    return made if made < n else made - n


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Pass or bet, always."""
    actions[0] = PASS
    actions[1] = BET
    return 2


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """Any card that is left."""
    return cards_left(rules, world, outcomes, probabilities)


@kernel()
def cards_left(rules: Ints, world: Ints, cards: Ints, probabilities: Reals) -> int:
    """Write the cards that nobody is known to hold, all equally likely; return how many."""
    count = listed(free_cards(rules, world), cards)
    for i in range(count):
        probabilities[i] = 1.0 / count
    return count


@kernel()
def free_cards(rules: Ints, world: Ints) -> int:
    """The set of the cards that nobody is known to hold."""
    n = rules[PLAYERS]
    cards = (1 << n + 1) - 1
    for p in range(n):
        cards &= ~(1 << max(world[CARDS + p], 0) >> 1)
    return cards


@kernel(inline=True)
def pick(rules: Ints, world: Ints, bits: np.uint64) -> int:
    """One of the cards that are left, or pass or bet."""
    return one_of(2, bits) if world[TURN] >= rules[PLAYERS] else pick_card(rules, world, bits)


@kernel()
def pick_card(rules: Ints, world: Ints, bits: np.uint64) -> int:
    """One of the cards that are left."""
    return any_of(free_cards(rules, world), bits)


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Deal a card, or pass or bet."""
    turn = world[TURN]
    made = turn - rules[PLAYERS]
    opens = (made >= 0) & (action == BET) & (world[BETTOR] == 0)
    world[BETTOR] += made + 1 if opens else 0
    world[CARDS + turn] = action + 1
    world[TURN] = turn + 1


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """The pot goes to the highest card among those who bet, or of all if nobody did."""
    n = rules[PLAYERS]
    bets = CARDS + n
    nobody = world[BETTOR] == 0
    winner, best, pot, share = 0, 0, 0, 0
    for p in range(n):
        later = world[bets + n + p] if p < n - 1 else 0
        bet = (world[bets + p] == BET + 1) | (later == BET + 1)
        paid = 1 + bet
        utilities[p] = -paid
        pot += paid
        better = (world[CARDS + p] > best) & (bet | nobody)
        winner, share = p if better else winner, paid if better else share
        best = world[CARDS + p] if better else best
    utilities[winner] = pot - share


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
    """Whose point of view it is, the cards, and every move. TURN and BETTOR follow from these."""
    n = rules[PLAYERS]
    at = one_hot(out, 0, player, n)
    for p in range(n):
        at = one_hot(out, at, world[CARDS + p], n + 2)
    for k in range(2 * n - 1):
        at = one_hot(out, at, world[CARDS + n + k], 3)


def build(spec: str, players: int) -> Game:
    """The game for a number of players."""
    cards = tuple("JQK") if players == 2 else tuple(str(c) for c in range(players + 1))
    moves = 2 * players - 1

    def replay(world: Ints) -> list[int]:
        return [int(v) - 1 for v in world[CARDS:] if v > 0]

    def title(view: Ints) -> str:
        own = next((cards[v - 1] for v in view[CARDS : CARDS + players] if v > 0), "-")
        made = ", ".join(("pass", "bet")[v - 1] for v in view[CARDS + players :] if v > 0)
        return f"{own}; {made or 'to open'}"

    return Game(
        name="kuhn_poker",
        parameters={"players": players},
        spec=spec,
        version=1,
        players=players,
        rules=np.array([players], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("turn"),
                Field("bettor"),
                Field("cards", ("-", *cards), length=players, places=each_player("card", players)),
                Field("bets", ("-", "p", "b"), length=moves, names=("none", "pass", "bet")),
            )
        ),
        num_actions=2,
        num_outcomes=players + 1,
        num_values=players + 1,
        max_depth=players + moves,
        min_return=-2.0,
        max_return=2.0 * (players - 1),
        feature_shape=(players + 1 + players * (players + 3) + moves * 4,),
        action_name=("Pass", "Bet").__getitem__,
        outcome_name=lambda card: f"deal {cards[card]}",
        replay=replay,
        pick=pick,
        title=title,
    )


FAMILY = Family(
    name="kuhn_poker",
    summary="Kuhn poker: one card each, one bet",
    parameters=(Parameter("players", 2, "how many play", low=2, high=10),),
    build=build,
    examples=("kuhn_poker(players=3)", "kuhn_poker(players=4)"),
)
