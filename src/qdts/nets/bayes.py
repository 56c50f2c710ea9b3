"""The loss that holds H to Bayes' rule (NI, *Bayes' Rule Loss Term*).

For the worlds w that were met behind one view v, with p(w) what H gives them and q(w) what follows from Bayes' rule,
both divided by their sums over these worlds,

    bayes_loss = − Σ_w q(w) log p(w)          p(w) = Π H(value | node) along the holes of v

So H is held to the ratios of q alone, and nothing is said of worlds that were not met.

axis  counts
N     SAMPLE nodes
V     views
M     worlds of all views, those of one view in a row
L     links from worlds to the SAMPLE nodes on the way to them, those of one world in a row
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from qdts.kernels import Ints, Reals
from qdts.search.evaluation.evaluator import Queries


class BayesExamples(NamedTuple):
    """Views with the worlds that were met behind them, and what Bayes' rule says of each."""

    queries: Queries  # [N] different SAMPLE nodes
    first_world: Ints  # [V + 1] where the worlds of each view begin
    target: Reals  # [M] q: sums to 1 over the worlds of a view
    first_link: Ints  # [M + 1] where the links of each world begin
    node: Ints  # [L] the SAMPLE node
    column: Ints  # [L] which of its choices leads to the world
    weight: Reals  # [V] views are sampled in proportion to it

    def take(self, views: Ints) -> BayesExamples:
        """Some views, a view as often as it is given, with the nodes that they need."""
        worlds, first_world = _ranges(self.first_world, views)
        links, first_link = _ranges(self.first_link, worlds)
        nodes, node = np.unique(self.node[links], return_inverse=True)
        queries = Queries._make(column[nodes] for column in self.queries)
        weight = self.weight[views]
        return BayesExamples(queries, first_world, self.target[worlds], first_link, node, self.column[links], weight)


def _ranges(first: Ints, which: Ints) -> tuple[Ints, Ints]:
    """The entries of some groups, one group after another, and where each group begins then."""
    count = np.diff(first)[which]
    ends = np.cumsum(count)
    begins = np.concatenate([np.zeros(1, np.int64), ends])
    return np.repeat(first[which] - begins[:-1], count) + np.arange(begins[-1]), begins


def bayes_loss(logits: Tensor, examples: BayesExamples) -> Tensor:
    """The loss, a mean over views; `logits` are those of H at the examples' nodes. [N, X]"""
    device, queries = logits.device, examples.queries
    there = np.arange(queries.choices.shape[1]) < queries.degree[:, None]
    with np.errstate(divide="ignore"):
        prior = np.maximum(np.log(np.where(there, queries.weights, 0.0)), -1e9)
    choices = torch.tensor(np.where(there, queries.choices, 0), device=device)
    log_h = functional.log_softmax(
        logits.gather(1, choices) + torch.tensor(prior, dtype=torch.float32, device=device), 1
    )
    worlds, views = len(examples.target), len(examples.first_world) - 1
    of_link = torch.tensor(np.repeat(np.arange(worlds), np.diff(examples.first_link)), device=device)
    of_world = torch.tensor(np.repeat(np.arange(views), np.diff(examples.first_world)), device=device)
    node, column = (torch.tensor(x, device=device) for x in (examples.node, examples.column))
    log_p = torch.zeros(worlds, device=device).index_add(0, of_link, log_h[node, column])
    top = torch.full((views,), -torch.inf, device=device).scatter_reduce(0, of_world, log_p.detach(), "amax")
    total = torch.zeros(views, device=device).index_add(0, of_world, torch.exp(log_p - top[of_world]))
    log_share = log_p - top[of_world] - torch.log(total)[of_world]
    target = torch.tensor(examples.target, dtype=torch.float32, device=device)
    return -(target * log_share).sum() / max(views, 1)
