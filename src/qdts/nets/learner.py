"""The models of a game while they learn: weights, their slow average with an H of its own, and the optimiser's state.

    loss of P and H     − Σ target(a) · log P(a), over what is possible
    loss of V and V_c   (target − V)² / the variance of V's targets

The average of weights gives the last ones more say the longer the run (polynomial decay, Shamir and Zhang 2013): after
t updates  average ← average + (γ + 1) / (t + γ) · (weights − average).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.nets.checkpoint import load_into
from qdts.nets.lessons import PolicyLesson, ValueLesson, as_numbers, child_columns, in_seats, offered
from qdts.nets.model import Belief, Model, find_device, make_models
from qdts.nets.rows import encode
from qdts.nets.trunk import Towers
from qdts.search.evaluation.evaluator import Queries


class Losses(NamedTuple):
    """Means over the steps of one fit."""

    policy: float
    value: float
    children: float


class Learner:
    """Two models and what it takes to teach them."""

    def __init__(
        self, game: Game, *, width: int = 128, layers: int = 2, trunk: str = "auto", towers: int = 2,
        seed: int = 0, device: str = "cpu", average: float = 3.0,
    ) -> None:  # fmt: skip
        self.model, self.belief = make_models(
            game, width=width, layers=layers, trunk=trunk, towers=towers, seed=seed, device=device
        )
        self.game = game
        self.shape = self.model.shape
        self.device = find_device(device)
        self.average = copy.deepcopy(self.model)
        self.average_belief = copy.deepcopy(self.belief)
        """H̄: what the averaged P makes one believe."""
        self.gamma = average
        self.updates = 0
        """How often the average was updated."""
        self._adams = {"model": _adam(self.model), "belief": _adam(self.belief)}

    def fit(
        self, policy: PolicyLesson, value: ValueLesson, *,
        steps: int, rows: int, rate: float, value_weight: float, child_weight: float, stream: np.random.Generator,
    ) -> Losses:  # fmt: skip
        """Take so many steps, each on so many rows of P and of V, drawn by their weights."""
        taught = _Policy(self, policy), _Value(self, value)
        drawn = [_drawn(lesson.weight, steps, rows, stream) for lesson in (policy, value)]
        adam, total = self._adams["model"], np.zeros(3)
        for group in adam.param_groups:
            group["lr"] = rate
        inputs = torch.zeros((2 * rows, self.shape.inputs))
        for p_rows, v_rows in zip(*drawn, strict=True):
            self._encode(policy.queries, p_rows, inputs[:rows])
            self._encode(value.queries, v_rows, inputs[rows:])
            p_out, v_out = self.model.heads(inputs.to(self.device), rows)
            p_loss = taught[0].loss(p_out, p_rows)
            v_loss, c_loss = taught[1].loss(v_out, v_rows)
            loss = p_loss + value_weight * v_loss + child_weight * c_loss
            _step(adam, self.model, loss)
            total += [p_loss.item(), v_loss.item(), c_loss.item()]
        self.update_average()
        return Losses(*(total / max(steps, 1)).tolist())

    def fit_belief(
        self, lesson: PolicyLesson, *, steps: int, rows: int, rate: float, stream: np.random.Generator
    ) -> float:
        """The same for H; the mean loss."""
        return self._fit_belief(self.belief, self._adams["belief"], lesson, np.full(steps, rate), rows, stream)

    def fit_average_belief(
        self, lesson: PolicyLesson, *, steps: int, rows: int, rates: tuple[float, float], stream: np.random.Generator
    ) -> float:
        """Teach H̄ from the weights that H has; the rate goes from the first to the last of two. The mean loss."""
        self.average_belief.load_state_dict(self.belief.state_dict())
        adam = _adam(self.average_belief)
        return self._fit_belief(self.average_belief, adam, lesson, np.geomspace(*rates, steps), rows, stream)

    def _fit_belief(
        self, belief: Belief, adam: torch.optim.Adam, lesson: PolicyLesson, rates: Reals, rows: int,
        stream: np.random.Generator,
    ) -> float:  # fmt: skip
        """A step for each rate."""
        if not len(lesson.weight):
            return 0.0
        taught, total = _Policy(self, lesson, weighted=True), 0.0
        inputs = torch.zeros((rows, self.shape.belief_inputs))
        for rate, chosen in zip(rates, _drawn(lesson.weight, len(rates), rows, stream), strict=True):
            for group in adam.param_groups:
                group["lr"] = float(rate)
            self._encode(lesson.queries, chosen, torch.zeros((rows, self.shape.inputs)), inputs)
            loss = taught.loss(belief(inputs.to(self.device)), chosen)
            _step(adam, belief, loss)
            total += loss.item()
        return total / max(len(rates), 1)

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
        """All that a later `restore` needs, by name."""
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
        """Be as the learner was that gave these tensors; `what` names them where they are not that."""
        for name, module in self._modules().items():
            load_into(module, _group(tensors, name), f"the group '{name}' of {what}")
        kept = _group(tensors, "optimizer")
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

    def _modules(self) -> dict[str, nn.Module]:
        return {
            "model": self.model,
            "average": self.average,
            "belief": self.belief,
            "average_belief": self.average_belief,
        }


def use_threads(threads: int) -> None:
    """Let torch use so many threads, in this process."""
    torch.set_num_threads(threads)


def _group(tensors: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    """The tensors of a group, without its name."""
    start = f"{name}."
    return {key.removeprefix(start): tensor for key, tensor in tensors.items() if key.startswith(start)}


def _adam(module: nn.Module) -> torch.optim.Adam:
    return torch.optim.Adam(module.parameters(), fused=True)


def _states(adam: torch.optim.Adam) -> list[dict[str, Tensor]]:
    return [adam.state.get(p, {}) for group in adam.param_groups for p in group["params"]]


STATE = ("step", "exp_avg", "exp_avg_sq")
"""What the optimiser knows of each parameter."""
SMALLEST_VARIANCE = 1e-6
"""What the variance of targets counts as at least, in units of S²."""
MOST_GRADIENT = 1.0
"""The longest step of a gradient, by its norm."""


def _step(adam: torch.optim.Adam, module: Model, loss: Tensor) -> None:
    adam.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    for part in module.body.children() if isinstance(module.body, Towers) else [module]:
        nn.utils.clip_grad_norm_(part.parameters(), MOST_GRADIENT)
    adam.step()


def _drawn(weight: Reals, steps: int, rows: int, stream: np.random.Generator) -> Ints:
    """Rows for each step, by weight. int64[steps, rows]"""
    ends = np.cumsum(weight)
    return np.minimum(np.searchsorted(ends, stream.random((steps, rows)) * ends[-1], side="right"), len(weight) - 1)


class _Policy:
    """A lesson of distributions, as tensors."""

    def __init__(self, learner: Learner, lesson: PolicyLesson, *, weighted: bool = False) -> None:
        device = learner.device
        there = offered(lesson.queries)
        weights = np.where(there, lesson.queries.weights if weighted else 1.0, 0.0)
        with np.errstate(divide="ignore"):
            self.prior = torch.tensor(np.maximum(np.log(weights), -1e9), dtype=torch.float32, device=device)
        self.choices = torch.tensor(np.where(there, lesson.queries.choices, 0), device=device)
        self.target = torch.tensor(lesson.target, dtype=torch.float32, device=device)

    def loss(self, out: Tensor, rows: Ints) -> Tensor:
        """Cross-entropy with the targets of some rows."""
        at = torch.from_numpy(rows).to(out.device)
        logits = out.gather(1, self.choices[at]) + self.prior[at]
        return -(self.target[at] * functional.log_softmax(logits, 1)).sum(1).mean()


class _Value:
    """A lesson of values, as tensors."""

    def __init__(self, learner: Learner, lesson: ValueLesson) -> None:
        shape, queries, device = learner.shape, lesson.queries, learner.device
        target_, children = (in_seats(shape, queries, as_numbers(shape, x)) for x in (lesson.target, lesson.children))
        self.target, self.children = (torch.tensor(x, dtype=torch.float32, device=device) for x in (target_, children))
        known = in_seats(shape, queries, lesson.known)
        self.known = torch.tensor(known, dtype=torch.float32, device=device)
        there = offered(queries)[..., None]
        columns = np.where(there, child_columns(shape, queries) - shape.actions, 0)
        self.columns = torch.tensor(columns.reshape(len(columns), -1), device=device)
        taught = there * lesson.taught[:, None, None]
        self.there = torch.tensor(np.broadcast_to(taught, columns.shape), dtype=torch.float32, device=device)
        weight = lesson.weight[:, None] * known + 1e-12
        variance = np.average((target_ - np.average(target_, weights=weight)) ** 2, weights=weight)
        self.variance = max(SMALLEST_VARIANCE, float(variance))
        self.returns = shape.returns

    def loss(self, out: Tensor, rows: Ints) -> tuple[Tensor, Tensor]:
        """Mean squares of what V and V_c are off by."""
        at = torch.from_numpy(rows).to(out.device)
        known, there = self.known[at], self.there[at]
        value = (known * (out[:, : self.returns] - self.target[at]) ** 2).sum() / known.sum().clamp(min=1)
        found = out.gather(1, self.columns[at]).view_as(there)
        children = (there * (found - self.children[at]) ** 2).sum() / there.sum().clamp(min=1)
        return value / self.variance, children / self.variance
