"""The suite has teeth: each rule of Kuhn poker is broken in turn, and the law that it breaks is named."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qdts.errors import InputError
from qdts.games import Game, load_game, registry
from qdts.games.interface import NO_HOLE, SIGNATURES, UNKNOWN, FunctionPointer
from qdts.games.layout import Field, Layout
from qdts.games.rules import kuhn_poker
from qdts.games.rules.kuhn_poker import BET, BETTOR, CARDS, PASS, PLAYERS, TURN, cards_left
from qdts.kernels import Ints, Reals, Reals32, compiled
from qdts.testing import ConformanceError, Law, check_game, golden

EVERYTHING, SAMPLES = 300_000, 2
"""Limits with which the suite looks at all positions, or only at random games."""
KING = 3
TOP = 7  # a component more than Kuhn poker has

kuhn_initial, kuhn_mover, kuhn_step = kuhn_poker.initial, kuhn_poker.mover, kuhn_poker.step
kuhn_returns, kuhn_redact, kuhn_features = kuhn_poker.returns, kuhn_poker.redact, kuhn_poker.features
kuhn_hole = kuhn_poker.hole


def kuhn(**rules: Callable[..., Any]) -> Game:
    """Kuhn poker with some rules replaced."""
    return planted(load_game("kuhn_poker"), **rules)


def planted(game: Game, **rules: Callable[..., Any]) -> Game:
    pointers = {name: FunctionPointer(function, SIGNATURES[name]) for name, function in rules.items()}
    return replace(game, kernels=game.kernels._replace(**pointers))


def broken(game: Game, limit: int = EVERYTHING, **options: Any) -> tuple[Law, str]:
    """The law that a game breaks, and what is said about it."""
    with pytest.raises(ConformanceError) as caught:
        check_game(game, limit=limit, **options)
    return caught.value.law, str(caught.value)


both = pytest.mark.parametrize("limit", [EVERYTHING, SAMPLES])


@compiled
def legal_by_hidden_card(rules: Ints, world: Ints, actions: Ints) -> int:
    actions[0] = PASS
    actions[1] = BET
    return 1 if world[TURN] == 3 and world[CARDS] == KING else 2


@both
def test_legal_actions_that_depend_on_a_hidden_card(limit: int) -> None:
    law, text = broken(kuhn(legal=legal_by_hidden_card), limit)
    assert law == Law.VIEWS
    assert "law of views: kuhn_poker: the legal actions of player 1 differ between their view and the world" in text
    assert "turn=3 bettor=0 cards=K" in text


@compiled
def initial_with_top(rules: Ints, world: Ints) -> None:
    kuhn_initial(rules, world)
    world[TOP] = 0


@compiled
def step_with_top(rules: Ints, world: Ints, action: int) -> None:
    """Keeps the highest card in a component that nobody hides."""
    kuhn_step(rules, world, action)
    world[TOP] = max(world[CARDS], world[CARDS + 1])


@both
def test_a_hidden_card_that_leaks_through_another_component(limit: int) -> None:
    game = kuhn(initial=initial_with_top, step=step_with_top)
    leaky = replace(game, layout=Layout((*game.layout.fields, Field("top"))))
    law, text = broken(leaky, limit)
    assert law == Law.COMPLETIONS
    assert "can't reach" in text


@compiled
def redact_for_first_player_only(rules: Ints, world: Ints, player: int) -> None:
    if player == 0:
        kuhn_redact(rules, world, player)


def test_a_card_that_is_not_hidden_at_all() -> None:
    """A game of its own that keeps every law: only the golden file knows that it is not Kuhn poker."""
    leaky = kuhn(redact=redact_for_first_player_only)
    check_game(leaky)
    law, text = broken(leaky, golden=Path(__file__).parents[1] / "golden" / golden.file_name("kuhn_poker"))
    assert law == Law.GOLDEN
    assert "expected 'information sets of player 1: 6', got 'information sets of player 1: 12'" in text


@compiled
def redact_that_forgets(rules: Ints, world: Ints, player: int) -> None:
    """After the first move nobody knows their own card."""
    kuhn_redact(rules, world, player)
    if world[TURN] > rules[PLAYERS]:
        world[CARDS + player] = UNKNOWN


@both
def test_a_view_that_forgets(limit: int) -> None:
    law, text = broken(kuhn(redact=redact_that_forgets), limit)
    assert law == Law.MEMORY
    assert "the view of player 0 forgets" in text


def test_a_declared_sufficient_memory_may_forget() -> None:
    check_game(replace(kuhn(redact=redact_that_forgets), memory="sufficient"))


@compiled
def step_that_may_dither(rules: Ints, world: Ints, action: int) -> None:
    """To pass at first only counts in TOP; player 0 is to move again."""
    if world[TURN] == rules[PLAYERS] and world[TOP] == 0 and action == PASS:
        world[TOP] = 1
    else:
        kuhn_step(rules, world, action)


@compiled
def redact_that_hides_dithering(rules: Ints, world: Ints, player: int) -> None:
    kuhn_redact(rules, world, player)
    if world[TURN] == rules[PLAYERS]:
        world[TOP] = UNKNOWN


@compiled
def hole_or_dithering(rules: Ints, view: Ints) -> int:
    hole = kuhn_hole(rules, view)
    return TOP if hole == NO_HOLE and view[TOP] == UNKNOWN else hole


@compiled
def values_of_dithering(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    if hole != TOP:
        return cards_left(rules, view, values, weights)
    for i in range(2):
        values[i] = i
        weights[i] = 0.5
    return 2


@compiled
def fill_dithering(rules: Ints, view: Ints, hole: int, value: int) -> None:
    view[hole] = value if hole == TOP else value + 1


@both
def test_a_player_who_does_not_notice_that_he_moved(limit: int) -> None:
    game = kuhn(
        initial=initial_with_top,
        step=step_that_may_dither,
        redact=redact_that_hides_dithering,
        hole=hole_or_dithering,
        values=values_of_dithering,
        fill=fill_dithering,
    )
    layout = Layout((*game.layout.fields, Field("dithered")))

    def dithered(world: Ints) -> list[int]:
        actions = load_game("kuhn_poker").replay
        assert actions is not None
        played = actions(world[:TOP])
        return [*played[:2], *[PASS] * int(world[TOP]), *played[2:]]

    law, text = broken(replace(game, layout=layout, max_depth=6, replay=dithered), limit)
    assert law == Law.MEMORY
    assert "player 0" in text


@compiled
def values_without_the_highest(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    n = cards_left(rules, view, values, weights) - 1
    for i in range(n):
        weights[i] = 1.0 / n
    return n


@both
def test_a_hole_that_excludes_the_true_value(limit: int) -> None:
    law, text = broken(kuhn(values=values_without_the_highest), limit)
    assert law == Law.COMPLETIONS
    assert "found 0 times among the completions" in text if limit == EVERYTHING else "no value on offer" in text


@compiled
def values_with_a_dead_end(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    return 0 if view[CARDS] == KING else cards_left(rules, view, values, weights)


@both
def test_a_dead_end(limit: int) -> None:
    law, text = broken(kuhn(values=values_with_a_dead_end), limit)
    assert law == Law.COMPLETIONS
    assert "dead end: values offers nothing for cards[1] at turn=2 bettor=0 cards=K?" in text


@compiled
def values_with_cards_that_are_taken(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    for card in range(3):
        values[card] = card
        weights[card] = 1.0 / 3
    return 3


@both
def test_a_completion_that_cannot_be_reached(limit: int) -> None:
    law, text = broken(kuhn(values=values_with_cards_that_are_taken), limit)
    assert law == Law.COMPLETIONS
    assert "can't reach turn=" in text


@compiled
def values_that_write(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    view[hole] = 0
    return cards_left(rules, view, values, weights)


@both
def test_values_that_change_the_view(limit: int) -> None:
    law, text = broken(kuhn(values=values_that_write), limit)
    assert law == Law.COMPLETIONS
    assert "reading what cards[1] may hold changes the view" in text


@compiled
def fill_nothing(rules: Ints, view: Ints, hole: int, value: int) -> None:
    pass


@compiled
def no_hole(rules: Ints, view: Ints) -> int:
    return NO_HOLE


@both
def test_holes_that_never_end_or_are_left_open(limit: int) -> None:
    law, text = broken(kuhn(fill=fill_nothing), limit)
    assert law == Law.COMPLETIONS
    assert "there are holes after" in text
    law, text = broken(replace(kuhn(hole=no_hole), hidden=True), limit)
    assert law == Law.HIDDEN


@compiled
def fill_changes_a_bet(rules: Ints, view: Ints, hole: int, value: int) -> None:
    view[hole] = value + 1
    if view[BETTOR] == 1:
        view[CARDS + 2] = PASS + 1


@both
def test_a_completion_with_another_view(limit: int) -> None:
    law, _ = broken(kuhn(fill=fill_changes_a_bet), limit)
    assert law == Law.COMPLETIONS


@compiled
def chance_that_is_too_much(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    n = cards_left(rules, world, outcomes, probabilities)
    probabilities[0] += 0.001
    return n


@compiled
def chance_that_is_biased(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    n = cards_left(rules, world, outcomes, probabilities)
    probabilities[0] += 0.1
    probabilities[n - 1] -= 0.1
    return n


@both
def test_chance_that_does_not_sum_to_one(limit: int) -> None:
    law, text = broken(kuhn(chance=chance_that_is_too_much), limit)
    assert law == Law.BASICS
    assert "the chance distribution sums to 1.001" in text


def test_biased_chance() -> None:
    biased = kuhn(chance=chance_that_is_biased)
    law, text = broken(biased)
    assert law == Law.WEIGHTS
    assert "cards=J? bets=---" in text
    law, text = broken(
        replace(biased, weights="equal"), golden=Path(__file__).parents[1] / "golden" / golden.file_name("kuhn_poker")
    )
    assert law == Law.GOLDEN
    assert "returns of the uniform random policy" in text


@compiled
def features_of_own_card(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    kuhn_features(rules, world, player, out)
    at = 3 + 5 * (1 - player)
    for i in range(5):
        out[at + i] = 0.0


@compiled
def features_unwritten(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    out[0] = world[TURN]


@both
def test_features_that_are_the_same_for_different_worlds(limit: int) -> None:
    law, text = broken(kuhn(features=features_of_own_card), limit)
    assert law == Law.FEATURES
    assert "the features for player 0 are also those of" in text
    law, text = broken(kuhn(features=features_unwritten), limit)
    assert law == Law.FEATURES
    assert "not written" in text


@compiled
def returns_with_a_rake(rules: Ints, world: Ints, utilities: Reals) -> None:
    kuhn_returns(rules, world, utilities)
    utilities[0] -= 0.5


@both
def test_returns_out_of_bounds_or_not_zero_sum(limit: int) -> None:
    law, text = broken(replace(kuhn(), max_return=1.0), limit)
    assert law == Law.BASICS
    assert "expected -2.0 to 1.0" in text
    law, text = broken(replace(kuhn(returns=returns_with_a_rake), min_return=-3.0), limit)
    assert law == Law.BASICS
    assert "returns sum to -0.5, expected 0" in text


@both
def test_a_game_that_is_deeper_than_it_says(limit: int) -> None:
    law, text = broken(replace(kuhn(), max_depth=4), limit)
    assert law == Law.BASICS
    assert "the game continues after max_depth=4 actions" in text


@compiled
def legal_descending(rules: Ints, world: Ints, actions: Ints) -> int:
    actions[0] = BET
    actions[1] = PASS
    return 2


@compiled
def legal_out_of_range(rules: Ints, world: Ints, actions: Ints) -> int:
    actions[0] = PASS
    actions[1] = BET + 1
    return 2


@compiled
def legal_that_writes(rules: Ints, world: Ints, actions: Ints) -> int:
    world[BETTOR] = 0
    actions[0] = PASS
    actions[1] = BET
    return 2


@compiled
def no_legal(rules: Ints, world: Ints, actions: Ints) -> int:
    return 0


@both
@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (legal_descending, "choice 0 does not ascend"),
        (legal_out_of_range, "choice 2 is not below 2"),
        (no_legal, "there are 0 choices"),
        (legal_that_writes, "changes the world"),
    ],
)
def test_legal_actions_out_of_order(rule: Callable[..., Any], said: str, limit: int) -> None:
    law, text = broken(kuhn(legal=rule), limit)
    assert law == Law.BASICS
    assert said in text


@compiled
def mover_unknown(rules: Ints, world: Ints) -> int:
    """Says on a view that the other moves."""
    told = kuhn_mover(rules, world)
    return 1 - told if told >= 0 and world[CARDS + 1] == UNKNOWN else told


@compiled
def redact_that_changes(rules: Ints, world: Ints, player: int) -> None:
    kuhn_redact(rules, world, player)
    world[BETTOR] = 0


@compiled
def redact_step_by_step(rules: Ints, world: Ints, player: int) -> None:
    """Hides one card more each time."""
    other = CARDS + 1 - player
    if world[other] == UNKNOWN:
        world[CARDS + player] = UNKNOWN
    elif world[other] != 0:
        world[other] = UNKNOWN


@both
@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"mover": mover_unknown}, "the view of player 0 says that 1 moves"),
        ({"redact": redact_that_changes}, "a component is changed"),
        ({"redact": redact_step_by_step}, "redacting twice"),
    ],
)
def test_views_out_of_order(rule: dict[str, Callable[..., Any]], said: str, limit: int) -> None:
    law, text = broken(kuhn(**rule), limit)
    assert law == Law.VIEWS
    assert said in text


@both
def test_a_game_that_hides_though_it_says_no(limit: int) -> None:
    law, text = broken(replace(kuhn(), hidden=False), limit)
    assert law == Law.HIDDEN
    assert "has a hole" in text


@both
def test_components_out_of_bounds(limit: int) -> None:
    game = kuhn()
    turn, bettor, cards, bets = game.layout.fields
    short = replace(cards, symbols=("-", "J", "Q"))
    law, text = broken(replace(game, layout=Layout((turn, bettor, short, bets))), limit)
    assert law == Law.BASICS
    assert "is 3, expected 0 to 2 at [" in text


def test_text_that_is_not_read_back() -> None:
    game = kuhn()
    turn, bettor, cards, bets = game.layout.fields
    ambiguous = replace(bets, symbols=("-", "b", "b"))
    law, text = broken(replace(game, layout=Layout((turn, bettor, cards, ambiguous))))
    assert law == Law.TEXT
    assert "is read back as" in text


@compiled
def always_midway(rules: Ints, world: Ints) -> int:
    return 1


@compiled
def redact_dice_only(rules: Ints, world: Ints, player: int) -> None:
    """Hides the other's die of liar's dice with one die each, but not their quantity."""
    for p in range(2):
        if (p != player or world[0] == 0) and world[3 + p] != 0:
            world[3 + p] = UNKNOWN


@both
def test_split_actions(limit: int) -> None:
    law, text = broken(kuhn(midway=always_midway), limit)
    assert law == Law.MIDWAY
    assert "has begun a split action, but" in text
    law, text = broken(planted(load_game("liars_dice(dice_sides=3,split=true)"), redact=redact_dice_only), limit)
    assert law == Law.MIDWAY
    assert "can tell this sub-action" in text


def test_a_large_game_must_say_how_worlds_come_about() -> None:
    """No law is broken: what is missing is missing for the check."""
    with pytest.raises(InputError, match=r"kuhn_poker has too many positions .* without Game\(replay=\.\.\.\)"):
        check_game(replace(kuhn(), replay=None), limit=SAMPLES)


def test_a_wrong_replay() -> None:
    law, text = broken(replace(kuhn(), replay=lambda _: [0, 1]))
    assert law == Law.COMPLETIONS
    assert "replaying [0, 1] gives" in text


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("actions[1] = BET\n", "actions[1] = BET\n    actions[2] = BET\n", "legal reaches for actions[2]"),
        ("made = world[TURN] - n\n", "made = world[TURN] - n + 0 * world[-1]\n", "mover reaches for world[-1]"),
        (
            "if view[CARDS + p] == UNKNOWN",
            "view[TURN] += 0\n        if view[CARDS + p] == UNKNOWN",
            "hole writes world[0]",
        ),
    ],
)
def test_the_guard_catches_an_index_out_of_range(
    right: str, wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_registered", {})
    source = Path(kuhn_poker.__file__).read_text(encoding="utf-8").replace('"kuhn_poker"', '"slip"')
    file = tmp_path / "slip.py"
    file.write_text(source.replace(right, wrong, 1), encoding="utf-8")
    found = importlib.util.spec_from_file_location("slip", file)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    monkeypatch.setitem(sys.modules, "slip", module)
    found.loader.exec_module(module)
    registry.register(module.FAMILY)
    law, text = broken(load_game("slip"), interpreted=True)
    assert law == Law.GUARD
    assert said in text
