"""The bodies of the models, each from one flat row to one flat row of outputs.

    mlp     linear layers
    conv    3×3 convolutions over the board that a game's features are, then two linear layers

What a row holds beyond the features (the kind of node and the pending action, or the hole) has no place on the board:
`conv` adds a linear function of it to every cell of its first convolution, which is what constant planes would do, at
the cost of one cell.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from qdts.errors import InputError, unknown
from qdts.games.game import Game

TRUNKS = ("auto", "conv", "mlp")
CALM = 0.1
"""A new model's last layer is so many times what torch draws, without a bias: P is nearly even, and V nearly 0."""


class Mlp(nn.Module):
    """Linear layers with max(0, x) after all but the last."""

    def __init__(self, inputs: int, width: int, layers: int, outputs: int) -> None:
        super().__init__()
        steps: list[nn.Module] = []
        for a, b in pairwise([inputs, *[width] * layers]):
            steps += [nn.Linear(a, b), nn.ReLU(inplace=True)]
        self.layers = nn.Sequential(*steps, _last(width, outputs))

    def forward(self, rows: Tensor) -> Tensor:
        """Outputs of each row."""
        out: Tensor = self.layers(rows)
        return out


class Conv(nn.Module):
    """Convolutions with max(0, x) after each, all but the first around a skip; then one linear layer of all cells.

    Nothing is normalised over a batch, so that a row's outputs do not depend on its company.
    """

    def __init__(self, board: tuple[int, int, int], inputs: int, width: int, layers: int, outputs: int) -> None:
        super().__init__()
        planes, height, columns = board
        self.board = board
        self.cells = planes * height * columns
        self.first = nn.Conv2d(planes, width, 3, padding=1)
        self.beside = nn.Linear(inputs - self.cells, width, bias=False) if inputs > self.cells else None
        self.tower = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(layers - 1))
        self.whole = nn.Linear(width * height * columns, width)
        self.last = _last(width, outputs)
        for layer in (self.first, *self.tower, self.whole):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")  # learns sooner
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # which is faster, on CPUs too

    def forward(self, rows: Tensor) -> Tensor:
        """Outputs of each row."""
        planes = rows[:, : self.cells].reshape(-1, *self.board)
        x = self.first(planes.contiguous(memory_format=torch.channels_last))
        if self.beside is not None:
            x = x + self.beside(rows[:, self.cells :])[:, :, None, None]
        x = torch.relu(x)
        for layer in self.tower:
            x = torch.relu(x + layer(x))
        out: Tensor = self.last(torch.relu(self.whole(x.flatten(1))))
        return out


class Towers(nn.Module):
    """Two bodies over the same rows, the outputs of one after those of the other.

    What one learns can't disturb the other: the noise in the targets of V is large beside what P still has to learn.
    """

    def __init__(self, policy: nn.Module, value: nn.Module) -> None:
        super().__init__()
        self.policy = policy
        self.value = value

    def forward(self, rows: Tensor) -> Tensor:
        """Outputs of each row."""
        return torch.cat([self.policy(rows), self.value(rows)], 1)


def trunk_of(game: Game, trunk: str) -> str:
    """`conv` or `mlp`, as asked for, or by `auto` as the game has a board or not."""
    if trunk not in TRUNKS:
        raise unknown("trunk", trunk, TRUNKS)
    on_board = len(game.feature_shape) == 3
    if trunk == "conv" and not on_board:
        raise InputError(
            f"trunk 'conv' needs features with three axes (planes, height, width), but those of {game.spec} have the "
            f"shape {game.feature_shape}; expected 'mlp' or 'auto'"
        )
    if trunk == "auto":
        return "conv" if on_board else "mlp"
    return trunk


def make_trunk(game: Game, trunk: str, inputs: int, width: int, layers: int, outputs: int) -> nn.Module:
    """A trunk by its name, `conv` or `mlp`."""
    if width < 1 or layers < 1:
        raise InputError(f"a network of {layers} layers of {width} units is none, expected at least 1 of each")
    if trunk == "mlp":
        return Mlp(inputs, width, layers, outputs)
    planes, height, columns = game.feature_shape
    return Conv((planes, height, columns), inputs, width, layers, outputs)


def _last(inputs: int, outputs: int) -> nn.Linear:
    """A last layer that says little."""
    layer = nn.Linear(inputs, outputs)
    with torch.no_grad():
        layer.weight.mul_(CALM)
        layer.bias.zero_()
    return layer
