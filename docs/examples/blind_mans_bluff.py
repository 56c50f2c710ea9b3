"""Blind man's bluff: poker with one card each, held to the forehead, and a mirror.

There is one card of each rank. Both players ante one chip and hold a card that the other sees and they don't. Then
first player 0 and then player 1 may glance into a mirror to see their own card; nobody notices, but it costs half
a chip, paid to the other in the end. Then they bet: in turn each passes or bets one chip, and who faces a bet passes
(folds) or bets (calls). The higher card takes the pot.

    component       holds
    TURN            how many cards have been dealt and moves made
    CARDS + p       1 + player p's card, 0 before the deal; hidden from p until they have glanced
    GLANCES + p     0 before player p's choice, then 1 if they looked away, 2 if they glanced; hidden from the other
    BETS + k        0 before the k-th move, then 1 if it was a pass, 2 if it was a bet
"""

from __future__ import annotations

import numpy as np

from qdts.games import (
    CHANCE,
    NO_HOLE,
    TERMINAL,
    UNKNOWN,
    Family,
    Field,
    Game,
    Layout,
    Parameter,
    compile_rules,
    one_hot,
    rule,
)
from qdts.kernels import Ints, Reals, Reals32, kernel

TURN, CARDS, GLANCES, BETS = 0, 1, 3, 5
COMPONENTS = 8
PASS, BET, AWAY, GLANCE = 0, 1, 2, 3
RANKS = 0  # where `rules` holds the number of ranks
PRICE = 0.5


@rule
def initial(rules: Ints, world: Ints) -> None:
    """Nothing has happened."""
    for i in range(COMPONENTS):
        world[i] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """Two cards are dealt, each may glance, then they bet until no bet is open."""
    turn = world[TURN]
    if turn < 2:
        return CHANCE
    if turn < 6:
        return turn % 2
    settled = world[BETS] == world[BETS + 1] or world[BETS] == BET + 1
    return TERMINAL if settled or turn == 7 else 0


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """Any card that is left."""
    return cards_left(rules, world, outcomes, probabilities)


@kernel()
def cards_left(rules: Ints, world: Ints, cards: Ints, probabilities: Reals) -> int:
    """Write the cards that are not seen, all equally likely; return how many."""
    count = 0
    for card in range(rules[RANKS]):
        if world[CARDS] != card + 1 and world[CARDS + 1] != card + 1:
            cards[count] = card
            count += 1
    for i in range(count):
        probabilities[i] = 1.0 / count
    return count


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """First to look away or to glance, then to pass or to bet."""
    first = AWAY if world[TURN] < 4 else PASS
    actions[0] = first
    actions[1] = first + 1
    return 2


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Deal a card, look away or glance, pass or bet."""
    turn = world[TURN]
    if turn < 2:
        world[CARDS + turn] = action + 1
    elif turn < 4:
        world[GLANCES + turn - 2] = action - AWAY + 1
    else:
        world[BETS + turn - 4] = action + 1
    world[TURN] = turn + 1


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """The pot goes to the one who did not fold, or to the higher card; each glance is paid for."""
    first, second, third = world[BETS], world[BETS + 1], world[BETS + 2]
    stake = 1.0
    won = world[CARDS] > world[CARDS + 1]
    if first == BET + 1 and second == PASS + 1:
        won = True
    elif third == PASS + 1:
        won = False
    elif second == BET + 1:
        stake = 2.0
    utilities[0] = stake if won else -stake
    utilities[0] += PRICE * (world[GLANCES + 1] - world[GLANCES])
    utilities[1] = -utilities[0]


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the player's own card unless they glanced, and whether the other did."""
    if world[CARDS + player] != 0 and world[GLANCES + player] != GLANCE - AWAY + 1:
        world[CARDS + player] = UNKNOWN
    if world[GLANCES + 1 - player] != 0:
        world[GLANCES + 1 - player] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first unknown component."""
    for i in range(COMPONENTS):
        if view[i] == UNKNOWN:
            return i
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """A card that is not seen, or one of two things that the other may have done."""
    if hole < GLANCES:
        return cards_left(rules, view, values, weights)
    for i in range(2):
        values[i] = i
        weights[i] = 0.5
    return 2


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, and every component but TURN, which follows from the others."""
    at = one_hot(out, 0, player, 2)
    for i in range(CARDS, GLANCES):
        at = one_hot(out, at, world[i], rules[RANKS] + 1)
    for i in range(GLANCES, COMPONENTS):
        at = one_hot(out, at, world[i], 3)


def build(spec: str, ranks: int) -> Game:
    """The game with so many ranks."""
    names = tuple("23456789TJQKA")[-ranks:]

    def title(view: Ints) -> str:
        cards = ["?" if card == UNKNOWN else names[card - 1] for card in view[CARDS:GLANCES]]
        player = view[TURN] % 2
        bets = ", ".join(("pass", "bet")[bet - 1] for bet in view[BETS:] if bet > 0)
        when = bets or ("to glance" if view[TURN] < 4 else "to open")
        return f"{cards[player]} against {cards[1 - player]}; {when}"

    return Game(
        name="blind_mans_bluff",
        parameters={"ranks": ranks},
        spec=spec,
        version=1,
        players=2,
        rules=np.array([ranks], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("turn"),
                Field("cards", ("-", *names), length=2, places=("card of player 0", "card of player 1")),
                Field("glances", ("-", "n", "y"), length=2, names=("not yet", "looked away", "glanced")),
                Field("bets", ("-", "p", "b"), length=3, names=("none", "pass", "bet")),
            )
        ),
        num_actions=4,
        num_outcomes=ranks,
        num_values=ranks,
        max_depth=7,
        min_return=-2.0 - PRICE,
        max_return=2.0 + PRICE,
        feature_shape=(3 + 2 * (ranks + 2) + 5 * 4,),
        action_name=("pass", "bet", "look away", "glance").__getitem__,
        outcome_name=lambda card: f"deal {names[card]}",
        title=title,
    )


FAMILY = Family(
    name="blind_mans_bluff",
    summary="Blind man's bluff: you see the other's card and not your own",
    parameters=(Parameter("ranks", 4, "how many cards there are, one of each rank", low=3, high=13),),
    build=build,
    examples=("blind_mans_bluff(ranks=3)", "blind_mans_bluff(ranks=6)"),
    small=("blind_mans_bluff(ranks=3)",),
)
