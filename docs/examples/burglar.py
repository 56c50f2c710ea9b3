"""The burglar: a thief sneaks along a dark street of houses, and a guard watches one of them each night.

The thief (player 0) has a hideout at one of the houses, drawn by chance and unknown to the guard (player 1). Each night
the thief sneaks to a house next door, or stays; nobody sees it. Then the guard watches a house, which everybody sees by
the lantern. If it is the thief's, the thief is caught, pays a fine to the guard and loses the loot. Else the thief robs
the house, if they have not robbed it before. Every second house has a dog: if the thief is there, it barks half the
time, and both hear it. After the last night the thief gets the loot, which is the larger the more central the houses.

    component       holds
    HOMES           1 + the house of the hideout, 0 before it is drawn; hidden from the guard
    HOUSES + n      0 before the thief's move of night n, then 1 + their house; hidden from the guard unless caught
    WATCHED + n     0 before the guard's move of night n, then 1 + the house watched
    BARKS + n       0 before the dogs of night n, then 1 if all was quiet, 2 if one barked
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

HOMES, HOUSES, WATCHED, BARKS = 0, 1, 5, 9
COMPONENTS = 13
STREET, NIGHTS = 0, 1  # where `rules` holds the number of houses, and of nights
LONGEST = 4  # room for so many nights
QUIET, BARK = 0, 1
FINE = 4.0


@kernel()
def night(rules: Ints, world: Ints, first: int) -> int:
    """For how many nights this has happened."""
    n = 0
    while n < rules[NIGHTS] and world[first + n] != 0:
        n += 1
    return n


@kernel()
def caught(rules: Ints, world: Ints) -> bool:
    """Whether the guard has watched the thief's house. A hole equals no house."""
    last = night(rules, world, WATCHED) - 1
    return last >= 0 and world[WATCHED + last] == world[HOUSES + last]


@kernel()
def loot(rules: Ints, house: int) -> int:
    """What is to be had in a house: the distance to the nearer end of the street."""
    return min(house + 1, rules[STREET] - house)


@kernel()
def has_dog(house: int) -> bool:
    """Every second house."""
    return house % 2 == 1


@rule
def initial(rules: Ints, world: Ints) -> None:
    """Before the hideout is drawn."""
    for i in range(COMPONENTS):
        world[i] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """The thief, the guard, the dogs; no dogs after the last night."""
    if world[HOMES] == 0:
        return CHANCE
    watched = night(rules, world, WATCHED)
    if caught(rules, world) or watched == rules[NIGHTS]:
        return TERMINAL
    if night(rules, world, HOUSES) > watched:
        return 1
    return CHANCE if night(rules, world, BARKS) < watched else 0


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """Any house for the hideout; later a dog barks half the time, if there is one."""
    if world[HOMES] == 0:
        for house in range(rules[STREET]):
            outcomes[house] = house
            probabilities[house] = 1.0 / rules[STREET]
        return rules[STREET]
    here = world[HOUSES + night(rules, world, WATCHED) - 1] - 1
    outcomes[0] = rules[STREET] + QUIET
    probabilities[0] = 1.0
    if not has_dog(here):
        return 1
    outcomes[1] = rules[STREET] + BARK
    probabilities[0] = 0.5
    probabilities[1] = 0.5
    return 2


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """The thief goes at most one house; the guard watches any."""
    n = 0
    moved = night(rules, world, HOUSES)
    if moved > night(rules, world, WATCHED):
        for house in range(rules[STREET]):
            actions[house] = rules[STREET] + house
        return rules[STREET]
    here = world[HOMES + moved] - 1  # HOUSES come right after HOMES
    for house in range(max(here - 1, 0), min(here + 2, rules[STREET])):
        actions[n] = house
        n += 1
    return n


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Draw the hideout, sneak, watch, or let the dogs bark or not."""
    player = mover(rules, world)
    if player == 0:
        world[HOUSES + night(rules, world, HOUSES)] = action + 1
    elif player == 1:
        world[WATCHED + night(rules, world, WATCHED)] = action - rules[STREET] + 1
    elif world[HOMES] == 0:
        world[HOMES] = action + 1
    else:
        world[BARKS + night(rules, world, BARKS)] = action - rules[STREET] + 1


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """The fine, or the loot of every house that was visited."""
    utilities[0] = 0.0
    if caught(rules, world):
        utilities[0] = -FINE
    else:
        for house in range(rules[STREET]):
            for n in range(rules[NIGHTS]):
                if world[HOUSES + n] == house + 1:
                    utilities[0] += loot(rules, house)
                    break
    utilities[1] = -utilities[0]


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """The guard does not see where the thief is, unless they are caught."""
    if player == 0:
        return
    if world[HOMES] != 0:
        world[HOMES] = UNKNOWN
    for n in range(rules[NIGHTS]):
        if world[HOUSES + n] != 0 and world[HOUSES + n] != world[WATCHED + n]:
            world[HOUSES + n] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The hideout, then night after night."""
    for i in range(WATCHED):
        if view[i] == UNKNOWN:
            return i
    return NO_HOLE


