"""What games call their values and components, and what follows from a description alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qdts import InputError, load_game
from qdts.games import Field, Layout, family_names
from qdts.games.interface import NO_HOLE, UNKNOWN
from qdts.games.layout import each_player
from qdts.games.moves import read_moves
from qdts.testing import golden
from qdts.testing.positions import sample_positions

LAYOUT = Layout(
    (
        Field("turn"),
        Field("kept", ("-", "1", "2"), length=2, names=("none", "guard", "priest"), places=each_player("card", 2)),
        Field("seen", ("g", "p"), bits=True, names=("guard", "priest")),
    )
)


def test_names_are_shown_and_symbols_are_read() -> None:
    view = LAYOUT.read("turn=3 kept=1? seen=g+p")
    assert view.tolist() == [3, 1, UNKNOWN, 3]
    assert LAYOUT.write(view) == "turn=3 kept=1? seen=g+p"
    assert LAYOUT.describe(view) == "turn=3 kept=guard,? seen=guard+priest"
    assert [LAYOUT.place(i) for i in range(4)] == ["turn", "card of player 0", "card of player 1", "seen"]
    assert [LAYOUT.code(i) for i in range(4)] == ["turn", "kept[0]", "kept[1]", "seen"]


def test_names_must_fit() -> None:
    with pytest.raises(TypeError, match="field kept has 2 symbols, but 1 names"):
        Field("kept", ("1", "2"), names=("guard",))
    with pytest.raises(TypeError, match="field kept has 2 components, but 1 places"):
        Field("kept", ("1", "2"), length=2, places=("mine",))
    with pytest.raises(InputError, match="component 4 of a world's vector, expected 0 to 3"):
        LAYOUT.find(4)


@pytest.mark.parametrize("spec", golden.registered())
def test_every_value_on_offer_has_a_name(spec: str) -> None:
    """Distinct ones: two values of a hole are never shown alike."""
    game = load_game(spec)
    positions = sample_positions(game, 3, seed=0)
    shown = 0
    for world in positions.worlds[:: max(1, len(positions.worlds) // 40)]:
        for player in range(game.players):
            view = game.view(world, player)
            if (hole := game.hole(view)) != NO_HOLE:
                names = [game.value_name(view, hole, value) for value, _ in game.values(view, hole)]
                assert len(set(names)) == len(names)
                assert game.layout.place(hole)
                shown += 1
    assert (shown > 0) == game.hidden


def test_hearts_names_who_holds_a_card() -> None:
    game = load_game("hearts")
    world = game.initial()
    for _ in range(53):
        world = game.step(world, game.chance(world)[-1][0])
    view = game.view(world, 0)
    hole = game.hole(view)
    assert game.layout.place(hole) == "2C was dealt to"
    assert [game.value_name(view, hole, v) for v, _ in game.values(view, hole)] == ["East", "South", "West"]
    assert game.describe(view).startswith("to pass ")


@pytest.mark.parametrize("name", family_names())
def test_sizes_that_follow_from_a_description(name: str) -> None:
    game = load_game(name)
    assert game.max_choices == max(game.num_actions, game.num_outcomes, game.num_values, game.players, 1)
    assert game.scale == (game.max_return - game.min_return) / 2
    middle = (game.max_return + game.min_return) / 2
    assert game.neutral_value == (0.0 if game.zero_sum else middle)


def test_scale_is_never_zero() -> None:
    flat = replace(load_game("kuhn_poker"), min_return=3.0, max_return=3.0, zero_sum=False)
    assert (flat.scale, flat.neutral_value) == (1.0, 3.0)


def test_choices_have_names_and_probabilities() -> None:
    game = load_game("kuhn_poker")
    world = game.initial()
    choices = game.choices(world)
    assert [(choice.number, choice.name) for choice in choices] == [(0, "deal J"), (1, "deal Q"), (2, "deal K")]
    assert [choice.probability for choice in choices] == pytest.approx([1 / 3] * 3)
    for move in read_moves(game, "2, deal j"):
        world = game.step(world, move)
    assert [tuple(choice) for choice in game.choices(world)] == [(0, "Pass", None), (1, "Bet", None)]
    for move in read_moves(game, "pass pass", world):
        world = game.step(world, move)
    assert game.choices(world) == []
    assert np.array_equal(game.returns(world), [1.0, -1.0])
