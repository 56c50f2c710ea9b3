"""Policy files and conversion: what is written is read back, and nothing else is accepted."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from open_spiel.python.policy import TabularPolicy

from qdts import InputError, Policy, load_game, load_policy, nash_conv, save_policy, solve, uniform_policy
from qdts.solving.policy.openspiel import from_openspiel, to_openspiel
from qdts.solving.policy.table import aligned
from qdts.solving.tree.recent import game_tree
from solving.policies import random_policy


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "liars_dice(numdice=2,dice_sides=3)", "tic_tac_toe"])
def test_round_trip(spec: str, tmp_path: Path) -> None:
    game = load_game(spec)
    policy = random_policy(game, 1)
    save_policy(policy, tmp_path / "p.npz")
    again = load_policy(tmp_path / "p.npz")
    assert again.game.spec == spec
    assert (again.probability == policy.probability).all()
    assert (aligned(game_tree(game), again) == policy.probability).all()
    assert nash_conv(game, again) == nash_conv(game, policy)
    assert [f.name for f in tmp_path.iterdir()] == ["p.npz"]


def test_order_of_views_does_not_matter() -> None:
    game = load_game("leduc_poker")
    policy = random_policy(game, 1)
    counts = np.diff(policy.offset)
    order = np.random.default_rng(0).permutation(len(policy))
    take = np.concatenate([np.arange(policy.offset[i], policy.offset[i + 1]) for i in order])
    offset = np.r_[0, np.cumsum(counts[order])].astype(np.int32)
    shuffled = Policy(game, policy.views[order], offset, policy.action[take], policy.probability[take])
    assert (aligned(game_tree(game), shuffled) == policy.probability).all()
    assert shuffled(policy.views[5]) == policy(policy.views[5])


def test_of_equal_views_the_first_counts() -> None:
    game = load_game("kuhn_poker")
    policy = random_policy(game, 2)
    twice = Policy(
        game,
        np.concatenate([policy.views, policy.views]),
        np.r_[policy.offset, policy.offset[1:] + policy.offset[-1]].astype(np.int32),
        np.tile(policy.action, 2),
        np.r_[policy.probability, policy.probability[::-1]],
    )
    assert (aligned(game_tree(game), twice) == policy.probability).all()
    assert all(twice(view) == policy(view) for view in policy.views)
    assert nash_conv(game, twice, method="sweep") == nash_conv(game, policy, method="sweep")


def test_probabilities_at_a_view(tmp_path: Path) -> None:
    game = load_game("kuhn_poker")
    policy = uniform_policy(game)
    assert policy(policy.views[0]) == {0: 0.5, 1: 0.5}
    with pytest.raises(InputError, match="has no view"):
        policy(np.zeros(game.world_size, np.int64))


def test_solved_policies_say_how_they_were_made(tmp_path: Path) -> None:
    solved = solve(load_game("kuhn_poker"), "cfr+", 50)
    save_policy(solved.policy, tmp_path / "p.npz")
    info = load_policy(tmp_path / "p.npz").info
    assert info == {"algorithm": "cfr+", "iterations": 50, "nash_conv": solved.nash_conv}


def _rewrite(path: Path, **changes: Any) -> None:
    """Change entries of a policy file; None leaves one out, a dict changes keys of the meta data."""
    with np.load(path) as file:
        entries = {name: file[name] for name in file.files}
    for name, value in changes.items():
        if value is None:
            del entries[name]
        elif name == "meta" and isinstance(value, dict):
            meta = {**json.loads(entries["meta"].tobytes()), **value}
            entries["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
        else:
            entries[name] = value
    np.savez(path, **entries)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"views": None}, "lacks views"),
        ({"meta": {"format": "other"}}, "has format other 1, expected qdts-policy 1"),
        ({"meta": {"format_version": 9}}, "has format qdts-policy 9, expected qdts-policy 1"),
        ({"meta": {"game_version": 7}}, "is for version 7 of kuhn_poker, expected version 1"),
        ({"meta": {"game": "kuhn_pokre"}}, "unknown game 'kuhn_pokre': did you mean kuhn_poker"),
        ({"meta": {"game": "leduc_poker"}}, "do not fit together or not leduc_poker"),
        ({"meta": np.frombuffer(b"not json", np.uint8)}, "meta data of policy file .* are malformed"),
        ({"meta": np.frombuffer(b"[1]", np.uint8)}, "meta data of policy file .* are malformed"),
        ({"probability": np.full(24, 0.4)}, "sum to 0.8, expected 1"),
        ({"probability": np.r_[-0.5, 1.5, np.full(22, 0.5)]}, "negative or not a number"),
        ({"probability": np.r_[np.nan, np.full(23, 0.5)]}, "negative or not a number"),
        ({"probability": np.full(24, 0.5, np.float32)}, "is float32 with 1 axes, expected float64"),
        ({"offset": np.zeros(13, np.int32)}, "do not fit together"),
        ({"views": np.full((12, 7), 99)}, "holds a view with a component that kuhn_poker can't have"),
        ({"meta": {"info": "ab"}}, "meta data of policy file .* are malformed"),
        ({"action": np.zeros((2, 12), np.int32)}, "is int32 with 2 axes"),
    ],
)
def test_malformed_files(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    save_policy(uniform_policy(load_game("kuhn_poker")), path)
    _rewrite(path, **changes)
    with pytest.raises(InputError, match=message):
        load_policy(path)


def test_wrong_actions_are_found_when_used(tmp_path: Path) -> None:
    game, path = load_game("kuhn_poker"), tmp_path / "p.npz"
    save_policy(uniform_policy(game), path)
    _rewrite(path, action=np.tile(np.array([0, 2], np.int32), 12))
    with pytest.raises(InputError, match="other legal actions"):
        nash_conv(game, load_policy(path))
    save_policy(uniform_policy(game), path)
    views = load_policy(path).views.copy()
    views[3] = 0
    _rewrite(path, views=views)
    with pytest.raises(InputError, match="lacks the view"):
        nash_conv(game, load_policy(path))


def test_other_games(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    save_policy(uniform_policy(load_game("kuhn_poker")), path)
    leduc = load_game("leduc_poker")
    with pytest.raises(InputError, match="is a policy for kuhn_poker, expected leduc_poker"):
        load_policy(path, leduc)
    with pytest.raises(InputError, match="the policy is for kuhn_poker version 1, expected leduc_poker version 1"):
        nash_conv(leduc, load_policy(path))
    with pytest.raises(InputError, match="there is no file"):
        load_policy(tmp_path / "none.npz")


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_files_never_pass_unnoticed(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("damage") / "p.npz"
    policy = uniform_policy(load_game("kuhn_poker"))
    save_policy(policy, path)
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole) - 1))
    path.write_bytes(whole[:cut])
    with pytest.raises(InputError):
        load_policy(path)
    flipped = bytearray(whole)
    flipped[cut] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(flipped))
    try:
        loaded = load_policy(path)
    except InputError:
        return
    assert (loaded.probability == policy.probability).all()


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    np.savez(path, meta=np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="not a policy file"):
        load_policy(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("meta.txt", "hello")
    with pytest.raises(InputError):
        load_policy(path)
    path.write_text("hello")
    with pytest.raises(InputError, match="not a policy file"):
        load_policy(path)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.npz"
    policy = uniform_policy(load_game("kuhn_poker"))
    save_policy(policy, path)
    before = path.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(InputError, match="No space left"):
        save_policy(policy, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("spec", ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "liars_dice(dice_sides=3)"])
def test_to_and_from_openspiel(spec: str) -> None:
    game = load_game(spec)
    policy = random_policy(game, 9)
    table = to_openspiel(policy)
    assert isinstance(table, TabularPolicy)
    assert from_openspiel(game, table).probability == pytest.approx(policy.probability, abs=1e-15)
    uniform = from_openspiel(game, pyspiel.UniformRandomPolicy(pyspiel.load_game(spec)))
    assert uniform.probability == pytest.approx(uniform_policy(game).probability)


def test_a_game_that_openspiel_does_not_have() -> None:
    with pytest.raises(InputError, match="unknown game of OpenSpiel 'tree_game'"):
        to_openspiel(uniform_policy(load_game("tree_game")))


def test_a_policy_for_another_game_that_hides_nothing() -> None:
    board = load_game("tic_tac_toe")
    with pytest.raises(InputError, match="the policy is for kuhn_poker version 1, expected tic_tac_toe version 2"):
        nash_conv(board, uniform_policy(load_game("kuhn_poker")))
    policy = uniform_policy(board)
    shifted = Policy(board, policy.views, policy.offset, (policy.action + 1) % 9, policy.probability)
    with pytest.raises(InputError, match="other legal actions"):
        nash_conv(board, shifted)


def test_openspiel_gets_a_row_for_every_history() -> None:
    """Where our view is a position, OpenSpiel has a row for each way to it."""
    game = load_game("tic_tac_toe")
    table = to_openspiel(solve(game, "alpha-beta").policy)
    assert set(np.unique(table.action_probability_array)) == {0.0, 1.0}


def test_links_are_followed_and_nothing_but_files_is_replaced(tmp_path: Path) -> None:
    policy = uniform_policy(load_game("kuhn_poker"))
    target, link, pipe = tmp_path / "target.npz", tmp_path / "link.npz", tmp_path / "pipe"
    link.symlink_to(target)
    save_policy(policy, link)
    assert link.is_symlink()
    assert len(load_policy(target)) == 12
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="not a regular file"):
        save_policy(policy, pipe)
    assert pipe.is_fifo()
