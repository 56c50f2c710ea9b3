"""How goofspiel is played: the components of a world (`family` says what they hold), and the rules on full worlds."""

from __future__ import annotations

import numpy as np

from qdts.games.rule import CHANCE, TERMINAL, rule
from qdts.games.sets import any_of, listed, lowest
from qdts.kernels import Ints, Reals, kernel

ACTOR, DONE, POINTS = 0, 1, 2
NOBODY = 1  # in `wins`

# What `rules` holds: players, cards, turns, the order of the point cards, what is returned, whether bids stay hidden,
# and where in a world the winners, the hands and the bids are.
PLAYERS, CARDS, TURNS, ORDER, RETURN, HIDDEN, WINS, HANDS, BIDS, SIZE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
RANDOM, ASCENDING = 0, 1
WIN_LOSS, DIFFERENCE = 0, 1


@rule
def initial(rules: Ints, world: Ints) -> None:
    """All hands are full."""
    for i in range(rules[SIZE]):
        world[i] = 0
    if not rules[HIDDEN]:
        for p in range(rules[PLAYERS]):
            world[rules[HANDS] + p] = (1 << rules[CARDS]) - 1
    open_turn(rules, world)


@kernel()
def open_turn(rules: Ints, world: Ints) -> None:
    """Turn up the next point card, or let chance do so."""
    world[ACTOR] = 1
    if rules[ORDER] != RANDOM:
        turn = world[DONE]
        turn_up(world, turn if rules[ORDER] == ASCENDING else rules[CARDS] - 1 - turn)


@kernel()
def turn_up(world: Ints, card: int) -> None:
    """Turn up a point card; the first player is to bid."""
    world[POINTS + world[DONE]] = card + 1
    world[ACTOR] = 2


@rule
def mover(rules: Ints, world: Ints) -> int:
    """As `step` left it."""
    actor = world[ACTOR]
    return TERMINAL if actor == 0 else CHANCE if actor == 1 else actor - 2


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Any card of one's hand."""
    return listed(hand(rules, world, world[ACTOR] - 2), actions)


@kernel()
def hand(rules: Ints, world: Ints, player: int) -> int:
    """The cards that a player had when this turn began, as far as they are known."""
    if not rules[HIDDEN]:
        return world[rules[HANDS] + player]
    cards = (1 << rules[CARDS]) - 1
    for turn in range(world[DONE]):
        made = world[rules[BIDS] + turn * rules[PLAYERS] + player]
        if made > 0:
            cards &= ~(1 << made - 1)
    return cards


@kernel()
def points_left(rules: Ints, world: Ints) -> int:
    """The point cards that were not turned up."""
    cards = 0
    for turn in range(rules[TURNS]):
        cards |= 1 << world[POINTS + turn] >> 1
    return (1 << rules[CARDS]) - 1 & ~cards


@kernel(inline=True)
def pick(rules: Ints, world: Ints, bits: np.uint64) -> int:
    """One of the point cards that are left, or a card of one's hand."""
    cards = points_left(rules, world) if world[ACTOR] == 1 else hand(rules, world, world[ACTOR] - 2)
    return any_of(cards, bits)


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """Any point card that is left."""
    count = listed(points_left(rules, world), outcomes)
    for i in range(count):
        probabilities[i] = 1.0 / count
    return count


@kernel()
def this_turn(rules: Ints, world: Ints) -> int:
    """The component of player 0's bid in this turn."""
    return rules[BIDS] + (world[DONE] * rules[PLAYERS] if rules[HIDDEN] else 0)


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Turn up a point card, or bid; the last bid ends the turn, and the last turn but one the game."""
    if world[ACTOR] == 1:
        turn_up(world, action)
        return
    world[this_turn(rules, world) + world[ACTOR] - 2] = action + 1
    world[ACTOR] += 1
    if world[ACTOR] == 2 + rules[PLAYERS]:
        end_turn(rules, world)
        if world[DONE] == rules[CARDS] - 1:
            play_last(rules, world)
        if world[DONE] == rules[TURNS]:
            world[ACTOR] = 0
        else:
            open_turn(rules, world)


@kernel()
def play_last(rules: Ints, world: Ints) -> None:
    """Play the turn that leaves no choice."""
    turn_up(world, lowest(points_left(rules, world)))
    for p in range(rules[PLAYERS]):
        world[this_turn(rules, world) + p] = lowest(hand(rules, world, p)) + 1
    end_turn(rules, world)


@kernel()
def end_turn(rules: Ints, world: Ints) -> None:
    """Say who won; where bids are shown, take them from the hands."""
    bids = this_turn(rules, world)
    best, winner = 0, NOBODY
    for p in range(rules[PLAYERS]):
        made = world[bids + p]
        winner = p + 2 if made > best else NOBODY if made == best else winner
        best = max(best, made)
        if not rules[HIDDEN]:
            world[rules[HANDS] + p] &= ~(1 << made - 1)
            world[bids + p] = 0
    world[rules[WINS] + world[DONE]] = winner
    world[DONE] += 1


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """The points, less their mean, or what the winners get from the others."""
    n = rules[PLAYERS]
    for p in range(n):
        utilities[p] = 0.0
    total, best = 0.0, 0.0
    for turn in range(rules[TURNS]):
        winner = world[rules[WINS] + turn]
        if winner != NOBODY:
            utilities[winner - 2] += world[POINTS + turn]
            total += world[POINTS + turn]
            best = max(best, utilities[winner - 2])
    if rules[RETURN] == WIN_LOSS:
        share_one(n, best, utilities)
    elif rules[RETURN] == DIFFERENCE:
        for p in range(n):
            utilities[p] -= total / n


@kernel()
def share_one(players: int, best: float, utilities: Reals) -> None:
    """Turn points into one point, which those with the most share and the others pay."""
    winners = 0
    for p in range(players):
        winners += utilities[p] == best
    for p in range(players):
        if winners == players:
            utilities[p] = 0.0
        else:
            utilities[p] = 1.0 / winners if utilities[p] == best else -1.0 / (players - winners)
