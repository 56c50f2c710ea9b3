"""Goofspiel for two and more players, as OpenSpiel's `goofspiel` in turns (`turn_based_simultaneous_game`).

Each has a hand of cards with the values 1 to `num_cards`. In every turn a point card is turned up and each bids a
card of their hand, which is then gone. The highest bid takes the points; if several share it, nobody does. All bid at
once: here in the order of the seats, and nobody sees a bid before all are made. The last turn leaves no choice
and plays itself. With `imp_info` the bids stay hidden for good, and only the winner of each turn is announced.

    component       holds
    ACTOR           0 when the game is over, 1 where a point card is turned up, 2 + p where player p bids
    DONE            how many turns are over
    POINTS + t      1 + the point card of turn t, 0 before it is turned up
    wins + t        2 + the player who won turn t, 1 if nobody did, 0 before it is over
    hands + p       (not with `imp_info`) the set of the cards that player p had when this turn began
    bids + p        (not with `imp_info`) 1 + player p's bid in this turn, 0 before they bid
    bids + n t + p  (only with `imp_info`) the same in turn t

Without `imp_info` which bid was made when is forgotten, as in OpenSpiel: hands and winners say all that matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from qdts.errors import InputError
from qdts.games.defaults import one_hot
from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.layout import Field, Layout
from qdts.games.rule import compile_rules, rule
from qdts.games.rules.goofspiel import holes, play
from qdts.games.rules.goofspiel.play import (
    ACTOR,
    BIDS,
    CARDS,
    DONE,
    HANDS,
    NOBODY,
    PLAYERS,
    POINTS,
    SIZE,
    TURNS,
    WINS,
)
from qdts.kernels import Ints, Reals32

ORDERS = ("random", "ascending", "descending")
RETURNS = ("win_loss", "point_difference", "total_points")
MOST_CARDS, MOST_HIDDEN_CARDS = 60, 15


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, who moves, point cards, winners, hands and bids. DONE follows from the winners."""
    n, cards = rules[PLAYERS], rules[CARDS]
    at = one_hot(out, 0, player, n)
    at = one_hot(out, at, world[ACTOR], n + 2)
    for turn in range(rules[TURNS]):
        at = one_hot(out, at, world[POINTS + turn], cards + 1)
        at = one_hot(out, at, world[rules[WINS] + turn], n + 2)
    for i in range(rules[HANDS], rules[BIDS]):
        for card in range(cards):
            out[at] = world[i] >> card & 1
            at += 1
    for i in range(rules[BIDS], rules[SIZE]):
        at = one_hot(out, at, world[i], cards + 1)


Best = tuple[int, ...]
"""The highest card of a turn, and players who bid it: the winner, or two of those who share it."""


def past_bids(spent: list[set[int]], wins: list[int]) -> list[list[int]]:
    """Some bids, turn by turn, by which the players spent their cards and won what they did."""
    for ties in pairs(spent, wins.count(NOBODY)):
        bids = dealt(spent, wins, ties)
        if [winner_of(turn) for turn in bids] == wins:
            return bids
    raise InputError(f"goofspiel: no bids lead to the winners {wins}")


def pairs(spent: list[set[int]], count: int, highest: int = MOST_CARDS) -> Iterator[list[Best]]:
    """Every choice of two equal bids for each of `count` tied turns, from high to low."""
    if count == 0:
        yield []
        return
    for top in range(highest, -1, -1):
        for pair in combinations([p for p, cards in enumerate(spent) if top in cards], 2):
            rest = [cards - {top} if p in pair else cards for p, cards in enumerate(spent)]
            for later in pairs(rest, count - 1, top):
                yield [(top, *pair), *later]


def dealt(spent: list[set[int]], wins: list[int], ties: list[Best]) -> list[list[int]]:
    """Bids with given pairs in the tied turns: each wins by their highest other cards, and loses by the lowest."""
    players = range(len(spent))
    free = [sorted(cards - {top for top, *pair in ties if p in pair}) for p, cards in enumerate(spent)]
    winning = [[free[p].pop() for _ in range(wins.count(p + 2))] for p in players]
    tied = iter(ties)
    best: list[Best] = [next(tied) if w == NOBODY else (winning[w - 2].pop(), w - 2) for w in wins]
    bids: list[list[int]] = [[] for _ in wins]
    for turn in sorted(range(len(wins)), key=lambda t: best[t][0] + (wins[t] == NOBODY)):
        top, *makers = best[turn]
        bids[turn] = [top if p in makers else free[p].pop(0) for p in players]
    return bids


def winner_of(bids: list[int]) -> int:
    """Who wins a turn, as a component holds it."""
    best = max(bids)
    return NOBODY if bids.count(best) > 1 else bids.index(best) + 2


