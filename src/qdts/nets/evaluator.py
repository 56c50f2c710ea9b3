"""An evaluator that runs networks on many queries at once.

A network runs on batches of exactly `batch` rows, the last one padded. So the shapes of its matrix products, and with
them every bit of an evaluation, do not depend on how many queries share a call. Where they may (`padded=False`), the
last batch has only the rows that there are, and linear layers run in compiled code (`runner.py`).

Compiled code makes features, masks and distributions; two arrays lie between it and the network.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals32
from qdts.nets.cache import look_up, make_cache, remember
from qdts.nets.encoding import decode, encode
from qdts.nets.model import Belief, PolicyValue, placed
from qdts.nets.runner import Runner, runner_of
from qdts.nets.trunk import Towers
from qdts.rng import State
from qdts.search.evaluation.batches import as_queries, empty_evaluations
from qdts.search.evaluation.evaluator import ACT, Evaluation, Evaluations, Queries, Query


class Network:
    """P, V and V_c of one model, and H of another; without a model of H, the weights of the rules.

    Args:
        game: What is evaluated.
        model: P, V and V_c.
        belief: H.
        batch: Rows of one call of a model.
        padded: Whether the last call has as many, too, whatever the rest is: then a row's outputs do not depend on how
            many there are.
        cache: The number of evaluations to remember. Whoever changes a model calls `forget` afterwards.
        device: Where the models run: cpu or cuda.

    Raises:
        InputError: A model is for another game, or batch, cache or device is not possible.
    """

    def __init__(
        self, game: Game, model: PolicyValue, belief: Belief | None = None, *,
        batch: int = 256, padded: bool = True, cache: int = 0, device: str = "cpu",
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
        self.padded = padded
        self.device = torch.device(device)
        self.queries = 0
        """Evaluated so far."""
        self.hits = 0
        """How many of them were in the cache."""
        self._shape = model.shape
        self._remembered = cache
        self.forget()
        self._reserve(0)

    def forget(self) -> None:
        """Take over the weights that the models have now, and empty the cache."""
        self._cache = make_cache(self.game, self._remembered)
        body = self.model.body
        self._policy = self._runner(body.policy) if isinstance(body, Towers) else None
        """None where P and V share a trunk."""
        self._value = self._runner(body.value if isinstance(body, Towers) else body)
        self._h = None if self.belief is None else self._runner(self.belief.body)

    def _runner(self, trunk: nn.Module) -> Runner:
        return runner_of(trunk, self.batch, padded=self.padded, device=self.device)

    def _reserve(self, rows: int) -> None:
        """Make room for the inputs of so many rows, in whole batches."""
        pinned = self.device.type == "cuda"
        rows = -(-rows // self.batch) * self.batch
        columns = self._shape.inputs, self._shape.belief_inputs
        self._inputs, self._beliefs = (torch.zeros((rows, c), pin_memory=pinned) for c in columns)

    def evaluate_batch(self, queries: Queries, evaluations: Evaluations) -> None:
        """Write the evaluation of every query."""
        total = len(queries.kind)
        missing, count = np.arange(total), total
        remembers = len(self._cache.key) > 0
        if remembers:
            count = look_up(self._cache, queries, evaluations, missing)
        self.queries += total
        self.hits += total - count
        # Inputs of one batch stay in the caches of a core. A GPU gets all batches before anybody waits for the first.
        rows = self.batch if self.device.type == "cpu" and not self.padded else max(1, count)
        for at in range(0, count, rows):
            self._evaluate(queries, evaluations, missing[at : min(at + rows, count)])
        if remembers:
            remember(self._cache, queries, evaluations, missing, count)

    def _evaluate(self, queries: Queries, evaluations: Evaluations, which: Ints) -> None:
        """Write the evaluations of some queries, all of whose inputs are made before the models run."""
        count = len(which)
        if count > len(self._inputs):
            self._reserve(count)
        samples = encode(
            self.game.kernels.features, self.game.rules, self._shape, queries, which, count,
            self._inputs.numpy(), self._beliefs.numpy(),
        )  # fmt: skip
        outputs = self._outputs(queries.kind[which])
        if self._h is None:
            beliefs = np.zeros((samples, max(1, self._shape.values)), np.float32)
        else:
            beliefs = self._h.run(self._beliefs, samples)
        decode(self._shape, queries, which, count, outputs, beliefs, evaluations)

    def _outputs(self, kinds: Ints) -> Reals32:
        """The outputs of the model for the first rows, whose kinds are given.

        Logits of P are read at ACT nodes alone. So where batches are not padded, a tower of P has no other rows.
        """
        count = len(kinds)
        if self._policy is None:
            return self._value.run(self._inputs, count)
        out, values = np.zeros((count, self._shape.outputs), np.float32), self._value.run(self._inputs, count)
        out[:, self._shape.actions :] = values[:count]
        acts = np.arange(count) if self.padded else np.flatnonzero(kinds == ACT)
        if len(acts):
            rows = self._inputs if self.padded else self._inputs[acts]
            out[acts, : self._shape.actions] = self._policy.run(rows, len(acts))[: len(acts)]
        return out

    def evaluate(self, query: Query, state: State) -> Evaluation:
        """The evaluation of one query, the same as in a batch."""
        queries, evaluations, count = (
            as_queries(self.game, [query], state),
            empty_evaluations(self.game, 1),
            len(query.choices),
        )
        self.evaluate_batch(queries, evaluations)
        return Evaluation(evaluations.value[0], evaluations.children[0, :count], evaluations.prior[0, :count])
