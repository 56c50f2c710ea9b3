"""What a player does not know of a deal of hearts, and how it can be filled in.

A card that was played shows what its player does not hold: a suit that they did not follow, and more where they
play or lead points before their time. So each unknown card has a set of possible holders, and each holder room for so
many; whether all find a place is decided by Hall's condition on the 15 sets of holders. A holder's cards divide
freely into those that they were dealt and the three that they got.

All deals are equally likely, so a card that several may hold is held by each of them in proportion to their free
places: their room, less the cards that nobody else can hold. That is exact until a player shows that they lack a suit.
From then on cards of other suits are a little more likely with them than that, since their places must be filled from
fewer cards; counting it exactly is not cheap.
"""

from __future__ import annotations

from qdts.games.rule import NO_HOLE, UNKNOWN, rule
from qdts.games.rules.hearts.play import (
    ACTOR,
    BY,
    CARDS,
    CLEAN_FIRST,
    CODES,
    DEALT,
    DIRECTION,
    HANDS,
    HEARTS,
    HELD,
    ORDER,
    PASS,
    PASSED,
    PLAYED,
    PLAYERS,
    POINTS,
    QUEEN_OF_SPADES,
    SPARE_QUEEN,
    SUIT,
    SUITS,
    TWO_OF_CLUBS,
    broken,
    holder,
    passing,
    suit_led,
    take_up,
)
from qdts.kernels import Ints, Reals, kernel

BITS = 6  # for each of several numbers up to 52 that are packed into one


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the deal while cards are dealt, then what the others were dealt and passed and play has not shown."""
    dealing, hidden = world[DEALT] < CARDS, False
    for card in range(CARDS):
        if not (world[DEALT] == 0 if dealing else knows(world, card, player)):
            world[HELD + card] = UNKNOWN
            hidden = True
    for p in range(PLAYERS):
        if hidden and (dealing or p != player):
            world[HANDS + p] = UNKNOWN


@kernel()
def knows(world: Ints, card: int, player: int) -> bool:
    """Whether a player knows to whom a card was dealt, and whether it was passed."""
    code, by, shift = world[HELD + card], world[BY + card], world[DIRECTION] - 1
    if code > 0 and ((code - 1) % PLAYERS == player or holder(world, code) == player):
        return True
    return by != 0 and (shift == 0 or (by - 1 - shift) % PLAYERS == player)


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first card of unknown origin."""
    return next_hole(view)


@kernel()
def next_hole(view: Ints) -> int:
    """The component of the first unknown card, or NO_HOLE."""
    for i in range(HELD, HELD + CARDS):
        if view[i] == UNKNOWN:
            return i
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """Any code with room, such that the other cards can be placed, too; as likely as it has free places."""
    rooms = packed_rooms(view)
    dealing = view[DEALT] < CARDS
    possible, tight, room_of, only = 0, 0, 0, (0, 0)
    if not dealing:
        limits = shown(rules, view, 0), shown(rules, view, 1), shown(rules, view, 2), shown(rules, view, 3)
        room_of, only = packed_groups(view, rooms), held_only(view, limits)
        possible, tight = holders(view, hole - HELD, limits), tight_sets(room_of, only)
    count, total = 0, 0.0
    for code in range(CODES):
        room = number(rooms, code)
        if room > 0 and (dealing or placeable(possible, group(view, code), tight)):
            values[count] = code
            weights[count] = room if dealing else room * free_share(group(view, code), possible, room_of, only)
            total += weights[count]
            count += 1
    for i in range(count):
        weights[i] /= total
    return count


@kernel()
def free_share(player: int, possible: int, room_of: int, only: tuple[int, int]) -> float:
    """The part of a player's room that is free: not taken by other cards that nobody else can hold."""
    if possible == 1 << player:
        return 1.0
    room = number(room_of, player)
    return (room - number_of(only, 1 << player)) / room


@kernel()
def number(packed: int, place: int) -> int:
    """One of several numbers that are packed into one."""
    return packed >> BITS * place & (1 << BITS) - 1


@kernel()
def packed_rooms(view: Ints) -> int:
    """For each code, how many unknown cards have it."""
    rooms = CARDS - view[DEALT]
    for p in range(PLAYERS):
        passed = min(PASS, max(0, view[PASSED] - PASS * p))
        rooms += (view[DEALT] + PLAYERS - 1 - p) // PLAYERS - passed << BITS * (1 + p)
        rooms += passed << BITS * (1 + PLAYERS + p)
    for i in range(HELD, HELD + CARDS):
        if view[i] != UNKNOWN:
            rooms -= 1 << BITS * view[i]
    return rooms


