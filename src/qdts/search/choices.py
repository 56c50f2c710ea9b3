"""The words that a search's options may be, and the numbers that kernels know them by: their order."""

from __future__ import annotations

from typing import Literal

Machine = Literal["forest", "bandit"]
Estimate = Literal["counts", "dirichlet", "sticky", "prior", "mirror"]
Select = Literal["puct", "mirror", "even"]
Backup = Literal["average", "mirror"]
Unvisited = Literal["child", "fpu"]
Decision = Literal["lcb", "mirror", "visits", "most"]

COUNTS, DIRICHLET, STICKY, PRIOR, MIRROR_ESTIMATE = range(5)
PUCT, MIRROR_SELECT, EVEN = range(3)
AVERAGE, MIRROR_BACKUP = range(2)
CHILD, FPU = range(2)
