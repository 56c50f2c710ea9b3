"""Pig for two and more players, as OpenSpiel's `pig`.

In their turn a player rolls a die as often as they like. A one ends the turn, and they get nothing for it; any other
roll is added to the turn's total, which they get when they stop. The first to have the winning score wins. A player
who would have it by stopping can't roll. In `piglet` any roll but a one counts one. After `horizon` actions of the
players without a winner the game is drawn. Nothing is hidden: a view is the position, which includes how many
actions were made, since the horizon depends on it.

    component       holds
    STAGE           2 p where player p is to move, 2 p + 1 where chance rolls for them, 2 n when the game is over
    TOTAL           the turn's total
    MOVES           how many actions the players have made
    SCORES + p      player p's score
"""

from __future__ import annotations

import numpy as np

from qdts.games.defaults import at_least, one_hot
from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.layout import Field, Layout
from qdts.games.rule import CHANCE, TERMINAL, compile_rules, rule
from qdts.kernels import Ints, Reals, Reals32, kernel
from qdts.rng import fraction, one_of

ROLL, STOP = 0, 1
STAGE, TOTAL, MOVES, SCORES = 0, 1, 2, 3
PLAYERS, HORIZON, WIN, SIDES, PIGLET, BOUND = 0, 1, 2, 3, 4, 5  # what `rules` holds; scores are below BOUND


@rule
def initial(rules: Ints, world: Ints) -> None:
    """Nobody has anything."""
    for i in range(SCORES + rules[PLAYERS]):
        world[i] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """As `step` left it."""
    stage = world[STAGE]
    if stage == 2 * rules[PLAYERS]:
        return TERMINAL
    return CHANCE if stage & 1 else stage >> 1


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Roll or stop; a player who wins by stopping must stop."""
    if world[SCORES + (world[STAGE] >> 1)] + world[TOTAL] >= rules[WIN]:
        actions[0] = STOP
        return 1
    actions[0] = ROLL
    actions[1] = STOP
    return 2


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """A fair die, of which piglet sees only whether it is a one."""
    count = 2 if rules[PIGLET] else rules[SIDES]
    for i in range(count):
        outcomes[i] = i
        probabilities[i] = 1.0 / rules[SIDES]
    if rules[PIGLET]:
        probabilities[1] = 1.0 - probabilities[0]
    return count


@kernel(inline=True)
def pick(rules: Ints, world: Ints, bits: np.uint64) -> int:
    """A roll of the die, or to roll or to stop."""
    if world[STAGE] & 1:
        return int(fraction(bits) >= 1.0 / rules[SIDES]) if rules[PIGLET] else one_of(rules[SIDES], bits)
    must = world[SCORES + (world[STAGE] >> 1)] + world[TOTAL] >= rules[WIN]
    return STOP if must else one_of(2, bits)


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Choose to roll, roll, or stop."""
    if world[STAGE] & 1:
        rolled(rules, world, action)
    else:
        chosen(rules, world, action)


@kernel()
def rolled(rules: Ints, world: Ints, outcome: int) -> None:
    """Add what the die shows to the turn's total; a one ends the turn."""
    gain = 1 if rules[PIGLET] else outcome + 1
    world[TOTAL] = world[TOTAL] + gain if outcome != 0 else 0
    world[STAGE] = world[STAGE] - 1 if outcome != 0 else next_turn(rules, world)


@kernel()
def chosen(rules: Ints, world: Ints, action: int) -> None:
    """Let the die be rolled, or keep the turn's total and pass the turn."""
    player = world[STAGE] >> 1
    score = world[SCORES + player] + (world[TOTAL] if action == STOP else 0)
    moves = world[MOVES] + 1
    stage = next_turn(rules, world) if action == STOP else world[STAGE] + 1
    over = (score >= rules[WIN]) | (moves == rules[HORIZON])
    world[TOTAL] = 0 if action == STOP else world[TOTAL]
    world[MOVES] = moves
    world[SCORES + player] = score
    world[STAGE] = 2 * rules[PLAYERS] if over else stage


@kernel()
def next_turn(rules: Ints, world: Ints) -> int:
    """The stage at which the next player begins their turn."""
    stage = (world[STAGE] | 1) + 1
    return stage if stage < 2 * rules[PLAYERS] else 0


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """The winner gets one, which the others pay."""
    n = rules[PLAYERS]
    winner = n
    for p in range(n):
        if world[SCORES + p] >= rules[WIN]:
            winner = p
    for p in range(n):
        utilities[p] = 0.0 if winner == n else 1.0 if p == winner else -1.0 / (n - 1)


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose turn it is, the turn's total, the scores, and how much of the horizon has passed; own seat first."""
    n = rules[PLAYERS]
    over = world[STAGE] == 2 * n
    at = one_hot(out, 0, 2 * n if over else (world[STAGE] - 2 * player + 2 * n) % (2 * n), 2 * n + 1)
    at = at_least(out, at, world[TOTAL], rules[BOUND] - 1)
    for p in range(n):
        at = at_least(out, at, world[SCORES + (player + p) % n], rules[BOUND] - 1)
    out[at] = world[MOVES] / rules[HORIZON]


def build(spec: str, players: int, horizon: int, winscore: int, diceoutcomes: int, piglet: bool) -> Game:
    """The game for a number of players."""
    bound = winscore + (1 if piglet else diceoutcomes)
    stages = [stage for p in range(players) for stage in (str(p), f"roll{p}")]
    return Game(
        name="pig",
        parameters={
            "players": players,
            "horizon": horizon,
            "winscore": winscore,
            "diceoutcomes": diceoutcomes,
            "piglet": piglet,
        },
        spec=spec,
        version=2,
        players=players,
        rules=np.array([players, horizon, winscore, diceoutcomes, piglet, bound], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("stage", (*stages, "over")),
                Field("total", tuple(map(str, range(bound)))),
                Field("moves"),
                Field("scores", tuple(map(str, range(bound))), length=players),
            )
        ),
        num_actions=2,
        num_outcomes=diceoutcomes,
        num_values=0,
        max_depth=2 * horizon - 1,
        min_return=-1.0,
        max_return=1.0,
        feature_shape=(2 * players + 2 + (players + 1) * (bound - 1) + 1,),
        action_name=("roll", "stop").__getitem__,
        outcome_name=lambda side: f"roll {side if piglet else side + 1}",
        hidden=False,
        pick=pick,
    )


FAMILY = Family(
    name="pig",
    summary="Pig: roll for more or stop with what you have; nothing hidden",
    parameters=(
        Parameter("players", 2, "how many play", low=2, high=10),
        Parameter("horizon", 1000, "after how many actions the game is drawn", low=1, high=1_000_000),
        Parameter("winscore", 100, "the score that wins", low=1, high=1_000),
        Parameter("diceoutcomes", 6, "how many sides the die has", low=2, high=100),
        Parameter("piglet", False, "count any roll but a one as one"),
    ),
    build=build,
    examples=(
        "pig(horizon=10,winscore=5,diceoutcomes=3)",
        "pig(horizon=12,winscore=3,diceoutcomes=4,piglet=true)",
        "pig(players=3,horizon=9,winscore=4,diceoutcomes=3)",
    ),
)
