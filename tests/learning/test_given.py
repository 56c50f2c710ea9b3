"""Given games: the text format, and the record that follows from games."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from qdts import InputError, load_game, play_match, read_seat
from qdts.games.moves import MoveTexts, read_moves
from qdts.learning.selfplay.game_text import read_games, write_games
from qdts.learning.selfplay.given import games_in, games_of, joined_games, record_of
from qdts.learning.selfplay.record import NO_SEARCH
from qdts.learning.targets.policy import policy_targets

GAMES = ["kuhn_poker", "leduc_poker(players=3)", "liars_dice(dice_sides=3)", "tic_tac_toe", "pig", "phantom_ttt"]


@pytest.mark.parametrize("spec", GAMES)
def test_games_are_read_as_they_were_written(spec: str, tmp_path: Path) -> None:
    game = load_game(spec)
    random = read_seat(game, "random")
    played = play_match(game, random, random, 12, seed=1)
    write_games(game, played.moves, tmp_path / "games.txt")
    read = read_games(game, tmp_path / "games.txt")
    assert len(read) == played.games
    record = record_of(read)
    seats = np.arange(played.games) % game.players
    np.testing.assert_array_equal(record.returns[np.arange(len(seats)), seats], played.returns.ravel())
    numbers = "\n".join(" ".join(map(str, moves)) for moves in played.moves)
    if spec in ("kuhn_poker", "leduc_poker(players=3)"):  # elsewhere names are numbers, too, and come first
        (tmp_path / "numbers.txt").write_text(numbers, encoding="utf-8")
        np.testing.assert_array_equal(read_games(game, tmp_path / "numbers.txt").action, read.action)


def test_texts_remember_and_change_nothing() -> None:
    game = load_game("kuhn_poker")
    texts = MoveTexts(game)
    for text in ("deal K, deal J, Bet, Pass", "deal K deal J bet 0", "2 0 1 0"):
        moves, world = texts.read(text)
        assert moves == read_moves(game, text) == [2, 0, 1, 0]
        np.testing.assert_array_equal(game.returns(world), [1.0, -1.0])
    assert texts.write([2, 0, 1, 0])[0] == "deal K, deal J, Bet, Pass"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("deal K, deal K", ["line 3", "unknown move of chance", "deal J, deal Q"]),
        ("deal K, deal J, Raise", ["line 3", "move of player 0", "Bet, Pass"]),
        ("deal K, deal J, Bet", ["line 3", "not over after 3 moves", "expected one of Pass, Bet"]),
        ("deal K, deal J, Bet, Pass, Pass", ["line 3", "after the game is over"]),
        ("deal K, deal J, Bet, Pass => 1 1", ["line 3", "returns 1 1 are not those of the rules, expected 1 -1"]),
        ("deal K, deal J, Bet, Pass => 1", ["line 3", "expected 1 -1"]),
        ("deal K, deal J, Bet, Pass => win", ["line 3", "expected 1 -1"]),
    ],
)
def test_a_wrong_line_is_named_with_its_choices(line: str, words: list[str], tmp_path: Path) -> None:
    file = tmp_path / "games.txt"
    file.write_text(f"# three cards\n\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_games(load_game("kuhn_poker"), file)
    assert str(file) in str(caught.value)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("header", "fits"),
    [
        ("# kuhn_poker", True),
        ("# Kuhn poker, by hand", True),
        ("# leduc_poker", True),
        ("# kuhn_poker(players=2)", True),
        ("#kuhn_poker( players = 2 )", True),
        ("# kuhn_poker(of 1950)", True),
        ("# kuhn_poker(players=3)", False),
    ],
)
def test_games_with_other_parameters_are_refused(header: str, fits: bool, tmp_path: Path) -> None:
    """A pass after a pass ends a game of two, and goes on in a game of three; other moves would be legal in both."""
    (tmp_path / "games.txt").write_text(f"{header}\ndeal K, deal J, Pass, Pass\n", encoding="utf-8")
    if fits:
        assert len(read_games(load_game("kuhn_poker"), tmp_path / "games.txt")) == 1
    else:
        with pytest.raises(InputError, match=r"holds games of kuhn_poker\(players=3\), expected games of kuhn_poker$"):
            read_games(load_game("kuhn_poker"), tmp_path / "games.txt")


def test_a_file_without_games_is_refused(tmp_path: Path) -> None:
    game, file = load_game("kuhn_poker"), tmp_path / "games.txt"
    with pytest.raises(InputError, match="cannot read"):
        read_games(game, file)
    file.write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no game"):
        read_games(game, file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_games(game, file)


def test_the_record_of_given_games() -> None:
    game = load_game("kuhn_poker")
    bet, fold, call = [2, 0, 1, 0], [2, 1, 1, 0], [2, 0, 1, 1]
    record = record_of(games_of(game, [bet, fold, call]))
    np.testing.assert_array_equal(record.returns, [[1, -1], [1, -1], [2, -2]])
    assert (record.search[record.mover < 0] == NO_SEARCH).all()
    views = policy_targets(record, "played")
    assert views.weight.sum() == 6
    shares = {tuple(np.round(views.target[a:b], 3)) for a, b in zip(views.offset[:-1], views.offset[1:], strict=True)}
    assert shares == {(0.0, 1.0), (1.0, 0.0), (0.5, 0.5)}, "K always bets, Q folds, J calls half of the time"


def test_some_games_and_several_parts() -> None:
    game = load_game("kuhn_poker")
    moves = [[2, 0, 1, 0], [2, 1, 0, 0], [0, 1, 0, 1, 1], [1, 2, 1, 1]]
    whole = games_of(game, moves)
    some = whole.take(np.array([2, 0]))
    assert some.action.tolist() == moves[2] + moves[0]
    both = joined_games([some, whole.take(np.array([1, 3]))])
    assert both.first.tolist() == [0, 5, 9, 13, 17]
    assert both.action.tolist() == moves[2] + moves[0] + moves[1] + moves[3]
    again = games_in(record_of(both))
    np.testing.assert_array_equal(again.action, both.action)
