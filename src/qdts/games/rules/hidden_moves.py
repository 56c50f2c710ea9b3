"""What phantom tic-tac-toe and dark hex share: two players who don't see each other's stones.

In turn they try cells of one board. A try at an empty cell sets a stone; a try at a cell where the other has a
stone fails, and the player then knows of it. By the classical rules they try again until they set a stone, by
the abrupt ones their turn is over. Nobody tries a cell twice. The first whose stones reach their goal (a line, or a
path between their two edges) wins; a full board is a draw. That the game is over, and how, is announced.

    component       holds
    STATUS          p where player p is to move, WON + p when p has won, DRAWN + p when p has filled the board
    and of each player, from `seat` on:
    FAILED          the set of their tries, by number, that failed
    STONES          the set of their cells
    SEEN            the set of the cells that they have tried
    TRIES + k       1 + the cell that they tried as their k-th, 0 before

The tries of both, in order, determine everything: who moved when, what failed, and where stones are. A player sees
their own and STATUS. Of the other's they see how many there are (`COUNTED`), and in classical games also which of them
failed (`OUTCOMES`), or nothing at all; then the list of the other's tries is filled try by try, and by END.

What can hide behind a view? Call what a player does until the other moves a *turn*. The turns of both alternate,
so the owner's tries show how many the other has had at any time. The other's tries are possible if

    * each fails exactly if the owner has a stone there at that time,
    * stones that the owner has met were set before they met them, and none is where the owner set theirs,
    * the number of turns, tries and failures is what it must be,
    * the other has reached their goal if they have won, by their very last stone, and else has not,
    * the board is full if the game is drawn, and is not while it goes on.

Stones that the owner has not met are of any number from `low` to `high`, on any cells that they have not tried. Of
these only the *fewest* that reach the goal and the *most* that don't need to be known. For a larger set reaches the
goal if a smaller one does; so if one set of e stones reaches it, and one of e - 1 stones does not, exchanging stone
by stone leads from one to the other, past a set where the last stone decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from qdts.games.defaults import one_hot
from qdts.games.game import Game
from qdts.games.layout import Field, Layout
from qdts.games.rule import NO_HOLE, TERMINAL, UNKNOWN, compile_rules, rule
from qdts.games.sets import any_of, listed, size
from qdts.kernels import Ints, Reals, Reals32, kernel

STATUS = 0
WON, DRAWN = 2, 4
FAILED, STONES, SEEN, TRIES = 0, 1, 2, 3
MOST_CELLS = 60  # a set of cells is one component

# What `rules` holds: the number of cells, three switches (see above), the number of lines, and what a goal is: the
# lines; or, where there are none, the columns of the board, the edges where the paths of both players begin (the
# first row, the first column) and those where they end (the last row, the last column).
CELLS, ABRUPT, COUNTED, OUTCOMES, LINES, GOAL = 0, 1, 2, 3, 4, 5
COLUMNS, FROM, TO = GOAL, GOAL + 1, GOAL + 3
WEST, EAST = FROM + 1, TO + 1


@kernel()
def seat(rules: Ints, player: int) -> int:
    """Where a player's components begin."""
    return 1 + player * (TRIES + rules[CELLS])


@kernel()
def board(rules: Ints) -> int:
    """The set of all cells."""
    return (1 << rules[CELLS]) - 1


@rule
def initial(rules: Ints, world: Ints) -> None:
    """The board is empty, and player 0 begins."""
    for i in range(seat(rules, 2)):
        world[i] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """Both always know who moves."""
    return world[STATUS] if world[STATUS] < WON else TERMINAL


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Every cell that the mover has not tried."""
    return listed(untried(rules, world), actions)


@kernel(inline=True)
def pick(rules: Ints, world: Ints, bits: np.uint64) -> int:
    """One of these cells."""
    return any_of(untried(rules, world), bits)


@kernel(inline=True)
def untried(rules: Ints, world: Ints) -> int:
    """The cells that the mover has not tried."""
    return board(rules) & ~world[seat(rules, world[STATUS]) + SEEN]


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Try a cell."""
    player = world[STATUS]
    own, other = seat(rules, player), seat(rules, 1 - player)
    cell, k = 1 << action, size(world[own + SEEN])
    world[own + TRIES + k] = action + 1
    world[own + SEEN] |= cell
    if world[other + STONES] & cell:
        world[own + FAILED] |= 1 << k
        world[STATUS] = 1 - player if rules[ABRUPT] else player
        return
    stones = world[own + STONES] | cell
    world[own + STONES] = stones
    status = DRAWN + player if stones | world[other + STONES] == board(rules) else 1 - player
    world[STATUS] = WON + player if has_won(rules, player, stones) else status


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """One point for the goal."""
    utilities[0] = 1.0 - 2.0 * (world[STATUS] - WON) if world[STATUS] < DRAWN else 0.0
    utilities[1] = -utilities[0]


