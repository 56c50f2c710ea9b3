"""Coup with one card each: claim any role you like, as long as nobody calls you a liar.

There are two cards of each of four roles: duke, captain, assassin, contessa. Each player gets one card and two coins.
They take turns, a limited number in all. In a turn one may

    income        take a coin
    tax           as a duke: take two coins
    steal         as a captain: take up to two coins from the other; the other may block it as a captain
    assassinate   as an assassin, for three coins: the other is out; they may block it as a contessa
    swap          for one coin, once a game: lay the card aside, and draw another that nobody sees

Nobody has to hold the role that they claim. The other allows it, challenges it, or blocks it where that is possible,
which is a claim too, to be allowed or challenged. A challenged player shows their card: who lied is out, else the
challenger is. Who is out pays 6. If nobody is out after the last turn, the return is the difference in coins.

    component       holds
    TURN            how many turns are over
    CLAIM           0 if no claim is open, then 1 + the role claimed
    BLOCKED         1 if the open claim is a block
    DRAWING         1 if a card is to be drawn
    COINS + p       the coins of player p
    OVER            0, or 1 + who is out
    SHOWN           0, or 1 + who has shown their card
    CARDS + p       1 + the first card of player p, 0 before the deal; hidden from the other
    SWAPS + p       1 + the card that player p drew by a swap, 0 before; hidden from the other
    MOVES + k       1 + the k-th action, 0 before
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

TURN, CLAIM, BLOCKED, DRAWING, COINS, OVER, SHOWN, CARDS, SWAPS, MOVES = 0, 1, 2, 3, 4, 6, 7, 8, 10, 12
LONGEST = 6  # room for so many turns, of three moves at most
ROOM = 3 * LONGEST
COMPONENTS = MOVES + ROOM
DUKE, CAPTAIN, ASSASSIN, CONTESSA = 0, 1, 2, 3
INCOME, TAX, STEAL, ASSASSINATE, SWAP, ALLOW, CHALLENGE, BLOCK = 0, 1, 2, 3, 4, 5, 6, 7
ROLES, COPIES, PRICE, PRIZE = 4, 2, 3, 6
TURNS = 0  # where `rules` holds the number of turns
NAMES = ("duke", "captain", "assassin", "contessa")
ACTIONS = ("income", "tax", "steal", "assassinate", "swap", "allow", "challenge", "block")


@kernel()
def cards_left(world: Ints, cards: Ints, probabilities: Reals) -> int:
    """Write the roles of which a card is not seen, with their probabilities; return how many."""
    n = 0
    total = 0.0
    for role in range(ROLES):
        left = COPIES
        for i in range(CARDS, MOVES):
            if world[i] == role + 1:
                left -= 1
        if left > 0:
            cards[n] = role
            probabilities[n] = left
            total += left
            n += 1
    for i in range(n):
        probabilities[i] /= total
    return n


@kernel()
def next_turn(world: Ints) -> None:
    """End the turn."""
    world[CLAIM] = 0
    world[BLOCKED] = 0
    world[TURN] += 1


@rule
def initial(rules: Ints, world: Ints) -> None:
    """Two coins each, and no cards yet."""
    for i in range(COMPONENTS):
        world[i] = 0
    world[COINS] = 2
    world[COINS + 1] = 2


@rule
def mover(rules: Ints, world: Ints) -> int:
    """Who has the turn, or who answers an open claim."""
    if world[CARDS + 1] == 0 or world[DRAWING] == 1:
        return CHANCE
    if world[OVER] != 0 or world[TURN] == rules[TURNS]:
        return TERMINAL
    active = world[TURN] % 2
    return 1 - active if world[CLAIM] != 0 and world[BLOCKED] == 0 else active


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """Any card that is left."""
    return cards_left(world, outcomes, probabilities)


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Act, or answer a claim."""
    n = 0
    if world[CLAIM] != 0:
        actions[0] = ALLOW
        actions[1] = CHALLENGE
        actions[2] = BLOCK
        return 3 if world[BLOCKED] == 0 and world[CLAIM] != DUKE + 1 else 2
    player = world[TURN] % 2
    for action in range(ALLOW):
        enough = action != ASSASSINATE or world[COINS + player] >= PRICE
        if action == SWAP:
            enough = world[COINS + player] >= 1 and world[SWAPS + player] == 0
        if enough:
            actions[n] = action
            n += 1
    return n


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Deal or draw a card, act, or answer."""
    player = world[TURN] % 2
    if world[CARDS + 1] == 0:
        world[CARDS if world[CARDS] == 0 else CARDS + 1] = action + 1
        return
    if world[DRAWING] == 1:
        world[SWAPS + player] = action + 1
        world[DRAWING] = 0
        next_turn(world)
        return
    k = 0
    while world[MOVES + k] != 0:
        k += 1
    world[MOVES + k] = action + 1
    claimant = 1 - player if world[BLOCKED] == 1 else player
    if action == INCOME:
        world[COINS + player] += 1
        next_turn(world)
    elif action == TAX:
        world[CLAIM] = DUKE + 1
    elif action == STEAL:
        world[CLAIM] = CAPTAIN + 1
    elif action == ASSASSINATE:
        world[CLAIM] = ASSASSIN + 1
        world[COINS + player] -= PRICE
    elif action == SWAP:
        world[COINS + player] -= 1
        world[DRAWING] = 1
    elif action == BLOCK:
        world[CLAIM] = CAPTAIN + 1 if world[CLAIM] == CAPTAIN + 1 else CONTESSA + 1
        world[BLOCKED] = 1
    elif action == CHALLENGE:
        card = world[SWAPS + claimant] if world[SWAPS + claimant] != 0 else world[CARDS + claimant]
        world[OVER] = 1 + (1 - claimant if card == world[CLAIM] else claimant)
        world[SHOWN] = 1 + claimant
    elif world[BLOCKED] == 1:  # a block is allowed
        next_turn(world)
    elif world[CLAIM] == ASSASSIN + 1:
        world[OVER] = 2 - player
    else:
        take = 2
        if world[CLAIM] == CAPTAIN + 1:
            take = min(take, world[COINS + 1 - player])
            world[COINS + 1 - player] -= take
        world[COINS + player] += take
        next_turn(world)


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """Who is out pays the prize; else the coins are compared."""
    if world[OVER] != 0:
        utilities[0] = -PRIZE if world[OVER] == 1 else PRIZE
    else:
        utilities[0] = world[COINS] - world[COINS + 1]
    utilities[1] = -utilities[0]


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the other's cards, but not the one that they had to show."""
    other = 1 - player
    shown = world[SHOWN] == 1 + other
    if world[CARDS + other] != 0 and not (shown and world[SWAPS + other] == 0):
        world[CARDS + other] = UNKNOWN
    if world[SWAPS + other] != 0 and not shown:
        world[SWAPS + other] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first unknown card."""
    for i in range(CARDS, MOVES):
        if view[i] == UNKNOWN:
            return i
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """Any card that is left."""
    return cards_left(view, values, weights)


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, the cards, the moves, and the coins up to the price, which follow from the moves."""
    at = one_hot(out, 0, player, 2)
    for i in range(CARDS, MOVES):
        at = one_hot(out, at, world[i], ROLES + 1)
    for i in range(MOVES, COMPONENTS):
        at = one_hot(out, at, world[i], BLOCK + 2)
    for p in range(2):
        at = one_hot(out, at, min(world[COINS + p], PRICE), PRICE + 1)


