"""Hearts for four players, as OpenSpiel's `hearts`: one deal, with or without passing.

Chance draws a direction, deals 13 cards to each, and, unless the direction is "no pass", each passes three cards to the
left, across or to the right. Who holds the two of clubs leads; all must follow suit; the highest card of the suit that
was led takes the trick and leads to the next. Every heart that one takes costs a point, and the queen of spades 13. Who
takes them all gets rid of them, and each other player has 26 instead. A player's return is 26 less his points.

    slot            holds
    ACTOR           0 when the game is over, 1 where chance draws or deals, 2 + p where player p passes or plays
    DIRECTION       1 + by how many seats cards are passed, 0 before it is drawn
    DEALT, PASSED, PLAYED
                    how many cards were dealt, passed and played
    HELD + c        0 before card c is dealt, 1 + p if it was dealt to player p, 5 + p if he then passed it
    BY + c          1 + the player who played card c, 0 before
    ORDER + k       1 + the card that was played as number k, 0 before

Nobody looks at his cards until all are dealt, and nobody gets cards until all are passed; a pass is an action in
three pieces. Which of his cards another was dealt, and which he got from a third, is hidden even after he played
them, since it is in his view. In which order cards were dealt or passed is forgotten.

A card that was played shows what its player does not hold: a suit that he did not follow, and more where he plays
or leads points before their time. So each unknown card has a set of possible holders, and each holder room for so
many; whether all find a place is decided by Hall's condition on the 15 sets of holders. A holder's cards divide
freely into those that he was dealt and the three that he got.
"""

from __future__ import annotations

import numpy as np

from qdts.games.defaults import one_hot
from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.interface import CHANCE, NO_HOLE, TERMINAL, UNKNOWN, compile_rules, rule
from qdts.games.layout import Field, Layout
from qdts.kernels import Ints, Reals, Reals32, kernel

PLAYERS, CARDS, SUITS, HAND, PASS = 4, 52, 4, 13, 3
ALL_PASSED = PLAYERS * PASS
CLUBS, HEARTS = 0, 2
TWO_OF_CLUBS, QUEEN_OF_SPADES, JACK_OF_DIAMONDS = 0, 43, 37  # a card is 4 rank + suit
SUIT = 0x1111111111111  # the cards of a suit, shifted by its number
POINTS = SUIT << HEARTS | 1 << QUEEN_OF_SPADES
MOON = 26
DIRECTIONS = ("none", "left", "across", "right")
NAMES = tuple(rank + suit for rank in "23456789TJQKA" for suit in "CDHS")

ACTOR, DIRECTION, DEALT, PASSED, PLAYED, HELD = 0, 1, 2, 3, 4, 5
BY, ORDER, SIZE = HELD + CARDS, HELD + 2 * CARDS, HELD + 3 * CARDS
CODES = 1 + 2 * PLAYERS  # what HELD may hold
BITS = 6  # for each of several numbers up to 52 that are packed into one

# What `rules` holds: the parameters.
PASSING, CLEAN_FIRST, ANY_CLUB, JACK, AVOID, MUST_BREAK, QUEEN_BREAKS, SPARE_QUEEN = 0, 1, 2, 3, 4, 5, 6, 7


@rule
def initial(rules: Ints, world: Ints) -> None:
    """Nothing is drawn or dealt."""
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
    """Who has, or had before he played it, a card with a code in HELD; -1 for nobody, or while it is being passed."""
    if code <= PLAYERS:
        return code - 1
    return -1 if passing(world) else (code - PLAYERS - 1 + world[DIRECTION] - 1) % PLAYERS


