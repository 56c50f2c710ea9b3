"""Kuhn poker for two and more players, as OpenSpiel's `kuhn_poker`.

There is one card more than there are players; each antes one chip and is dealt a card. In turn each passes
or bets one chip; after the first bet each of the others has one more turn, to pass (fold) or bet (call). The
highest card among those who bet takes the pot; if nobody bet, the highest card of all.

    slot            holds
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
from qdts.games.interface import CHANCE, NO_HOLE, TERMINAL, UNKNOWN, compile_rules, rule
from qdts.games.layout import Field, Layout
from qdts.kernels import Ints, Reals, Reals32, kernel

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
    n = rules[PLAYERS]
    count = 0
    for card in range(n + 1):
        free = True
        for p in range(n):
            free &= world[CARDS + p] != card + 1
        if free:
            cards[count] = card
            count += 1
    for i in range(count):
        probabilities[i] = 1.0 / count
    return count


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Deal a card, or pass or bet."""
    n = rules[PLAYERS]
    made = world[TURN] - n
    if made < 0:
        world[CARDS + world[TURN]] = action + 1
    else:
        world[CARDS + n + made] = action + 1
        if action == BET and world[BETTOR] == 0:
            world[BETTOR] = made + 1
    world[TURN] += 1


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """The pot goes to the highest card among those who bet, or of all if nobody did."""
    n = rules[PLAYERS]
    bets = CARDS + n
    winner, best, pot = 0, 0, 0.0
    for p in range(n):
        bet = world[bets + p] == BET + 1 or (p < n - 1 and world[bets + n + p] == BET + 1)
        paid = 2.0 if bet else 1.0
        utilities[p] = -paid
        pot += paid
        if world[CARDS + p] > best and (bet or world[BETTOR] == 0):
            winner, best = p, world[CARDS + p]
    utilities[winner] += pot


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
                Field("cards", ("-", *cards), length=players),
                Field("bets", ("-", "p", "b"), length=moves),
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
        title=title,
    )


FAMILY = Family(
    name="kuhn_poker",
    summary="Kuhn poker: one card each, one bet",
    parameters=(Parameter("players", 2, "how many play", low=2, high=10),),
    build=build,
    examples=("kuhn_poker(players=3)", "kuhn_poker(players=4)"),
)
