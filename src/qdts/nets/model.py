"""The models: one of P, V and V_c, and one of H, each a trunk over a game's features.

`qdts.nets.encoding` defines their inputs and outputs, `qdts.nets.trunk` what lies between.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from qdts.errors import InputError, unknown
from qdts.games.game import Game
from qdts.nets.encoding import Shape, shape_of
from qdts.nets.trunk import TRUNKS, Towers, make_trunk, trunk_of


class Size(NamedTuple):
    """How large the models of a game are."""

    width: int = 128
    """Units of a layer, or channels of a convolution."""
    layers: int = 2
    """Hidden layers, or convolutions."""
    trunk: str = "auto"
    towers: int = 2
    """2: P has a trunk of its own; 1: P and V share one."""
    child_values: bool = True
    """Whether there is V_c."""


class Model(nn.Module):
    """A trunk for one game."""

    def __init__(self, game: Game, shape: Shape, trunk: str) -> None:
        super().__init__()
        self.spec = game.spec
        self.shape = shape
        self.trunk = trunk_of(game, trunk)
        """A name in TRUNKS."""
        self.body: nn.Module

    def forward(self, rows: Tensor) -> Tensor:
        """Outputs of each row."""
        out: Tensor = self.body(rows)
        return out


class PolicyValue(Model):
    """P, V and V_c of a game, for every kind of node; all heads are columns of one last layer.

    A new model says little: P is nearly uniform, and every value nearly the middle of returns. With two towers P has a
    trunk of its own.
    """

    def __init__(
        self, game: Game, *, width: int = 128, layers: int = 2, child_values: bool = True, trunk: str = "auto",
        towers: int = 1,
    ) -> None:  # fmt: skip
        shape = shape_of(game, child_values=child_values)
        super().__init__(game, shape, trunk)
        if towers not in (1, 2):
            raise InputError(f"towers={towers} is not possible for a network, expected 1 or 2")
        outputs = [shape.outputs] if towers == 1 else [shape.actions, shape.outputs - shape.actions]
        bodies = [make_trunk(game, self.trunk, shape.inputs, width, layers, out) for out in outputs]
        self.body = bodies[0] if towers == 1 else Towers(*bodies)

    def heads(self, rows: Tensor, first: int) -> tuple[Tensor, Tensor]:
        """Logits of P of the `first` rows, and V with V_c of the others; each tower sees only the rows it is for."""
        if isinstance(self.body, Towers):
            return self.body.policy(rows[:first]), self.body.value(rows[first:])
        out = self(rows)
        return out[:first, : self.shape.actions], out[first:, self.shape.actions :]


class Belief(Model):
    """H of a game: a logit for each value of the next hole. A new model gives nearly the rules' weights."""

    def __init__(self, game: Game, *, width: int = 128, layers: int = 2, trunk: str = "auto") -> None:
        shape = shape_of(game)
        super().__init__(game, shape, trunk)
        self.body = make_trunk(game, self.trunk, shape.belief_inputs, width, layers, max(1, shape.values))


def make_models(
    game: Game, *, width: int, layers: int, trunk: str, towers: int, child_values: bool = True, seed: int = 0,
    device: str = "cpu",
) -> tuple[PolicyValue, Belief]:  # fmt: skip
    """Both models of a game, their weights initialised from the seed.

    A width, layers or towers of 0 follow from the game: P has a tower of its own where something is hidden.
    """
    usual = TRUNKS[trunk_of(game, trunk)].size(game)
    width, layers, towers = width or usual[0], layers or usual[1], towers or (2 if game.hidden else 1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = PolicyValue(game, width=width, layers=layers, child_values=child_values, trunk=trunk, towers=towers)
        belief = Belief(game, width=width, layers=layers, trunk=trunk)
    return placed(model, device), placed(belief, device)


DEVICES = ("cpu", "cuda")
AnyModel = TypeVar("AnyModel", bound=Model)


def placed(model: AnyModel, device: str) -> AnyModel:
    """The model, moved to a device unless it is there."""
    where = find_device(device)
    return model if next(model.parameters()).device.type == where.type else model.to(where)


def find_device(name: str) -> torch.device:
    """The device of a name; an InputError where it does not exist."""
    if name not in DEVICES:
        raise unknown("device", name, DEVICES)
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("the device cuda is not there: torch finds no CUDA on this machine, expected cpu")
    return torch.device(name)