def build(
    spec: str,
    players: int,
    num_cards: int,
    num_turns: int,
    points_order: str,
    returns_type: str,
    imp_info: bool,
    egocentric: bool,
) -> Game:
    """The game for a number of players and cards."""
    turns = num_cards if num_turns == -1 else num_turns
    if not 0 < turns <= num_cards or turns == num_cards - 1:
        raise InputError(
            f"goofspiel: num_turns={num_turns} is not possible with num_cards={num_cards}, "
            f"expected -1, {num_cards} or 1 to {num_cards - 2}"
        )
    if imp_info and num_cards > MOST_HIDDEN_CARDS:
        raise InputError(f"goofspiel: num_cards={num_cards}, with imp_info expected at most {MOST_HIDDEN_CARDS}")
    wins, hands = POINTS + turns, POINTS + 2 * turns
    bids = hands if imp_info else hands + players
    rows = turns if imp_info else 1
    size = bids + rows * players
    numbers = [players, num_cards, turns, ORDERS.index(points_order), RETURNS.index(returns_type), imp_info]
    chosen = turns - 1 if turns == num_cards > 1 else turns
    total = num_cards * (num_cards + 1) / 2
    low, high = {
        "win_loss": (-1.0, 1.0),
        "point_difference": (-total / players, total - total / players),
        "total_points": (0.0, total),
    }[returns_type]
    cards = tuple(str(c + 1) for c in range(num_cards))

    def replay(world: Ints) -> list[int]:
        done = int(world[DONE])
        last = [int(v) - 1 for v in world[bids:size] if v > 0]
        made = [last[t * players : (t + 1) * players] for t in range(turns)]
        if not imp_info:
            spent = [{c for c in range(num_cards) if not world[hands + p] >> c & 1} for p in range(players)]
            made = [*past_bids(spent, [int(w) for w in world[wins : wins + done]]), last]
        played: list[int] = []
        for t in range(chosen):
            if points_order == "random" and world[POINTS + t]:
                played.append(int(world[POINTS + t]) - 1)
            played += made[t] if t < len(made) else []
        return played

    seats = tuple(f"player {p}" for p in range(players))
    places = tuple(f"{f'bid {t + 1}' if imp_info else 'bid'} of {seat}" for t in range(rows) for seat in seats)

    def title(view: Ints) -> str:
        won = [
            f"for {view[POINTS + t]}: {('-', 'nobody', *seats)[view[wins + t]]}"
            for t in range(turns)
            if view[POINTS + t]
        ]
        return ", ".join(won) or "to open"

    return Game(
        name="goofspiel",
        parameters={
            "players": players,
            "num_cards": num_cards,
            "num_turns": num_turns,
            "points_order": points_order,
            "returns_type": returns_type,
            "imp_info": imp_info,
            "egocentric": egocentric,
        },
        spec=spec,
        version=1,
        players=players,
        rules=np.array([*numbers, wins, hands, bids, size], np.int64),
        kernels=compile_rules({**vars(play), **vars(holes), **globals()}),
        layout=Layout(
            (
                Field("actor", ("over", "chance", *map(str, range(players))), names=("over", "chance", *seats)),
                Field("done", tuple(map(str, range(turns + 1)))),
                Field("points", ("-", *cards), length=turns),
                Field("wins", ("-", "=", *map(str, range(players))), length=turns, names=("-", "nobody", *seats)),
                *([] if imp_info else [Field("hands", cards, length=players, bits=True)]),
                Field("bids", ("-", *cards), length=rows * players, row=players, places=places),
            )
        ),
        num_actions=num_cards,
        num_outcomes=num_cards if points_order == "random" else 0,
        num_values=num_cards,
        max_depth=chosen * (players + (points_order == "random")),
        min_return=low,
        max_return=high,
        feature_shape=(
            2 * players
            + 4
            + turns * (num_cards + players + 5)
            + (bids - hands) * num_cards
            + rows * players * (num_cards + 2),
        ),
        action_name=lambda card: f"bid {card + 1}",
        outcome_name=lambda card: f"deal {card + 1}",
        zero_sum=returns_type != "total_points",
        memory="perfect" if imp_info else "sufficient",
        weights="equal" if imp_info else "chance",
        replay=replay,
        pick=play.pick,
        title=title,
    )


FAMILY = Family(
    name="goofspiel",
    summary="Goofspiel: bid cards for points, all at once",
    parameters=(
        Parameter("players", 2, "how many play", low=2, high=10),
        Parameter("num_cards", 13, "how many cards each hand and the points have", low=1, high=MOST_CARDS),
        Parameter("num_turns", -1, "how many turns are played; -1: one for each card", low=-1, high=MOST_CARDS),
        Parameter("points_order", "random", "how the point cards are turned up", choices=ORDERS),
        Parameter("returns_type", "win_loss", "what the points are worth in the end", choices=RETURNS),
        Parameter("imp_info", False, "announce who won each turn, but never the bids"),
        Parameter("egocentric", False, "OpenSpiel's; features are the same either way"),
    ),
    build=build,
    examples=(
        "goofspiel(num_cards=3)",
        "goofspiel(num_cards=4,points_order=descending,returns_type=point_difference)",
        "goofspiel(num_cards=4,points_order=descending,imp_info=true)",
        "goofspiel(num_cards=4,num_turns=2,imp_info=true)",
        "goofspiel(players=3,num_cards=3,points_order=ascending,returns_type=total_points,imp_info=true)",
        "goofspiel(num_cards=5,points_order=descending,imp_info=true)",
    ),
)
