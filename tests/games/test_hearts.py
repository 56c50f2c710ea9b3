"""Hearts: how likely a card is where, and what a network sees of the seats."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest

from qdts import load_game
from qdts.games import CHANCE, NO_HOLE, TERMINAL, UNKNOWN, Game
from qdts.games.rules.hearts.play import (
    ACTOR,
    ALL_PASSED,
    BY,
    CARDS,
    DIRECTION,
    HANDS,
    HELD,
    ORDER,
    PASSED,
    PLAYED,
    PLAYERS,
    SUITS,
    holder,
)
from qdts.kernels import Ints, Reals32
from qdts.testing.completions import complete

VOIDS = 15
"""Where the features of shown voids begin."""
LEFT = 2
"""What DIRECTION holds for it."""


def played(game: Game, seed: int) -> Iterator[Ints]:
    """The worlds of a random game."""
    rng, world = random.Random(seed), game.initial()
    yield world
    while game.mover(world) != TERMINAL:
        world = game.step(world, rng.choice(game.choices(world)).number)
        yield world


def has_passed_left_and_leads(world: Ints) -> bool:
    """Whether player 0 has passed to the left, and is to lead to the first trick."""
    return world[DIRECTION] == LEFT and world[PASSED] == ALL_PASSED and world[PLAYED] == 0 and world[ACTOR] == 2


def likelihood(game: Game, view: Ints, rng: random.Random) -> float:
    """The logarithm of the weight of a random completion, every value on offer being as likely as any other."""
    total = 0.0
    while (hole := game.hole(view)) != NO_HOLE:
        value, weight = rng.choice(game.values(view, hole))
        total += np.log(weight)
        view = game.fill(view, hole, value)
    return total


def shows_a_void(world: Ints) -> bool:
    """Whether somebody has not followed suit."""
    order = world[ORDER : ORDER + world[PLAYED]] - 1
    return any(order[k] % SUITS != order[k - k % PLAYERS] % SUITS for k in range(len(order)))


@pytest.mark.parametrize("pass_cards", [False, True])
def test_all_completions_are_equally_likely_until_a_void_shows(pass_cards: bool) -> None:
    """Then the weights along a path multiply to 1 / (number of completions), whatever the path."""
    game, seen = load_game("hearts", pass_cards=pass_cards), {"dealing": 0, "passing": 0, "playing": 0}
    for seed in range(6):
        for k, world in enumerate(played(game, seed)):
            if shows_a_void(world):
                break
            if k % 3:
                continue
            for player in range(PLAYERS):
                view, rng = game.view(world, player), random.Random(k)
                paths = [likelihood(game, view, rng) for _ in range(4)]
                assert paths == pytest.approx([paths[0]] * 4, abs=1e-9)
            seen["dealing" if game.mover(world) == CHANCE else "playing" if world[PLAYED] else "passing"] += 1
    assert seen["dealing"] > 20
    assert seen["playing"] > 3
    assert (seen["passing"] > 3) == pass_cards


def test_who_was_passed_cards_has_fewer_unknown_ones() -> None:
    """After passing to the left I know 3 of their 13 cards: of the 36 unknown ones they hold 10, the others 13 each."""
    game = load_game("hearts")
    world = next(w for seed in itertools.count() for w in played(game, seed) if has_passed_left_and_leads(w))
    view = game.view(world, 0)
    assert np.count_nonzero(view[HELD:BY] == UNKNOWN) == 36
    shares = np.zeros(PLAYERS)
    for code, weight in game.values(view, game.hole(view)):
        shares[holder(view, code)] += weight
    assert shares.tolist() == pytest.approx([0, 10 / 36, 13 / 36, 13 / 36])


def test_weights_are_near_the_count_of_deals_where_voids_show() -> None:
    """Against every completion late in a game, all of them equally likely; equal weights are 0.33 off."""
    game, distances = load_game("hearts", pass_cards=False), []
    for seed in range(25):
        world = next(itertools.islice(played(game, seed), 1 + CARDS + 40, None))
        found = complete(game, game.view(world, game.mover(world))[None], 10_000)
        distances.append(np.abs(found.weight - 1 / len(found.worlds)).sum() / 2)
    assert np.mean(distances) < 0.2


def turned(world: Ints) -> Ints:
    """The same world with everyone one seat further."""
    after = world.copy()
    for i, first in ((ACTOR, 2), *((HELD + c, 1) for c in range(CARDS)), *((BY + c, 1) for c in range(CARDS))):
        code = int(world[i]) - first
        after[i] = world[i] if code < 0 else first + code // PLAYERS * PLAYERS + (code + 1) % PLAYERS
    after[HANDS : HANDS + PLAYERS] = np.roll(world[HANDS : HANDS + PLAYERS], 1)
    return after


def test_all_seats_see_the_same_of_the_same() -> None:
    game = load_game("hearts")
    for k, world in enumerate(played(game, 1)):
        if k % 5 == 0 and world[ACTOR] != 1:
            for player in range(PLAYERS):
                for vector in (world, game.view(world, player)):
                    features = game.features(vector, player)
                    np.testing.assert_array_equal(game.features(turned(vector), (player + 1) % PLAYERS), features)
                    assert features.shape == game.feature_shape


def voids(features: Reals32) -> list[list[bool]]:
    """For each of the three others in turn, whether they have shown that they lack each suit."""
    return features[VOIDS : VOIDS + 3 * SUITS].reshape(3, SUITS).astype(bool).tolist()


def test_features_hold_the_suits_that_others_have_shown_to_lack() -> None:
    game = load_game("hearts(no_pts_on_first_trick=false)")
    lacking: set[tuple[int, int]] = set()
    for world in played(game, 2):
        k = int(world[PLAYED])
        if k and k % PLAYERS != 1:
            card, led = int(world[ORDER + k - 1]) - 1, int(world[ORDER + k - 1 - (k - 1) % PLAYERS]) - 1
            if card % SUITS != led % SUITS:
                lacking.add((int(world[BY + card]) - 1, led % SUITS))
        for player in range(PLAYERS):
            others = [(player + 1 + i) % PLAYERS for i in range(3)]
            found = voids(game.features(game.view(world, player), player))
            for other, of_them in zip(others, found, strict=True):
                assert {s for s in range(SUITS) if of_them[s]} >= {s for p, s in lacking if p == other}
                if not any(p == other for p, _ in lacking):
                    assert sum(of_them) == 0
    assert len(lacking) > 4
