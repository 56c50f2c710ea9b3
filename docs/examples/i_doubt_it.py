"""I doubt it: lay a card face down, say what it is, and see whether the other believes you.

There are some cards of each rank. Each player is dealt two; the rest stays unseen. In turn, twice each, a player
lays a card face down and declares a rank, which need not be true, but must not be lower than the last one declared.
The other believes or doubts. What is believed scores the declared rank for the one who laid it, and nobody sees the
card. What is doubted is shown to both: twice the declared rank, for the one who laid it if it was true and for the
doubter if it was not; and the next declaration may be anything again. The return is the difference of the scores.

    component       holds
    HANDS + 2p + i  1 + the rank of a card dealt to player p, the lower first, 0 before the deal; hidden from the other
    LAID + t        0 before the t-th turn, then 1 + the rank that was laid; hidden from the other unless doubted
    SAID + t        0 before the t-th turn, then 1 + the rank that was declared
    ANSWERS + t     0 before the t-th answer, then 1 if the other believed, 2 if they doubted
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

HANDS, LAID, SAID, ANSWERS = 0, 4, 8, 12
COMPONENTS = 16
TURNS = 4
RANKS, COPIES = 0, 1  # where `rules` holds the number of ranks, and of cards of each
BELIEVED, DOUBTED = 1, 2


@kernel()
def turns_made(world: Ints, first: int) -> int:
    """How many declarations (or answers) there have been."""
    turn = 0
    while turn < TURNS and world[first + turn] != 0:
        turn += 1
    return turn


@kernel()
def ways(rules: Ints, world: Ints, player: int, low: int, high: int) -> int:
    """In how many ways a player can be dealt two ranks, given the hand of the other, if there is one."""
    left_low = rules[COPIES]
    left_high = rules[COPIES]
    for i in range(2):
        seen = world[HANDS + 2 * (1 - player) + i] - 1
        if seen == low:
            left_low -= 1
        if seen == high:
            left_high -= 1
    if low == high:
        return left_low * (left_low - 1) // 2
    return left_low * left_high


@kernel()
def fits(view: Ints, at: int, value: int) -> bool:
    """Whether a component may be this."""
    return view[at] == UNKNOWN or view[at] == value


@rule
def initial(rules: Ints, world: Ints) -> None:
    """Nothing has been dealt."""
    for i in range(COMPONENTS):
        world[i] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """Two deals, then turns: one lays and the other answers."""
    if world[HANDS] == 0 or world[HANDS + 2] == 0:
        return CHANCE
    answers = turns_made(world, ANSWERS)
    if answers == TURNS:
        return TERMINAL
    return turns_made(world, SAID) % 2


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """Any two cards that are left, sorted."""
    player = 0 if world[HANDS] == 0 else 1
    ranks = rules[RANKS]
    n = 0
    total = 0
    for low in range(ranks):
        for high in range(low, ranks):
            number = ways(rules, world, player, low, high)
            if number > 0:
                outcomes[n] = low * ranks + high
                probabilities[n] = number
                n += 1
                total += number
    for i in range(n):
        probabilities[i] /= total
    return n


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Lay a card that is left as a rank that is not lower than the last one; or answer."""
    ranks = rules[RANKS]
    turn = turns_made(world, SAID)
    if turn > turns_made(world, ANSWERS):
        actions[0] = ranks * ranks
        actions[1] = ranks * ranks + 1
        return 2
    player = turn % 2
    lowest = 0
    if turn > 0 and world[ANSWERS + turn - 1] == BELIEVED:
        lowest = world[SAID + turn - 1] - 1
    n = 0
    gone = 0
    for i in range(2):
        card = world[HANDS + 2 * player + i]
        if turn >= 2 and gone == 0 and world[LAID + player] == card:
            gone = 1
        elif i == 0 or turn >= 2 or card != world[HANDS + 2 * player]:
            for said in range(lowest, ranks):
                actions[n] = (card - 1) * ranks + said
                n += 1
    return n


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Deal a hand, lay a card and declare it, or answer."""
    ranks = rules[RANKS]
    if world[HANDS + 2] == 0:
        player = 0 if world[HANDS] == 0 else 1
        world[HANDS + 2 * player] = action // ranks + 1
        world[HANDS + 2 * player + 1] = action % ranks + 1
    elif action >= ranks * ranks:
        world[ANSWERS + turns_made(world, ANSWERS)] = action - ranks * ranks + 1
    else:
        turn = turns_made(world, SAID)
        world[LAID + turn] = action // ranks + 1
        world[SAID + turn] = action % ranks + 1


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """The difference of the scores."""
    utilities[0] = 0.0
    for turn in range(TURNS):
        score = world[SAID + turn] * world[ANSWERS + turn]
        to_layer = world[ANSWERS + turn] == BELIEVED or world[LAID + turn] == world[SAID + turn]
        if (turn % 2 == 0) == to_layer:
            utilities[0] += score
        else:
            utilities[0] -= score
    utilities[1] = -utilities[0]


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the other's hand, and what they laid unless it was doubted."""
    other = 1 - player
    for i in range(2):
        if world[HANDS + 2 * other + i] != 0:
            world[HANDS + 2 * other + i] = UNKNOWN
        turn = other + 2 * i
        if world[LAID + turn] != 0 and world[ANSWERS + turn] != DOUBTED:
            world[LAID + turn] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first unknown component: the hand before what was laid."""
    for i in range(SAID):
        if view[i] == UNKNOWN:
            return i
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """Go through all hands, and both orders of laying them, and count what fits the view."""
    player = hole // 2 if hole < LAID else (hole - LAID) % 2
    hand = HANDS + 2 * player
    n = 0
    total = 0.0
    for value in range(rules[RANKS]):
        weight = 0.0
        for low in range(rules[RANKS]):
            for high in range(low, rules[RANKS]):
                for order in range(1 if low == high or view[LAID + player] == 0 else 2):
                    first = low + 1 if order == 0 else high + 1
                    second = low + high + 2 - first
                    here = low
                    if hole == hand + 1:
                        here = high
                    elif hole == LAID + player:
                        here = first - 1
                    elif hole == LAID + player + 2:
                        here = second - 1
                    if here != value or not fits(view, hand, low + 1) or not fits(view, hand + 1, high + 1):
                        continue
                    if view[LAID + player] != 0 and not fits(view, LAID + player, first):
                        continue
                    if view[LAID + player + 2] != 0 and not fits(view, LAID + player + 2, second):
                        continue
                    weight += ways(rules, view, player, low, high)
        if weight > 0:
            values[n] = value
            weights[n] = weight
            n += 1
            total += weight
    for i in range(n):
        weights[i] /= total
    return n


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, and every component."""
    at = one_hot(out, 0, player, 2)
    for i in range(ANSWERS):
        at = one_hot(out, at, world[i], rules[RANKS] + 1)
    for i in range(ANSWERS, COMPONENTS):
        at = one_hot(out, at, world[i], 3)


