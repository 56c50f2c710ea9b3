"""The phases of a visit, and the reasons for which a lane stops.

    BEGIN ──► ARRIVE ──► EVALUATE ──► ABSORB ──► (WIDEN ⇄ EVALUATE) ──► REST ──┐
                │ evaluated: ▼                                             │   │ new: the visit stops here
                ├─────────► CHOOSE ◄───────────────────────────────────────┘   │
                │ over       │ edge       OPPONENT: ARRIVE at the spawned root, and then RETURN
                ▼            ▼                                                 ▼
              BACK ◄───── DESCEND ──► ARRIVE                                  BACK ──► … ──► BEGIN

`machine` runs them; `expansion` and `path` have a function for each.
"""

from __future__ import annotations

BEGIN, ARRIVE, EVALUATE, ABSORB, WIDEN, REST, CHOOSE, RETURN, DESCEND, BACK = range(10)

DONE = 0
"""All wanted visits are made."""
PAUSED = 1
"""As many visits are made as one call may make."""
PARKED = 2
"""The node at hand is to be evaluated outside of the machine."""
GROW = 3
"""The arrays are full."""
LOST = 4
"""The policy table has no such node."""
FAULTY = 5
"""The rules give the node at hand no choice, or more than the game has."""
GO_ON = 6
"""The lane did not stop."""
