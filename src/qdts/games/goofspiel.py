"""Goofspiel for two and more players, as OpenSpiel's `goofspiel` in turns (`turn_based_simultaneous_game`).

Each has a hand of cards with the values 1 to `num_cards`. In every turn a point card is turned up and each bids a
card of his hand, which is then gone. The highest bid takes the points; if several share it, nobody does. All bid at
once: here in the order of the seats, and nobody sees a bid before all are made. The last turn leaves no choice
and plays itself. With `imp_info` the bids stay hidden for good, and only who won each turn is told.

    slot            holds
    ACTOR           0 when the game is over, 1 where a point card is turned up, 2 + p where player p bids
    DONE            how many turns are over
    POINTS + t      1 + the point card of turn t, 0 before it is turned up
    wins + t        2 + the player who won turn t, 1 if nobody did, 0 before it is over
    hands + p       (not with `imp_info`) the set of the cards that player p had when this turn began
    bids + p        (not with `imp_info`) 1 + player p's bid in this turn, 0 before he bids
    bids + n t + p  (only with `imp_info`) the same in turn t

Without `imp_info` which bid was made when is forgotten, as in OpenSpiel: hands and winners say all that matters.

With it the bids of a finished turn are constrained by its winner, and those of one player are distinct. A value is
offered if the rest can be filled in, which is decided exactly. Holes in drawn turns come first, then the winners'
bids, then all others. A draw is two equal bids, at least as high as the rest; over these pairs there is a search. For
given pairs, one who must win turns by unknown bids may as well do so by the highest of his free cards, and lose
the others by the lowest (else swap two of them), so that Hall's condition decides for each player alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from qdts.errors import InputError
from qdts.games.defaults import one_hot
from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.interface import CHANCE, NO_HOLE, TERMINAL, UNKNOWN, compile_rules, rule
from qdts.games.layout import Field, Layout
from qdts.kernels import Ints, Reals, Reals32, kernel

ACTOR, DONE, POINTS = 0, 1, 2
NOBODY = 1  # in `wins`
ORDERS = ("random", "ascending", "descending")
RETURNS = ("win_loss", "point_difference", "total_points")
MOST_CARDS, MOST_HIDDEN_CARDS = 60, 15

# What `rules` holds: players, cards, turns, the order of the point cards, what is returned, whether bids stay hidden,
# and where in a world the winners, the hands and the bids are.
PLAYERS, CARDS, TURNS, ORDER, RETURN, HIDDEN, WINS, HANDS, BIDS, SIZE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
RANDOM, ASCENDING = 0, 1
WIN_LOSS, DIFFERENCE = 0, 1

Trial = tuple[int, int]
"""A hole, and what a slot would hold if it were filled in."""
Drawn = tuple[int, int, int]
"""For each drawn turn that was looked at the highest bid and two players who make it: TOPS, ONES and OTHERS.

Each packs a number for every turn into one.
"""
TOPS, ONES, OTHERS = 0, 1, 2
DIGIT, NINES = 4, 15  # the bits for each turn, and all of them set


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
def listed(cards: int, out: Ints) -> int:
    """Write the cards of a set, ascending; return how many."""
    count, card = 0, 0
    while cards >> card != 0:
        if cards >> card & 1:
            out[count] = card
            count += 1
        card += 1
    return count


@kernel()
def points_left(rules: Ints, world: Ints) -> int:
    """The point cards that were not turned up."""
    cards = (1 << rules[CARDS]) - 1
    for turn in range(world[DONE]):
        cards &= ~(1 << world[POINTS + turn] - 1)
    return cards


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """Any point card that is left."""
    count = listed(points_left(rules, world), outcomes)
    for i in range(count):
        probabilities[i] = 1.0 / count
    return count


@kernel()
def this_turn(rules: Ints, world: Ints) -> int:
    """The slot of player 0's bid in this turn."""
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
    turn_up(world, only(points_left(rules, world)))
    for p in range(rules[PLAYERS]):
        world[this_turn(rules, world) + p] = only(hand(rules, world, p)) + 1
    end_turn(rules, world)


@kernel()
def only(cards: int) -> int:
    """The card of a set of one."""
    card = 0
    while cards >> card != 1:
        card += 1
    return card