@kernel()
def group(view: Ints, code: int) -> int:
    """Whose cards have a code: the holder's, or while cards are being passed those that one was dealt."""
    return (code - 1) % PLAYERS if passing(view) else holder(view, code)


Limits = tuple[int, int, int, int]
"""For each player the set of cards that, as play has shown, they do not hold."""


@kernel()
def holders(view: Ints, card: int, limits: Limits) -> int:
    """The set of players who may hold, or have held, a card."""
    if view[BY + card] != 0:
        return 1 << view[BY + card] - 1
    bit = 1 << card
    some = (limits[0] & bit == 0) | (limits[1] & bit == 0) << 1
    return some | (limits[2] & bit == 0) << 2 | (limits[3] & bit == 0) << 3


@kernel()
def shown(rules: Ints, view: Ints, player: int) -> int:
    """The unplayed cards that a player can't hold."""
    if view[DEALT] < CARDS or passing(view):
        return 0
    first = view[BY + view[ORDER] - 1] - 1 if view[PLAYED] > 0 else view[ACTOR] - 2
    limits = 0 if player == first else 1 << TWO_OF_CLUBS
    for trick in range(0, view[PLAYED], PLAYERS):
        seat = (player - view[BY + view[ORDER + trick] - 1] + 1) % PLAYERS
        if trick + seat < view[PLAYED]:
            limits |= shown_by(rules, view, trick + seat)
    return limits


@kernel()
def shown_by(rules: Ints, view: Ints, place: int) -> int:
    """The cards that nobody keeps who plays the card with a place in the order."""
    card = view[ORDER + place] - 1
    if place % PLAYERS == 0:
        if card % SUITS != HEARTS or broken(rules, view, place):
            return 0
        return ~(SUIT << HEARTS | (1 << QUEEN_OF_SPADES if rules[SPARE_QUEEN] else 0))
    led = suit_led(view, place)
    if card % SUITS == led:
        return 0
    pointed = rules[CLEAN_FIRST] and place < PLAYERS and POINTS >> card & 1
    return SUIT << led | (~POINTS if pointed else 0)


@kernel()
def packed_groups(view: Ints, rooms: int) -> int:
    """For each player, how many unknown cards are theirs."""
    room_of = 0
    for code in range(1, CODES):
        room_of += number(rooms, code) << BITS * group(view, code)
    return room_of


@kernel()
def tight_sets(room_of: int, only: tuple[int, int]) -> int:
    """Of each set of players, as a bit, whether the unknown cards that only they may hold fill their room."""
    tight = 0
    for players in range(1, 1 << PLAYERS):
        left = 0
        for p in range(PLAYERS):
            if players >> p & 1:
                left += number(room_of, p)
        for part in range(1, players + 1):
            if part & ~players == 0:
                left -= number_of(only, part)
        tight |= (left == 0) << players
    return tight


@kernel()
def held_only(view: Ints, limits: Limits) -> tuple[int, int]:
    """How many unknown cards have each set of possible holders, packed: the sets below 8, and the others."""
    few, many = 0, 0
    for card in range(CARDS):
        if view[HELD + card] == UNKNOWN:
            part = holders(view, card, limits)
            if part < 8:
                few += 1 << BITS * part
            else:
                many += 1 << BITS * (part - 8)
    return few, many


@kernel()
def number_of(only: tuple[int, int], part: int) -> int:
    """How many unknown cards have a set of possible holders."""
    return number(only[0] if part < 8 else only[1], part & 7)


@kernel()
def placeable(possible: int, player: int, tight: int) -> bool:
    """Whether a card with possible holders may go to one of them: no set that is full without it must take it in."""
    if not possible >> player & 1:
        return False
    for players in range(1, 1 << PLAYERS):
        if tight >> players & 1 and players >> player & 1 and possible & ~players != 0:
            return False
    return True


@rule
def fill(rules: Ints, view: Ints, hole: int, value: int) -> None:
    """With the last card all hands are known."""
    view[hole] = value
    if next_hole(view) == NO_HOLE:
        take_up(view)
