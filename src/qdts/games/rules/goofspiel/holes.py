"""What a player of goofspiel does not know: the bids of the others, and how they can be filled in.

With `imp_info` the bids of a finished turn are constrained by its winner, and those of one player are distinct. A
value is offered if the rest can be filled in, which is decided exactly. Holes in tied turns come first, then the
winners' bids, then all others. A draw is two equal bids, at least as high as the rest; over these pairs there is a
search. For given pairs, one who must win turns by unknown bids may as well do so by the highest of their free cards,
and lose the others by the lowest (else swap two of them), so that Hall's condition decides for each player alone.
"""

from __future__ import annotations

from qdts.games.rule import NO_HOLE, UNKNOWN, rule
from qdts.games.rules.goofspiel.play import (
    BIDS,
    CARDS,
    DONE,
    HIDDEN,
    NOBODY,
    PLAYERS,
    SIZE,
    TURNS,
    WINS,
    hand,
)
from qdts.games.sets import size
from qdts.kernels import Ints, Reals, kernel

Trial = tuple[int, int]
"""A hole, and what the component would hold if it were filled in."""
Ties = tuple[int, int, int]
"""For each tied turn that was looked at the highest bid and two players who make it: TOPS, ONES and OTHERS.

Each packs a number for every turn into one.
"""
TOPS, ONES, OTHERS = 0, 1, 2
DIGIT, NINES = 4, 15  # the bits for each turn, and all of them set


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the bids of the others that have been made."""
    for i in range(rules[BIDS], rules[SIZE]):
        if (i - rules[BIDS]) % rules[PLAYERS] != player and world[i] != 0:
            world[i] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first unknown bid of a tied turn, then of the winner of a turn, then any."""
    if rules[HIDDEN]:
        n, bids = rules[PLAYERS], rules[BIDS]
        for i in range(bids, bids + view[DONE] * n):
            if view[i] == UNKNOWN and view[rules[WINS] + (i - bids) // n] == NOBODY:
                return i
        for turn in range(view[DONE]):
            winner = bids + turn * n + view[rules[WINS] + turn] - 2
            if view[rules[WINS] + turn] != NOBODY and view[winner] == UNKNOWN:
                return winner
    for i in range(rules[BIDS], rules[SIZE]):
        if view[i] == UNKNOWN:
            return i
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """A card of the hand; one with which the other unknown bids can be filled in, too."""
    cards = hand(rules, view, (hole - rules[BIDS]) % rules[PLAYERS])
    count = 0
    for card in range(rules[CARDS]):
        if cards >> card & 1 and (not rules[HIDDEN] or possible(rules, view, (hole, card + 1))):
            values[count] = card
            count += 1
    for i in range(count):
        weights[i] = 1.0 / count
    return count


@kernel()
def digit(packed: int, turn: int) -> int:
    """The number for a turn."""
    return packed >> DIGIT * turn & NINES


@kernel()
def possible(rules: Ints, view: Ints, trial: Trial) -> bool:
    """Whether a view can be completed on trial: choose pairs for one tied turn after another, and go back if stuck."""
    ties = (0, 0, 0)
    turn = next_tied(rules, view, -1, 1)
    while turn >= 0:
        if turn < view[DONE]:
            ties = next_pair(rules, view, trial, turn, ties)
        elif all_fit(rules, view, trial, ties):
            return True
        ahead = turn < view[DONE] and digit(ties[TOPS], turn) != 0
        turn = next_tied(rules, view, turn, 1 if ahead else -1)
    return False


@kernel()
def next_tied(rules: Ints, view: Ints, turn: int, step: int) -> int:
    """The next tied turn after (1) or before (-1) a turn; DONE or -1 if there is none."""
    turn += step
    while 0 <= turn < view[DONE] and view[rules[WINS] + turn] != NOBODY:
        turn += step
    return turn


@kernel()
def next_pair(rules: Ints, view: Ints, trial: Trial, turn: int, ties: Ties) -> Ties:
    """Choose, for a tied turn, the next pair after the one that is chosen, or none if there is no more."""
    at = DIGIT * turn
    top, one, other = max(1, digit(ties[TOPS], turn)), digit(ties[ONES], turn), digit(ties[OTHERS], turn)
    others = ties[TOPS] & ~(NINES << at), ties[ONES] & ~(NINES << at), ties[OTHERS] & ~(NINES << at)
    while top <= rules[CARDS]:
        one += 1
        if one >= other:
            one, other = 0, other + 1
        if other == rules[PLAYERS]:
            one, other, top = 0, 0, top + 1
        elif draws(rules, view, trial, turn, top, one, other, others):
            return others[TOPS] | top << at, others[ONES] | one << at, others[OTHERS] | other << at
    return others


@kernel()
def bid_of(rules: Ints, view: Ints, trial: Trial, turn: int, player: int) -> int:
    """A player's bid in a turn on trial, or UNKNOWN."""
    at = rules[BIDS] + turn * rules[PLAYERS] + player
    return trial[1] if at == trial[0] else view[at]


@kernel()
def draws(rules: Ints, view: Ints, trial: Trial, turn: int, top: int, one: int, other: int, ties: Ties) -> bool:
    """Whether two players may have made the highest bid of a turn."""
    for p in range(rules[PLAYERS]):
        made = bid_of(rules, view, trial, turn, p)
        if made > top:
            return False
        if p in (one, other):
            free = free_cards(rules, view, trial, p, ties)
            if made != top and (made != UNKNOWN or not free >> top - 1 & 1):
                return False
    return True


@kernel()
def free_cards(rules: Ints, view: Ints, trial: Trial, player: int, ties: Ties) -> int:
    """The cards that a player has not bid, be it known or by the pairs that are chosen."""
    cards = (1 << rules[CARDS]) - 1
    for turn in range(view[DONE] + 1):
        if turn < rules[TURNS]:
            made = bid_of(rules, view, trial, turn, player)
            if made == UNKNOWN and in_pair(turn, player, ties):
                made = digit(ties[TOPS], turn)
            if made > 0:
                cards &= ~(1 << made - 1)
    return cards


@kernel()
def in_pair(turn: int, player: int, ties: Ties) -> bool:
    """Whether a player is one of the two that are chosen for a tied turn."""
    return digit(ties[TOPS], turn) != 0 and (digit(ties[ONES], turn) == player or digit(ties[OTHERS], turn) == player)


@kernel()
def all_fit(rules: Ints, view: Ints, trial: Trial, ties: Ties) -> bool:
    """Whether every player's free cards suffice, once pairs are chosen for all tied turns."""
    for p in range(rules[PLAYERS]):
        free = free_cards(rules, view, trial, p, ties)
        for level in range(rules[CARDS] + 1):
            above, below = size(free >> level), size(free & (1 << level) - 1)
            for turn in range(view[DONE]):
                need = needs(rules, view, trial, p, turn, level, ties)
                above -= need > 0
                below -= need < 0
            for w in range(rules[PLAYERS]):
                below -= low_wins(rules, view, trial, w, p, level, ties)
            if above < 0 or below < 0:
                return False
    return True


@kernel()
def needs(rules: Ints, view: Ints, trial: Trial, player: int, turn: int, level: int, ties: Ties) -> int:
    """Whether an unknown bid must be above a level (1), or at most the level (-1), or neither (0).

    Turns that another wins by an unknown bid are left to `low_wins`. A known bid that contradicts the winner needs
    what nobody has: it is above the highest level.
    """
    winner = view[rules[WINS] + turn]
    made = bid_of(rules, view, trial, turn, player)
    if winner == NOBODY:
        paired = in_pair(turn, player, ties)
        return -1 if made == UNKNOWN and not paired and digit(ties[TOPS], turn) <= level else 0
    if winner == player + 2:
        return 1 if made == UNKNOWN and highest_of_others(rules, view, trial, turn, player) >= level else 0
    best = bid_of(rules, view, trial, turn, winner - 2)
    if best == UNKNOWN:
        return 0
    if made != UNKNOWN:
        return 1 if made >= best and level == rules[CARDS] else 0
    return -1 if best - 1 <= level else 0


@kernel()
def highest_of_others(rules: Ints, view: Ints, trial: Trial, turn: int, player: int) -> int:
    """The highest bid of a turn that is known, but for a player's own."""
    best = 0
    for p in range(rules[PLAYERS]):
        if p != player:
            best = max(best, bid_of(rules, view, trial, turn, p))
    return best


@kernel()
def low_wins(rules: Ints, view: Ints, trial: Trial, winner: int, loser: int, level: int, ties: Ties) -> int:
    """How many turns one wins by an unknown bid that, at best, forces another's unknown bid to at most a level.

    Winners' bids are filled in first, so the other's bids in these turns are all unknown, or all known to themselves.
    """
    unknown = 0
    for turn in range(view[DONE]):
        if view[rules[WINS] + turn] == winner + 2 and bid_of(rules, view, trial, turn, winner) == UNKNOWN:
            unknown += bid_of(rules, view, trial, turn, loser) == UNKNOWN
    if unknown == 0 or winner == loser:
        return 0
    free = free_cards(rules, view, trial, winner, ties)
    return max(0, unknown - size(free >> level + 1))