@kernel(inline=True)
def has_won(rules: Ints, player: int, stones: int) -> bool:
    """Whether a player has reached their goal."""
    if rules[LINES] == 0:
        return has_path(rules, player, stones)
    won = False
    for i in range(GOAL, GOAL + rules[LINES]):
        won |= rules[i] & ~stones == 0
    return won


@kernel()
def has_path(rules: Ints, player: int, stones: int) -> bool:
    """Whether a path of stones leads from one of a player's edges to the other."""
    reached, near = 0, rules[FROM + player] & stones
    if stones & rules[TO + player] == 0:
        return False
    while near & ~reached:
        reached = near
        near |= beside(rules, reached) & stones
    return reached & rules[TO + player] != 0


@kernel()
def fewest(rules: Ints, player: int, stones: int, empty: int) -> int:
    """How many of some empty cells a player must add to their stones to reach their goal; too many if they can't."""
    if rules[LINES] == 0:
        return fewest_to_path(rules, player, stones, empty)
    least = rules[CELLS] + 1
    for i in range(rules[LINES]):
        line = rules[GOAL + i]
        if line & ~(stones | empty) == 0:
            least = min(least, size(line & ~stones))
    return least


@kernel()
def fewest_to_path(rules: Ints, player: int, stones: int, empty: int) -> int:
    """The same for paths: a breadth-first search in which only empty cells count."""
    reached, count = 0, 0
    while not reached & rules[TO + player]:
        near = rules[FROM + player] | beside(rules, reached)
        if near & stones & ~reached:
            reached |= near & stones
        elif near & empty & ~reached:
            reached |= near & empty
            count += 1
        else:
            return rules[CELLS] + 1
    return count


@kernel()
def beside(rules: Ints, cells: int) -> int:
    """The neighbours of a set of cells of a board of hexagons, each row half a cell to the right of the one above."""
    columns = rules[COLUMNS]
    no_west, no_east = cells & ~rules[WEST], cells & ~rules[EAST]
    near = cells << columns | cells >> columns | no_east << 1 | no_west >> 1
    return (near | no_west << (columns - 1) | no_east >> (columns - 1)) & board(rules)


@kernel()
def most(rules: Ints, player: int, stones: int, empty: int) -> int:
    """How many of the empty cells a player can add to their stones without reaching their goal; -1 if they have.

    All other cells are their opponent's. Of two paths across a board of hexagons exactly one is there.
    """
    if rules[LINES] == 0:
        others = board(rules) & ~(stones | empty)
        return max(-1, size(empty) - fewest_to_path(rules, 1 - player, others, empty))
    best, added = -1, empty
    while True:
        if size(added) > best and not has_won(rules, player, stones | added):
            best = size(added)
        if added == 0:
            return best
        added = (added - 1) & empty


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the other's tries, unless it is seen that there are none, and what follows from them."""
    other = seat(rules, 1 - player)
    if rules[COUNTED] and world[other + TRIES] == 0:
        return
    for k in range(rules[CELLS]):
        if not rules[COUNTED] or world[other + TRIES + k] != 0:
            world[other + TRIES + k] = UNKNOWN
    world[other + STONES] = UNKNOWN
    world[other + SEEN] = UNKNOWN
    if not rules[OUTCOMES]:
        world[other + FAILED] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first unknown try."""
    for player in range(2):
        tries = seat(rules, player) + TRIES
        for k in range(rules[CELLS]):
            if view[tries + k] == UNKNOWN:
                return tries + k
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """Every cell that the other may have tried next, and END where they may have tried no more; all weigh the same."""
    other = 1 if hole >= seat(rules, 1) else 0
    own, tries = seat(rules, 1 - other), seat(rules, other) + TRIES
    k = hole - tries
    seen, stones = tried(view, tries, k), stones_set(rules, view, other, k)
    ended = k if rules[ABRUPT] else size(stones)
    met = stones_after(rules, view, 1 - other, ended + other)
    all_ended = ended == turns_of(rules, view, other)
    ruled_out = seen | view[own + STONES] & ~met
    if all_ended and view[STATUS] != other:
        ruled_out = board(rules)
    count = 0
    for cell in range(rules[CELLS]):
        fails = met >> cell & 1
        if not ruled_out >> cell & 1 and outcome_fits(rules, view, other, k, fails):
            after = stones if fails else stones | 1 << cell
            if possible(rules, view, other, k + 1, after, seen | 1 << cell):
                values[count] = cell
                count += 1
    if not rules[COUNTED] and all_ended:
        values[count] = rules[CELLS]
        count += 1
    for i in range(count):
        weights[i] = 1.0 / count
    return count


@kernel()
def tried(view: Ints, tries: int, count: int) -> int:
    """The set of the first cells of a list of tries."""
    seen = 0
    for k in range(count):
        seen |= 1 << (view[tries + k] - 1)
    return seen


@kernel()
def stones_set(rules: Ints, view: Ints, other: int, count: int) -> int:
    """The stones that the first tries of the other set: those where the owner had no stone at the time."""
    tries = seat(rules, other) + TRIES
    stones = 0
    for k in range(count):
        ended = k if rules[ABRUPT] else size(stones)
        cell = 1 << (view[tries + k] - 1)
        if not stones_after(rules, view, 1 - other, ended + other) & cell:
            stones |= cell
    return stones


@kernel()
def stones_after(rules: Ints, view: Ints, owner: int, turns: int) -> int:
    """The owner's stones after so many of their turns. A turn ends with a stone; an abrupt one with any try."""
    own = seat(rules, owner)
    stones, k = 0, 0
    while turns > 0 and k < rules[CELLS] and view[own + TRIES + k] != 0:
        cell = 1 << (view[own + TRIES + k] - 1)
        stones |= cell & view[own + STONES]
        if rules[ABRUPT] or view[own + STONES] & cell:
            turns -= 1
        k += 1
    return stones