@kernel()
def end_turn(rules: Ints, world: Ints) -> None:
    """Say who won; where bids are shown, take them from the hands."""
    bids = this_turn(rules, world)
    best, winner = 0, NOBODY
    for p in range(rules[PLAYERS]):
        made = world[bids + p]
        if made >= best:
            winner = NOBODY if made == best else p + 2
            best = made
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


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the bids of the others that have been made."""
    for i in range(rules[BIDS], rules[SIZE]):
        if (i - rules[BIDS]) % rules[PLAYERS] != player and world[i] != 0:
            world[i] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first unknown bid of a drawn turn, then of the winner of a turn, then any."""
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
    """Whether a view can be completed on trial: choose pairs for one drawn turn after another, and go back if stuck."""
    drawn = (0, 0, 0)
    turn = next_drawn(rules, view, -1, 1)
    while turn >= 0:
        if turn < view[DONE]:
            drawn = next_pair(rules, view, trial, turn, drawn)
        elif all_fit(rules, view, trial, drawn):
            return True
        ahead = turn < view[DONE] and digit(drawn[TOPS], turn) != 0
        turn = next_drawn(rules, view, turn, 1 if ahead else -1)
    return False


@kernel()
def next_drawn(rules: Ints, view: Ints, turn: int, way: int) -> int:
    """The next drawn turn after (1) or before (-1) a turn; DONE or -1 if there is none."""
    turn += way
    while 0 <= turn < view[DONE] and view[rules[WINS] + turn] != NOBODY:
        turn += way
    return turn


@kernel()
def next_pair(rules: Ints, view: Ints, trial: Trial, turn: int, drawn: Drawn) -> Drawn:
    """Choose, for a drawn turn, the next pair after the one that is chosen, or none if there is no more."""
    at = DIGIT * turn
    top, one, other = max(1, digit(drawn[TOPS], turn)), digit(drawn[ONES], turn), digit(drawn[OTHERS], turn)
    others = drawn[TOPS] & ~(NINES << at), drawn[ONES] & ~(NINES << at), drawn[OTHERS] & ~(NINES << at)
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
    slot = rules[BIDS] + turn * rules[PLAYERS] + player
    return trial[1] if slot == trial[0] else view[slot]


@kernel()
def draws(rules: Ints, view: Ints, trial: Trial, turn: int, top: int, one: int, other: int, drawn: Drawn) -> bool:
    """Whether two players may have made the highest bid of a turn."""
    for p in range(rules[PLAYERS]):
        made = bid_of(rules, view, trial, turn, p)
        if made > top:
            return False
        if p in (one, other):
            free = free_cards(rules, view, trial, p, drawn)
            if made != top and (made != UNKNOWN or not free >> top - 1 & 1):
                return False
    return True


@kernel()
def free_cards(rules: Ints, view: Ints, trial: Trial, player: int, drawn: Drawn) -> int:
    """The cards that a player has not bid, be it known or by the pairs that are chosen."""
    cards = (1 << rules[CARDS]) - 1
    for turn in range(view[DONE] + 1):
        if turn < rules[TURNS]:
            made = bid_of(rules, view, trial, turn, player)
            if made == UNKNOWN and in_pair(turn, player, drawn):
                made = digit(drawn[TOPS], turn)
            if made > 0:
                cards &= ~(1 << made - 1)
    return cards


@kernel()
def in_pair(turn: int, player: int, drawn: Drawn) -> bool:
    """Whether a player is one of the two that are chosen for a drawn turn."""
    return digit(drawn[TOPS], turn) != 0 and (
        digit(drawn[ONES], turn) == player or digit(drawn[OTHERS], turn) == player
    )


@kernel()
def all_fit(rules: Ints, view: Ints, trial: Trial, drawn: Drawn) -> bool:
    """Whether every player's free cards suffice, once pairs are chosen for all drawn turns."""
    for p in range(rules[PLAYERS]):
        free = free_cards(rules, view, trial, p, drawn)
        for level in range(rules[CARDS] + 1):
            above, below = count_bits(free >> level), count_bits(free & (1 << level) - 1)
            for turn in range(view[DONE]):
                need = needs(rules, view, trial, p, turn, level, drawn)
                above -= need > 0
                below -= need < 0
            for w in range(rules[PLAYERS]):
                below -= low_wins(rules, view, trial, w, p, level, drawn)
            if above < 0 or below < 0:
                return False
    return True


