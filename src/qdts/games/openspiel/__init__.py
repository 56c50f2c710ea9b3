"""Games imported from OpenSpiel: `importer` walks them, `classes` finds information sets, `table_game` plays them.

What networks see of them is in `descriptions`, how large they are in `size`. They import from the parts of `qdts.games`
above, and `pyspiel` only when a game is imported.
"""

from qdts.games.openspiel.importer import LIMIT, NOTHING_SEEN, PREFIX, find_openspiel, import_game

__all__ = ["LIMIT", "NOTHING_SEEN", "PREFIX", "find_openspiel", "import_game"]
