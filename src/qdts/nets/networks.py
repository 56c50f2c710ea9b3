"""The networks of a game while they learn: weights, their average, and the optimisers' state.

The average gives late weights more say the longer the run (polynomial decay, Shamir and Zhang 2013): after t updates

    average ← average + min(1, (γ + 1) / (t + γ)) · (weights − average)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeGuard, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.nets.bayes import BayesExamples, bayes_loss
from qdts.nets.checkpoint import group_of, load_into
from qdts.nets.descent import (
    STATE,
    TURN,
    Fit,
    LayersDescent,
    Objective,
    PolicyObjective,
    ValueObjective,
    descend,
    make_adam,
    parameters_of,
)
from qdts.nets.encoding import encode
from qdts.nets.evaluator import Network
from qdts.nets.examples import PolicyExamples, ValueExamples, sample_examples
from qdts.nets.losses import (
    LOSSES,
    OPTIONAL,
    Batch,
    PolicyTensors,
    ValueTensors,
    cross_entropy,
    policy_tensors,
    value_tensors,
)
from qdts.nets.model import Belief, Model, Size, find_device, make_models
from qdts.nets.threads import one_blas_thread
from qdts.nets.trunk import Mlp, Towers
from qdts.parallel import in_parallel, in_turns
from qdts.search.evaluation.evaluator import Queries

T = TypeVar("T")
Tensors = TypeVar("Tensors", PolicyTensors, ValueTensors)
Made = Callable[[], T]
"""Makes something when it is called."""
DEFAULT_SIZE = Size()


class Steps(NamedTuple):
    """The steps of an optimiser in one fit."""

    rates: Reals
    """The learning rate of each step."""
    examples: int
    """How many a step samples, by their weights."""
    stream: np.random.Generator


@dataclass(frozen=True)
class Batches(Generic[Tensors]):
    """The training batches of all steps of a fit."""

    rows: Ints
    """The examples of each step. [steps, count]"""
    targets: Tensors
    """Of all examples."""
    turn: Callable[[int], Tensor]
    """From the number of the first step of a turn to the inputs of its steps, one step after the other."""

    def take(self, step: int) -> Tensors:
        """The targets of a step."""
        return self.targets.take(self.rows[step])

    def step_by_step(self) -> Callable[[int], Tensor]:
        """The inputs of each step, in order; those of a turn are made at once."""
        count, made = self.rows.shape[1], torch.empty(0)

        def inputs(step: int) -> Tensor:
            nonlocal made
            if step % TURN == 0:
                made = self.turn(step)
            at = step % TURN * count
            return made[at : at + count]

        return inputs


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
        towers = self.model.body.children() if isinstance(self.model.body, Towers) else [self.model]
        self._adams = {"model": [make_adam(tower) for tower in towers], "belief": [make_adam(self.belief)]}
        """An optimiser for each tower."""

    def evaluator(self, model: str, belief: str | None, *, batch: int, cache: int, padded: bool = True) -> Network:
        """Two groups of networks, as `groups_of` gives them, as an evaluator with an empty cache."""
        models = {"model": self.model, "average": self.average}
        beliefs = {"belief": self.belief, "average_belief": self.average_belief}
        h = None if belief is None else beliefs[belief]
        where = str(self.device)
        return Network(self.game, models[model], h, batch=batch, padded=padded, cache=cache, device=where)

    def fit(
        self, policy: Made[PolicyExamples], value: Made[ValueExamples], steps: Steps,
        weights: Mapping[str, float] | None = None, *, threads: int = 1, beside: Sequence[Fit] = (),
    ) -> dict[str, float]:  # fmt: skip
        """Fit P, V and V_c to as many examples of P as of V in each step, and update the average.

        Args:
            policy: Makes the examples of P, in the thread of its fit.
            value: Makes those of V and V_c.
            steps: How many steps are taken, and how.
            weights: Of the losses, by their names in LOSSES; where they are not named 0 for those in OPTIONAL, else 1.
            threads: That the fits of towers share.
            beside: Fits of other models, with which they share them, too.

        Returns:
            The mean of each loss over the steps, those of the fits beside included.
        """
        weights = dict.fromkeys(OPTIONAL, 0.0) | dict(weights or {})
        of_policy, of_value = (steps._replace(stream=stream) for stream in steps.stream.spawn(2))
        body, adams = self.model.body, self._adams["model"]
        if isinstance(body, Towers):
            fits = [
                self._policy_fit(body.policy, adams[0], policy, of_policy),
                self._value_fit(body.value, adams[1], value, of_value, weights),
            ]
        else:
            fits = [self._fit_of_both(adams[0], policy, of_policy, value, of_value, weights)]
        found = run_fits([*beside, *fits], threads)
        self.update_average()
        return found

    def _policy_fit(
        self, tower: nn.Module, adam: torch.optim.Adam, examples: Made[PolicyExamples], steps: Steps
    ) -> Fit:
        batches = self._policy_batches(examples(), steps)
        if self._in_closed_form(tower):
            objective = PolicyObjective("policy_loss", batches.targets)
            return (yield from self._layers_fit(tower, adam, batches, objective, steps))
        inputs, targets = batches.step_by_step(), batches.take

        def losses(step: int) -> dict[str, Tensor]:
            return {"policy_loss": cross_entropy(tower(inputs(step)), targets(step))}

        return (yield from descend(adam, losses, steps.rates))

    def _value_fit(
        self, tower: nn.Module, adam: torch.optim.Adam, examples: Made[ValueExamples], steps: Steps,
        weights: Mapping[str, float],
    ) -> Fit:  # fmt: skip
        batches, chosen = self._value_batches(examples(), steps), chosen_losses(weights)
        if self._in_closed_form(tower) and tuple(chosen) == ValueObjective.names:
            objective = ValueObjective(batches.targets, weights)
            return (yield from self._layers_fit(tower, adam, batches, objective, steps))
        inputs, targets = batches.step_by_step(), batches.take

        def losses(step: int) -> dict[str, Tensor]:
            batch = Batch(targets(step), tower(inputs(step)))
            return {name: loss(batch) for name, loss in chosen.items()}

        return (yield from descend(adam, losses, steps.rates, weights))

    def _fit_of_both(
        self, adam: torch.optim.Adam, policy: Made[PolicyExamples], of_policy: Steps, value: Made[ValueExamples],
        of_value: Steps, weights: Mapping[str, float],
    ) -> Fit:  # fmt: skip
        """A fit of the trunk that P and V share."""
        of_p, of_v = self._policy_batches(policy(), of_policy), self._value_batches(value(), of_value)
        p_inputs, v_inputs, chosen = of_p.step_by_step(), of_v.step_by_step(), chosen_losses(weights)

        def losses(step: int) -> dict[str, Tensor]:
            logits, values = self.model.heads(torch.cat([p_inputs(step), v_inputs(step)]), of_p.rows.shape[1])
            batch = Batch(of_v.take(step), values)
            return {"policy_loss": cross_entropy(logits, of_p.take(step))} | {
                name: loss(batch) for name, loss in chosen.items()
            }

        return (yield from descend(adam, losses, of_policy.rates, weights))

    @staticmethod
    def _layers_fit(
        layers: Mlp, adam: torch.optim.Adam, batches: Batches[Any], objective: Objective, steps: Steps
    ) -> Fit:
        descent = LayersDescent(layers, adam, batches.rows.shape[1])
        return (yield from descent.fit(batches.turn, batches.rows, objective, steps.rates))

    def _policy_batches(
        self, examples: PolicyExamples, steps: Steps, *, belief: bool = False
    ) -> Batches[PolicyTensors]:
        rows, weight = _rows(examples.weight, steps)
        targets = policy_tensors(examples, self.device, weight, weighted=belief)
        return Batches(rows, targets, self._inputs_of_turns(examples.queries, rows, belief=belief))

    def _value_batches(self, examples: ValueExamples, steps: Steps) -> Batches[ValueTensors]:
        rows, weight = _rows(examples.weight, steps)
        targets = value_tensors(examples, self.shape, self.device, weight)
        return Batches(rows, targets, self._inputs_of_turns(examples.queries, rows))

    def belief_fit(
        self, examples: PolicyExamples, steps: Steps, bayes: BayesExamples | None = None, weight: float = 0.0
    ) -> Fit:
        """A fit of H. With `bayes` and a weight it is held to Bayes' rule, too."""
        return self._belief_fit(self.belief, self._adams["belief"][0], examples, steps, bayes, weight)

    def average_belief_fit(
        self, examples: PolicyExamples, steps: Steps, bayes: BayesExamples | None = None, weight: float = 0.0
    ) -> Fit:
        """A fit of H̄, which starts from the weights of H."""
        self.average_belief.load_state_dict(self.belief.state_dict())
        return self._belief_fit(self.average_belief, make_adam(self.average_belief), examples, steps, bayes, weight)

    def _belief_fit(
        self, belief: Belief, adam: torch.optim.Adam, examples: PolicyExamples, steps: Steps,
        bayes: BayesExamples | None, weight: float,
    ) -> Fit:  # fmt: skip
        if not len(examples.weight):
            return {"belief_loss": 0.0}
        views: Ints | None = None
        if bayes is not None and len(bayes.weight):
            nodes = max(1.0, len(bayes.node) / len(bayes.weight))
            views = sample_examples(bayes.weight, len(steps.rates), max(1, round(steps.examples / nodes)), steps.stream)
        batches = self._policy_batches(examples, steps, belief=True)
        if self._in_closed_form(belief.body) and views is None:
            objective = PolicyObjective("belief_loss", batches.targets)
            return (yield from self._layers_fit(belief.body, adam, batches, objective, steps))
        inputs = batches.step_by_step()

        def losses(step: int) -> dict[str, Tensor]:
            logits = belief(inputs(step))
            found = {"belief_loss": cross_entropy(logits, batches.take(step))}
            if bayes is not None and views is not None:
                held = bayes.take(views[step])
                everything = np.arange(len(held.queries.kind))
                found["bayes_loss"] = bayes_loss(belief(self.inputs(held.queries, everything, belief=True)), held)
            return found

        return (yield from descend(adam, losses, steps.rates, {"bayes_loss": weight}))

    def _in_closed_form(self, body: nn.Module) -> TypeGuard[Mlp]:
        """Whether a trunk has gradients in closed form: linear layers on the CPU."""
        return isinstance(body, Mlp) and self.device.type == "cpu"

    def _inputs_of_turns(self, queries: Queries, rows: Ints, *, belief: bool = False) -> Callable[[int], Tensor]:
        """From the number of the first step of a turn to the inputs of its steps, one step after the other."""
        return lambda first: self.inputs(queries, rows[first : first + TURN].ravel(), belief=belief)

    def inputs(self, queries: Queries, rows: Ints, *, belief: bool = False) -> Tensor:
        """The inputs of the model, or of that of H, for some queries."""
        inputs, beliefs = (torch.empty((len(rows), n)) for n in (self.shape.inputs, self.shape.belief_inputs))
        encode(
            self.game.kernels.features, self.game.rules, self.shape, queries, rows, len(rows),
            inputs.numpy(), beliefs.numpy(),
        )  # fmt: skip
        return (beliefs if belief else inputs).to(self.device)

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
        for name, adams in self._adams.items():
            for i, state in enumerate(adam.state.get(p, {}) for adam in adams for p in parameters_of(adam)):
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
        for name, adams in self._adams.items():
            for i, (adam, parameter) in enumerate((a, p) for a in adams for p in parameters_of(a)):
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


