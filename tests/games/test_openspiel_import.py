"""Games imported from OpenSpiel: the same as ours where we have them, lawful, solvable, and refused with a reason."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyspiel
import pytest
from numpy.typing import NDArray
from open_spiel.python.algorithms import exploitability

from qdts import InputError, Policy, expected_values, load_game, nash_conv, solve, uniform_policy
from qdts.games.game import Game
from qdts.games.interface import TERMINAL, UNKNOWN
from qdts.games.openspiel import NOTHING_SEEN, find_openspiel, import_game
from qdts.games.openspiel.importer import _Walk
from qdts.games.openspiel.size import estimate_histories
from qdts.kernels import Ints, Reals
from qdts.solving.policy.openspiel import from_openspiel, to_openspiel
from qdts.solving.policy.table import policy_on
from qdts.solving.tree.recent import game_tree
from qdts.testing import check_game
from solving.policies import random_policy

OURS = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "leduc_poker(suit_isomorphism=true)",
    "liars_dice(dice_sides=3)",
    "liars_dice(numdice=2,dice_sides=2)",
]
THEIRS = [
    "matrix_pd",  # simultaneous, general-sum
    "matching_pennies_3p",  # three players at once
    "goofspiel(num_cards=3,imp_info=true,points_order=descending)",
    "goofspiel(num_cards=3,imp_info=true)",
    "dark_hex(board_size=2)",
    "tiny_hanabi",  # the players share their returns
    "first_sealed_auction(max_value=4)",
]


@pytest.mark.parametrize("spec", OURS)
def test_a_native_game_and_its_import_agree(spec: str) -> None:
    ours, theirs = load_game(spec), load_game(f"openspiel:{spec}")
    one, other = game_tree(ours), game_tree(theirs)
    assert one.num_histories == other.num_histories
    assert one.num_terminals == other.num_terminals
    assert (np.bincount(one.infosets.owner) == np.bincount(other.infosets.owner)).all()
    assert (ours.players, ours.hidden, ours.zero_sum) == (theirs.players, theirs.hidden, theirs.zero_sum)
    paths = {tuple(other.path(h)): h for h in range(other.num_histories)}
    for seed in (0, 1):
        policy = random_policy(ours, seed)
        same = policy_on(other, _carried(policy, paths, other.histories.entry))
        assert nash_conv(theirs, same) == pytest.approx(nash_conv(ours, policy), abs=1e-11)
        assert expected_values(same.game, same) == pytest.approx(expected_values(policy.game, policy), abs=1e-11)


def _carried(policy: Policy, paths: dict[tuple[int, ...], int], slot: NDArray[np.int32]) -> Reals:
    """A policy's probabilities, moved to the slots of the other tree by histories."""
    tree = game_tree(policy.game)
    moved = np.zeros(len(tree.infosets.action))
    for h in np.flatnonzero(tree.histories.entry >= 0):
        moved[slot[paths[tuple(tree.path(int(h)))]]] = policy.probability[tree.histories.entry[h]]
    return moved


@pytest.mark.parametrize("spec", [*OURS, *THEIRS, "nim(pile_sizes=2;2)"])
def test_imports_keep_the_laws(spec: str) -> None:
    assert check_game(load_game(f"openspiel:{spec}"), limit=20_000).mode == "enumerated"


@pytest.mark.parametrize("spec", THEIRS)
def test_nash_conv_equals_openspiels(spec: str) -> None:
    game = load_game(f"openspiel:{spec}")
    for seed in (0, 1):
        policy = random_policy(game, seed)
        theirs = to_openspiel(policy)
        assert nash_conv(game, policy) == pytest.approx(
            exploitability.nash_conv(find_openspiel(game.spec), theirs), abs=1e-9
        )
        assert from_openspiel(game, theirs).probability == pytest.approx(policy.probability, abs=1e-15)


def test_imports_are_solved_like_other_games() -> None:
    game = load_game("openspiel:goofspiel(num_cards=3,imp_info=true,points_order=descending)")
    assert solve(game, "lp").nash_conv < 1e-9
    assert solve(game, "dcfr", 2000, tolerance=1e-3).nash_conv <= 1e-3
    hanabi = load_game("openspiel:tiny_hanabi")
    assert not hanabi.zero_sum
    assert solve(hanabi, "cfr+", 500).nash_conv < nash_conv(hanabi, uniform_policy(hanabi)) / 10


