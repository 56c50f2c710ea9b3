"""The models: one of P, V and V_c, and one of H, each a stack of linear layers over a game's features.

`qdts.nets.rows` says what their inputs and outputs are.
"""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.nets.rows import shape_of


class Mlp(nn.Module):
    """Linear layers with max(0, x) after all but the last."""

    def __init__(self, inputs: int, width: int, layers: int, outputs: int) -> None:
        super().__init__()
        if width < 1 or layers < 1:
            raise InputError(f"a network of {layers} layers of {width} units is none, expected at least 1 of each")
        sizes = [inputs, *[width] * layers]
        steps: list[nn.Module] = []
        for a, b in pairwise(sizes):
            steps += [nn.Linear(a, b), nn.ReLU()]
        self.layers = nn.Sequential(*steps, nn.Linear(width, outputs))

    def forward(self, rows: Tensor) -> Tensor:
        """Outputs of each row."""
        out: Tensor = self.layers(rows)
        return out


class PolicyValue(Mlp):
    """P, V and V_c of a game, for every kind of node; all heads are columns of one last layer."""

    def __init__(self, game: Game, *, width: int = 128, layers: int = 2, child_values: bool = True) -> None:
        shape = shape_of(game, child_values=child_values)
        super().__init__(shape.inputs, width, layers, shape.outputs)
        self.spec = game.spec
        self.shape = shape


class Belief(Mlp):
    """H of a game: a logit for each value of the hole that is filled next."""

    def __init__(self, game: Game, *, width: int = 128, layers: int = 2) -> None:
        shape = shape_of(game)
        super().__init__(shape.belief_inputs, width, layers, max(1, shape.values))
        self.spec = game.spec
