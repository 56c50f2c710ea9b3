"""Rows of `qdts bench games` about imports: an OpenSpiel game as a table, beside OpenSpiel's own enumeration of it.

That is `get_all_states` of OpenSpiel's Python algorithms, which gives a dictionary of all states by history (none of
its C++ functions that Python can call does so). An import also reads every player's information states, until the
game is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from qdts.cli.benchmarks.peers import OpenSpiel, Ours, is_installed
from qdts.cli.benchmarks.rows import Job, Row, Rows, make_row, take_turns
from qdts.games.openspiel import PREFIX, find_openspiel, import_game

GAMES = ("leduc_poker", "liars_dice")
WANTED = 1.0
CLOCK = "every state of the game, without loading it, compiling, and freeing what was made; OpenSpiel's get_all_states"


def rows(repeats: int) -> Rows:
    """A row for each of some games, where OpenSpiel is installed."""
    if is_installed(OpenSpiel):
        for name in GAMES:
            yield f"import of {name}", lambda name=name: importing(name, repeats)  # type: ignore[misc]


def importing(name: str, repeats: int) -> Row:
    """From OpenSpiel's rules to a game of ours; to a dictionary of states."""
    from open_spiel.python.algorithms.get_all_states import get_all_states

    theirs = find_openspiel(name)
    import_game(PREFIX + name)
    jobs: dict[str, Job] = {
        Ours.name: lambda: _seconds(lambda: import_game(PREFIX + name)),
        OpenSpiel.name: lambda: _seconds(lambda: get_all_states(theirs, include_chance_states=True)),
    }
    entries = [e for e in take_turns(jobs, repeats) if e.who in jobs]
    return make_row("import", PREFIX + name, "", "s", CLOCK, entries, {OpenSpiel.name: WANTED})


def _seconds(work: Callable[[], object]) -> float:
    """CPU time of some work; what it made is freed when the clock has stopped."""
    start = time.process_time()
    made = work()
    seconds = time.process_time() - start
    del made
    return seconds
