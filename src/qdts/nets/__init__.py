"""Networks: models of P, V, V_c and H built from a game's description, and the evaluator that asks them in batches.

The one room that imports torch.
"""

from qdts.nets import installed

__all__ = ["installed"]
