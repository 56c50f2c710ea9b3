"""Skull for two: lay discs face down, bid how many you can turn without meeting a skull, and turn them.

Each player has one skull and some flowers. From player 0 on they lay one disc each, face down on their own stack.
Then, in turn, each either lays another disc or opens the bidding; who has no disc left must bid. A bid is a number of
discs, at most as many as lie on the table. In turn the other raises or passes; a pass, or a bid for all discs, ends
the bidding. The highest bidder turns their own stack first, from the top, then, one by one, discs of the other's
stack, any that they like. They win as soon as they have turned as many flowers as they bid, and lose at a skull.

    component       holds
    STACKS + 4p + i 0 if there is no i-th disc (from the bottom) in player p's stack, then 1 a flower, 2 a skull;
                    hidden from the other until turned
    BIDS + k        0 before the k-th call, then 1 if it was a pass, 1 + n if it was a bid of n
    FLIPS + k       0 before the k-th disc of the other was turned, then 1 + its place in the stack
"""

from __future__ import annotations

import numpy as np

from qdts.games import NO_HOLE, TERMINAL, UNKNOWN, Family, Field, Game, Layout, Parameter, compile_rules, one_hot, rule
from qdts.kernels import Ints, Reals, Reals32, kernel

STACKS, BIDS, FLIPS = 0, 8, 16
COMPONENTS = 20
HEIGHT, CALLS = 4, 8  # room for a stack, and for calls
FLOWER, SKULL, BID, PASS, FLIP = 0, 1, 1, 10, 11  # a bid of n is the action BID + n, turning place i is FLIP + i
FLOWERS = 0  # where `rules` holds the number of flowers


@kernel()
def count(world: Ints, first: int, size: int) -> int:
    """How many of so many components are in use."""
    used = 0
    for i in range(first, first + size):
        if world[i] != 0:
            used += 1
    return used


@kernel()
def bids_made(world: Ints) -> int:
    """How many bids there were, a pass not counted."""
    bids = count(world, BIDS, CALLS)
    return bids - 1 if bids > 0 and world[BIDS + bids - 1] == 1 else bids


@kernel()
def highest(world: Ints) -> int:
    """The highest bid, 0 if there is none."""
    bids = bids_made(world)
    return world[BIDS + bids - 1] - 1 if bids > 0 else 0


@kernel()
def bidding_over(world: Ints) -> bool:
    """Whether somebody has passed, or bid for all discs."""
    bids = bids_made(world)
    return bids > 0 and (count(world, BIDS, CALLS) > bids or highest(world) == count(world, STACKS, 2 * HEIGHT))


@kernel()
def bidder(world: Ints) -> int:
    """Who has made the highest bid. Discs and bids alternate, so it follows from their number."""
    return (count(world, STACKS, 2 * HEIGHT) + bids_made(world) - 1) % 2


@kernel()
def turned(world: Ints, player: int, place: int) -> bool:
    """Whether a disc has been turned face up."""
    if not bidding_over(world):
        return False
    if player == bidder(world):
        return place >= count(world, STACKS + HEIGHT * player, HEIGHT) - highest(world)
    for i in range(HEIGHT):  # noqa: SIM110
        if world[FLIPS + i] == place + 1:
            return True
    return False


