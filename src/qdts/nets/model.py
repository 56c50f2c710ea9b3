"""The models: one of P, V and V_c, and one of H, each a trunk over a game's features.

`qdts.nets.rows` says what their inputs and outputs are, `qdts.nets.trunk` what lies between.
"""

from __future__ import annotations

from torch import Tensor, nn

from qdts.games.game import Game
from qdts.nets.rows import Shape, shape_of
from qdts.nets.trunk import make_trunk, trunk_of


class Model(nn.Module):
    """A trunk for one game."""

    def __init__(self, game: Game, shape: Shape, trunk: str, inputs: int, width: int, layers: int, out: int) -> None:
        super().__init__()
        self.spec = game.spec
        self.shape = shape
        self.trunk = trunk_of(game, trunk)
        """`conv` or `mlp`."""
        self.body = make_trunk(game, self.trunk, inputs, width, layers, out)

    def forward(self, rows: Tensor) -> Tensor:
        """Outputs of each row."""
        out: Tensor = self.body(rows)
        return out


class PolicyValue(Model):
    """P, V and V_c of a game, for every kind of node; all heads are columns of one last layer.

    A new one says little: P is nearly even, and every value nearly the middle of returns.
    """

    def __init__(
        self, game: Game, *, width: int = 128, layers: int = 2, child_values: bool = True, trunk: str = "auto"
    ) -> None:
        shape = shape_of(game, child_values=child_values)
        super().__init__(game, shape, trunk, shape.inputs, width, layers, shape.outputs)


class Belief(Model):
    """H of a game: a logit for each value of the hole that is filled next. A new one is nearly the rules' weights."""

    def __init__(self, game: Game, *, width: int = 128, layers: int = 2, trunk: str = "auto") -> None:
        shape = shape_of(game)
        super().__init__(game, shape, trunk, shape.belief_inputs, width, layers, max(1, shape.values))
