"""How far search moves away from an equilibrium; run as a module it prints the table of docs/search.md."""

from __future__ import annotations

import numpy as np

from qdts.kernels import Reals
from qdts.search.evaluation.builtin import Table
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.run import run_searches
from qdts.solving.policy.table import Policy
from search.equilibria import equilibrium, reachable, views_of

BATCH = 64


def distances(policy: Policy, table: Table, options: Options, visits: int, every: int = 1) -> Reals:
    """How far root visits are from P, in total variation, at (every so many of) the views where the others can lead."""
    sets = reachable(policy)[::every]
    found = []
    for start in range(0, len(sets), BATCH):
        batch = sets[start : start + BATCH]
        views, players = views_of(policy, batch)
        results = run_searches(
            policy.game, views, players, options, visits, evaluator=table, seeds=[int(i) for i in batch]
        )
        found += [0.5 * np.abs(r.visits / visits - r.prior).sum() for r in results]
    return np.array(found)


def main() -> None:
    """Print the table."""
    for spec in ("kuhn_poker", "leduc_poker"):
        policy = equilibrium(spec)
        for name in ("a-ismcts", "a-ismcts, P̂ dirichlet", "qdts", "qdts, P̂ prior"):
            for error in (0.0, 0.02, 0.1):
                options, eps = named("a-ismcts", estimate="dirichlet" if "P̂" in name else "counts"), max(0.1, 2 * error)
                if not name.startswith("a-ismcts"):
                    estimate = "prior" if "prior" in name else "dirichlet"
                    options = named("qdts", eps_sample=eps, eps_opponent=eps, estimate=estimate)
                table = Table(policy, belief_noise=error)
                means = [distances(policy, table, options, visits).mean() for visits in (100, 1000, 10_000)]
                print(f"{spec}, {name}, H off by {error}: " + " / ".join(f"{m:.4f}" for m in means), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
