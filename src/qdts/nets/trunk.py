"""Trunks: the bodies of the models, each from one flat row of inputs to one flat row of outputs.

    mlp     linear layers
    conv    3×3 convolutions over the board that a game's features are; then all cells, by a hidden layer and directly

Inputs beyond the features (the kind of node and the pending action, or the hole) have no place on the board: `conv`
adds a linear function of them to every cell of its first convolution. That is what constant planes would do, at the
cost of one cell. A new trunk is a class with the methods of `Mlp` and an entry of TRUNKS.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from qdts.errors import InputError, unknown
from qdts.games.game import Game
from qdts.kernels import Ints, Reals32

HIDDEN = 128
"""Units of the hidden layer above convolutions."""
CALM = 0.1
"""A new model's last layer is torch's initialisation times this, without a bias: P is nearly uniform, V nearly 0."""


class Mlp(nn.Module):
    """Linear layers with max(0, x) after all but the last."""

    needs = "any features"

    @staticmethod
    def fits(game: Game) -> bool:  # noqa: ARG004
        """Whether the trunk can read the features of a game."""
        return True

    @staticmethod
    def size(game: Game) -> tuple[int, int]:  # noqa: ARG004
        """Units and layers by default."""
        return 128, 2

    def __init__(self, game: Game, inputs: int, width: int, layers: int, outputs: int) -> None:  # noqa: ARG002
        super().__init__()
        steps: list[nn.Module] = []
        for a, b in pairwise([inputs, *[width] * layers]):
            steps += [nn.Linear(a, b), nn.ReLU(inplace=True)]
        self.layers = nn.Sequential(*steps, _last(width, outputs))

    def forward(self, rows: Tensor) -> Tensor:
        """Outputs of each row."""
        out: Tensor = self.layers(rows)
        return out

    @property
    def sizes(self) -> Ints:
        """Inputs, the units of each hidden layer, outputs."""
        linear = [layer for layer in self.layers if isinstance(layer, nn.Linear)]
        return np.array([linear[0].in_features, *(layer.out_features for layer in linear)])


class Conv(nn.Module):
    """Convolutions with max(0, x) after each, all but the first around a skip; the outputs see all of their cells.

    An output is a linear function of the cells, which is much of what P needs, plus one of a hidden layer above them,
    whose units P and V share. Nothing is normalised over a batch, so that a row's outputs do not depend on other rows.
    """

    needs = "features with three axes (planes, height, width)"

    @staticmethod
    def fits(game: Game) -> bool:
        """Whether the features of a game are a board."""
        return len(game.feature_shape) == 3

    @staticmethod
    def size(game: Game) -> tuple[int, int]:
        """32 channels, and as many convolutions as let the cell in the middle see the whole board."""
        return 32, 1 + max(game.feature_shape[1:]) // 2

    def __init__(self, game: Game, inputs: int, width: int, layers: int, outputs: int) -> None:
        super().__init__()
        planes, height, columns = self.board = game.feature_shape
        self.cells = planes * height * columns
        self.first = nn.Conv2d(planes, width, 3, padding=1)
        self.beside = nn.Linear(inputs - self.cells, width, bias=False) if inputs > self.cells else None
        self.tower = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(layers - 1))
        self.whole = nn.Linear(width * height * columns, HIDDEN)
        self.last = _last(HIDDEN, outputs)
        self.direct = _last(width * height * columns, outputs, bias=False)
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
        cells = x.flatten(1)
        out: Tensor = self.last(torch.relu(self.whole(cells))) + self.direct(cells)
        return out


class Towers(nn.Module):
    """Two trunks over the same rows; the outputs of the policy's come first.

    Neither disturbs what the other learns: the noise in the targets of V is large compared with what P has to learn.
    """

    def __init__(self, policy: nn.Module, value: nn.Module) -> None:
        super().__init__()
        self.policy = policy
        self.value = value

    def forward(self, rows: Tensor) -> Tensor:
        """Outputs of each row."""
        return torch.cat([self.policy(rows), self.value(rows)], 1)


TRUNKS: Mapping[str, type[Mlp] | type[Conv]] = {"conv": Conv, "mlp": Mlp}
"""The trunks by name; `auto` takes the first that fits a game."""


def trunk_of(game: Game, trunk: str) -> str:
    """The name of the trunk for a game: the one that is given, or for `auto` the first that fits."""
    if trunk == "auto":
        return next(name for name, kind in TRUNKS.items() if kind.fits(game))
    if trunk not in TRUNKS:
        raise unknown("trunk", trunk, ("auto", *TRUNKS))
    if not TRUNKS[trunk].fits(game):
        others = " or ".join(f"'{name}'" for name in (*(n for n, kind in TRUNKS.items() if kind.fits(game)), "auto"))
        raise InputError(
            f"trunk '{trunk}' needs {TRUNKS[trunk].needs}, but those of {game.spec} have the "
            f"shape {game.feature_shape}; expected {others}"
        )
    return trunk


def make_trunk(game: Game, trunk: str, inputs: int, width: int, layers: int, outputs: int) -> nn.Module:
    """A new trunk by its name in TRUNKS."""
    if width < 1 or layers < 1:
        raise InputError(f"a network of {layers} layers of {width} units is none, expected at least 1 of each")
    return TRUNKS[trunk](game, inputs, width, layers, outputs)


def flat(tensors: Iterable[Tensor]) -> Reals32:
    """The numbers of all tensors, in order, in an array of their own."""
    numbers: Reals32 = torch.cat([x.detach().reshape(-1) for x in tensors]).numpy()
    return numbers


def _last(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """A last layer with outputs near 0."""
    layer = nn.Linear(inputs, outputs, bias=bias)
    with torch.no_grad():
        layer.weight.mul_(CALM)
        if bias:
            layer.bias.zero_()
    return layer