def build(spec: str, ranks: int, copies: int) -> Game:
    """The game with so many ranks, and so many cards of each."""

    def action_name(action: int) -> str:
        if action >= ranks * ranks:
            return ("believe", "doubt")[action - ranks * ranks]
        return f"lay {action // ranks + 1} as {action % ranks + 1}"

    def title(view: Ints) -> str:
        def text(value: int) -> str:
            return "?" if value == UNKNOWN else str(value)

        hands = [text(view[i]) + text(view[i + 1]) for i in (0, 2)]
        turns = [
            f"{text(view[LAID + t])} as {view[SAID + t]}" + ("", " believed", " doubted")[view[ANSWERS + t]]
            for t in range(TURNS)
            if view[SAID + t]
        ]
        return f"{hands[0]} v {hands[1]}; {', '.join(turns) or 'to open'}"

    cards = tuple(str(rank + 1) for rank in range(ranks))
    return Game(
        name="i_doubt_it",
        parameters={"ranks": ranks, "copies": copies},
        spec=spec,
        version=1,
        players=2,
        rules=np.array([ranks, copies], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field(
                    "hands",
                    ("-", *cards),
                    length=4,
                    places=tuple(f"{w} card of player {p}" for p in range(2) for w in ("low", "high")),
                ),
                Field(
                    "laid", ("-", *cards), length=4, places=tuple(f"card laid in turn {t + 1}" for t in range(TURNS))
                ),
                Field("said", ("-", *cards), length=4),
                Field("answers", ("-", "b", "d"), length=4, names=("none", "believed", "doubted")),
            )
        ),
        num_actions=ranks * ranks + 2,
        num_outcomes=ranks * ranks,
        num_values=ranks,
        max_depth=2 + 2 * TURNS,
        min_return=-8.0 * ranks,
        max_return=8.0 * ranks,
        feature_shape=(3 + 12 * (ranks + 2) + 4 * 4,),
        action_name=action_name,
        outcome_name=lambda hand: f"deal {hand // ranks + 1}{hand % ranks + 1}",
        title=title,
    )


FAMILY = Family(
    name="i_doubt_it",
    summary="I doubt it: lay a card face down and say what it is, truly or not",
    parameters=(
        Parameter("ranks", 3, "how many ranks there are", low=2, high=4),
        Parameter("copies", 2, "how many cards of each rank there are", low=2, high=4),
    ),
    build=build,
    examples=("i_doubt_it(ranks=2)",),
    small=("i_doubt_it(ranks=2)",),
)