@kernel()
def likelihood(rules: Ints, view: Ints, n: int, house: int) -> float:
    """How likely the dogs do what they did in night n if the thief is there; 0 if the thief can't be."""
    known = view[HOUSES + n]
    if known != UNKNOWN:
        return 1.0 if known == house + 1 else 0.0
    if view[WATCHED + n] == house + 1:
        return 0.0
    if view[BARKS + n] == 0:
        return 1.0
    if has_dog(house):
        return 0.5
    return 1.0 if view[BARKS + n] == QUIET + 1 else 0.0


@kernel()
def paths(rules: Ints, view: Ints, at: int, house: int) -> float:
    """The weight of all paths of the thief that go on from a house in component `at`: HOMES or a night of HOUSES."""
    moves = night(rules, view, HOUSES) + HOUSES - 1 - at
    total = 0.0
    for code in range(3**moves):
        weight = 1.0
        here = house
        left = code
        for i in range(moves):
            here += left % 3 - 1
            left //= 3
            if here < 0 or here >= rules[STREET]:
                weight = 0.0
            else:
                weight *= likelihood(rules, view, at + i + 1 - HOUSES, here)
        total += weight
    return total


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """The houses from which there is a path that fits everything heard and seen since."""
    n = 0
    total = 0.0
    for house in range(rules[STREET]):
        weight = 1.0
        if hole >= HOUSES:
            weight = likelihood(rules, view, hole - HOUSES, house)
            if abs(house - (view[hole - 1] - 1)) > 1:
                weight = 0.0
        weight *= paths(rules, view, hole, house)
        if weight > 0.0:
            values[n] = house
            weights[n] = weight
            total += weight
            n += 1
    for i in range(n):
        weights[i] /= total
    return n


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, and every component."""
    at = one_hot(out, 0, player, 2)
    for i in range(BARKS):
        at = one_hot(out, at, world[i], rules[STREET] + 1)
    for i in range(BARKS, COMPONENTS):
        at = one_hot(out, at, world[i], 3)


def build(spec: str, houses: int, nights: int) -> Game:
    """The game with a street of so many houses, and so many nights."""

    def action_name(action: int) -> str:
        return f"sneak to {action + 1}" if action < houses else f"watch {action - houses + 1}"

    def outcome_name(outcome: int) -> str:
        return f"hide at {outcome + 1}" if outcome < houses else ("quiet", "bark")[outcome - houses]

    def title(view: Ints) -> str:
        def text(value: int) -> str:
            return "?" if value == UNKNOWN else str(value)

        been = [
            text(view[HOUSES + n])
            + (f" watched {view[WATCHED + n]}" if view[WATCHED + n] else "")
            + ("", " quiet", " bark")[view[BARKS + n]]
            for n in range(nights)
            if view[HOUSES + n]
        ]
        return f"home {text(view[HOMES])}" + "".join(f"; {words}" for words in been)

    def replay(world: Ints) -> list[int]:
        moves = [int(world[HOMES]) - 1] if world[HOMES] else []
        for n in range(nights):
            for first, shift in ((HOUSES, 0), (WATCHED, houses), (BARKS, houses)):
                if world[first + n]:
                    moves.append(int(world[first + n]) - 1 + shift)
        return moves

    numbers = tuple(str(house + 1) for house in range(houses))
    most = max(
        sum(min(h + 1, houses - h) for h in range(first, min(first + nights, houses))) for first in range(houses)
    )
    return Game(
        name="burglar",
        parameters={"houses": houses, "nights": nights},
        spec=spec,
        version=1,
        players=2,
        rules=np.array([houses, nights], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("home", ("-", *numbers), places=("hideout",)),
                Field(
                    "houses",
                    ("-", *numbers),
                    length=LONGEST,
                    places=tuple(f"house in night {n + 1}" for n in range(LONGEST)),
                ),
                Field("watched", ("-", *numbers), length=LONGEST),
                Field("barks", ("-", "q", "b"), length=LONGEST, names=("none", "quiet", "bark")),
            )
        ),
        num_actions=2 * houses,
        num_outcomes=houses + 2,
        num_values=houses,
        max_depth=3 * nights,
        min_return=-max(FINE, float(most)),
        max_return=max(FINE, float(most)),
        feature_shape=(3 + 9 * (houses + 2) + 4 * 4,),
        action_name=action_name,
        outcome_name=outcome_name,
        title=title,
        replay=replay,
    )


FAMILY = Family(
    name="burglar",
    summary="The burglar: sneak along a dark street while a guard watches one house a night",
    parameters=(
        Parameter("houses", 5, "how many houses the street has", low=3, high=7),
        Parameter("nights", 3, "how many nights there are", low=1, high=LONGEST),
    ),
    build=build,
    examples=("burglar(houses=3,nights=2)",),
    small=("burglar(houses=3,nights=2)",),
)
