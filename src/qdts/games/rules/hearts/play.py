"""How hearts is played: the components of a world (`family` says what they hold), and the rules on full worlds."""

from __future__ import annotations

import numpy as np

from qdts.games.rule import CHANCE, TERMINAL, rule
from qdts.games.sets import any_of, listed
from qdts.kernels import Ints, Reals, kernel
from qdts.rng import one_of

PLAYERS, CARDS, SUITS, HAND, PASS = 4, 52, 4, 13, 3
TRICK = SUIT_OF = 3  # masks: seats and cards of a trick go round by four, and a card's low bits are its suit
ALL_PASSED = PLAYERS * PASS
CLUBS, HEARTS = 0, 2
TWO_OF_CLUBS, QUEEN_OF_SPADES, JACK_OF_DIAMONDS = 0, 43, 37  # a card is 4 rank + suit
ALL = (1 << CARDS) - 1
SUIT = 0x1111111111111  # the cards of a suit, shifted by its number
POINTS = SUIT << HEARTS | 1 << QUEEN_OF_SPADES
MOON = 26

ACTOR, DIRECTION, DEALT, PASSED, PLAYED, HANDS, HELD = 0, 1, 2, 3, 4, 5, 9
BY, ORDER, SIZE = HELD + CARDS, HELD + 2 * CARDS, HELD + 3 * CARDS
CODES = 1 + 2 * PLAYERS  # what HELD may hold

# What `rules` holds: the parameters.
PASSING, CLEAN_FIRST, ANY_CLUB, JACK, AVOID, MUST_BREAK, QUEEN_BREAKS, SPARE_QUEEN = 0, 1, 2, 3, 4, 5, 6, 7


@rule
def initial(rules: Ints, world: Ints) -> None:
    """Nothing has been decided or dealt."""
    for i in range(SIZE):
        world[i] = 0
    world[ACTOR] = 1


@rule
def mover(rules: Ints, world: Ints) -> int:
    """As `step` left it."""
    actor = world[ACTOR]
    return TERMINAL if actor == 0 else CHANCE if actor == 1 else actor - 2


@kernel()
def passing(world: Ints) -> bool:
    """Whether cards are still to be passed."""
    return world[DIRECTION] != 1 and world[PASSED] < ALL_PASSED


@kernel()
def holder(world: Ints, code: int) -> int:
    """Who has, or had before they played it, a card with a code in HELD; -1 for nobody, or while it is being passed."""
    if code <= PLAYERS:
        return code - 1
    return -1 if passing(world) else (code - PLAYERS - 2 + world[DIRECTION]) & TRICK


@kernel()
def take_up(world: Ints) -> None:
    """Write all hands, as they follow from what was dealt, passed and played."""
    for p in range(PLAYERS):
        world[HANDS + p] = hand(world, p)


@kernel()
def hand(world: Ints, player: int) -> int:
    """The set of the cards that a player holds."""
    dealt = player + 1
    got = dealt if passing(world) else PLAYERS + 1 + (player + 1 - world[DIRECTION] & TRICK)
    cards = 0
    for card in range(CARDS):
        held = world[HELD + card]
        cards |= ((world[BY + card] == 0) & ((held == dealt) | (held == got))) << card
    return cards


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Any card to pass; to play, as the rules of following, leading and points say."""
    return listed(choices(rules, world), actions)


@kernel(inline=True)
def pick(rules: Ints, world: Ints, bits: np.uint64) -> int:
    """A direction, a card that is left to deal, or one of the legal ones."""
    if world[ACTOR] != 1:
        return any_of(choices(rules, world), bits)
    if world[DIRECTION] == 0:
        return one_of(PLAYERS, bits) if rules[PASSING] else 0
    return any_of(undealt(world), bits)


@kernel(inline=True)
def choices(rules: Ints, world: Ints) -> int:
    """The set of the cards that the mover may pass or play."""
    cards = world[HANDS + world[ACTOR] - 2]
    return cards if passing(world) else playable(rules, world, cards)


@kernel()
def undealt(world: Ints) -> int:
    """The set of the cards that are not dealt."""
    return ALL & ~(world[HANDS] | world[HANDS + 1] | world[HANDS + 2] | world[HANDS + 3])


@kernel()
def playable(rules: Ints, world: Ints, cards: int) -> int:
    """The cards of a hand that may be played."""
    played = world[PLAYED]
    if played & TRICK != 0:
        follow = cards & SUIT << suit_led(world, played)
        if follow != 0:
            return follow
        clean = cards & ~POINTS
        return clean if rules[CLEAN_FIRST] and played < PLAYERS and clean != 0 else cards
    if played == 0:
        return cards & (SUIT << CLUBS if rules[ANY_CLUB] else 1 << TWO_OF_CLUBS)
    others = cards & ~(SUIT << HEARTS)
    spare = rules[SPARE_QUEEN] and others == 1 << QUEEN_OF_SPADES
    return cards if others == 0 or spare or broken(rules, world, played) else others


@kernel()
def suit_led(world: Ints, place: int) -> int:
    """The suit that was led in the trick of a place in the order."""
    return (world[ORDER + (place & ~TRICK)] - 1) & SUIT_OF


@kernel()
def broken(rules: Ints, world: Ints, before: int) -> bool:
    """Whether hearts could be led after so many cards were played."""
    if not rules[MUST_BREAK]:
        return True
    for k in range(before):
        card = world[ORDER + k] - 1
        if card & SUIT_OF == HEARTS or (rules[QUEEN_BREAKS] and card == QUEEN_OF_SPADES):
            return True
    return False


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """A direction, or any card that is left."""
    count = 0
    if world[DIRECTION] == 0:
        count = PLAYERS if rules[PASSING] else 1
        for i in range(count):
            outcomes[i] = i
    else:
        count = listed(undealt(world), outcomes)
    for i in range(count):
        probabilities[i] = 1.0 / count
    return count


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Draw a direction, deal, pass or play a card."""
    if world[DIRECTION] == 0:
        world[DIRECTION] = action + 1
    elif world[DEALT] < CARDS:
        deal(world, action)
    elif passing(world):
        pass_on(world, action)
    else:
        play(world, action)


