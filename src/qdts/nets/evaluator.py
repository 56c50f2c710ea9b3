"""An evaluator that asks networks, many queries at once.

A network sees pieces of exactly `batch` rows, the last one padded, so that the shape of what is multiplied, and with it
every bit of an answer, is the same however many ask and whoever they are. Features, masks and distributions are the
work of compiled code; between it and the network lie two arrays.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Reals32
from qdts.nets.cache import look_up, make_cache, remember
from qdts.nets.model import Belief, PolicyValue, placed
from qdts.nets.rows import decode, encode
from qdts.rng import State
from qdts.search.evaluation.batches import as_queries, empty_evaluations
from qdts.search.evaluation.evaluator import Evaluation, Evaluations, Queries, Query


class Network:
    """P, V and V_c of one model, and H of another; without one of H, the weights of the rules.

    `device` is torch's name of where the models are and run. `cache` is the number of answers to remember: a model must
    not be changed while it is not 0, or `forget` be called afterwards.
    """

    def __init__(
        self, game: Game, model: PolicyValue, belief: Belief | None = None, *,
        batch: int = 256, cache: int = 0, device: str = "cpu",
    ) -> None:  # fmt: skip
        if batch < 1:
            raise InputError(f"batch={batch} is not possible for a network, expected at least 1")
        for given in (model, belief):
            if given is not None and given.spec != game.spec:
                raise InputError(f"the network is for {given.spec}, expected one for {game.spec}")
        self.game = game
        self.model = placed(model, device)
        self.belief = None if belief is None else placed(belief, device)
        self.batch = batch
        self.device = torch.device(device)
        self.asked = 0
        """Queries so far."""
        self.hits = 0
        """How many of them the cache could answer."""
        self._shape = model.shape
        self._cache = make_cache(game, cache)
        self._reserve(0)

    def forget(self) -> None:
        """Forget all evaluations, as must be when a model has changed."""
        self._cache = make_cache(self.game, len(self._cache.key))

    def _reserve(self, rows: int) -> None:
        """Room for the inputs of so many rows, in whole pieces."""
        pinned = self.device.type == "cuda"
        rows = -(-rows // self.batch) * self.batch
        columns = self._shape.inputs, self._shape.belief_inputs
        self._inputs, self._beliefs = (torch.zeros((rows, c), pin_memory=pinned) for c in columns)
        self._missing = np.arange(rows)

    def evaluate_batch(self, queries: Queries, evaluations: Evaluations) -> None:
        """Write the answer to every query."""
        asked = len(queries.kind)
        if asked > len(self._missing):
            self._reserve(asked)
        remembers = len(self._cache.key) > 0
        count = look_up(self._cache, queries, evaluations, self._missing) if remembers else asked
        self.asked += asked
        self.hits += asked - count
        if count == 0:
            return
        samples = encode(
            self.game.kernels.features, self.game.rules, self._shape, queries, self._missing, count,
            self._inputs.numpy(), self._beliefs.numpy(),
        )  # fmt: skip
        outputs = self._run(self.model, self._inputs, count)
        if self.belief is None:
            beliefs = np.zeros((samples, max(1, self._shape.values)), np.float32)
        else:
            beliefs = self._run(self.belief, self._beliefs, samples)
        decode(self._shape, queries, self._missing, count, outputs, beliefs, evaluations)
        if remembers:
            remember(self._cache, queries, evaluations, self._missing, count)

    def _run(self, model: nn.Module, rows: Tensor, count: int) -> Reals32:
        """What a model says of the first `count` rows, in pieces of the same shape."""
        with torch.inference_mode():
            pieces = [
                model(rows[at : at + self.batch].to(self.device, non_blocking=True))
                for at in range(0, count, self.batch)
            ]
            if not pieces:
                return np.zeros((0, 1), np.float32)
            whole = pieces[0] if len(pieces) == 1 else torch.cat(pieces)
            out: Reals32 = whole.float().cpu().numpy()
            return out

    def evaluate(self, query: Query, state: State) -> Evaluation:
        """The answer to one query, the same as among others."""
        queries, evaluations, count = (
            as_queries(self.game, [query], state),
            empty_evaluations(self.game, 1),
            len(query.choices),
        )
        self.evaluate_batch(queries, evaluations)
        return Evaluation(evaluations.value[0], evaluations.children[0, :count], evaluations.prior[0, :count])