@kernel()
def hand(world: Ints, player: int) -> int:
    """The set of a player's cards."""
    cards = 0
    for card in range(CARDS):
        if world[BY + card] == 0 and world[HELD + card] > 0 and holder(world, world[HELD + card]) == player:
            cards |= 1 << card
    return cards


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Any card to pass; to play, as the rules of following, leading and points say."""
    cards = hand(world, world[ACTOR] - 2)
    if not passing(world):
        cards = playable(rules, world, cards)
    count = 0
    for card in range(CARDS):
        if cards >> card & 1:
            actions[count] = card
            count += 1
    return count


@kernel()
def playable(rules: Ints, world: Ints, cards: int) -> int:
    """The cards of a hand that may be played."""
    played = world[PLAYED]
    if played % PLAYERS != 0:
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
    return (world[ORDER + place - place % PLAYERS] - 1) % SUITS


@kernel()
def broken(rules: Ints, world: Ints, before: int) -> bool:
    """Whether hearts could be led after so many cards were played."""
    if not rules[MUST_BREAK]:
        return True
    for k in range(before):
        card = world[ORDER + k] - 1
        if card % SUITS == HEARTS or (rules[QUEEN_BREAKS] and card == QUEEN_OF_SPADES):
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
        for card in range(CARDS):
            if world[HELD + card] == 0:
                outcomes[count] = card
                count += 1
    for i in range(count):
        probabilities[i] = 1.0 / count
    return count


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Draw a direction, deal, pass or play a card."""
    if world[DIRECTION] == 0:
        world[DIRECTION] = action + 1
    elif world[DEALT] < CARDS:
        world[HELD + action] = 1 + world[DEALT] % PLAYERS
        world[DEALT] += 1
        if world[DEALT] == CARDS:
            world[ACTOR] = 2 if passing(world) else leader(world)
    elif passing(world):
        world[HELD + action] += PLAYERS
        world[PASSED] += 1
        world[ACTOR] = 2 + world[PASSED] // PASS if passing(world) else leader(world)
    else:
        play(world, action)


@kernel()
def leader(world: Ints) -> int:
    """The ACTOR who holds the two of clubs."""
    return holder(world, world[HELD + TWO_OF_CLUBS]) + 2


@kernel()
def play(world: Ints, card: int) -> None:
    """Play a card; the next player goes on, or the one who takes the trick."""
    k = world[PLAYED]
    player = world[ACTOR] - 2
    world[ORDER + k] = card + 1
    world[BY + card] = player + 1
    world[PLAYED] = k + 1
    if k + 1 == CARDS:
        world[ACTOR] = 0
    elif (k + 1) % PLAYERS == 0:
        world[ACTOR] = taker(world, k) + 2
    else:
        world[ACTOR] = (player + 1) % PLAYERS + 2


@kernel()
def taker(world: Ints, last: int) -> int:
    """Who takes the trick whose last card has a place in the order."""
    best = world[ORDER + last - PLAYERS + 1] - 1
    for k in range(last - PLAYERS + 2, last + 1):
        card = world[ORDER + k] - 1
        if card % SUITS == best % SUITS and card > best:
            best = card
    return world[BY + best] - 1


@kernel()
def trick_points(rules: Ints, world: Ints, last: int) -> int:
    """What the trick whose last card has a place in the order costs."""
    points = 0
    for k in range(last - PLAYERS + 1, last + 1):
        card = world[ORDER + k] - 1
        points += card % SUITS == HEARTS
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
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the deal while it goes on, then what the others were dealt and passed, as far as one can't know."""
    for card in range(CARDS):
        if not (knows(world, card, player) if world[DEALT] == CARDS else world[DEALT] == 0):
            world[HELD + card] = UNKNOWN


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
    for i in range(HELD, HELD + CARDS):
        if view[i] == UNKNOWN:
            return i
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """Any code with room, such that the other cards can be placed, too."""
    rooms = packed_rooms(view)
    possible, tight = 0, 0
    if view[DEALT] == CARDS:
        limits = shown(rules, view, 0), shown(rules, view, 1), shown(rules, view, 2), shown(rules, view, 3)
        possible, tight = holders(view, hole - HELD, limits), tight_sets(view, rooms, limits)
    count = 0
    for code in range(CODES):
        if number(rooms, code) > 0 and (view[DEALT] < CARDS or placeable(possible, group(view, code), tight)):
            values[count] = code
            count += 1
    for i in range(count):
        weights[i] = 1.0 / count
    return count


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
"""For each player the set of cards that, as play has shown, he does not hold."""


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
def tight_sets(view: Ints, rooms: int, limits: Limits) -> int:
    """Of each set of players, as a bit, whether the unknown cards that only they may hold fill their room."""
    few, many = held_only(view, limits)
    room_of = 0
    for code in range(1, CODES):
        room_of += number(rooms, code) << BITS * group(view, code)
    tight = 0
    for players in range(1, 1 << PLAYERS):
        left = 0
        for p in range(PLAYERS):
            if players >> p & 1:
                left += number(room_of, p)
        for part in range(1, players + 1):
            if part & ~players == 0:
                left -= number(few if part < 8 else many, part & 7)
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
    """Nothing else follows from a card."""
    view[hole] = value