def chosen_losses(weights: Mapping[str, float]) -> dict[str, Callable[[Batch], Tensor]]:
    """The losses of V and V_c, but for optional ones without a weight."""
    return {name: loss for name, loss in LOSSES.items() if name not in OPTIONAL or weights[name] > 0.0}


def use_threads(threads: int) -> None:
    """Let torch use so many threads, in the thread that calls this and in those that begin later."""
    torch.set_num_threads(threads)


def apart(jobs: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """What each of some jobs returns that use networks; torch has one thread in each of them where they run at once.

    Torch would give every new thread all cores, and they would wait for each other.
    """
    with one_blas_thread():
        return in_parallel(jobs, threads, prepare=lambda: use_threads(1))


def run_fits(fits: Sequence[Fit], threads: int = 1) -> dict[str, float]:
    """Run some fits, which share threads as in `apart`; the mean of each loss."""
    with one_blas_thread():
        found = in_turns(fits, threads, prepare=lambda: use_threads(1))
    return {name: mean for means in found for name, mean in means.items()}


def _rows(weight: Reals, steps: Steps) -> tuple[Ints, Reals]:
    """The numbers of the examples in each step, and the weight of each example in its batch.

    Where there are no more than a step samples, it learns from all of them, by their weights. [steps, rows], [examples]
    """
    if len(weight) <= steps.examples:
        return np.tile(np.arange(len(weight)), (len(steps.rates), 1)), weight / max(weight.max(), 1e-300)
    return sample_examples(weight, len(steps.rates), steps.examples, steps.stream), np.ones(len(weight))
