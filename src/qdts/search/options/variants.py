"""The words that a search's options may be, and the numbers that kernels know them by: their order."""

from __future__ import annotations

from typing import Literal

Machine = Literal["forest", "bandit"]
Estimate = Literal["counts", "dirichlet", "sticky", "prior", "mirror", "mix"]
Select = Literal["puct", "mirror", "uniform", "ucb", "guided"]
Backup = Literal["average", "mirror", "running"]
Form = Literal["residual", "expected", "running", "masked"]
LuckBase = Literal["same", "mu", "v", "q", "none"]
LuckChild = Literal["q", "v", "vc"]
Ball = Literal["node", "route"]
Unvisited = Literal["child", "fpu"]
Decision = Literal["lcb", "mirror", "visits", "most", "ucb"]
RootQ = Literal["middle", "nearest"]
Belief = Literal["model", "rules", "holes", "completions", "bayes", "exact", "visits"]
RootBelief = Literal["model", "responses"]
Trees = Literal["one", "many"]
SelfDeterminization = Literal["none", "pure", "split"]

COUNTS, DIRICHLET, STICKY, PRIOR, MIRROR_ESTIMATE, MIX = range(6)
PUCT, MIRROR_SELECT, UNIFORM_SELECT, UCB, GUIDED = range(5)
AVERAGE, MIRROR_BACKUP, RUNNING_BACKUP = range(3)
RESIDUAL, EXPECTED, RUNNING, MASKED = range(4)
BASE_SAME, BASE_MU, BASE_V, BASE_Q, BASE_NONE = range(5)
CHILD_Q, CHILD_V, CHILD_VC = range(3)
NODE, ROUTE = range(2)
CHILD, FPU = range(2)