@kernel()
def skull_met(world: Ints) -> bool:
    """Whether a skull has been turned."""
    for i in range(2 * HEIGHT):  # noqa: SIM110
        if world[STACKS + i] == SKULL + 1 and turned(world, i // HEIGHT, i % HEIGHT):
            return True
    return False


@rule
def initial(rules: Ints, world: Ints) -> None:
    """An empty table."""
    for i in range(COMPONENTS):
        world[i] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """Players alternate until the bidding is over; then the bidder turns discs."""
    if not bidding_over(world):
        return (count(world, STACKS, 2 * HEIGHT) + bids_made(world)) % 2
    player = bidder(world)
    own = count(world, STACKS + HEIGHT * player, HEIGHT)
    if skull_met(world) or own + count(world, FLIPS, HEIGHT) >= highest(world):
        return TERMINAL
    return player


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Lay what is in the hand, bid more than before, pass if there is a bid, or turn a disc."""
    n = 0
    player = mover(rules, world)
    if bidding_over(world):
        for i in range(count(world, STACKS + HEIGHT * (1 - player), HEIGHT)):
            if not turned(world, 1 - player, i):
                actions[n] = FLIP + i
                n += 1
        return n
    discs = count(world, STACKS, 2 * HEIGHT)
    bids = bids_made(world)
    if bids == 0:
        skulls = 0
        for i in range(HEIGHT):
            if world[STACKS + HEIGHT * player + i] == SKULL + 1:
                skulls = 1
        if count(world, STACKS + HEIGHT * player, HEIGHT) - skulls < rules[FLOWERS]:
            actions[n] = FLOWER
            n += 1
        if skulls == 0:
            actions[n] = SKULL
            n += 1
    if discs >= 2:
        for bid in range(highest(world) + 1, discs + 1):
            actions[n] = BID + bid
            n += 1
    if bids > 0:
        actions[n] = PASS
        n += 1
    return n


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Lay a disc, bid, pass or turn a disc."""
    if action <= SKULL:
        player = mover(rules, world)
        world[STACKS + HEIGHT * player + count(world, STACKS + HEIGHT * player, HEIGHT)] = action + 1
    elif action < PASS:
        world[BIDS + count(world, BIDS, CALLS)] = action - BID + 1
    elif action == PASS:
        world[BIDS + count(world, BIDS, CALLS)] = 1
    else:
        world[FLIPS + count(world, FLIPS, HEIGHT)] = action - FLIP + 1


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """The bidder wins one, or loses one at a skull."""
    player = bidder(world)
    utilities[player] = -1.0 if skull_met(world) else 1.0
    utilities[1 - player] = -utilities[player]


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the other's discs that have not been turned."""
    for i in range(HEIGHT):
        at = STACKS + HEIGHT * (1 - player) + i
        if world[at] != 0 and not turned(world, 1 - player, i):
            world[at] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first unknown disc."""
    for i in range(2 * HEIGHT):
        if view[STACKS + i] == UNKNOWN:
            return STACKS + i
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """The skull is in one of the unknown places, or, unless all discs are laid, still in the hand."""
    stack = hole // HEIGHT * HEIGHT
    unknown = 0
    values[0] = FLOWER
    weights[0] = 1.0
    for i in range(stack, stack + HEIGHT):
        if view[i] == SKULL + 1:
            return 1
        if view[i] == UNKNOWN:
            unknown += 1
    places = unknown
    if count(view, stack, HEIGHT) <= rules[FLOWERS]:
        places += 1
    if places == 1:
        values[0] = SKULL
        return 1
    values[1] = SKULL
    weights[1] = 1.0 / places
    weights[0] = 1.0 - weights[1]
    return 2


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, and every component."""
    at = one_hot(out, 0, player, 2)
    for i in range(STACKS, BIDS):
        at = one_hot(out, at, world[i], 3)
    for i in range(BIDS, FLIPS):
        at = one_hot(out, at, world[i], 2 + 2 * HEIGHT)
    for i in range(FLIPS, COMPONENTS):
        at = one_hot(out, at, world[i], 1 + HEIGHT)


def action_name(action: int) -> str:
    """Discs, numbers, and places from the bottom."""
    if action <= SKULL:
        return ("lay flower", "lay skull")[action]
    if action < PASS:
        return f"bid {action - BID}"
    return "pass" if action == PASS else f"turn {action - FLIP + 1}"


def title(view: Ints) -> str:
    """Both stacks from the bottom, and the calls."""
    stacks = [
        "".join("?" if disc == UNKNOWN else ".fs"[disc] for disc in view[at : at + HEIGHT] if disc) or "-"
        for at in (0, 4)
    ]
    calls = " ".join("pass" if call == 1 else str(call - 1) for call in view[BIDS:FLIPS] if call)
    flips = " ".join(str(place) for place in view[FLIPS:] if place)
    return f"{stacks[0]} | {stacks[1]}" + (f"; {calls}" if calls else "") + (f"; turned {flips}" if flips else "")


def build(spec: str, flowers: int) -> Game:
    """The game with so many flowers for each player."""
    return Game(
        name="skull",
        parameters={"flowers": flowers},
        spec=spec,
        version=1,
        players=2,
        rules=np.array([flowers], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field(
                    "stacks",
                    ("-", "f", "s"),
                    length=8,
                    names=("none", "flower", "skull"),
                    places=tuple(f"disc {i + 1} of player {p}" for p in range(2) for i in range(4)),
                ),
                Field(
                    "bids",
                    ("-", "p", *"12345678"),
                    length=8,
                    names=("none", "pass", *(f"bid {n}" for n in range(1, 9))),
                ),
                Field("flips", ("-", *"1234"), length=4),
            )
        ),
        num_actions=FLIP + HEIGHT,
        num_outcomes=0,
        num_values=2,
        max_depth=5 * (flowers + 1),
        min_return=-1.0,
        max_return=1.0,
        feature_shape=(3 + 8 * 4 + 8 * 11 + 4 * 6,),
        action_name=action_name,
        title=title,
    )


FAMILY = Family(
    name="skull",
    summary="Skull for two: lay discs, bid, and turn them without meeting a skull",
    parameters=(Parameter("flowers", 3, "how many flowers each player has, beside one skull", low=1, high=3),),
    build=build,
    examples=("skull(flowers=2)",),
    small=("skull(flowers=2)",),
)