@kernel()
def turns_of(rules: Ints, view: Ints, other: int) -> int:
    """How many turns the other has ended."""
    own = seat(rules, 1 - other)
    turns = size(view[own + SEEN]) if rules[ABRUPT] else size(view[own + STONES])
    last = view[STATUS] % 2 if view[STATUS] >= WON else 1 - view[STATUS]
    return turns + (last == other) - other


@kernel()
def outcome_fits(rules: Ints, view: Ints, other: int, k: int, fails: int) -> bool:
    """Whether the other's k-th try may fail, or set a stone, as far as the owner sees that."""
    return not rules[OUTCOMES] or view[seat(rules, other) + FAILED] >> k & 1 == fails


@kernel()
def possible(rules: Ints, view: Ints, other: int, made: int, stones: int, seen: int) -> bool:
    """Whether the other can have continued, after the tries that they have made, so that the view comes about."""
    ended = made if rules[ABRUPT] else size(stones)
    left = turns_of(rules, view, other) - ended
    owed = stones_owed(rules, view, other, stones, ended)
    if owed > left:
        return False
    low = high = left - owed
    if rules[ABRUPT]:
        low -= most_failures(rules, view, other, seen, ended + owed)
    elif not failures_fit(rules, view, other, seen, made, left):
        return False
    return stones_fit(rules, view, other, stones, low, high)


@kernel()
def stones_owed(rules: Ints, view: Ints, other: int, stones: int, ended: int) -> int:
    """How many stones that the owner met are still to be set; too many if they can't all be set in time."""
    own = seat(rules, 1 - other)
    count, before = 0, 1 - other
    for k in range(size(view[own + SEEN])):
        cell = 1 << (view[own + TRIES + k] - 1)
        fails = not view[own + STONES] & cell
        if fails and not stones & cell:
            count += 1
            if ended + count > before:
                return rules[CELLS] + 1
        if rules[ABRUPT] or not fails:
            before += 1
    return count


@kernel()
def most_failures(rules: Ints, view: Ints, other: int, seen: int, turn: int) -> int:
    """How many of their abrupt turns from this one on the other can fail in. What ends the game does not fail."""
    turns = turns_of(rules, view, other)
    if view[STATUS] >= WON and view[STATUS] % 2 == other:
        turns -= 1
    count = 0
    for t in range(turn, turns):
        if size(stones_after(rules, view, 1 - other, t + other) & ~seen) > count:
            count += 1
    return count


@kernel()
def failures_fit(rules: Ints, view: Ints, other: int, seen: int, made: int, left: int) -> bool:
    """Whether the other can have failed as often as they must have, in classical turns, if their tries are counted."""
    if not rules[COUNTED]:
        return True
    tries = seat(rules, other) + TRIES
    failures = -made - left
    for k in range(rules[CELLS]):
        failures += view[tries + k] != 0
    turn = turns_of(rules, view, other)
    if view[STATUS] != other:
        if left == 0:
            return failures == 0
        turn -= 1
    return 0 <= failures <= size(stones_after(rules, view, 1 - other, turn + other) & ~seen)


