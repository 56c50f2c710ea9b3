"""The networks of a game while they learn: weights, their average, and the optimisers' state.

The average gives late weights more say the longer the run (polynomial decay, Shamir and Zhang 2013): after t updates

    average ← average + min(1, (γ + 1) / (t + γ)) · (weights − average)
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.nets.bayes import BayesExamples, bayes_loss
from qdts.nets.checkpoint import group_of, load_into
from qdts.nets.encoding import encode
from qdts.nets.evaluator import Network
from qdts.nets.examples import PolicyExamples, ValueExamples, sample_examples
from qdts.nets.losses import LOSSES, OPTIONAL, Batch, cross_entropy, policy_tensors, value_tensors
from qdts.nets.model import Belief, Model, Size, find_device, make_models
from qdts.nets.trunk import Towers
from qdts.search.evaluation.evaluator import Queries

STATE = ("step", "exp_avg", "exp_avg_sq")
"""What the optimiser knows of each parameter."""
DEFAULT_SIZE = Size()
MAX_GRADIENT_NORM = 1.0
"""Longer gradients are shortened to this."""


class Steps(NamedTuple):
    """The steps of an optimiser in one fit."""

    rates: Reals
    """The learning rate of each step."""
    examples: int
    """How many a step samples, by their weights."""
    stream: np.random.Generator


def groups_of(*, average: bool, source: str) -> tuple[str, str | None]:
    """The groups of networks that play together: that of P, V and V_c, and that of H.

    The averaged P has an H of its own where H learns from sampled games (`source` is the setting `belief.source`).
    With `exact` there is no H: Bayes' rule takes its place.
    """
    model = "average" if average else "model"
    if source == "exact":
        return model, None
    return model, "average_belief" if average and source == "sampled" else "belief"


class Networks:
    """The two models of a game, their averages, and the optimisers that fit them."""

    def __init__(
        self, game: Game, size: Size = DEFAULT_SIZE, *, seed: int = 0, device: str = "cpu", average: float = 3.0
    ) -> None:
        self.model, self.belief = make_models(game, **size._asdict(), seed=seed, device=device)
        self.game = game
        self.shape = self.model.shape
        self.device = find_device(device)
        self.average = copy.deepcopy(self.model)
        self.average_belief = copy.deepcopy(self.belief)
        """H̄: the belief that follows from the averaged P."""
        self.gamma = average
        self.updates = 0
        """How often the average was updated."""
        self._adams = {"model": _adam(self.model), "belief": _adam(self.belief)}

    def evaluator(self, model: str, belief: str | None, *, batch: int, cache: int) -> Network:
        """Two groups of networks, as `groups_of` gives them, as an evaluator with an empty cache."""
        models = {"model": self.model, "average": self.average}
        beliefs = {"belief": self.belief, "average_belief": self.average_belief}
        h = None if belief is None else beliefs[belief]
        return Network(self.game, models[model], h, batch=batch, cache=cache, device=str(self.device))

    def fit(
        self, policy: PolicyExamples, value: ValueExamples, steps: Steps, weights: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """Fit P, V and V_c to as many examples of P as of V in each step, and update the average.

        Args:
            policy: The examples of P.
            value: Those of V and V_c.
            steps: How many steps are taken, and how.
            weights: Of the losses, by their names in LOSSES; where they are not named 0 for those in OPTIONAL, else 1.

        Returns:
            The mean of each loss over the steps.
        """
        targets = policy_tensors(policy, self.device), value_tensors(value, self.shape, self.device)
        samples = [
            sample_examples(examples.weight, len(steps.rates), steps.examples, steps.stream)
            for examples in (policy, value)
        ]
        weights = dict.fromkeys(OPTIONAL, 0.0) | dict(weights or {})
        chosen = {name: loss for name, loss in LOSSES.items() if name not in OPTIONAL or weights[name] > 0.0}
        total = dict.fromkeys(chosen, 0.0)
        inputs = torch.zeros((2 * steps.examples, self.shape.inputs))
        for rate, p_rows, v_rows in zip(steps.rates, *samples, strict=True):
            self._encode(policy.queries, p_rows, inputs[: steps.examples])
            self._encode(value.queries, v_rows, inputs[steps.examples :])
            heads = self.model.heads(inputs.to(self.device), steps.examples)
            batch = Batch(targets[0].take(p_rows), targets[1].take(v_rows), *heads)
            losses = {name: loss(batch) for name, loss in chosen.items()}
            weighted = [weights.get(name, 1.0) * loss for name, loss in losses.items()]
            _step(self._adams["model"], self.model, torch.stack(weighted).sum(), rate)
            for name, loss in losses.items():
                total[name] += loss.item()
        self.update_average()
        return {name: sum_ / max(len(steps.rates), 1) for name, sum_ in total.items()}

    def fit_belief(
        self, examples: PolicyExamples, steps: Steps, bayes: BayesExamples | None = None, weight: float = 0.0
    ) -> dict[str, float]:
        """Fit H; the mean of each loss. With `bayes` and a weight it is held to Bayes' rule, too."""
        return self._fit_belief(self.belief, self._adams["belief"], examples, steps, bayes, weight)

    def fit_average_belief(
        self, examples: PolicyExamples, steps: Steps, bayes: BayesExamples | None = None, weight: float = 0.0
    ) -> dict[str, float]:
        """Fit H̄, which starts from the weights of H; the mean of each loss."""
        self.average_belief.load_state_dict(self.belief.state_dict())
        return self._fit_belief(self.average_belief, _adam(self.average_belief), examples, steps, bayes, weight)

    def _fit_belief(
        self, belief: Belief, adam: torch.optim.Adam, examples: PolicyExamples, steps: Steps,
        bayes: BayesExamples | None, weight: float,
    ) -> dict[str, float]:  # fmt: skip
        total = {"belief_loss": 0.0}
        if not len(examples.weight):
            return total
        targets = policy_tensors(examples, self.device, weighted=True)
        views = None
        if bayes is not None and len(bayes.weight):
            total["bayes_loss"] = 0.0
            nodes = max(1.0, len(bayes.node) / len(bayes.weight))
            views = sample_examples(bayes.weight, len(steps.rates), max(1, round(steps.examples / nodes)), steps.stream)
        inputs = torch.zeros((steps.examples, self.shape.belief_inputs))
        samples = sample_examples(examples.weight, len(steps.rates), steps.examples, steps.stream)
        for step, (rate, rows) in enumerate(zip(steps.rates, samples, strict=True)):
            self._encode(examples.queries, rows, torch.zeros((len(rows), self.shape.inputs)), inputs)
            loss = cross_entropy(belief(inputs.to(self.device)), targets.take(rows))
            total["belief_loss"] += loss.item()
            if bayes is not None and views is not None:
                held = self._bayes_loss(belief, bayes.take(views[step]))
                total["bayes_loss"] += held.item()
                loss = loss + weight * held
            _step(adam, belief, loss, rate)
        return {name: sum_ / max(len(steps.rates), 1) for name, sum_ in total.items()}

    def _bayes_loss(self, belief: Belief, examples: BayesExamples) -> Tensor:
        count = len(examples.queries.kind)
        inputs = torch.zeros((count, self.shape.belief_inputs))
        self._encode(examples.queries, np.arange(count), torch.zeros((count, self.shape.inputs)), inputs)
        return bayes_loss(belief(inputs.to(self.device)), examples)

    def _encode(self, queries: Queries, rows: Ints, inputs: Tensor, beliefs: Tensor | None = None) -> None:
        spare = torch.zeros((len(rows), self.shape.belief_inputs)) if beliefs is None else beliefs
        encode(
            self.game.kernels.features, self.game.rules, self.shape, queries, rows, len(rows),
            inputs.numpy(), spare.numpy(),
        )  # fmt: skip

    def update_average(self) -> None:
        """Move the average towards the weights."""
        self.updates += 1
        share = (self.gamma + 1) / (self.updates + self.gamma)
        with torch.no_grad():
            for slow, fast in zip(self.average.parameters(), self.model.parameters(), strict=True):
                slow.lerp_(fast, min(1.0, share))

    def tensors(self) -> dict[str, Tensor]:
        """Everything that `restore` needs, by the names that a checkpoint has."""
        out: dict[str, Tensor] = {}
        for name, module in self._modules().items():
            out |= {f"{name}.{key}": value.detach().cpu().clone() for key, value in module.state_dict().items()}
        for name, adam in self._adams.items():
            for i, state in enumerate(_states(adam)):
                for key in STATE:
                    if key in state:
                        out[f"optimizer.{name}.{i}.{key}"] = state[key].detach().cpu().clone()
        out["optimizer.updates"] = torch.tensor(self.updates)
        return out

    def restore(self, tensors: Mapping[str, Tensor], what: str) -> None:
        """Take over the tensors that `tensors` gave; `what` names their source in errors."""
        for name, module in self._modules().items():
            load_into(module, group_of(tensors, name), f"the group '{name}' of {what}")
        kept = group_of(tensors, "optimizer")
        updates = kept.pop("updates", None)
        if updates is None:
            raise InputError(f"{what} lacks 'optimizer.updates', expected a checkpoint of a run")
        wrong = updates.shape != () or updates.is_floating_point() or int(updates) < 0
        for name, adam in self._adams.items():
            for i, parameter in enumerate(p for group in adam.param_groups for p in group["params"]):
                start = f"{name}.{i}."
                found = {key: kept.pop(start + key) for key in STATE if start + key in kept}
                shapes = [tensor.shape for tensor in found.values()]
                wrong |= bool(found) and shapes != [torch.Size(), parameter.shape, parameter.shape]
                adam.state[parameter] = {
                    key: tensor.clone() if key == "step" else tensor.to(self.device, copy=True)
                    for key, tensor in found.items()
                }
        if wrong or kept:
            raise InputError(f"the optimiser's state of {what} does not fit the networks")
        self.updates = int(updates)

    def _modules(self) -> dict[str, Model]:
        """The models by their groups in a checkpoint."""
        return {
            "model": self.model,
            "average": self.average,
            "belief": self.belief,
            "average_belief": self.average_belief,
        }


def use_threads(threads: int) -> None:
    """Let torch use so many threads, in this process."""
    torch.set_num_threads(threads)


def _adam(module: nn.Module) -> torch.optim.Adam:
    return torch.optim.Adam(module.parameters(), fused=True)


def _states(adam: torch.optim.Adam) -> list[dict[str, Tensor]]:
    return [adam.state.get(p, {}) for group in adam.param_groups for p in group["params"]]


def _step(adam: torch.optim.Adam, module: Model, loss: Tensor, rate: float) -> None:
    """One step of the optimiser; each tower's gradient is clipped by itself."""
    for group in adam.param_groups:
        group["lr"] = float(rate)
    adam.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    for part in module.body.children() if isinstance(module.body, Towers) else [module]:
        nn.utils.clip_grad_norm_(part.parameters(), MAX_GRADIENT_NORM)
    adam.step()
