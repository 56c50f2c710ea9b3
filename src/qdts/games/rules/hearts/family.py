"""Hearts for four players, as OpenSpiel's `hearts`: one deal, with or without passing.

Chance picks a direction, deals 13 cards to each, and, unless the direction is "no pass", each passes three cards to the
left, across or to the right. Who holds the two of clubs leads; all must follow suit; the highest card of the suit that
was led takes the trick and leads to the next. Every heart that one takes costs a point, and the queen of spades 13. Who
takes them all gets rid of them, and each other player has 26 instead. A player's return is 26 less their points.

    component       holds
    ACTOR           0 when the game is over, 1 where chance draws or deals, 2 + p where player p passes or plays
    DIRECTION       1 + by how many seats cards are passed, 0 before chance decides
    DEALT, PASSED, PLAYED
                    how many cards were dealt, passed and played
    HANDS + p       the set of the cards that player p holds; it follows from the rest, and is hidden with it
    HELD + c        0 before card c is dealt, 1 + p if it was dealt to player p, 5 + p if they then passed it
    BY + c          1 + the player who played card c, 0 before
    ORDER + k       1 + the card that was played as number k, 0 before

Nobody looks at their cards until all are dealt, and nobody gets cards until all are passed; a pass is a split action
of three cards. Which of their cards another player was dealt, and which they got from a third, is hidden even after
they played them, since it is in their view. In which order cards were dealt or passed is forgotten.
"""

from __future__ import annotations

import numpy as np

from qdts.games.defaults import one_hot
from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.layout import Field, Layout
from qdts.games.rule import compile_rules, rule
from qdts.games.rules.hearts import holes, play
from qdts.games.rules.hearts.play import (
    ACTOR,
    ALL_PASSED,
    BY,
    CARDS,
    CODES,
    DEALT,
    DIRECTION,
    HANDS,
    HELD,
    ORDER,
    PASSED,
    PLAYED,
    PLAYERS,
    SUIT,
    SUITS,
    TRICK,
)
from qdts.kernels import Ints, Reals32, kernel

DIRECTIONS = ("none", "left", "across", "right")
NAMES = tuple(rank + suit for rank in "23456789TJQKA" for suit in "CDHS")
SEATS = ("North", "East", "South", "West")
HOLDERS = ("not dealt", *SEATS, *(f"{seat}, who passed it" for seat in SEATS))
DEALT_TO = tuple(f"{name} was dealt to" for name in NAMES)
PLAYED_BY = tuple(f"{name} was played by" for name in NAMES)


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Who moves, the direction, counts; who lacks which suit; of each card who had it, who played it and when.

    Seats are counted from the player's own, so that all four see the same of the same.
    """
    at = one_hot(out, 0, seen_from(player, world[ACTOR], 2), PLAYERS + 2)
    at = one_hot(out, at, world[DIRECTION], PLAYERS + 1)
    out[at] = world[DEALT] / CARDS
    out[at + 1] = world[PASSED] / ALL_PASSED
    at += 2
    for other in range(player + 1, player + PLAYERS):
        limits = holes.shown(rules, world, other & TRICK)
        for suit in range(SUITS):
            out[at] = (limits & SUIT << suit) == SUIT << suit
            at += 1
    for card in range(CARDS):
        code = world[HELD + card]
        passed = code > PLAYERS
        at = one_hot(out, at, seen_from(player, code, 1 + PLAYERS if passed else 1), CODES)
        at = one_hot(out, at, seen_from(player, world[BY + card], 1), PLAYERS + 1)
    for card in range(CARDS):
        out[at + card] = 0.0
    for k in range(world[PLAYED]):
        out[at + world[ORDER + k] - 1] = (k + 1) / CARDS


@kernel()
def seen_from(player: int, code: int, first: int) -> int:
    """A code that names player p by `first + p`, with p counted from a player's seat; a smaller code stays as it is."""
    return code if code < first else first + (code - first - player & TRICK)


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
        direction = [int(world[DIRECTION]) - 1] if world[DIRECTION] else []
        dealt = [hands[k % PLAYERS][k // PLAYERS] for k in range(int(world[DEALT]))]
        passed = [c for p in range(PLAYERS) for c in range(CARDS) if held[c] == 5 + p]
        return direction + dealt + passed + [int(v) - 1 for v in world[ORDER : ORDER + world[PLAYED]]]

    def title(view: Ints) -> str:
        own = int(view[HANDS + view[ACTOR] - 2])  # of whoever moves, whose view it is
        hand = " ".join(name for card, name in enumerate(NAMES) if own >> card & 1) or "-"
        done = int(view[PLAYED])
        trick = " ".join(NAMES[int(card) - 1] for card in view[ORDER + done - done % PLAYERS : ORDER + done])
        if done == 0 and view[PASSED] < ALL_PASSED and view[DIRECTION] > 1:
            return f"to pass {DIRECTIONS[view[DIRECTION] - 1]}; hand {hand}"
        return f"trick {done // PLAYERS + 1}: {trick or 'to lead'}; hand {hand}"

    return Game(
        name="hearts",
        parameters=parameters,
        spec=spec,
        version=3,
        players=PLAYERS,
        rules=np.array([*parameters.values()], np.int64),
        kernels=compile_rules({**vars(play), **vars(holes), **globals()}),
        layout=Layout(
            (
                Field("actor", ("over", "chance", *"NESW"), names=("over", "chance", *SEATS)),
                Field("direction", ("-", *DIRECTIONS)),
                Field("dealt", tuple(map(str, range(CARDS + 1)))),
                Field("passed", tuple(map(str, range(ALL_PASSED + 1)))),
                Field("played", tuple(map(str, range(CARDS + 1)))),
                Field("hands", NAMES, length=PLAYERS, bits=True, places=tuple(f"hand of {seat}" for seat in SEATS)),
                Field("held", tuple("-NESWnesw"), length=CARDS, row=SUITS, names=HOLDERS, places=DEALT_TO),
                Field("by", tuple("-NESW"), length=CARDS, row=SUITS, names=("not played", *SEATS), places=PLAYED_BY),
                Field("order", ("-", *NAMES), length=CARDS),
            )
        ),
        num_actions=CARDS,
        num_outcomes=CARDS,
        num_values=CODES,
        max_depth=1 + 2 * CARDS + (ALL_PASSED if pass_cards else 0),
        min_return=0.0,
        max_return=36.0,
        feature_shape=(2 * PLAYERS + 7 + (PLAYERS - 1) * SUITS + CARDS * (CODES + PLAYERS + 4),),
        action_name=NAMES.__getitem__,
        outcome_name=lambda card: NAMES[card] + (f" or {DIRECTIONS[card]}" if card < PLAYERS else ""),
        zero_sum=False,
        memory="sufficient" if pass_cards else "perfect",
        weights="equal",
        replay=replay,
        pick=play.pick,
        title=title,
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