@kernel()
def stones_fit(rules: Ints, view: Ints, other: int, stones: int, low: int, high: int) -> bool:
    """Whether stones on so many cells that the owner has not tried bring the game to where it is."""
    own = seat(rules, 1 - other)
    empty = board(rules) & ~(view[own + SEEN] | stones)
    stones |= view[own + SEEN] & ~view[own + STONES]
    high = min(high, most(rules, other, stones, empty) + (view[STATUS] == WON + other))
    if view[STATUS] == WON + other:
        low = max(low, fewest(rules, other, stones, empty))
    elif view[STATUS] >= DRAWN:
        low = max(low, size(empty))
    elif view[STATUS] < WON:
        high = min(high, size(empty) - 1)
    return low <= high


@rule
def fill(rules: Ints, view: Ints, hole: int, value: int) -> None:
    """After the last try of a list, what follows from it is set."""
    other = 1 if hole >= seat(rules, 1) else 0
    start, end = seat(rules, other), seat(rules, other + 1)
    if value < rules[CELLS]:
        view[hole] = value + 1
        hole += 1
    else:
        for i in range(hole, end):
            view[i] = 0
    if hole < end and view[hole] == UNKNOWN:
        return
    count = hole - start - TRIES
    stones, failed = stones_set(rules, view, other, count), 0
    for k in range(count):
        if not stones >> (view[start + TRIES + k] - 1) & 1:
            failed |= 1 << k
    view[start + FAILED] = failed
    view[start + STONES] = stones
    view[start + SEEN] = tried(view, start + TRIES, count)


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, who moves, and of the player and then the other the tries, and the sets as bits."""
    at = one_hot(out, 0, player, 2)
    at = one_hot(out, at, world[STATUS], DRAWN + 2)
    for p in range(2):
        start = seat(rules, player if p == 0 else 1 - player)
        for k in range(rules[CELLS]):
            at = one_hot(out, at, world[start + TRIES + k], rules[CELLS] + 1)
        for part in range(TRIES):
            for k in range(rules[CELLS]):
                out[at] = world[start + part] >> k & 1 if world[start + part] != UNKNOWN else 0
                at += 1


def build_game(
    name: str,
    spec: str,
    parameters: Mapping[str, Any],
    *,
    names: Sequence[str],
    abrupt: bool,
    counted: bool,
    outcomes: bool,
    lines: Sequence[int] = (),
    paths: Sequence[int] = (),
    memory: Literal["perfect", "sufficient"] = "perfect",
) -> Game:
    """A game of hidden moves on cells with these names; `rules` says what the other arguments mean."""
    cells = len(names)
    starts = [1 + p * (TRIES + cells) for p in range(2)]

    def tries(world: Ints, player: int) -> list[int]:
        start = starts[player] + TRIES
        return [int(v) - 1 if v > 0 else UNKNOWN for v in world[start : start + cells] if v != 0]

    def failed(world: Ints, player: int, k: int) -> bool:
        bits = int(world[starts[player] + FAILED])
        return bits != UNKNOWN and bool(bits >> k & 1)

    def replay(world: Ints) -> list[int]:
        left = [list(enumerate(tries(world, p))) for p in range(2)]
        played, player = [], 0
        while left[player]:
            k, cell = left[player].pop(0)
            played.append(cell)
            if abrupt or not failed(world, player, k):
                player = 1 - player
        return played

    def title(view: Ints) -> str:
        def listed_tries(player: int) -> str:
            words = ["?" if c == UNKNOWN else names[c] for c in tries(view, player)]
            return " ".join(w + "!" * failed(view, player, k) for k, w in enumerate(words)) or "-"

        return f"{listed_tries(0)} | {listed_tries(1)}"

    def fields(player: int) -> tuple[Field, ...]:
        places = tuple(f"try {k + 1} of player {player}" for k in range(cells))
        return (
            Field(f"failed{player}", tuple(map(str, range(1, cells + 1))), bits=True),
            Field(f"stones{player}", tuple(names), bits=True),
            Field(f"seen{player}", tuple(names), bits=True),
            Field(f"tries{player}", ("-", *names), length=cells, names=("none", *names), places=places),
        )

    return Game(
        name=name,
        parameters=parameters,
        spec=spec,
        version=1,
        players=2,
        rules=np.array([cells, abrupt, counted, outcomes, len(lines), *lines, *paths], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout((Field("status", ("0", "1", "won0", "won1", "drawn0", "drawn1")), *fields(0), *fields(1))),
        num_actions=cells,
        num_outcomes=0,
        num_values=cells if counted else cells + 1,
        max_depth=2 * cells - 1,
        min_return=-1.0,
        max_return=1.0,
        feature_shape=(DRAWN + 6 + 2 * cells * (cells + 2 + TRIES),),
        action_name=names.__getitem__,
        memory=memory,
        weights="equal",
        by_cells=memory == "perfect" and not outcomes,
        replay=replay,
        pick=pick,
        title=title,
    )
