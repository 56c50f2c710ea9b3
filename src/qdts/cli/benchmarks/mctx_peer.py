"""mctx's policies on connect four, for `qdts bench search --network`.

A position is two sets of cells from the point of view of the player to move, each a number of 64 bits in two words of
32: a column has seven bits, of which the highest stays empty, so that no line runs from one column into the next.
The rules and the network are those of our side; both are compiled together with the search, by jax.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.kernels import Ints, Reals32

POLICIES = {"mctx MuZero": "muzero_policy", "mctx Gumbel": "gumbel_muzero_policy"}
"""What we call a policy, and what mctx does."""
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
ROWS, COLUMNS, HIGH = 6, 7, 7
NEVER = -1e9
"""The logit of a column that is full."""


class Board(NamedTuple):
    """Positions as jax's arrays."""

    own: Any  # uint32[N, 2] the cells of the player to move
    other: Any  # uint32[N, 2]
    first: Any  # bool[N] whether player 0 is to move
    over: Any  # bool[N]


def _words(bits: list[int]) -> Any:
    """Sets of one cell, two words each."""
    sets = [1 << bit for bit in bits]
    return np.array([[s & 0xFFFFFFFF, s >> 32] for s in sets], np.uint32)


CELLS = _words([HIGH * column + row for row in range(ROWS - 1, -1, -1) for column in range(COLUMNS)])
"""One set for each cell, in the order of features."""
BOTTOM = _words([HIGH * column for column in range(COLUMNS)])
TOP = _words([HIGH * column + ROWS - 1 for column in range(COLUMNS)])


def boards(game: Game, worlds: list[Ints]) -> Board:
    """Our positions as jax's arrays."""
    import jax.numpy as jnp

    assert game.spec == "connect_four"

    def words(cells: int) -> list[int]:
        wide = sum(1 << HIGH * c + r for c in range(COLUMNS) for r in range(ROWS) if cells >> ROWS * c + r & 1)
        return [wide & 0xFFFFFFFF, wide >> 32]

    movers = [game.mover(world) for world in worlds]
    return Board(
        own=jnp.array([words(int(w[max(m, 0)])) for w, m in zip(worlds, movers, strict=True)], jnp.uint32),
        other=jnp.array([words(int(w[1 - max(m, 0)])) for w, m in zip(worlds, movers, strict=True)], jnp.uint32),
        first=jnp.array([m == 0 for m in movers]),
        over=jnp.array([m < 0 for m in movers]),
    )


def full(board: Board) -> Any:
    """Which columns are full. bool[N, 7]"""
    return meets(board.own | board.other, TOP)


def meets(cells: Any, others: Any) -> Any:
    """Which of some sets each of many sets of cells has a cell in common with. bool[N, the others]"""
    return (cells[:, :1] & others[:, 0] | cells[:, 1:] & others[:, 1]) != 0


def has_line(cells: Any) -> Any:
    """Whether sets of cells hold four in a line. bool[N]"""
    import jax.numpy as jnp

    def shifted(words: Any, by: int) -> Any:
        return jnp.stack([words[:, 0] >> by | words[:, 1] << 32 - by, words[:, 1] >> by], 1)

    line = False
    for step in (1, HIGH - 1, HIGH, HIGH + 1):
        pairs = cells & shifted(cells, step)
        fours = pairs & shifted(pairs, 2 * step)
        line = line | ((fours[:, 0] | fours[:, 1]) != 0)
    return line


def step(board: Board, action: Any) -> tuple[Board, Any]:
    """The positions after the movers' actions, and what they get for them; where it was over it stays as it is."""
    import jax.numpy as jnp

    taken, bottom = board.own | board.other, jnp.asarray(BOTTOM)[action]
    low = taken[:, 0] + bottom[:, 0]  # one more than a column, read as a number, is its lowest free cell
    carry = (low < taken[:, 0]).astype(jnp.uint32)
    stone = jnp.stack([low, taken[:, 1] + bottom[:, 1] + carry], 1) & ~taken
    own = board.own | stone
    won = has_line(own) & ~board.over
    is_over = board.over[:, None]
    after = Board(
        own=jnp.where(is_over, board.own, board.other),
        other=jnp.where(is_over, board.other, own),
        first=~board.first,
        over=board.over | won,
    )
    return after._replace(over=after.over | full(after).all(-1)), won.astype(jnp.float32)


def features(board: Board) -> Any:
    """The same as our game's. float32[N, 126]"""
    import jax.numpy as jnp

    planes = [meets(board.own, CELLS), meets(board.other, CELLS)]
    first = jnp.broadcast_to(board.first[:, None], planes[0].shape)
    return jnp.concatenate([*planes, first], 1).astype(jnp.float32)


def evaluate(layers: list[tuple[Any, Any]], board: Board) -> tuple[Any, Any]:
    """Logits of P with full columns left out, and V of the player to move."""
    import jax
    import jax.numpy as jnp

    rows = features(board)
    for weight, bias in layers[:-1]:
        rows = jax.nn.relu(rows @ weight + bias)
    out = rows @ layers[-1][0] + layers[-1][1]
    return jnp.where(full(board), NEVER, out[:, :COLUMNS]), jnp.clip(out[:, COLUMNS], -1.0, 1.0)


def make_search(
    policy: str, game: Game, worlds: list[Ints], layers: list[tuple[Reals32, Reals32]], simulations: int
) -> Callable[[int], Any]:
    """A search from all positions at once by one of POLICIES, given a seed; it returns the distribution of each."""
    os.environ.setdefault("XLA_FLAGS", ONE_THREAD)
    import jax
    import jax.numpy as jnp
    import mctx

    def recurrent(layers: Any, _key: Any, action: Any, board: Board) -> tuple[Any, Board]:
        after, reward = step(board, action)
        logits, value = evaluate(layers, after)
        output = mctx.RecurrentFnOutput(
            reward=reward,
            discount=jnp.where(after.over, 0.0, -1.0).astype(jnp.float32),
            prior_logits=logits,
            value=jnp.where(after.over, 0.0, value),
        )
        return output, after

    def search(layers: Any, key: Any, board: Board) -> Any:
        logits, value = evaluate(layers, board)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=board)
        output = getattr(mctx, POLICIES[policy])(
            params=layers, rng_key=key, root=root, recurrent_fn=recurrent, num_simulations=simulations,
            invalid_actions=full(board),
        )  # fmt: skip
        return output.action_weights

    compiled = jax.jit(search)
    start, parameters = boards(game, worlds), [(jnp.asarray(w), jnp.asarray(b)) for w, b in layers]
    return lambda seed: compiled(parameters, jax.random.PRNGKey(seed), start).block_until_ready()
