"""Liar's dice for two players, as OpenSpiel's `liars_dice`; also with split bids.

Each player rolls dice under a cup. In turn they bid a quantity and a face, each bid higher than the one before,
until one calls the other a liar. The bid holds if at least so many of all the dice show its face or the
highest one, which is wild; then the bidder wins, else the caller. By the rule `reset-face` a higher quantity
is always higher and the face breaks ties; by `reset-quantity` it is the other way round.

With `split` a bid is two actions of the same player, the quantity and then the face. The other player sees
that a bid is being made, but not the quantity until the bid is complete.

    component       holds
    TURN            0 while dice are rolled, 1 + p where player p is to move, 3 + p when p has called "Liar"
    LAST            1 + the last bid, 0 before the first
    BIDS + w        the set of the bids 62 w .. 62 w + 61 that were made; bids rise, so the set is the sequence
    cups + k        the faces under the cups, first player 0's, each player's in rising order; 0: not yet rolled
    quantity        (only with `split`) the quantity of a bid that is not complete yet, else 0

Nobody looks under their cup until all dice are rolled; then each sees their own dice.
"""

from __future__ import annotations

from math import comb, factorial

import numpy as np

from qdts.errors import InputError
from qdts.games.defaults import one_hot, real, real_bits
from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.layout import Field, Layout
from qdts.games.rule import CHANCE, NO_HOLE, TERMINAL, UNKNOWN, compile_rules, rule
from qdts.kernels import Ints, Reals, Reals32, kernel
from qdts.rng import one_of

TURN, LAST, BIDS = 0, 1, 2
ROLLING = 0
WORD = 62  # bids in a component
MOST_BIDS = 120

# What `rules` holds: dice of one player and of both, sides, what one more of the quantity and of the face adds
# to a bid's number, whether bids are split, the number of "Liar", the components of the cups and of the quantity
# (where there is none, the end of the world), where the table of `sorted_mass` is, and, from BID on, the quantity
# and the face of each bid.
DICE, TOTAL, SIDES, PER_QUANTITY, PER_FACE, SPLIT, LIAR, CUPS, QUANTITY, MASS, BID = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10


@rule
def initial(rules: Ints, world: Ints) -> None:
    """No die is rolled."""
    for i in range(rules[QUANTITY] + rules[SPLIT]):
        world[i] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """Chance rolls; then the players bid in turn until one calls."""
    turn = world[TURN]
    if turn == ROLLING:
        return CHANCE
    return turn - 1 if turn <= 2 else TERMINAL


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Any higher bid, and "Liar" after the first; a split bid's quantity must leave a face to go with it."""
    low, high, liar = choices(rules, world)
    for i in range(high - low):
        actions[i] = low + i
    if liar:
        actions[high - low] = rules[LIAR]
    return high - low + liar


@kernel(inline=True)
def pick(rules: Ints, world: Ints, bits: np.uint64) -> int:
    """A side of a die, or one of the legal actions."""
    if world[TURN] == ROLLING:
        return one_of(rules[SIDES], bits)
    low, high, liar = choices(rules, world)
    action = low + one_of(high - low + liar, bits)
    return rules[LIAR] if action == high else action


@kernel(inline=True)
def choices(rules: Ints, world: Ints) -> tuple[int, int, int]:
    """The lowest legal bid or sub-action, one more than the highest, and whether "Liar" is legal, too."""
    last = world[LAST]
    if not rules[SPLIT]:
        return last, rules[LIAR], last != 0
    if world[rules[QUANTITY]] == 0:
        return lowest_quantity(rules, world) - 1, rules[TOTAL], last != 0
    face = 1
    while bid_number(rules, world[rules[QUANTITY]], face) < last:
        face += 1
    return rules[TOTAL] + face - 1, rules[LIAR], 0


@kernel()
def bid_number(rules: Ints, quantity: int, face: int) -> int:
    """The number of a bid."""
    return (quantity - 1) * rules[PER_QUANTITY] + (face - 1) * rules[PER_FACE]