@pytest.mark.parametrize("spec", ["mnk(m=2,n=3,k=3)", "nim(pile_sizes=1;2)", "misere(game=nim(pile_sizes=2;2))"])
def test_perfect_information_hides_nothing_to_the_end(spec: str) -> None:
    game = load_game(f"openspiel:{spec}")
    assert not game.hidden
    for state in _histories(pyspiel.load_game(spec)):
        world = _world(game, state)
        assert all((game.view(world, player) == world).all() for player in range(game.players))


def test_perfect_information_is_solved_as_such() -> None:
    game = load_game("openspiel:nim(pile_sizes=2;2)")
    assert game_tree(game).num_histories == sum(1 for _ in _histories(pyspiel.load_game("nim(pile_sizes=2;2)")))
    assert solve(game, "alpha-beta").value == solve(game, "min-max").value


def _histories(game: pyspiel.Game) -> list[pyspiel.State]:
    states = [game.new_initial_state()]
    for state in states:
        states.extend(state.child(a) for a in state.legal_actions())
    return states


def _world(game: Game, state: pyspiel.State) -> Ints:
    """The same history in our game."""
    world = game.initial()
    for action in state.history():
        world = game.step(world, action)
    return world


@pytest.mark.parametrize(("spec", "folded"), [("kuhn_poker", [1, 0]), ("leduc_poker", [0])])
def test_a_folded_game_keeps_both_cards(spec: str, folded: list[int]) -> None:
    """Neither who folded nor who won can tell apart what differs in the other's card alone."""
    game = load_game(f"openspiel:{spec}")
    alike: dict[tuple[int, ...], dict[int, Ints]] = {}
    for state in _histories(find_openspiel(spec)):
        cards, bets = state.history()[:2], state.history()[2:]
        if state.is_terminal() and bets[-len(folded) :] == folded:
            for player in range(game.players):
                view = game.view(_world(game, state), player)
                alike.setdefault((player, cards[player], *bets), {})[cards[1 - player]] = view
    assert any(len(views) > 1 for views in alike.values())
    for views in alike.values():
        one = next(iter(views.values()))
        assert game.mover(one) == TERMINAL
        assert all((view == one).all() for view in views.values())


@pytest.mark.parametrize(
    "spec",
    ["kuhn_poker", "leduc_poker(suit_isomorphism=true)", "liars_dice(dice_sides=2)", "tiny_hanabi", "matrix_pd"],
)
def test_a_finished_game_shows_no_more_than_openspiel_and_ones_own_return(spec: str) -> None:
    game = load_game(f"openspiel:{spec}")
    seen: dict[tuple[object, ...], Ints] = {}
    for state in _histories(find_openspiel(spec)):
        if not state.is_terminal():
            continue
        for player in range(game.players):
            view = game.view(_world(game, state), player)
            told = (player, state.information_state_string(player), state.returns()[player])
            assert (view == seen.setdefault(told, view)).all()
            if (view == UNKNOWN).any():
                assert game.describe(view).endswith(f"over with {state.returns()[player]:+g}")


@pytest.mark.parametrize("spec", ["kuhn_poker", "tiny_hanabi", "dark_hex(board_size=2)", "nim(pile_sizes=2;2)"])
def test_titles_are_openspiels(spec: str) -> None:
    game = load_game(f"openspiel:{spec}")
    for state in _histories(find_openspiel(spec)):
        who = state.current_player()
        if who >= 0 or (state.is_terminal() and not game.hidden):
            shown = state.information_state_string(max(0, who)) or NOTHING_SEEN
            assert game.describe(game.view(_world(game, state), max(0, who))) == shown


def tensor_of(state: Any, player: int) -> list[float]:
    """What OpenSpiel describes a state by to a player: by its information state, or else by the observation."""
    kind = state.get_game().get_type()
    if kind.provides_information_state_tensor:
        return list(state.information_state_tensor(player))
    return list(state.observation_tensor(player)) if kind.provides_observation_tensor else []


