"""What settings of a run with words for values may be."""

from __future__ import annotations

from typing import Literal

Trunk = Literal["auto", "mlp", "conv"]
PolicyTarget = Literal["mirror", "lcb", "played"]
ValueKind = Literal["mix", "outcome"]
BeliefSource = Literal["sampled", "buffer", "exact"]
