"""Names, parameters and texts: what is accepted, and what is said about the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import qdts
from qdts import Family, Game, InputError, Parameter, load_game, register
from qdts.games.layout import Field, Layout
from qdts.games.registry import family_names, find_family, parse_spec
from qdts.games.rules.kuhn_poker import build


def test_specs_are_canonical() -> None:
    assert load_game("kuhn_poker").spec == "kuhn_poker"
    assert load_game("kuhn_poker(players=2)").spec == "kuhn_poker"
    assert load_game("liars_dice( dice_sides = 3 , numdice=2 )").spec == "liars_dice(numdice=2,dice_sides=3)"
    assert load_game("kuhn_poker", players=3).spec == "kuhn_poker(players=3)"
    assert load_game("kuhn_poker") is load_game("kuhn_poker")


@pytest.mark.parametrize("name", family_names())
def test_specs_load_back(name: str) -> None:
    family = find_family(name)
    for spec in (name, *family.examples):
        game = load_game(spec)
        again = load_game(game.spec)
        assert again.spec == game.spec
        assert (again.rules == game.rules).all()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("kuhn", "unknown game 'kuhn': .*kuhn_poker"),
        ("leduc_pocker", "unknown game 'leduc_pocker': did you mean leduc_poker"),
        ("kuhn_poker(player=3)", "unknown parameter of kuhn_poker 'player': did you mean players"),
        ("kuhn_poker(players=1)", "players=1 is not possible, expected a whole number from 2 to 10"),
        ("kuhn_poker(players=two)", "players=two is not possible, expected a whole number"),
        ("kuhn_poker(players=3", "no closing bracket"),
        ("kuhn_poker(players)", "'players' in game .* is not a parameter, expected key=value"),
        ("kuhn_poker(players=2,players=3)", "parameter players stands twice"),
        ("liars_dice(bidding_rule=reset)", "unknown bidding_rule of liars_dice 'reset': did you mean reset-face"),
        ("liars_dice(split=maybe)", "split=maybe is not possible, expected true or false"),
        ("matrix_game(payoffs=[[1,2],[3]])", "payoffs"),
        ('matrix_game(payoffs=[[1,"x"]])', "payoffs"),
        ("matrix_game(payoffs=rock)", "payoffs"),
        ("tree_game(tree=[])", "tree"),
        ("tree_game(tree=[1,[]])", "tree"),
    ],
)
def test_bad_names(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_game(spec)


def test_given_twice() -> None:
    with pytest.raises(InputError, match="players of kuhn_poker is given twice"):
        load_game("kuhn_poker(players=2)", players=3)


def test_commas_inside_brackets() -> None:
    name, given = parse_spec("matrix_game(payoffs=[[1,2],[3,4]],column_payoffs=[[0,0],[0,0]])")
    assert name == "matrix_game"
    assert given == {"payoffs": "[[1,2],[3,4]]", "column_payoffs": "[[0,0],[0,0]]"}


def test_ones_own_game() -> None:
    def renamed(spec: str, players: int) -> Game:
        return replace(build(spec, players), name="my_kuhn")

    parameters = (Parameter("players", 3, "how many", low=2, high=4),)
    register(Family("my_kuhn", "a copy", parameters, renamed))
    assert load_game("my_kuhn").players == 3
    assert "my_kuhn" in family_names()
    register(Family("my_kuhn", "a copy that has the old name", parameters, build))
    with pytest.raises(InputError, match=r"build gives name='kuhn_poker'.*expected 'my_kuhn'"):
        load_game("my_kuhn")
    register(Family("my_kuhn", "no game", (), lambda **_: None))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="build returns None, expected a Game"):
        load_game("my_kuhn")
    register(Family("my_kuhn", "a copy", parameters, renamed))
    with pytest.raises(InputError, match="comes with qdts"):
        register(Family("kuhn_poker", "", (), build))


def test_illegal_actions_and_vectors() -> None:
    game = load_game("kuhn_poker")
    world = game.initial()
    with pytest.raises(InputError, match=r"action 3 is illegal for chance at .*; legal: 0 \(deal J\), 1 \(deal Q\)"):
        game.step(world, 3)
    for action in (0, 1):
        world = game.step(world, action)
    with pytest.raises(InputError, match=r"action 2 is illegal for player 0 at .*; legal: 0 \(Pass\), 1 \(Bet\)"):
        game.step(world, 2)
    for action in (0, 0):
        world = game.step(world, action)
    with pytest.raises(InputError, match="after the game is over"):
        game.step(world, 0)
    with pytest.raises(InputError, match="a world is a contiguous int64 vector of 7 components, got float64"):
        game.mover(np.zeros(7))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="player 2, expected 0 to 1"):
        game.view(world, 2)
    with pytest.raises(InputError, match="unknown action of kuhn_poker 'bett': did you mean bet"):
        game.parse_action("bett")
    assert game.parse_action(" BET ") == game.parse_action("1") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("turn=1", "field bettor is missing"),
        ("turn=1 turn=2", "stands twice"),
        ("turn", "is not a field"),
        ("turn=1 bettor=0 cards=JX bets=---", "unknown value of field cards 'X'"),
        ("turn=1 bettor=0 cards=J bets=---", "has 1 values, expected 2"),
        ("turn=-1 bettor=0 cards=J- bets=---", "field turn has '-1', expected a number"),
        ("turn=1 bettor=0 cards=J- bets=--- x=1", "unknown field 'x'"),
    ],
)
def test_bad_texts(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_game("kuhn_poker").layout.read(text)


def test_layout_of_boards_and_sets() -> None:
    layout = Layout((Field("board", (".", "x", "o"), 4, row=2), Field("bids", ("1-1", "1-2", "2-1"), bits=True)))
    world = np.array([0, 1, 2, -1, 5])
    assert layout.write(world) == "board=.x/o? bids=1-1+2-1"
    assert (layout.read(layout.write(world)) == world).all()
    assert layout.bounds.tolist() == [3, 3, 3, 3, 8]
    assert layout.write(np.array([0, 0, 0, 0, 0])).endswith("bids=-")


def test_api_is_lazy_and_complete() -> None:
    assert set(qdts.__all__) <= set(dir(qdts))
    for name in qdts.__all__:
        assert getattr(qdts, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        qdts.nothing  # noqa: B018


def test_what_would_reach_beyond_memory_is_refused() -> None:
    tree, kuhn = load_game("tree_game"), load_game("kuhn_poker")
    with pytest.raises(InputError, match="has a component out of bounds"):
        tree.mover(np.array([10**12]))
    with pytest.raises(InputError, match="has a component out of bounds"):
        kuhn.mover(np.full(7, -2))
    with pytest.raises(InputError, match="player 9, expected 0 to 1"):
        kuhn.features(kuhn.initial(), 9)
    view = kuhn.layout.read("turn=2 bettor=0 cards=J? bets=---")
    for hole in (2, 99, -1):
        with pytest.raises(InputError, match=f"component {hole} of .* is not a hole"):
            kuhn.fill(view, hole, 0)
    with pytest.raises(InputError, match="player 7, expected 0 to 1"):
        qdts.best_response(qdts.uniform_policy(kuhn), 7)
    with pytest.raises(InputError, match="expected a game"):
        qdts.solve("kuhn_poker")  # type: ignore[arg-type]
