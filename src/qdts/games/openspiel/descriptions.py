"""How OpenSpiel describes information states to networks: by tensors, most of whose numbers are 0."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

from qdts.games.openspiel.table_game import Tensors
from qdts.kernels import Ints


class Descriptions:
    """The tensors of a game's information states, in the order in which they are met."""

    def __init__(self, theirs: Any) -> None:
        from pyspiel import State

        kind = theirs.get_type()
        self._of: Callable[[Any, int], list[float]] | None = None
        if kind.provides_information_state_tensor:
            self._of, self.width = State.information_state_tensor, theirs.information_state_tensor_size()
        elif kind.provides_observation_tensor:
            self._of, self.width = State.observation_tensor, theirs.observation_tensor_size()
        else:
            self.width = 0
        self.count = 0
        self._positions = range(self.width)
        self._ends, self._columns, self._numbers = array("q", [0]), array("q"), array("d")

    def add(self, state: Any, player: int) -> None:
        """Note down what describes a player's information state."""
        self.count += 1
        if self._of is not None:
            tensor = self._of(state, player)
            self._columns.extend(itertools.compress(self._positions, tensor))
            self._numbers.extend(filter(None, tensor))
        self._ends.append(len(self._columns))

    def tensors(self, of: list[Ints]) -> Tensors:
        """All of them, each number in units of the largest at its position if that is above 1; `of` says whose."""
        ends, columns, numbers = (np.array(x) for x in (self._ends, self._columns, self._numbers))
        largest = np.ones(self.width)
        np.maximum.at(largest, columns, np.abs(numbers))
        return Tensors(self.width, ends, columns, numbers / largest[columns], tuple(of))
