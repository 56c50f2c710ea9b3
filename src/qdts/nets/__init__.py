"""Networks: models of P, V, V_c and H for any game, their training and checkpoints, and an evaluator that runs them.

The one room that imports torch. May import search and the rooms before it.
"""

from qdts.nets import installed

__all__ = ["installed"]