@rule
def midway(rules: Ints, world: Ints) -> int:
    """Within the deal, and within a pass."""
    return 1 if 0 < world[DEALT] < CARDS or world[PASSED] % PASS != 0 else 0


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, who moves, the direction, counts; of each card who had it, who played it and when."""
    at = one_hot(out, 0, player, PLAYERS)
    at = one_hot(out, at, world[ACTOR], PLAYERS + 2)
    at = one_hot(out, at, world[DIRECTION], PLAYERS + 1)
    out[at] = world[DEALT] / CARDS
    out[at + 1] = world[PASSED] / ALL_PASSED
    at += 2
    for card in range(CARDS):
        at = one_hot(out, at, world[HELD + card], CODES)
        at = one_hot(out, at, world[BY + card], PLAYERS + 1)
    for card in range(CARDS):
        out[at + card] = 0.0
    for k in range(world[PLAYED]):
        out[at + world[ORDER + k] - 1] = (k + 1) / CARDS


def build(
    spec: str,
    pass_cards: bool,
    no_pts_on_first_trick: bool,
    can_lead_any_club: bool,
    jd_bonus: bool,
    avoid_all_tricks_bonus: bool,
    must_break_hearts: bool,
    qs_breaks_hearts: bool,
    can_lead_hearts_instead_of_qs: bool,
) -> Game:
    """The game with these rules."""
    parameters = {
        "pass_cards": pass_cards,
        "no_pts_on_first_trick": no_pts_on_first_trick,
        "can_lead_any_club": can_lead_any_club,
        "jd_bonus": jd_bonus,
        "avoid_all_tricks_bonus": avoid_all_tricks_bonus,
        "must_break_hearts": must_break_hearts,
        "qs_breaks_hearts": qs_breaks_hearts,
        "can_lead_hearts_instead_of_qs": can_lead_hearts_instead_of_qs,
    }

    def replay(world: Ints) -> list[int]:
        held = [int(v) for v in world[HELD:BY]]
        hands = [[c for c in range(CARDS) if held[c] in (1 + p, 5 + p)] for p in range(PLAYERS)]
        drawn = [int(world[DIRECTION]) - 1] if world[DIRECTION] else []
        dealt = [hands[k % PLAYERS][k // PLAYERS] for k in range(int(world[DEALT]))]
        passed = [c for p in range(PLAYERS) for c in range(CARDS) if held[c] == 5 + p]
        return drawn + dealt + passed + [int(v) - 1 for v in world[ORDER : ORDER + world[PLAYED]]]

    return Game(
        name="hearts",
        parameters=parameters,
        spec=spec,
        version=1,
        players=PLAYERS,
        rules=np.array([*parameters.values()], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("actor", ("over", "chance", *"NESW")),
                Field("direction", ("-", *DIRECTIONS)),
                Field("dealt", tuple(map(str, range(CARDS + 1)))),
                Field("passed", tuple(map(str, range(ALL_PASSED + 1)))),
                Field("played", tuple(map(str, range(CARDS + 1)))),
                Field("held", tuple("-NESWnesw"), length=CARDS, row=SUITS),
                Field("by", tuple("-NESW"), length=CARDS, row=SUITS),
                Field("order", ("-", *NAMES), length=CARDS),
            )
        ),
        num_actions=CARDS,
        num_outcomes=CARDS,
        num_values=CODES,
        max_depth=1 + 2 * CARDS + (ALL_PASSED if pass_cards else 0),
        min_return=0.0,
        max_return=36.0,
        feature_shape=(3 * PLAYERS + 8 + CARDS * (CODES + PLAYERS + 4),),
        action_name=NAMES.__getitem__,
        outcome_name=lambda card: NAMES[card] + (f" or {DIRECTIONS[card]}" if card < PLAYERS else ""),
        zero_sum=False,
        memory="sufficient" if pass_cards else "perfect",
        weights="equal",
        replay=replay,
    )


FAMILY = Family(
    name="hearts",
    summary="Hearts: take no hearts and not the queen of spades, or all of them",
    parameters=(
        Parameter("pass_cards", True, "draw a direction and pass three cards"),
        Parameter("no_pts_on_first_trick", True, "no hearts and no queen of spades in the first trick"),
        Parameter("can_lead_any_club", False, "lead any club at first, not just the two"),
        Parameter("jd_bonus", False, "the jack of diamonds is worth 10"),
        Parameter("avoid_all_tricks_bonus", False, "who takes no trick gets 5"),
        Parameter("must_break_hearts", True, "hearts can't be led before one was played"),
        Parameter("qs_breaks_hearts", True, "nor before the queen of spades was, which does as well"),
        Parameter("can_lead_hearts_instead_of_qs", False, "lead hearts if there is but the queen of spades else"),
    ),
    build=build,
    players=4,
)