def title(view: Ints) -> str:
    """Both players' cards, then the moves."""
    hands = [
        ">".join("?" if card == UNKNOWN else NAMES[card - 1] for card in view[[CARDS + p, SWAPS + p]] if card)
        for p in range(2)
    ]
    moves = ", ".join(ACTIONS[move - 1] for move in view[MOVES:] if move)
    return f"{hands[0]} v {hands[1]}; {moves or 'to begin'}"


def build(spec: str, turns: int) -> Game:
    """The game with so many turns."""
    most = float(max(PRIZE, 2 + 2 * ((turns + 1) // 2)))
    cards = ("-", *"dcax")
    cards_named = ("none", *NAMES)
    return Game(
        name="coup",
        parameters={"turns": turns},
        spec=spec,
        version=1,
        players=2,
        rules=np.array([turns], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("turn"),
                Field("claim", cards, names=cards_named),
                Field("blocked"),
                Field("drawing"),
                Field("coins", length=2, places=("coins of player 0", "coins of player 1")),
                Field("over"),
                Field("shown"),
                Field("cards", cards, length=2, names=cards_named, places=("card of player 0", "card of player 1")),
                Field(
                    "swaps",
                    cards,
                    length=2,
                    names=cards_named,
                    places=("card drawn by player 0", "card drawn by player 1"),
                ),
                Field("moves", ("-", *"itsawlcb"), length=ROOM, names=("none", *ACTIONS)),
            )
        ),
        num_actions=8,
        num_outcomes=ROLES,
        num_values=ROLES,
        max_depth=2 + 3 * turns,
        min_return=-most,
        max_return=most,
        feature_shape=(3 + 4 * 6 + ROOM * 10 + 2 * 5,),
        action_name=ACTIONS.__getitem__,
        outcome_name=lambda role: f"deal {NAMES[role]}",
        title=title,
    )


FAMILY = Family(
    name="coup",
    summary="Coup with one card each: claim a role, and hope that nobody challenges it",
    parameters=(Parameter("turns", 4, "how many turns there are in all", low=1, high=LONGEST),),
    build=build,
    examples=("coup(turns=2)",),
    small=("coup(turns=2)",),
)