@kernel()
def lowest_quantity(rules: Ints, world: Ints) -> int:
    """The lowest quantity with which some bid is higher than the last; more than there are dice if there is none."""
    quantity = 1
    while quantity <= rules[TOTAL] and bid_number(rules, quantity, rules[SIDES]) < world[LAST]:
        quantity += 1
    return quantity


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """A fair die."""
    for side in range(rules[SIDES]):
        outcomes[side] = side
        probabilities[side] = 1.0 / rules[SIDES]
    return rules[SIDES]


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Roll a die, call, or make a bid or a sub-action of one."""
    quantity = rules[QUANTITY]
    if world[TURN] == ROLLING:
        roll(rules, world, action + 1)
    elif action == rules[LIAR]:
        world[TURN] += 2
    elif not rules[SPLIT]:
        bid(world, action)
    elif world[quantity] == 0:
        world[quantity] = action + 1
    else:
        bid(world, bid_number(rules, world[quantity], action - rules[TOTAL] + 1))
        world[quantity] = 0


@kernel()
def roll(rules: Ints, world: Ints, face: int) -> None:
    """Put a die under the first cup with room, in its place among the others; after the last one bids begin."""
    cups = rules[CUPS]
    k = 0
    while world[cups + k] != 0:
        k += 1
    if k == rules[TOTAL] - 1:
        world[TURN] = 1
    while k % rules[DICE] > 0 and world[cups + k - 1] > face:
        world[cups + k] = world[cups + k - 1]
        k -= 1
    world[cups + k] = face


@kernel()
def bid(world: Ints, number: int) -> None:
    """Make a bid, and pass the turn."""
    world[LAST] = number + 1
    world[BIDS + number // WORD] |= 1 << number % WORD
    world[TURN] = 3 - world[TURN]


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """The bidder wins if their last bid holds, else the caller."""
    total, sides = rules[TOTAL], rules[SIDES]
    last = BID + 2 * (world[LAST] - 1)
    missing, face = rules[last], rules[last + 1]
    for i in range(rules[CUPS], rules[CUPS] + total):
        missing -= (world[i] == face) | (world[i] == sides)
    holds = 1.0 if missing <= 0 else -1.0
    utilities[0] = holds if world[TURN] == 4 else -holds
    utilities[1] = -utilities[0]


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the dice of the other, while dice are rolled also one's own, and the other's quantity."""
    cups = rules[CUPS]
    for k in range(rules[TOTAL]):
        hidden = world[TURN] == ROLLING or k // rules[DICE] != player
        if hidden and world[cups + k] != 0:
            world[cups + k] = UNKNOWN
    if rules[SPLIT] and world[rules[QUANTITY]] != 0 and world[TURN] != player + 1:
        world[rules[QUANTITY]] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first unknown die, then the quantity."""
    for i in range(rules[CUPS], rules[QUANTITY] + rules[SPLIT]):
        if view[i] == UNKNOWN:
            return i
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """A die shows at least what the one before it does; a quantity is any that was legal, all alike."""
    if hole < rules[QUANTITY]:
        count = die_values(rules, view, hole, values, weights)
    else:
        low = lowest_quantity(rules, view)
        count = rules[TOTAL] + 1 - low
        for i in range(count):
            values[i] = low + i - 1
            weights[i] = 1.0
    total = 0.0
    for i in range(count):
        total += weights[i]
    for i in range(count):
        weights[i] /= total
    return count


@kernel()
def die_values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """Write the faces of a die, less one, given the lower dice under its cup, with their weights; return how many."""
    n, sides = rules[DICE], rules[SIDES]
    first = hole - (hole - rules[CUPS]) % n
    left, run, low = 0, 0, 1
    for i in range(hole + 1, first + n):
        left += view[i] != 0
    for i in range(first, hole):
        run = run + 1 if view[i] == low else 1
        low = view[i]
    for face in range(low, sides + 1):
        showing = run + 1 if face == low else 1
        values[face - low] = face - 1
        weights[face - low] = real(rules[rules[MASS] + ((sides - face) * n + showing - 1) * n + left])
    return sides + 1 - low


@rule
def midway(rules: Ints, world: Ints) -> int:
    """Between the quantity and the face of a split bid."""
    return 1 if rules[SPLIT] and world[rules[QUANTITY]] != 0 else 0


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, whose turn, the bids made, the dice and the quantity. LAST follows from these."""
    at = one_hot(out, 0, player, 2)
    at = one_hot(out, at, world[TURN], 5)
    for number in range(rules[TOTAL] * rules[SIDES]):
        out[at] = world[BIDS + number // WORD] >> number % WORD & 1
        at += 1
    for i in range(rules[CUPS], rules[QUANTITY]):
        at = one_hot(out, at, world[i], rules[SIDES] + 1)
    if rules[SPLIT]:
        one_hot(out, at, world[rules[QUANTITY]], rules[TOTAL] + 1)


def sorted_mass(greater: int, run: int, left: int) -> float:
    """How likely dice in rising order continue with a face, up to a factor that all faces share.

    The face is then the last `run` dice, `left` dice follow, and `greater` faces are higher. n dice with counts
    c_f come in n! / Π c_f! orders, so summed over t, how many of those that follow show the face too:

        (run - 1)! Σ_t 1 / (run + t)! · greater^(left - t) / (left - t)!
    """
    orders: int = sum(comb(run + left, run + t) * greater ** (left - t) for t in range(left + 1))
    return orders * factorial(run - 1) / factorial(run + left)


def build(spec: str, players: int, numdice: int, dice_sides: int, bidding_rule: str, split: bool) -> Game:
    """The game for a number of dice."""
    total = 2 * numdice
    bids = total * dice_sides
    if bids > MOST_BIDS:
        raise InputError(
            f"liars_dice: numdice={numdice} and dice_sides={dice_sides} make {bids} bids, "
            f"expected 2 * numdice * dice_sides to be at most {MOST_BIDS}"
        )
    words = -(-bids // WORD)
    per_quantity, per_face = (dice_sides, 1) if bidding_rule == "reset-face" else (1, total)
    liar = total + dice_sides if split else bids
    cups, quantity = BIDS + words, BIDS + words + total
    mass = [
        sorted_mass(greater, run, left)
        for greater in range(dice_sides)
        for run in range(1, numdice + 1)
        for left in range(numdice)
    ]

    def unrank(bid: int) -> tuple[int, int]:
        return bid // per_quantity % total + 1, bid // per_face % dice_sides + 1

    numbers = [numdice, total, dice_sides, per_quantity, per_face, split, liar, cups, quantity, BID + 2 * bids]
    numbers += [number for b in range(bids) for number in unrank(b)]
    names = tuple("{}-{}".format(*unrank(b)) for b in range(bids))
    parts = [f"quantity {q}" for q in range(1, total + 1)] + [f"face {f}" for f in range(1, dice_sides + 1)]
    actions = [*(parts if split else names), "Liar"]

    def made(world: Ints) -> list[int]:
        return [b for b in range(bids) if world[BIDS + b // WORD] >> b % WORD & 1]

    def replay(world: Ints) -> list[int]:
        played = [int(v) - 1 for v in world[cups:quantity] if v > 0]
        for b in made(world):
            q, f = unrank(b)
            played += [q - 1, total + f - 1] if split else [b]
        played += [int(v) - 1 for v in world[quantity:] if v > 0]
        return [*played, liar] if world[TURN] > 2 else played

    def title(view: Ints) -> str:
        dice = " ".join(str(v) for v in view[cups:quantity] if v > 0) or "-"
        said = [names[b] for b in made(view)]
        said += [f"{'?' if v == UNKNOWN else v}-…" for v in view[quantity:] if v]
        said += ["Liar"] * int(view[TURN] > 2)
        return f"{dice} | {', '.join(said) or 'to open'}"

    places = tuple(f"die {d + 1} of player {p}" for p in range(2) for d in range(numdice))
    return Game(
        name="liars_dice",
        parameters={
            "players": players,
            "numdice": numdice,
            "dice_sides": dice_sides,
            "bidding_rule": bidding_rule,
            "split": split,
        },
        spec=spec,
        version=1,
        players=2,
        rules=np.concatenate([np.array(numbers, np.int64), real_bits(mass)]),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field(
                    "turn",
                    ("roll", "0", "1", "called0", "called1"),
                    names=("roll", "player 0", "player 1", "player 0 called", "player 1 called"),
                ),
                Field("last", ("-", *names)),
                *(Field(f"bids{w or ''}", names[w * WORD : (w + 1) * WORD], bits=True) for w in range(words)),
                Field("dice", ("-", *map(str, range(1, dice_sides + 1))), length=total, row=numdice, places=places),
                *([Field("quantity", ("-", *map(str, range(1, total + 1))))] if split else []),
            )
        ),
        num_actions=len(actions),
        num_outcomes=dice_sides,
        num_values=max(dice_sides, total if split else 0),
        max_depth=total + (2 * bids if split else bids) + 1,
        min_return=-1.0,
        max_return=1.0,
        feature_shape=(9 + bids + total * (dice_sides + 2) + (total + 2 if split else 0),),
        action_name=actions.__getitem__,
        outcome_name=lambda side: f"roll {side + 1}",
        replay=replay,
        pick=pick,
        title=title,
    )


FAMILY = Family(
    name="liars_dice",
    summary="Liar's dice: bid on what all dice show, or call the other's bid",
    parameters=(
        Parameter("players", 2, "how many play", low=2, high=2),
        Parameter("numdice", 1, "how many dice each player has", low=1, high=10),
        Parameter("dice_sides", 6, "how many sides a die has", low=2, high=20),
        Parameter(
            "bidding_rule",
            "reset-face",
            "what may start anew in a higher bid",
            choices=("reset-face", "reset-quantity"),
        ),
        Parameter("split", False, "split bids: first the quantity, then the face"),
    ),
    build=build,
    examples=(
        "liars_dice(dice_sides=3)",
        "liars_dice(numdice=2,dice_sides=3)",
        "liars_dice(dice_sides=3,bidding_rule=reset-quantity)",
        "liars_dice(dice_sides=3,split=true)",
    ),
)