@pytest.mark.parametrize(
    "spec", ["kuhn_poker", "leduc_poker", "tiny_hanabi", "oshi_zumo(coins=3,size=1,horizon=3)", "nim(pile_sizes=2;2)"]
)
def test_features_end_in_openspiels_tensors(spec: str) -> None:
    """The owner's own at a view, zeros for the others; all of them at a world, the player's first. None is above 1."""
    game, states = load_game(f"openspiel:{spec}"), [s for s in _histories(find_openspiel(spec)) if not s.is_terminal()]
    width = len(tensor_of(states[0], 0))
    assert width > 0
    largest = np.maximum(1.0, np.abs([tensor_of(s, p) for s in states for p in range(game.players)]).max(0))
    for state in states:
        world = _world(game, state)
        for player in range(game.players):
            seats = [(player + k) % game.players for k in range(game.players)]
            tensors = [np.array(tensor_of(state, seat)) / largest for seat in seats]
            found = game.features(world, player)[-width * game.players :].reshape(game.players, width)
            np.testing.assert_allclose(found, tensors, rtol=1e-6)
            view = game.view(world, player)
            if (view == UNKNOWN).any():
                own, *others = game.features(view, player)[-width * game.players :].reshape(game.players, width)
                np.testing.assert_allclose(own, tensors[0], rtol=1e-6)
                assert not np.any(others)


def test_a_finished_game_has_no_tensor() -> None:
    game, state = load_game("openspiel:kuhn_poker"), find_openspiel("kuhn_poker").new_initial_state()
    width = len(tensor_of(state, 0))
    for action in (0, 1, 0, 0):
        state.apply_action(action)
    assert state.is_terminal()
    assert not game.features(_world(game, state), 0)[-2 * width :].any()


def test_a_game_without_tensors_has_numbers_for_features() -> None:
    game, state = load_game("openspiel:coordinated_mp"), find_openspiel("coordinated_mp").new_initial_state()
    assert tensor_of(state, 0) == []
    digits = game.world_size - game.players
    assert game.num_features == game.players + 1 + digits * (16 + 1) * (1 + game.players)
    check_game(game)


def test_holes_stay_narrow() -> None:
    game = load_game("openspiel:leduc_poker")
    assert game.num_values == 16
    assert game.world_size == 4 + 2  # 9,457 nodes in four digits, two classes


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("openspiel:leduc_pokre", "unknown game of OpenSpiel 'leduc_pokre': did you mean leduc_poker"),
        ("openspiel:kuhn_poker(cards=3)", r"OpenSpiel can't load kuhn_poker\(cards=3\)"),
        ("openspiel:liars_dice_ir(dice_sides=3)", r"forgets what they knew or did before \(imperfect recall\)"),
        ("openspiel:pig", "OpenSpiel provides no information state"),
        ("openspiel:negotiation", "it samples chance events and does not list them"),
        ("openspiel:mfg_crowd_modelling", "it is a mean-field game, expected players who move in turn"),
        ("openspiel:cached_tree(game=matrix_pd())", "after 0 moves all are to move at once, or a whole population is"),
        ("openspiel:go_fish", r"it has about \de\+\d+ histories, by random games, and the limit is 1,000,000"),
        ("openspiel:start_at(game=kuhn_poker(),history=0;1;0;0)", "it is over before it begins"),
        ("openspiel:misere", r"OpenSpiel can't load misere \(Missing parameter game\)"),
    ],
)
def test_refusals(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_game(spec)


@pytest.mark.parametrize(("spec", "histories"), [("kuhn_poker", 58), ("leduc_poker", 9457), ("tic_tac_toe", 549_946)])
def test_sizes_are_estimated_by_random_games(spec: str, histories: int) -> None:
    """They are seldom too high: a game that can be listed is never refused for it."""
    assert histories / 50 < estimate_histories(find_openspiel(spec)) < 3 * histories


def test_play_that_gets_stuck_is_refused() -> None:
    with pytest.raises(InputError, match=r"OpenSpiel lists nothing that chance may do after [0-9]+ moves"):
        _Walk("openspiel:go_fish", find_openspiel("go_fish"), 1_000_000, None)


def test_far_too_large_is_said_at_once() -> None:
    reported: list[int] = []
    with pytest.raises(InputError, match=r"hearts can't be imported: it has about \de\+\d+ histories, by random games"):
        import_game("openspiel:hearts", report=reported.append)
    assert reported == []


def test_too_large_names_size_and_limit() -> None:
    with pytest.raises(InputError, match=r"more than 5,000 histories \([\d,]+ so far\), the limit"):
        import_game("openspiel:leduc_poker", limit=5_000)
    with pytest.raises(InputError, match="are given in its name"):
        load_game("openspiel:kuhn_poker", players=3)


def test_not_installed_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(InputError, match="OpenSpiel is not installed: pip install open_spiel"):
        import_game("openspiel:kuhn_poker")
