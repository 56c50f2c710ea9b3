"""The larger examples of games keep all laws, and are of the size that the tables of results say."""

from __future__ import annotations

from pathlib import Path

import pytest

from qdts import load_game
from qdts.solving.tree.recent import game_tree
from qdts.testing import check_game

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
INFORMATION_SETS = {"skull": 3_177, "coup": 4_836, "burglar": 1_390, "i_doubt_it": 13_044}


@pytest.mark.parametrize("name", INFORMATION_SETS)
def test_an_example_keeps_all_laws(name: str) -> None:
    game = load_game(str(EXAMPLES / f"{name}.py"))
    assert check_game(game).mode == "enumerated"
    assert game_tree(game).num_infosets == INFORMATION_SETS[name]
    assert game.zero_sum