@kernel()
def deal(world: Ints, card: int) -> None:
    """Deal a card to the next player."""
    player = world[DEALT] & TRICK
    world[HELD + card] = 1 + player
    world[HANDS + player] |= 1 << card
    world[DEALT] += 1
    if world[DEALT] == CARDS:
        world[ACTOR] = 2 if passing(world) else leader(world)


@kernel()
def pass_on(world: Ints, card: int) -> None:
    """Put a card aside; with the last one, all get theirs."""
    world[HELD + card] += PLAYERS
    world[HANDS + world[ACTOR] - 2] &= ~(1 << card)
    world[PASSED] += 1
    if passing(world):
        world[ACTOR] = 2 + world[PASSED] // PASS
    else:
        take_up(world)
        world[ACTOR] = leader(world)


@kernel()
def leader(world: Ints) -> int:
    """The ACTOR who holds the two of clubs."""
    return holder(world, world[HELD + TWO_OF_CLUBS]) + 2


@kernel()
def play(world: Ints, card: int) -> None:
    """Play a card; the next player follows, or the one who takes the trick leads."""
    k = world[PLAYED]
    player = world[ACTOR] - 2
    world[ORDER + k] = card + 1
    world[BY + card] = player + 1
    world[HANDS + player] &= ~(1 << card)
    world[PLAYED] = k + 1
    if k & TRICK != TRICK:
        world[ACTOR] = (player + 1 & TRICK) + 2
    else:
        world[ACTOR] = taker(world, k) + 2 if k + 1 < CARDS else 0


@kernel()
def taker(world: Ints, last: int) -> int:
    """Who takes the trick whose last card has a place in the order."""
    best = world[ORDER + last - PLAYERS + 1] - 1
    for k in range(last - PLAYERS + 2, last + 1):
        card = world[ORDER + k] - 1
        best = card if (card - best & SUIT_OF == 0) & (card > best) else best
    return world[BY + best] - 1


@kernel()
def trick_points(rules: Ints, world: Ints, last: int) -> int:
    """What the trick whose last card has a place in the order costs."""
    points = 0
    for k in range(last - PLAYERS + 1, last + 1):
        card = world[ORDER + k] - 1
        points += card & SUIT_OF == HEARTS
        if card == QUEEN_OF_SPADES:
            points += 13
        if card == JACK_OF_DIAMONDS and rules[JACK]:
            points -= 10
    return points


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """26 less the points."""
    for p in range(PLAYERS):
        utilities[p] = MOON
    shooter, takers, moon = -1, 0, True
    for last in range(PLAYERS - 1, CARDS, PLAYERS):
        points, player = trick_points(rules, world, last), taker(world, last)
        utilities[player] -= points
        takers |= 1 << player
        if points not in (0, -10):
            moon = moon and shooter in (-1, player)
            shooter = player
    for p in range(PLAYERS):
        if moon:
            utilities[p] += MOON if p == shooter else -MOON
        elif rules[AVOID] and not takers >> p & 1:
            utilities[p] += 5


@rule
def midway(rules: Ints, world: Ints) -> int:
    """Within the deal, and within a pass."""
    return 1 if 0 < world[DEALT] < CARDS or world[PASSED] % PASS != 0 else 0