@kernel()
def needs(rules: Ints, view: Ints, trial: Trial, player: int, turn: int, level: int, drawn: Drawn) -> int:
    """Whether an unknown bid must be above a level (1), or at most the level (-1), or neither (0).

    Turns that another wins by an unknown bid are left to `low_wins`. A known bid that contradicts the winner asks for
    what nobody has: it is above the highest level.
    """
    winner = view[rules[WINS] + turn]
    made = bid_of(rules, view, trial, turn, player)
    if winner == NOBODY:
        paired = in_pair(turn, player, drawn)
        return -1 if made == UNKNOWN and not paired and digit(drawn[TOPS], turn) <= level else 0
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
def low_wins(rules: Ints, view: Ints, trial: Trial, winner: int, loser: int, level: int, drawn: Drawn) -> int:
    """How many turns one wins by an unknown bid that, at best, forces another's unknown bid to at most a level.

    Winners' bids are filled in first, so the other's bids in these turns are all unknown, or in his own view all known.
    """
    unknown = 0
    for turn in range(view[DONE]):
        if view[rules[WINS] + turn] == winner + 2 and bid_of(rules, view, trial, turn, winner) == UNKNOWN:
            unknown += bid_of(rules, view, trial, turn, loser) == UNKNOWN
    if unknown == 0 or winner == loser:
        return 0
    free = free_cards(rules, view, trial, winner, drawn)
    return max(0, unknown - count_bits(free >> level + 1))


@kernel()
def count_bits(cards: int) -> int:
    """How many cards a set has."""
    count = 0
    while cards != 0:
        cards &= cards - 1
        count += 1
    return count


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
    for drawn in pairs(spent, wins.count(NOBODY)):
        bids = dealt(spent, wins, drawn)
        if [winner_of(turn) for turn in bids] == wins:
            return bids
    raise InputError(f"goofspiel: no bids lead to the winners {wins}")


def pairs(spent: list[set[int]], count: int, highest: int = MOST_CARDS) -> Iterator[list[Best]]:
    """Every choice of two equal bids for each of `count` drawn turns, from high to low."""
    if count == 0:
        yield []
        return
    for top in range(highest, -1, -1):
        for pair in combinations([p for p, cards in enumerate(spent) if top in cards], 2):
            rest = [cards - {top} if p in pair else cards for p, cards in enumerate(spent)]
            for later in pairs(rest, count - 1, top):
                yield [(top, *pair), *later]


def dealt(spent: list[set[int]], wins: list[int], drawn: list[Best]) -> list[list[int]]:
    """Bids with given pairs in the drawn turns: each wins by his highest other cards, and loses by the lowest."""
    players = range(len(spent))
    free = [sorted(cards - {top for top, *pair in drawn if p in pair}) for p, cards in enumerate(spent)]
    winning = [[free[p].pop() for _ in range(wins.count(p + 2))] for p in players]
    tied = iter(drawn)
    best: list[Best] = [next(tied) if w == NOBODY else (winning[w - 2].pop(), w - 2) for w in wins]
    bids: list[list[int]] = [[] for _ in wins]
    for turn in sorted(range(len(wins)), key=lambda t: best[t][0] + (wins[t] == NOBODY)):
        top, *makers = best[turn]
        bids[turn] = [top if p in makers else free[p].pop(0) for p in players]
    return bids


def winner_of(bids: list[int]) -> int:
    """Who wins a turn, as a slot says it."""
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

    def title(view: Ints) -> str:
        told = [
            f"for {view[POINTS + t]}: {('-', 'nobody', *(f'player {p}' for p in range(players)))[view[wins + t]]}"
            for t in range(turns)
            if view[POINTS + t]
        ]
        return ", ".join(told) or "to open"

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
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("actor", ("over", "chance", *map(str, range(players)))),
                Field("done", tuple(map(str, range(turns + 1)))),
                Field("points", ("-", *cards), length=turns),
                Field("wins", ("-", "=", *map(str, range(players))), length=turns),
                *([] if imp_info else [Field("hands", cards, length=players, bits=True)]),
                Field("bids", ("-", *cards), length=rows * players, row=players),
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
        Parameter("imp_info", False, "tell who won each turn, but never the bids"),
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
